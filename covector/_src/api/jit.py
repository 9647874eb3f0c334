"""`jit`: the callable that stages, compiles and runs a function."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial, update_wrapper
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, WeakSet

from ..base import config, errors, events, sharding_errors, tree
from ..base.logs import logger
from ..base.monitoring import record_event_duration_secs
from ..base.tracebacks import drop_own_frames
from ..control.discharge import (
    check_aliases,
    discharge,
    makes_refs,
    needs_lost_rules,
    run_with_refs,
    takes_refs,
    with_refs,
)
from ..control.jit import jit_p
from ..core.avals import Token, aval_of
from ..core.jaxpr import ClosedJaxpr, DebugInfo, Jaxpr, eval_jaxpr
from ..core.leaks import LeakCheck
from ..core.refs import Ref
from ..core.trace import Tracer, context, eval_trace
from ..transforms.flatten import FlatFunction
from ..transforms.linearize import constvars_to_invars
from ..transforms.signatures import debug_info
from ..transforms.simplify import without_places
from ..transforms.stage import JaxprTrace, write_down
from ..xla.array import ArrayImpl, move
from ..xla.calls import ONE_LEAF, RepeatedCalls, call_for_tree, type_of
from ..xla.compile import Executable
from ..xla.devices import devices, first_device
from ..xla.placement import (
    Placement,
    common_placement,
    is_spread,
    lie_together,
    placement_on,
)
from ..xla.spread import Spread, spread_of
from ..xla.token_values import has_tokens
from .arguments import ArgumentSpec, check_arrays, join
from .constraints import (
    UNSPECIFIED,
    constrained,
    given_shardings,
    names_devices,
    one_device_of,
    type_and_placement,
)
from .materialization import Materialization, explain
from .retraces import TraceRecord, record_trace
from .stages import Lowered, References, Traced
from .wrapping import check_function

# A function's table of compiled programs is emptied when it reaches this many entries.
COMPILED_LIMIT = 4096


class Staged:
    """A function staged for arguments of certain types.

    Attributes:
      jaxpr: the program.
      captured: tracers and references that the function closed over; leading inputs of `jaxpr`.
      out_tree: the structure of the result.
      name: of the function.
      record: why it was traced.
      written: if it takes references, those inputs whose last values are further outputs of
        `jaxpr`; None if it takes none.
    """

    __slots__ = ("captured", "jaxpr", "name", "out_tree", "record", "written")

    def __init__(
        self,
        jaxpr: ClosedJaxpr,
        captured: list[Any],
        out_tree: Any,
        name: str,
        record: TraceRecord,
        written: tuple[int, ...] | None,
    ):
        self.jaxpr = jaxpr
        self.captured = captured
        self.out_tree = out_tree
        self.name = name
        self.record = record
        self.written = written

    def is_alive(self) -> bool:
        """Whether the traces live that the captured tracers belong to."""
        return all(c._trace.alive for c in self.captured if isinstance(c, (Tracer, Ref)))


class Program(NamedTuple):
    """A compiled function, for arguments of certain types.

    Attributes:
      executable: the compiled program.
      placement: where its results lie.
      out_tree: the structure of the result.
      donated: for each argument of a program for several devices, whether it is donated.
    """

    executable: Executable
    placement: Placement | None
    out_tree: Any
    donated: tuple[bool, ...] = ()

    def of_arrays(self, arrays: Sequence[ArrayImpl]) -> Any:
        """The result for arguments that have these arrays as their leaves."""
        places = self.executable.in_placements
        if places is None:
            return self.out_tree.unflatten(self.executable.run(arrays, self.placement))
        moved = list(map(move, arrays, places))
        result = self.out_tree.unflatten(self.executable.run(moved, self.placement))
        for before, after, donated in zip(arrays, moved, self.donated):
            if donated and before is not after:  # what was donated was a copy of it
                before.delete()
        return result


# What has been staged, by the user's function: it is shared by all `jit`s of one function, whatever
# their options, and lives as long as the function.
_staged: WeakKeyDictionary[Any, dict[Any, Staged]] = WeakKeyDictionary()

# Every living jitted function, so that their tables can be emptied together.
_functions: WeakSet[JitFunction] = WeakSet()


def clear_jit_caches() -> None:
    """Forget what was staged and compiled for every jitted function."""
    for function in list(_functions):
        function._forget_programs()
    _staged.clear()


class JitFunction(RepeatedCalls):
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
        shardings: tuple[Any, Any] | None = None,
    ):
        update_wrapper(self, fun)
        self._fun = fun
        self._static = static
        self._donate = donate
        self._device = device
        self._shardings = shardings
        self._options = dict(
            keep_unused=keep_unused,
            inline=inline,
            compiler_options=tuple(sorted((compiler_options or {}).items())),
        )
        # Compiled programs, by the types of their arguments.
        self._compiled: dict[Any, Program] = {}
        self._calls = {} if not static and device is None else None
        _functions.add(self)

    def _call(self, /, *args: Any, **kwargs: Any) -> Any:
        """A call for which `RepeatedCalls` knows no program."""
        try:
            if config.disable_jit.value:
                return self._fun(*args, **kwargs)
            if context.trace is eval_trace:
                return self._call_concrete(args, kwargs)
            staged, params, leaves = self._stage(args, kwargs)
            if needs_lost_rules(staged.jaxpr):
                return self._fun(*args, **kwargs)
            return self._apply(staged, params, leaves, self._tree_of(args, kwargs))
        except Exception as error:
            drop_own_frames(error)
            raise

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else partial(self, instance)

    def __reduce__(self) -> Any:
        # Found again by its name where that is bound to it. Scripts are another module elsewhere.
        module = sys.modules.get(self._fun.__module__ or "__main__")
        name = getattr(self._fun, "__qualname__", "")
        if self._fun.__module__ != "__main__" and _lookup(module, name) is self:
            return name
        return _jit_again, (self._fun, self._keywords)

    def __repr__(self) -> str:
        try:
            return f"<PjitFunction of {self.__wrapped__!r}>"
        except Exception:  # the user's own `__repr__` failed, which must not hide other errors
            return "<PjitFunction>"

    @property
    def _keywords(self) -> dict[str, Any]:
        """The options as they are given to `jit`."""
        return dict(
            static_argnums=self._static.argnums,
            static_argnames=sorted(self._static.argnames),
            donate_argnums=self._donate.argnums,
            donate_argnames=sorted(self._donate.argnames),
            device=self._device,
            **dict(zip(("in_shardings", "out_shardings"), self._shardings or ())),
            keep_unused=self._options["keep_unused"],
            inline=self._options["inline"],
            compiler_options=dict(self._options["compiler_options"]),
        )

    def _apply(
        self, staged: Staged, params: dict[str, Any], leaves: list[Any], in_tree: Any
    ) -> Any:
        """Apply the staged function under a transformation."""
        if self._shardings is not None:
            ins, wanted = self._shardings_of(staged.out_tree, in_tree, staged.jaxpr)
            leaves = list(map(constrained, leaves, ins))
        if staged.written is not None:
            operands = [*staged.captured, *leaves]
            check_aliases(staged.jaxpr.debug_info, operands)
            outs = with_refs(partial(jit_p.bind, **params), staged.written, operands)
        elif self._options["inline"]:
            outs = _written_out(staged.jaxpr, [*staged.captured, *leaves])
        else:
            outs = jit_p.bind(*staged.captured, *leaves, **params)
        if self._shardings is not None:
            outs = list(map(constrained, outs, wanted))
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
        except (TypeError, OverflowError):
            if any(type(x) is Token for x in leaves):
                return self._call_with_tokens(args, kwargs)
            if any(type(x) is Ref for x in leaves):
                return self._call_with_refs(args, kwargs)
            check_arrays(
                "jit", debug_info("jit", self._fun, dynamic, dynamic_kwargs, static), leaves
            )
            raise
        usual = self._device is None and config.default_device.value is None
        together = usual and lie_together(arrays)
        is_kept = bool(self._shardings) or together or (usual and is_spread(arrays))
        types = [*map(type_of, arrays)]
        key = (in_tree, static, *types, config.trace_key())
        program = self._compiled.get(key) if is_kept else None
        if program is not None:
            return program.of_arrays(arrays)
        events.record("slow call", self)
        staged, params, _ = self._stage(args, kwargs)
        staged.record.compiled = True
        if staged.written is not None:
            return self._call_with_refs(args, kwargs)
        if has_tokens(staged.jaxpr):
            return self._call_with_tokens(args, kwargs)
        if is_kept:
            program = self._compile(staged, params, in_tree, arrays, together)
        if program is None:
            outs = backend.run_jaxpr(arrays, self._device, **params)
            return staged.out_tree.unflatten(outs)
        self._remember(program, key, args, kwargs, types, program.executable.takes(arrays))
        return program.of_arrays(arrays)

    def _compile(
        self,
        staged: Staged,
        params: dict[str, Any],
        in_tree: Any,
        arrays: Sequence[ArrayImpl],
        together: bool,
    ) -> Program | None:
        """The compiled program for arguments that lie where these do.

        There is none for one device if they do not lie `together` there: they have to be moved.
        """
        backend = eval_trace.backend
        spread = self._spread(staged, in_tree, [(x.aval, x._placement) for x in arrays])
        if spread is not None:
            executable = backend.executable_of(spread, **params)
            return Program(executable, None, staged.out_tree, params["donated_invars"])
        if not together:
            return None
        placement = common_placement(arrays, staged.name)
        device = None if placement is None else placement.device
        if placement is None and self._shardings is not None and names_devices(self._shardings):
            placement = placement_on(first_device(), True)
        return Program(backend.executable_of(device, **params), placement, staged.out_tree)

    def _spread(self, staged: Staged, in_tree: Any, types: Sequence[Any]) -> Spread | None:
        """How the program is spread over several devices, if it is."""
        ins, outs = self._shardings_of(staged.out_tree, in_tree, staged.jaxpr)
        return spread_of(staged.name, staged.jaxpr, types, ins, outs)

    def _shardings_of(
        self, out_tree: Any, in_tree: Any, jaxpr: ClosedJaxpr
    ) -> tuple[list[Any], list[Any]]:
        """The shardings that were given for each argument and each result, or None."""
        if self._shardings is None:
            return [], []
        ins, outs = self._shardings
        positional, keywords = in_tree.children()
        if keywords.num_leaves and ins is not UNSPECIFIED:
            raise ValueError(sharding_errors.shardings_and_keywords())
        given = tree.flatten_axes("jit in_shardings", positional, ins)
        given += [None] * keywords.num_leaves
        wanted = tree.flatten_axes("jit out_shardings", out_tree, outs)
        return (
            given_shardings("jit in_shardings", given, jaxpr.in_avals[-len(given) :]),
            given_shardings("jit out_shardings", wanted, jaxpr.out_avals),
        )

    def _call_with_tokens(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call with tokens among the arguments, the results, or what the function closes over."""
        staged, params, leaves = self._stage(args, kwargs)
        outs = eval_trace.backend.run_jaxpr(leaves, self._device, **params)
        return staged.out_tree.unflatten(outs)

    def _call_with_refs(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call with references among the arguments, or what the function closes over.

        The program overwrites the arrays that they hold, which nobody else does.
        """
        staged, params, leaves = self._stage(args, kwargs)
        assert staged.written is not None
        operands = [*staged.captured, *leaves]
        check_aliases(staged.jaxpr.debug_info, operands)
        donated = tuple(
            [
                i in staged.written if type(x) is Ref else is_donated
                for i, (x, is_donated) in enumerate(zip(operands, params["donated_invars"]))
            ]
        )
        run = eval_trace.backend.run_jaxpr
        options = params | dict(donated_invars=donated)
        outs = run_with_refs(
            lambda *values: run(values, self._device, **options), staged.written, operands
        )
        return staged.out_tree.unflatten(outs)

    def _remember(
        self,
        program: Program,
        key: Any,
        args: tuple[Any, ...],
        kwargs: Any,
        types: list[Any],
        is_ready: bool,
    ) -> None:
        """Let the next calls with arguments of these types go straight to the program."""
        if len(self._compiled) >= COMPILED_LIMIT:
            self._forget_programs()
        self._compiled[key] = program
        is_ready = is_ready and program.executable.only_launches
        if self._calls is not None and not kwargs and is_ready:
            in_tree, start = tree.structure(args), config.trace_key()
            call = call_for_tree(program.executable, program.placement, program.out_tree)
            self._calls[start, in_tree, *types] = call
            if all(part == ONE_LEAF for part in in_tree.children()):
                self._calls[start, *types] = call

    def trace(self, /, *args: Any, **kwargs: Any) -> Traced:
        """Trace the function for the types of these arguments, without running it.

        Returns:
          A `Traced`, with the jaxpr, and with `lower()` for the next stage.
        """
        staged, params, leaves = self._stage(args, kwargs)
        in_tree = self._tree_of(args, kwargs)
        spread = None
        if self._device is None and staged.written is None:
            spread = self._spread(staged, in_tree, list(map(type_and_placement, leaves)))
        traced = Traced(staged.jaxpr, params, in_tree, staged.out_tree, spread, self._device)
        if staged.written is not None:
            traced._refs = References(staged.captured, staged.written)
        return traced

    def _tree_of(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The tree of the arguments that are not static."""
        if self._static:
            args, kwargs, _ = self._static.split(args, kwargs)
        return tree.structure((args, kwargs))

    def lower(self, /, *args: Any, lowering_platforms: Any = None, **kwargs: Any) -> Lowered:
        """Trace the function for the types of these arguments, and write it as StableHLO."""
        return self.trace(*args, **kwargs).lower(lowering_platforms=lowering_platforms)

    def eval_shape(self, /, *args: Any, **kwargs: Any) -> Any:
        """Shape and dtype of the results for arguments of these types."""
        return self.trace(*args, **kwargs).out_info

    def explain_materialization(self, /, *args: Any, **kwargs: Any) -> Materialization:
        """Which values of the program are stored, rather than computed again in each loop; and why.

        Args:
          *args, **kwargs: arguments of the function, of which only the types count.

        Returns:
          A report, whose text has a line or two for each such value.

        >>> import covector as cv, covector.numpy as jnp
        >>> @cv.jit
        ... def f(x):
        ...     for _ in range(3):
        ...         x = jnp.sin(x) * jnp.cos(x) + x[0]
        ...     return x
        >>> report = f.explain_materialization(jnp.ones(8))
        >>> len(report.stored), report.nbytes, report.stored[0].times
        (2, 64, 4)
        """
        traced = self.trace(*args, **kwargs)
        return explain(traced.jaxpr, traced.fun_name)

    def _forget_programs(self) -> None:
        self._compiled.clear()
        if self._calls is not None:
            self._calls.clear()

    def _cache_size(self) -> int:
        """How many compiled programs the table of repeated calls holds."""
        return len(self._compiled)

    def clear_cache(self) -> None:
        """Forget what was traced and compiled for this function."""
        self._forget_programs()
        _staged.pop(self._fun, None)

    def _stage(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Staged, dict[str, Any], list[Any]]:
        """Stage the function for the types of these arguments, unless it has been.

        Returns:
          The staged function, the parameters of the `jit` primitive for it, and the arguments'
          leaves.
        """
        static: tuple[Any, ...] = ()
        if self._static:
            args, kwargs, static = self._static.split(args, kwargs)
        leaves, in_tree = tree.flatten((args, kwargs))
        try:
            avals = tuple([aval_of(x) for x in leaves])
        except TypeError:
            check_arrays("jit", debug_info("jit", self._fun, args, kwargs, static), leaves)
            raise
        key = (in_tree, avals, static, config.trace_key().tracing, context.axis_env)
        try:
            cache = _staged.setdefault(self._fun, {})
        except TypeError:  # neither hash nor weak reference: it is staged each time
            cache = {}
        staged = cache.get(key)
        if staged is None or not staged.is_alive():
            if config.no_tracing.value:
                raise RuntimeError(errors.tracing_forbidden(self._fun))
            info = debug_info("jit", self._fun, args, kwargs, static)
            flat, start = FlatFunction(join(self._fun, static), in_tree), time.perf_counter()
            with LeakCheck("jit"):  # functions nest, and Python's frames are few: hence from here
                jaxpr, consts = write_down(flat, avals, info)
            seconds = time.perf_counter() - start
            record = TraceRecord(in_tree, avals, static, info.arg_names or ())
            staged = _staged_as(jaxpr, consts, flat, info, record)
            _tell_of_trace(self._fun, record, info, seconds)
            if not staged.captured or not config.check_tracer_leaks.value:
                cache[key] = staged
        donated = (False,) * len(leaves)
        if self._donate:
            donated = self._donated(args, kwargs, static)
        params = dict(
            jaxpr=staged.jaxpr,
            name=staged.name,
            donated_invars=(False,) * len(staged.captured) + donated,
            **self._options,
        )
        return staged, params, leaves

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


def _written_out(jaxpr: ClosedJaxpr, args: Sequence[Any]) -> list[Any]:
    """Apply a jaxpr under a transformation as if its eqns were written in this place."""
    trace = context.trace
    if type(trace) is JaxprTrace:
        return trace.write_out(jaxpr, args)
    inlined = without_places(jaxpr)
    return eval_jaxpr(inlined.jaxpr, inlined.consts, *args)


# The event that a function was traced, which lasts as long as that took.
_TRACED = "/jax/core/compile/jaxpr_trace_duration"


def _staged_as(
    jaxpr: Jaxpr, consts: list[Any], flat: FlatFunction, info: DebugInfo, record: TraceRecord
) -> Staged:
    """What a function was staged as: tracers among the constants become inputs, with the others.

    Of what references hold, it becomes a function.
    """
    jaxpr.debug_info = flat.debug_info_of_result(info)
    captured = [c for c in consts if isinstance(c, (Tracer, Ref))]
    if captured:
        closed, captured = ClosedJaxpr(constvars_to_invars(jaxpr)), consts
    else:
        closed = ClosedJaxpr(jaxpr, consts)
    written = None
    if takes_refs(closed):
        closed, written = discharge(closed)
    elif makes_refs(closed):
        closed, _ = discharge(closed)
    return Staged(closed, captured, flat.out_tree, info.func_name, record, written)


def _tell_of_trace(
    fun: Callable[..., Any], record: TraceRecord, info: DebugInfo, seconds: float
) -> None:
    """Tell the log, and those who listen, that a function was traced."""
    level = logging.WARNING if config.log_compiles.value else logging.DEBUG
    logger.log(level, "Finished tracing %s for jit in %.9f sec", info.func_name, seconds)
    record_event_duration_secs(_TRACED, seconds, fun_name=info.func_name)
    record_trace(fun, record)


def jit(
    fun: Callable[..., Any] | None = None,
    /,
    *,
    in_shardings: Any = UNSPECIFIED,
    out_shardings: Any = UNSPECIFIED,
    static_argnums: int | Sequence[int] | None = None,
    static_argnames: str | Sequence[str] | None = None,
    donate_argnums: int | Sequence[int] | None = None,
    donate_argnames: str | Sequence[str] | None = None,
    keep_unused: bool = False,
    device: Any = None,
    backend: str | None = None,
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
      in_shardings: how each argument is to be spread over devices: a sharding, a `PartitionSpec`
        within `set_mesh`, or None for as it comes; or a prefix tree of them. All must be over the
        same devices, on which the program runs. Arrays that are committed elsewhere are refused.
      out_shardings: the same of the results, of which None leaves it to the compiler.
      static_argnums: positions of arguments that are ordinary Python values, known to the trace;
        they must be hashable, and each new value compiles the function anew.
      static_argnames: the same by name. Each of the two is inferred from the other.
      donate_argnums: positions of arguments whose memory may be reused for results; the arrays
        passed there cannot be used afterwards.
      donate_argnames: the same by name.
      keep_unused: whether arguments that the function does not use stay inputs of the program.
      device: where the program runs; by default where its arguments are.
      backend: the name of a platform, whose first device it is to run on.
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
            in_shardings=in_shardings,
            out_shardings=out_shardings,
            static_argnums=static_argnums,
            static_argnames=static_argnames,
            donate_argnums=donate_argnums,
            donate_argnames=donate_argnames,
            keep_unused=keep_unused,
            device=device,
            backend=backend,
            inline=inline,
            compiler_options=compiler_options,
        )
    check_function("jit", fun)
    shardings = None
    if in_shardings is not UNSPECIFIED or out_shardings is not UNSPECIFIED:
        if device is not None or backend is not None:
            raise ValueError(sharding_errors.shardings_and_device())
        shardings = in_shardings, out_shardings
        device = one_device_of("jit", shardings) or device
    if backend is not None:
        device = devices(backend)[0]
    static = ArgumentSpec("jit", "static", fun, static_argnums, static_argnames)
    donate = ArgumentSpec("jit", "donate", fun, donate_argnums, donate_argnames)
    for both in (static.argnames & donate.argnames, {*static.argnums} & {*donate.argnums}):
        if both:
            raise ValueError(errors.static_and_donated("jit", sorted(both)))
    options = keep_unused, inline, device, compiler_options, shardings
    return JitFunction(fun, static, donate, *options)


def _jit_again(fun: Callable[..., Any], keywords: dict[str, Any]) -> Any:
    """A jitted function from its pickled parts."""
    return jit(fun, **keywords)


def _lookup(module: Any, qualified_name: str) -> Any:
    """What a module binds a dotted name to, or None."""
    found = module
    for name in qualified_name.split("."):
        found = getattr(found, name, None)
    return found
