"""`jit`: the callable that stages, compiles and runs a function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, update_wrapper
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

from ..base import config, errors, tree
from ..base.tracebacks import boundary
from ..control.jit import jit_p
from ..core.avals import aval_of
from ..core.jaxpr import ClosedJaxpr, DebugInfo, eval_jaxpr
from ..core.trace import Tracer, context, eval_trace
from ..transforms.flatten import FlatFunction
from ..transforms.linearize import constvars_to_invars
from ..transforms.signatures import debug_info
from ..transforms.simplify import without_places
from ..transforms.stage import stage
from ..xla.array import ArrayImpl
from .arguments import ArgumentSpec, check_arrays, join
from .retraces import TraceRecord, record_trace
from .stages import Lowered, Traced

# The C++ traversal itself; dicts whose keys have no order take the general path.
_flatten = tree.default_registry.flatten

# The structure of a result that is one array.
_ONE_LEAF = tree.structure(0)

# A function's table of compiled programs is emptied when it reaches this many entries.
COMPILED_LIMIT = 4096


class Staged:
    """A function staged for arguments of certain types.

    Attributes:
      jaxpr: the program.
      captured: tracers that the function closed over; leading inputs of `jaxpr`.
      out_tree: the structure of the result.
      is_one: whether the result is one array, and no tree of them.
      params: parameters of the `jit` primitive.
    """

    __slots__ = ("captured", "is_one", "jaxpr", "out_tree", "params", "record", "run")

    def __init__(self, jaxpr: ClosedJaxpr, captured: list[Any], out_tree: Any, params: dict):
        self.jaxpr = jaxpr
        self.captured = captured
        self.out_tree = out_tree
        self.is_one = out_tree == _ONE_LEAF
        self.params = params
        self.record: TraceRecord | None = None
        self.run: Callable[..., Any] | None = None


# What has been staged, by the user's function: it is shared by all `jit`s of one function and
# lives as long as the function.
_staged: WeakKeyDictionary[Any, dict[Any, Staged]] = WeakKeyDictionary()


def _as_arrays(leaves: Sequence[Any]) -> list[ArrayImpl]:
    """The leaves as arrays on the first device; none at all if one of them cannot be that."""
    to_array = eval_trace.backend.to_array  # type: ignore[attr-defined]
    try:
        arrays = [to_array(x) for x in leaves]
    except TypeError:
        return []
    return arrays if all(x._placement is None for x in arrays) else []


# Every living jitted function, so that their tables can be emptied together.
_functions: WeakSet[JitFunction] = WeakSet()


def clear_jit_caches() -> None:
    """Forget what was staged and compiled for every jitted function."""
    for function in list(_functions):
        function._compiled.clear()
    _staged.clear()


class JitFunction:
    """A function that runs as a compiled program; made by `jit`."""

    def __init__(
        self,
        fun: Callable[..., Any],
        static: ArgumentSpec,
        donate: ArgumentSpec,
        keep_unused: bool,
        inline: bool,
        device: Any,
        compiler_options: dict[str, Any] | None,
    ):
        update_wrapper(self, fun)
        self._fun = fun
        self._static = static
        self._donate = donate
        self._device = device
        self._options = dict(
            keep_unused=keep_unused,
            inline=inline,
            compiler_options=tuple(sorted((compiler_options or {}).items())),
        )
        # Compiled programs by (tree, types of leaves, configuration): the path of repeated calls.
        self._compiled: dict[Any, Staged] = {}
        self._fast = not static and device is None
        _functions.add(self)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        # The path of repeated calls: find the compiled program by the types of the arguments.
        if self._fast and context.trace is eval_trace and not kwargs:
            if args and type(args[0]) is ArrayImpl:  # perhaps all of them are, and no trees
                avals = [
                    x.aval if type(x) is ArrayImpl and x._placement is None else None for x in args
                ]
                staged = self._compiled.get((*avals, config.trace_key()))
                if staged is not None:
                    outs = staged.run(args)  # type: ignore[misc]
                    return outs[0] if staged.is_one else staged.out_tree.unflatten(outs)
            try:
                leaves, in_tree = _flatten(args)
            except ValueError:  # dicts whose keys have no order
                return self._call(args, kwargs)
            avals = [
                x.aval if type(x) is ArrayImpl and x._placement is None else None for x in leaves
            ]
            trace_key = config.trace_key()
            staged = self._compiled.get((in_tree, *avals, trace_key))
            if staged is None and None in avals:
                # Numbers and NumPy arrays run the program of arrays of their types.
                leaves = _as_arrays(leaves)
                staged = self._compiled.get((in_tree, *[x.aval for x in leaves], trace_key))
            if staged is not None:
                outs = staged.run(leaves)  # type: ignore[misc]
                return staged.out_tree.unflatten(outs)
        return self._call(args, kwargs)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else partial(self, instance)

    def __repr__(self) -> str:
        return f"<jit of {self._fun!r}>"

    @boundary
    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call in general: under a transformation, with static arguments, for the first time."""
        if config.disable_jit.value:
            return self._fun(*args, **kwargs)
        if context.trace is eval_trace:
            return self._call_concrete(args, kwargs)
        staged, leaves = self.stage(args, kwargs)
        if self._options["inline"]:
            inlined = without_places(staged.jaxpr)
            outs = eval_jaxpr(inlined.jaxpr, inlined.consts, *staged.captured, *leaves)
        else:
            outs = jit_p.bind(*staged.captured, *leaves, **staged.params)
        return tree.unflatten(staged.out_tree, outs)

    def _call_concrete(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call outside all transformations."""
        static: tuple[Any, ...] = ()
        dynamic, dynamic_kwargs = args, kwargs
        if self._static:
            dynamic, dynamic_kwargs, static = self._static.split(args, kwargs)
        leaves, in_tree = tree.flatten((dynamic, dynamic_kwargs))
        backend = eval_trace.backend
        try:
            arrays = [backend.to_array(x, "jit") for x in leaves]
        except TypeError:
            check_arrays(
                "jit", debug_info("jit", self._fun, dynamic, dynamic_kwargs, static), leaves
            )
            raise
        key = (in_tree, static, *[x.aval for x in arrays], config.trace_key())
        usual = self._device is None and config.default_device.value is None
        if usual and all(x._placement is None for x in arrays):
            staged = self._compiled.get(key)
            if staged is None:
                staged, _ = self.stage(args, kwargs)
                staged.record.compiled = True  # type: ignore[union-attr]
                staged.run = backend.executable_of(**staged.params).run
                self._remember(staged, key, args, kwargs)
            outs = staged.run(arrays)
        else:
            staged, _ = self.stage(args, kwargs)
            staged.record.compiled = True  # type: ignore[union-attr]
            outs = backend.run_jaxpr(arrays, self._device, **staged.params)
        return staged.out_tree.unflatten(outs)

    def _remember(self, staged: Staged, key: Any, args: tuple[Any, ...], kwargs: Any) -> None:
        """Let the next calls with arguments of these types go straight to the program."""
        if len(self._compiled) >= COMPILED_LIMIT:
            self._compiled.clear()
        self._compiled[key] = staged
        if self._fast and not kwargs:
            leaves, in_tree = tree.flatten(args)
            if all(type(x) is ArrayImpl and x._placement is None for x in leaves):
                avals = [x.aval for x in leaves]
                self._compiled[in_tree, *avals, config.trace_key()] = staged
                if all(type(x) is ArrayImpl for x in args):
                    self._compiled[*avals, config.trace_key()] = staged

    def trace(self, /, *args: Any, **kwargs: Any) -> Traced:
        """Trace the function for the types of these arguments, without running it.

        Returns:
          A `Traced`, with the jaxpr, and with `lower()` for the next stage.
        """
        staged, _ = self.stage(args, kwargs)
        if self._static:
            args, kwargs, _ = self._static.split(args, kwargs)
        in_tree = tree.structure((args, kwargs))
        return Traced(staged.jaxpr, staged.params, in_tree, staged.out_tree)

    def lower(self, /, *args: Any, lowering_platforms: Any = None, **kwargs: Any) -> Lowered:
        """Trace the function for the types of these arguments, and write it as StableHLO."""
        return self.trace(*args, **kwargs).lower(lowering_platforms=lowering_platforms)

    def eval_shape(self, /, *args: Any, **kwargs: Any) -> Any:
        """Shape and dtype of the results for arguments of these types."""
        return self.trace(*args, **kwargs).out_info

    def clear_cache(self) -> None:
        """Forget what was traced and compiled for this function."""
        self._compiled.clear()
        _staged.pop(self._fun, None)

    def stage(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Staged, list[Any]]:
        """The function staged for the types of these arguments, and the arguments' leaves."""
        static: tuple[Any, ...] = ()
        if self._static:
            args, kwargs, static = self._static.split(args, kwargs)
        leaves, in_tree = tree.flatten((args, kwargs))
        try:
            avals = tuple([aval_of(x) for x in leaves])
        except TypeError:
            info = debug_info("jit", self._fun, args, kwargs, static)
            check_arrays("jit", info, leaves)
            raise
        key = (
            in_tree, avals, static, self._donate.argnums, self._donate.argnames,
            tuple(self._options.items()), config.trace_key(), context.axis_env,
        )  # fmt: skip
        cache = _staged.setdefault(self._fun, {})
        staged = cache.get(key)
        if staged is None:
            info = debug_info("jit", self._fun, args, kwargs, static)
            donated = self._donated(args, kwargs, static)
            staged = self._stage(in_tree, avals, static, info, donated)
            options = (*key[3:6], self._device)
            staged.record = TraceRecord(in_tree, avals, static, options, info.arg_names or ())
            record_trace(self._fun, staged.record)
            if not staged.captured:
                cache[key] = staged
        return staged, leaves

    def _stage(
        self, in_tree: Any, avals: Sequence[Any], static: Any, info: DebugInfo, donated: Any
    ) -> Staged:
        flat = FlatFunction(join(self._fun, static), in_tree)
        jaxpr, consts = stage(flat, avals, info)
        jaxpr.debug_info = flat.debug_info_of_result(info)
        captured = [c for c in consts if isinstance(c, Tracer)]
        if captured:
            closed, captured = ClosedJaxpr(constvars_to_invars(jaxpr)), consts
        else:
            closed = ClosedJaxpr(jaxpr, consts)
        params = dict(
            jaxpr=closed,
            name=info.func_name,
            donated_invars=(False,) * len(captured) + donated,
            **self._options,
        )
        return Staged(closed, captured, flat.out_tree, params)

    def _donated(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], static: tuple[Any, ...]
    ) -> tuple[bool, ...]:
        """For each leaf of the arguments that are not static, whether it is donated."""
        taken = {i for i, _ in static[0]} if static else set()
        count = len(args) + len(taken)
        nums = {n if n >= 0 else n + count for n in self._donate.argnums}
        flags: list[bool] = []
        for i, arg in zip([i for i in range(count) if i not in taken], args):
            flags += [i in nums] * len(tree.leaves(arg))
        for name in sorted(kwargs):
            flags += [name in self._donate.argnames] * len(tree.leaves(kwargs[name]))
        return tuple(flags)


def jit(
    fun: Callable[..., Any] | None = None,
    /,
    *,
    static_argnums: int | Sequence[int] | None = None,
    static_argnames: str | Sequence[str] | None = None,
    donate_argnums: int | Sequence[int] | None = None,
    donate_argnames: str | Sequence[str] | None = None,
    keep_unused: bool = False,
    device: Any = None,
    inline: bool = False,
    compiler_options: dict[str, Any] | None = None,
) -> Any:
    """Compile a function with XLA when it is called, once for each set of argument types.

    The function is traced: Python runs it once on stand-ins that have only a shape and a dtype,
    and what it does to them is compiled. Later calls with arguments of the same tree structure,
    shapes, dtypes and static values run the compiled program without running the Python code.

    Args:
      fun: a function of trees of arrays (or of static values) that returns a tree of arrays. It
        should have no side effects. Left out, `jit` is a decorator with options.
      static_argnums: positions of arguments that are ordinary Python values, known to the trace;
        they must be hashable, and each new value compiles the function anew.
      static_argnames: the same by name. Each of the two is inferred from the other.
      donate_argnums: positions of arguments whose memory may be reused for results; the arrays
        passed there cannot be used afterwards.
      donate_argnames: the same by name.
      keep_unused: whether arguments that the function does not use stay inputs of the program.
      device: where the program runs; by default where its arguments are.
      inline: whether, within another traced function, the calls are written out in place.
      compiler_options: options of XLA by name.

    Returns:
      A function with the signature of `fun`, with the methods `trace`, `lower` and `eval_shape`.

    Raises:
      TypeError: an argument that is not static is no array, or the function needs the number
        behind a traced value (`TracerBoolConversionError` and its kin).
      ValueError: a static argument is not hashable, or a position or name does not exist.

    >>> import covector as cv, covector.numpy as jnp
    >>> @cv.jit
    ... def norm(x):
    ...     return jnp.sqrt(jnp.sum(x * x))
    >>> print(norm(jnp.array([3.0, 4.0])))
    5.0
    """
    if fun is None:
        return partial(
            jit,
            static_argnums=static_argnums,
            static_argnames=static_argnames,
            donate_argnums=donate_argnums,
            donate_argnames=donate_argnames,
            keep_unused=keep_unused,
            device=device,
            inline=inline,
            compiler_options=compiler_options,
        )
    static = ArgumentSpec("jit", "static", fun, static_argnums, static_argnames)
    donate = ArgumentSpec("jit", "donate", fun, donate_argnums, donate_argnames)
    for both in (static.argnames & donate.argnames, {*static.argnums} & {*donate.argnums}):
        if both:
            raise ValueError(errors.static_and_donated("jit", sorted(both)))
    return JitFunction(fun, static, donate, keep_unused, inline, device, compiler_options)
