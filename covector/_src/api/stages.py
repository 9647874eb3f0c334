"""The stages between a function and its compiled program, one object each.

jit(f).trace(*args)  ->  Traced    a jaxpr
           .lower()  ->  Lowered   a StableHLO module
         .compile()  ->  Compiled  a program of XLA's
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..base import tree
from ..base.errors import aot_transformed, aot_tree_differs, aot_types_differ
from ..base.sharding_errors import compiled_for_others
from ..control.discharge import run_with_refs
from ..core.avals import aval_of
from ..core.jaxpr import ClosedJaxpr
from ..core.trace import Tracer, eval_trace
from ..sharding.base import Sharding
from ..xla.array import ArrayImpl, move
from ..xla.compile import Executable, LoweredModule, compile_lowered, lower_jaxpr
from ..xla.devices import first_device, lowering_platform
from ..xla.hlo import cost_of, hlo_text, to_hlo
from ..xla.layout import Format
from ..xla.mlir import with_builders
from ..xla.placement import SingleDeviceSharding, placement_on
from ..xla.spread import Spread
from .shape_dtype import ShapeDtypeStruct

# XLA's options by name.
CompilerOptions = dict[str, str | bool]


class ArgInfo:
    """What is known of one flat argument of a staged function.

    Attributes:
      _aval: its type.
      donated: whether its memory may be reused for a result.
    """

    __slots__ = ("_aval", "donated")

    def __init__(self, aval: Any, donated: bool):
        self._aval = aval
        self.donated = donated

    @property
    def shape(self) -> tuple[int, ...]:
        return self._aval.shape

    @property
    def dtype(self) -> Any:
        return self._aval.dtype

    def __repr__(self) -> str:
        return f"ArgInfo(_aval={self._aval!r}, donated={self.donated})"


class References(NamedTuple):
    """What a program knows of the references that it is given; see `control/discharge.py`.

    Attributes:
      captured: what its function closes over, its first inputs.
      written: the inputs whose last values are its last outputs.
    """

    captured: list[Any]
    written: tuple[int, ...]


class _Stage:
    """What all stages know: the types and trees of arguments and results."""

    __slots__ = ("_jaxpr", "_params", "_refs", "_static", "in_tree", "out_tree")

    def __init__(self, jaxpr: ClosedJaxpr, params: dict[str, Any], in_tree: Any, out_tree: Any):
        self._jaxpr = jaxpr
        self._params = params
        self._refs: References | None = None
        self.in_tree = in_tree
        self.out_tree = out_tree

    def _avals(self) -> list[Any]:
        """The types of the flat arguments; of references, of the arrays that they hold."""
        avals = self._jaxpr.in_avals
        return avals if self._refs is None else avals[len(self._refs.captured) :]

    def _result_avals(self) -> list[Any]:
        """The types of the flat results."""
        return self._jaxpr.out_avals[: self.out_tree.num_leaves]

    @property
    def in_avals(self) -> Any:
        """The types of the arguments, in the tree `(args, kwargs)`."""
        return tree.unflatten(self.in_tree, self._avals())

    @property
    def args_info(self) -> Any:
        """An `ArgInfo` for each flat argument, in the tree `(args, kwargs)`."""
        avals = self._avals()
        donated = self._params["donated_invars"][-len(avals) :]
        return tree.unflatten(self.in_tree, [ArgInfo(a, d) for a, d in zip(avals, donated)])

    @property
    def out_info(self) -> Any:
        """Shape and dtype of each result, in the tree of the results."""
        return tree.unflatten(
            self.out_tree,
            [
                ShapeDtypeStruct(a.shape, a.dtype, weak_type=a.weak_type)
                for a in self._result_avals()
            ],
        )

    @property
    def donate_argnums(self) -> tuple[int, ...]:
        """The flat positions of donated arguments."""
        return tuple(i for i, d in enumerate(self._params["donated_invars"]) if d)


class Traced(_Stage):
    """A function traced for arguments of certain types: its jaxpr.

    >>> import covector as cv, covector.numpy as jnp
    >>> traced = cv.jit(lambda x: jnp.sin(x)).trace(1.0)
    >>> traced.jaxpr
    { lambda ; a:f32[]. let b:f32[] = sin a in (b,) }
    """

    __slots__ = ("_device", "_spread")

    def __init__(
        self,
        jaxpr: Any,
        params: Any,
        in_tree: Any,
        out_tree: Any,
        spread: Spread | None = None,
        device: Any = None,
    ):
        super().__init__(jaxpr, params, in_tree, out_tree)
        self._spread = spread
        self._device = device

    @property
    def jaxpr(self) -> ClosedJaxpr:
        """The program."""
        return self._jaxpr

    @property
    def fun_name(self) -> str:
        """The name of the function."""
        return self._params["name"]

    @property
    def out_avals(self) -> Any:
        """The types of the results, in their tree."""
        return tree.unflatten(self.out_tree, self._result_avals())

    def lower(self, *, lowering_platforms: Sequence[str] | None = None) -> Lowered:
        """Write the program as StableHLO.

        Args:
          lowering_platforms: a platform for which to write it; by default the one it runs on.
        """
        spread = self._spread
        device = (self._device or first_device()) if spread is None else spread.device
        platform = lowering_platforms[0] if lowering_platforms else lowering_platform(device)
        p = self._params
        module = lower_jaxpr(
            self._jaxpr,
            p["name"],
            p["donated_invars"],
            p["keep_unused"],
            platform,
            spread=spread,
        )
        lowered = Lowered(self._jaxpr, p, self.in_tree, self.out_tree, module, device)
        lowered._refs = self._refs
        return lowered


class Lowered(_Stage):
    """A function as a module of StableHLO."""

    __slots__ = ("_compiled", "_device", "_module")

    def __init__(
        self, jaxpr: Any, params: Any, in_tree: Any, out_tree: Any, module: LoweredModule,
        device: Any,
    ):  # fmt: skip
        super().__init__(jaxpr, params, in_tree, out_tree)
        self._module = module
        self._device = device

    def as_text(self, dialect: str | None = None, *, debug_info: bool = False) -> str:
        """The module as text.

        Args:
          dialect: `"stablehlo"` (the default), or `"hlo"` for XLA's own form before optimization.
          debug_info: whether the places in the user's program are written too.
        """
        module = self._module.module_context.module
        if dialect == "hlo":
            return hlo_text(to_hlo(module), debug_info)
        if dialect not in (None, "stablehlo"):
            raise ValueError(f"[Lowered.as_text] the dialect {dialect!r} is not stablehlo or hlo")
        return module.operation.get_asm(enable_debug_info=debug_info)

    def compiler_ir(self, dialect: str | None = None) -> Any:
        """The module itself: jaxlib's object for the dialect `"stablehlo"` or `"hlo"`."""
        module = self._module.module_context.module
        if dialect in (None, "stablehlo"):
            return with_builders(module)
        if dialect == "hlo":
            return to_hlo(module)
        raise ValueError(f"[Lowered.compiler_ir] the dialect {dialect!r} is not stablehlo or hlo")

    def cost_analysis(self) -> dict[str, float]:
        """XLA's estimates for the program before optimization: `flops`, `bytes accessed`, ..."""
        return cost_of(self._device, to_hlo(self._module.module_context.module))

    def compile(self, compiler_options: dict[str, Any] | None = None) -> Compiled:
        """Compile the module with XLA.

        Args:
          compiler_options: options of XLA by name.
        """
        options = dict(self._params["compiler_options"]) | (compiler_options or {})
        executable = compile_lowered(self._module, self._jaxpr, self._device, options)
        compiled = Compiled(
            self._jaxpr, self._params, self.in_tree, self.out_tree, executable, self._device
        )
        compiled._refs = self._refs
        return compiled


class Compiled(_Stage):
    """A compiled program, to be called with arguments of the types it was compiled for."""

    __slots__ = ("_device", "_executable")

    def __init__(
        self, jaxpr: Any, params: Any, in_tree: Any, out_tree: Any, executable: Executable,
        device: Any,
    ):  # fmt: skip
        super().__init__(jaxpr, params, in_tree, out_tree)
        self._executable = executable
        self._device = device

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the program; static arguments are left out.

        Raises:
          TypeError: the arguments are not of the tree or types that it was compiled for.
        """
        leaves, in_tree = tree.flatten((args, kwargs))
        for x in leaves:
            if isinstance(x, Tracer):
                raise TypeError(aot_transformed(self._params["name"], type(x)))
        if in_tree != self.in_tree:
            raise TypeError(aot_tree_differs(self._params["name"], self.in_tree, in_tree))
        self._check_types(leaves)
        if self._refs is None:
            outs = self._run(*leaves)
        else:
            operands = [*self._refs.captured, *leaves]
            outs = run_with_refs(self._run, self._refs.written, operands)
        return tree.unflatten(self.out_tree, outs)

    call = __call__

    def _run(self, *leaves: Any) -> list[Any]:
        """The results for arguments of the right types."""
        placement = placement_on(self._device, False)
        places = self._executable.in_placements or [placement] * len(leaves)
        arrays = list(map(eval_trace.backend.to_array, leaves))
        self._check_places(arrays)
        arrays = list(map(move, arrays, places))
        return self._executable.run(arrays, placement)

    def _check_places(self, arrays: Sequence[ArrayImpl]) -> None:
        """Raise if arguments that may not be moved are not where a spread program takes them."""
        wrong = [
            (self._name_of(i), x.aval, x.sharding, place.sharding)
            for i, (x, place) in enumerate(zip(arrays, self._executable.in_placements or ()))
            if x.committed and not x.sharding.is_equivalent_to(place.sharding, x.ndim)
        ]
        if wrong:
            raise ValueError(compiled_for_others(self._params["name"], wrong))

    def _name_of(self, i: int) -> str:
        """An argument's name, or its number."""
        info = self._jaxpr.jaxpr.debug_info
        names = info.arg_names if info is not None else None
        return names[i] if names else f"number {i}"

    def _check_types(self, leaves: Sequence[Any]) -> None:
        wrong = []
        for i, (x, want) in enumerate(zip(leaves, self._avals())):
            got = aval_of(x)
            if (got.shape, got.dtype) != (want.shape, want.dtype):
                wrong.append((self._name_of(i), want, got))
        if wrong:
            raise TypeError(aot_types_differ(self._params["name"], wrong))

    def as_text(self) -> str | None:
        """The program as XLA optimized it, as text."""
        return "\n\n".join(m.to_string() for m in self._executable.loaded.hlo_modules())

    def cost_analysis(self) -> dict[str, float]:
        """XLA's estimates for the optimized program: `flops`, `bytes accessed`, ..."""
        return self._executable.loaded.cost_analysis()

    def memory_analysis(self) -> Any:
        """How many bytes arguments, results, temporaries and code take on the device."""
        return self._executable.loaded.get_compiled_memory_stats()

    def runtime_executable(self) -> Any:
        """jaxlib's object for the loaded program."""
        return self._executable.loaded

    @property
    def input_shardings(self) -> Any:
        """Where the program wants its arguments, in the tree `(args, kwargs)`."""
        places = self._executable.in_placements
        return tree.unflatten(self.in_tree, self._shardings(places, self._jaxpr.in_avals))

    @property
    def output_shardings(self) -> Any:
        """Where the program leaves its results, in their tree."""
        places = self._executable.out_placements
        return tree.unflatten(self.out_tree, self._shardings(places, self._jaxpr.out_avals))

    def _shardings(self, places: Sequence[Any] | None, avals: Sequence[Any]) -> list[Sharding]:
        if places is None:
            return [SingleDeviceSharding(self._device)] * len(avals)
        return [placement.sharding for placement in places]

    @property
    def input_formats(self) -> Any:
        """How the program wants its arguments to lie in memory, in the tree `(args, kwargs)`."""
        layouts, avals = self._executable.input_layouts(), self._jaxpr.in_avals
        shardings = self._shardings(self._executable.in_placements, avals)
        return tree.unflatten(self.in_tree, list(map(Format, layouts, shardings)))

    @property
    def output_formats(self) -> Any:
        """How the results will lie in memory, in their tree."""
        layouts, avals = self._executable.output_layouts(), self._jaxpr.out_avals
        shardings = self._shardings(self._executable.out_placements, avals)
        return tree.unflatten(self.out_tree, list(map(Format, layouts, shardings)))
