"""The emitter: what the `emit` rules of primitives write StableHLO with.

A rule receives an `Emitter` for its eqn and the operands as MLIR values, and returns the results
as MLIR values.  The same object serves as the `ctx` of lowering rules that users register: it has
`avals_in`, `avals_out`, `module_context` and `primitive`, and operations built directly with
`jaxlib.mlir` land at the right place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from ..base import config, dtypes
from ..core.avals import AbstractValue, ShapedArray, abstract_token
from ..core.effects import Effect, ordered_effects
from ..core.jaxpr import ClosedJaxpr
from ..core.scopes import scope_path
from ..ops.physical import element_dims, physical_aval
from ..sharding.spec import PartitionSpec
from ..transforms.stage import stage_closed
from . import kernels, lapack
from .callbacks import HostCallback, callback_target
from .manual import manual_computation, manual_region
from .mlir import ir
from .module import ModuleContext
from .native import xla_client
from .tokens import TokenSet


class Emitter:
    """Writes the operations of one eqn.

    Attributes:
      module_context: the module that is being written.
      primitive: the primitive of the eqn.
      avals_in, avals_out: types of the eqn's operands and results.
      eqn: the eqn itself, or None.
    """

    __slots__ = ("avals_in", "avals_out", "eqn", "module_context", "name_stack", "primitive")

    def __init__(
        self,
        module_context: ModuleContext,
        primitive: Any,
        avals_in: Sequence[AbstractValue],
        avals_out: Sequence[AbstractValue],
        eqn: Any = None,
        name_stack: tuple[str, ...] = (),
    ):
        self.module_context = module_context
        self.primitive = primitive
        self.avals_in = avals_in
        self.avals_out = avals_out
        self.eqn = eqn
        self.name_stack = name_stack

    @property
    def platform(self) -> str:
        return self.module_context.platform

    @property
    def platforms(self) -> tuple[str, ...]:
        return (self.module_context.platform,)

    @property
    def is_divided(self) -> bool:
        """Whether the compiler divides what is written here among several devices."""
        module = self.module_context
        return bool(module.devices) and (module.region is None or bool(module.region.others))

    @property
    def has_kernels(self) -> bool:
        """Whether the program may call our own kernels."""
        module = self.module_context
        cut = module.devices and (module.region is None or module.region.others)
        if module.is_portable or cut:  # the compiler cannot cut what it does not know
            return False
        return kernels.are_on(self.platform)

    @property
    def ordered_effects(self) -> list[Effect]:
        """The effects of the eqn whose order is kept."""
        return ordered_effects(self.eqn.effects) if self.eqn is not None else []

    @property
    def tokens_in(self) -> TokenSet:
        """The tokens of the eqn's ordered effects after which its operations come."""
        effects = self.ordered_effects
        return TokenSet(dict(zip(effects, self.module_context.current_tokens(effects))))

    def set_tokens_out(self, tokens_out: TokenSet) -> None:
        """Say which tokens the operations of the eqn have made."""
        self.module_context.tokens.update(tokens_out.items())

    def replace(self, **changes: Any) -> Emitter:
        """An emitter that differs in the given fields."""
        fields = {name: getattr(self, name) for name in Emitter.__slots__} | changes
        return type(self)(**fields)

    # ---------------------------------------------------------------- operations

    def op(self, name: str, /, *operands: Any, out: Any = None, **attributes: Any) -> Any:
        """Write one operation.

        Args:
          name: of a StableHLO op, or with its dialect in front (`"chlo.erf"`).
          *operands: MLIR values.
          out: the aval, or list of avals, of the results; by default those of the eqn.
          **attributes: Python values: an int becomes an i64, numbers of NumPy's keep their width, a
            sequence of ints becomes an i64 array, a string beginning with `#` is parsed as an
            attribute, an array becomes dense elements.

        Returns:
          The result, or the list of results if there are several.
        """
        if out is None:
            out = self.avals_out
        elif isinstance(out, AbstractValue):
            out = (out,)
        module = self.module_context
        op = ir.Operation.create(
            name if "." in name else "stablehlo." + name,
            results=[module.type_of(aval) for aval in out],
            operands=operands,
            attributes={key: module.attribute(value) for key, value in attributes.items()}
            if attributes
            else None,
        )
        return op.result if len(out) == 1 else list(op.results)

    def op_with_regions(
        self,
        name: str,
        operands: Sequence[Any],
        regions: Sequence[tuple[Sequence[AbstractValue], Callable[..., Sequence[Any]]]],
        out: Sequence[AbstractValue] | None = None,
        **attributes: Any,
    ) -> list[Any]:
        """Write one operation that has regions, such as a reduction or a loop.

        The tokens of ordered effects of the eqn go through the regions: those of a loop take them
        after their arguments, those of a `case` find them around them.

        Args:
          name: of a StableHLO op.
          operands: MLIR values.
          regions: for each region the avals of its arguments, and a function from those arguments
            to the values that the region returns.
          out: avals of the results; by default those of the eqn.
          **attributes: as for `op`.
        """
        module = self.module_context
        effects = self.ordered_effects if name in ("while", "case") else []
        tokens = module.current_tokens(effects)
        kinds = module.token_types(effects)
        loop = name == "while"
        barriers_before, loops_before = module.barriers, module.loops
        # Only the regions of control flow may read values that are defined around them.
        control_flow = name in ("while", "case")
        out = self.avals_out if out is None else out
        op = ir.Operation.create(
            "stablehlo." + name,
            results=[*[module.type_of(aval) for aval in out], *kinds],
            operands=[*operands, *tokens] if loop else list(operands),
            attributes={key: module.attribute(value) for key, value in attributes.items()},
            regions=len(regions),
        )
        for i, (region, (avals, body)) in enumerate(zip(op.regions, regions)):
            types = [module.type_of(aval) for aval in avals]
            block = region.blocks.append(*types, *(kinds if loop else ()))
            given = list(block.arguments)
            inside = nullcontext() if control_flow else module.without_parameters()
            with ir.InsertionPoint(block), inside:
                module.tokens.update(zip(effects, given[len(avals) :] if loop else tokens))
                results = list(body(*given[: len(avals)]))
                if not (loop and i == 0):  # the condition of a loop returns nothing else
                    results += module.current_tokens(effects)
                ir.Operation.create("stablehlo.return", results=[], operands=results)
        if module.barriers > barriers_before:
            module.note_barriers(name)
        if loop:
            module.has_nested_loops |= module.loops > loops_before
            module.loops += 1
        results = list(op.results)
        module.tokens.update(zip(effects, results[len(out) :]))
        return results[: len(out)]

    def constant(self, value: Any, dtype: Any = None) -> Any:
        """A constant array or scalar."""
        return self.module_context.constant(np.asarray(value, dtype))

    def full(self, value: Any, aval: AbstractValue) -> Any:
        """An array of one value."""
        assert isinstance(aval, ShapedArray)
        scalar = self.constant(value, aval.dtype)
        return self.broadcast_to(scalar, ShapedArray((), aval.dtype), aval.shape)

    def broadcast_to(self, x: Any, aval: Any, shape: tuple[int, ...]) -> Any:
        """An elementwise operand of type `aval` at the given shape."""
        if aval.shape == shape:
            return x
        dims = tuple(range(len(shape))) if aval.shape else ()
        out = ShapedArray(shape, aval.dtype)
        dims = (*dims, *element_dims(out))
        return self.op("broadcast_in_dim", x, out=out, broadcast_dimensions=dims)

    def convert(self, x: Any, aval: Any, dtype: Any) -> Any:
        """An array of type `aval` converted to another dtype."""
        if aval.dtype == dtype:
            return x
        return self.op("convert", x, out=ShapedArray(aval.shape, dtype))

    def compare(
        self,
        direction: str,
        x: Any,
        y: Any,
        dtype: Any,
        out: Any = None,
        total_order: bool = False,
    ) -> Any:
        """Compare two arrays of `dtype`; `direction` is one of EQ, NE, LT, LE, GT, GE."""
        if dtypes.issubdtype(dtype, np.inexact):
            kind = "TOTALORDER" if total_order else "FLOAT"
        elif dtypes.issubdtype(dtype, np.signedinteger):
            kind = "SIGNED"
        else:
            kind = "UNSIGNED"
        return self.op(
            "compare",
            x,
            y,
            out=out,
            comparison_direction=f"#stablehlo<comparison_direction {direction}>",
            compare_type=f"#stablehlo<comparison_type {kind}>",
        )

    def reduce(self, kind: Any, x: Any, init: Any, axes: Sequence[int]) -> Any:
        """Reduce an array over `axes`, beginning at `init`.

        Elements are combined by `kind`: a binary StableHLO op, or a primitive of two operands.
        """
        scalar = ShapedArray((), self.avals_out[0].dtype)
        if not _combined_between_devices(kind, scalar.dtype):
            x = self.whole(x, self.avals_in[0])

        def body(a: Any, b: Any) -> list[Any]:
            if isinstance(kind, str):
                return [self.op(kind, a, b, out=scalar)]
            inner = self.replace(primitive=kind, avals_in=(scalar, scalar), avals_out=(scalar,))
            return [kind.emit(inner, a, b)]

        (out,) = self.op_with_regions(
            "reduce",
            [x, self.constant(init, scalar.dtype)],
            [((scalar, scalar), body)],
            dimensions=tuple(axes),
        )
        return out

    def custom_call(
        self,
        target: str,
        operands: Sequence[tuple[Any, Sequence[int]]],
        results: Sequence[tuple[AbstractValue, Sequence[int]]],
        aliases: Mapping[int, int] | None = None,
        frontend_attributes: Mapping[str, str] | None = None,
        has_side_effect: bool = False,
        on_first_device: bool = False,
        **config: Any,
    ) -> list[Any]:
        """Call a function that is registered with XLA under a name, by its typed interface.

        Args:
          target: the name.
          operands: MLIR values, each with its layout: its dimensions from the one whose elements
            lie side by side to that with the greatest stride.
          results: avals of the results, with their layouts.
          aliases: results that take the memory of an operand: indices of operands, by result.
          frontend_attributes: what passes of XLA may want to know.
          has_side_effect: whether it is called even if nothing uses its results.
          on_first_device: whether, of several devices, the first alone calls it.
          **config: the function's own attributes, as for `op`.
        """
        lapack.load_for(target)
        attributes: dict[str, Any] = dict(
            call_target_name=target,
            api_version=np.int32(4),
            backend_config=config,
            operand_layouts=ir.ArrayAttr.get([layout_attribute(x) for _, x in operands]),
            result_layouts=ir.ArrayAttr.get([layout_attribute(x) for _, x in results]),
        )
        if aliases:
            attributes["output_operand_aliases"] = alias_attribute(aliases, len(results))
        if has_side_effect:
            attributes["has_side_effect"] = True
        if on_first_device:
            attributes["sdy.sharding"] = self.module_context.meshes.on_first(len(results) or 1)
        if frontend_attributes:
            attributes["mhlo.frontend_attributes"] = dict(frontend_attributes)
        values, avals = [x for x, _ in operands], [aval for aval, _ in results]
        outs = self.op("custom_call", *values, out=avals, **attributes)
        return [outs] if len(results) == 1 else outs

    def constrain_layout(self, x: Any, major_to_minor: Sequence[int]) -> Any:
        """The operand, whose dimensions lie in memory in this order."""
        rank = len(physical_aval(self.avals_in[0]).shape)
        inner = range(len(major_to_minor), rank)
        order = layout_attribute([*major_to_minor, *inner][::-1])
        return self.op(
            "custom_call",
            x,
            call_target_name="LayoutConstraint",
            operand_layouts=ir.ArrayAttr.get([layout_attribute(range(rank))]),
            result_layouts=ir.ArrayAttr.get([order]),
        )

    def call_kernel(
        self,
        name: str,
        operands: Sequence[tuple[Any, Sequence[int]]],
        results: Sequence[tuple[AbstractValue, Sequence[int]]],
        **config: Any,
    ) -> list[Any]:
        """Call one of our own kernels, of which `has_kernels` says whether there are any.

        Args:
          name: of the kernel.
          operands, results, **config: as for `custom_call`.
        """
        return self.custom_call(kernels.target(name), operands, results, **config)

    def spread(self, x: Any, aval: Any, sharding: Any, unconstrained: Any = ()) -> Any:
        """A value as a sharding spreads it; in a program for one device, the value as it is.

        Args:
          x: an MLIR value of type `aval`.
          sharding: over the program's devices.
          unconstrained: the dimensions that the compiler may cut as it likes.
        """
        module = self.module_context
        if not module.devices:
            return x
        text = module.meshes.sharding(sharding, aval, unconstrained)
        return self.op("sdy.sharding_constraint", x, out=aval, sharding=text)

    manual_computation = manual_computation
    manual_region = manual_region

    def whole(self, x: Any, aval: Any) -> Any:
        """A value that each device holds as a whole, where the compiler divides the program."""
        module = self.module_context
        if module.spread is None or module.region is not None:
            return x
        return self.spread(x, aval, module.spread.whole)

    def inspect(self, x: Any, aval: Any, callback: Callable[[Any], Any]) -> None:
        """Tell a function of the sharding of a value when the compiler knows it."""
        module = self.module_context
        if not module.devices:
            module.inspections.append(callback)
            return

        spread = module.spread

        def tell(hlo: Any) -> None:
            callback(spread.chosen(hlo, aval.ndim))

        module.keepalives.append(tell)
        self.op(
            "custom_call",
            x,
            out=aval,
            call_target_name="InspectSharding",
            api_version=np.int32(1),
            has_side_effect=True,
            backend_config=ir.StringAttr.get(xla_client.encode_inspect_sharding_callback(tell)),
        )

    def counts_along(self, x: Any, dimension: int) -> bool:
        """Whether it can be seen that each element of an MLIR value is its index in a dimension."""
        op = x.owner
        name = getattr(op, "name", None)  # parameters have no operation
        if name == "stablehlo.iota":
            return op.attributes["iota_dimension"].value == dimension
        if name == "stablehlo.broadcast_in_dim":
            (source,), dims = op.operands, list(op.attributes["broadcast_dimensions"])
            return (
                dimension in dims
                and source.type.shape[dims.index(dimension)] == x.type.shape[dimension]
                and self.counts_along(source, dims.index(dimension))
            )
        return False

    def python_callback(
        self,
        fun: Callable[..., Any],
        name: str,
        operands: Sequence[Any],
        effect: Effect | None = None,
    ) -> list[Any]:
        """Call a Python function on the host.

        Args:
          fun: takes as many arrays as there are operands, on the host's CPU, and returns a sequence
            of what NumPy can make arrays of.
          name: of the public function, for errors.
          operands: MLIR values.
          effect: what it does besides returning results; without, it may never be called.
        """
        module = self.module_context
        effects = [effect] if effect is not None and effect.ordered else []
        callback = HostCallback(fun, name, self.avals_in, self.avals_out, bool(effects))
        tokens = module.current_tokens(effects)
        results = self.host_call(callback, tokens, operands, effect is not None)
        module.tokens.update(zip(effects, results))
        return results[len(effects) :]

    def host_call(
        self,
        callback: HostCallback,
        tokens: Sequence[Any],
        operands: Sequence[Any],
        has_side_effect: bool,
    ) -> list[Any]:
        """Have XLA call a host callback; the tokens that it takes come first in the results."""
        module = self.module_context
        region = module.region
        if region is not None and region.others and not tokens:
            # Where the compiler cuts along other axes, each device has the whole, and calls.
            whole = PartitionSpec()
            return self.manual_region(
                region.mesh,
                region.others,
                operands,
                [(whole, aval) for aval in self.avals_in],
                [(whole, aval) for aval in self.avals_out],
                self.avals_in,
                lambda *parts: self.host_call(callback, (), parts, has_side_effect),
            )
        module.host_callbacks.append(callback)
        kinds = [abstract_token] * len(tokens)
        once = bool(module.devices) and module.region is None
        results = self.custom_call(
            callback_target(self.platform),
            list(zip([*tokens, *operands], layouts([*kinds, *self.avals_in]))),
            list(zip([*kinds, *self.avals_out], layouts([*kinds, *self.avals_out]))),
            has_side_effect=has_side_effect,
            on_first_device=once,
            index=np.uint64(len(module.host_callbacks) - 1),
        )
        if not once:
            return results
        whole, count = module.spread.whole, len(tokens)
        outs = [self.spread(x, a, whole) for x, a in zip(results[count:], self.avals_out)]
        return [*results[:count], *outs]

    # ---------------------------------------------------------------- jaxprs inside jaxprs

    def call(self, name: str, closed: ClosedJaxpr, operands: Sequence[Any]) -> list[Any]:
        """Call the function of a jaxpr, which is written once per module."""
        return self.module_context.call(name, closed, operands)

    def function(self, name: str, closed: ClosedJaxpr) -> Any:
        """The attribute that refers to the function of a jaxpr, for ops that have one as such."""
        return self.module_context.function(name, closed)

    def inline(self, closed: ClosedJaxpr, operands: Sequence[Any], *scopes: str) -> list[Any]:
        """Write the operations of a jaxpr at this place, within scopes of these names."""
        within = () if self.eqn is None else self.eqn.name_stack
        stack = (*self.name_stack, *within)
        if scopes and stack:  # the names are not those of scopes that a transformation wraps
            stack = (scope_path(stack),)
        stack = (*stack, *scopes)
        return self.module_context.inline(closed, operands, stack)

    def written(self, fun: Callable[..., Sequence[Any]], operands: Sequence[Any]) -> list[Any]:
        """Write what a function of the eqn's operands does.

        With it, a lowering rule that is a program of other primitives can be read as one.

        Args:
          fun: takes the operands as traced arrays and returns a sequence of arrays. It may use
            64-bit dtypes, whatever the configuration says.
          operands: MLIR values.
        """
        with config.enable_x64(True):
            closed = stage_closed(fun, self.avals_in)
        return self.inline(closed, operands)


def _combined_between_devices(kind: Any, dtype: Any) -> bool:
    """Whether several devices can put together what each has reduced by an operation."""
    name = kind if isinstance(kind, str) else getattr(kind, "hlo", "")
    if dtype == np.bool_:
        return name in ("and", "or")
    known = ("add", "multiply", "maximum", "minimum")
    return name in (known[:2] if dtypes.issubdtype(dtype, np.complexfloating) else known)


def layouts(avals: Sequence[AbstractValue]) -> list[Sequence[int]]:
    """The orders of dimensions of arrays that lie by rows, and of tokens, which have none."""
    ranks = [0 if aval is abstract_token else len(physical_aval(aval).shape) for aval in avals]
    return [tuple(reversed(range(rank))) for rank in ranks]


def layout_attribute(dims: Sequence[int]) -> Any:
    """The order of an array's dimensions in memory, as an MLIR attribute."""
    order = np.array(dims, np.int64)
    return ir.DenseIntElementsAttr.get(order, type=ir.IndexType.get(), shape=order.shape)


def alias_attribute(aliases: Mapping[int, int], results: int) -> Any:
    """Which results of a custom call take the memory of an operand, as an MLIR attribute.

    Args:
      aliases: indices of operands, by result.
      results: how many results there are.
    """
    return ir.ArrayAttr.get(
        [
            ir.Attribute.parse(
                "#stablehlo.output_operand_alias<output_tuple_indices = "
                f"{[result] if results > 1 else []}, operand_index = {operand}, "
                "operand_tuple_indices = []>"
            )
            for result, operand in aliases.items()
        ]
    )
