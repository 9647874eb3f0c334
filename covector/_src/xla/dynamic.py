"""Writing a jaxpr with symbolic sizes as a module of StableHLO.

The sizes are numbers of the program: the entry measures its arguments, and computes from their
sizes the dimension variables. Operations whose attributes hold sizes have forms that take them as
operands instead; the emitter here writes those where a size is symbolic, so that the lowering rules
of primitives need not know of it.

All is written into the entry, where the variables are: calls are written out, and only the bodies
of control flow are regions, which see what is around them.

Before XLA compiles such a program, for arguments of certain shapes, `refined` computes all sizes in
it, and takes the usual operations again.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..base import dim_errors as errors
from ..base.dims import Algebra, Dim, Size, has_symbolic
from ..core.avals import AbstractValue, ShapedArray
from ..core.jaxpr import ClosedJaxpr, Jaxpr
from ..ops.physical import physical_aval
from ..transforms.simplify import drop_dead_code
from .emitter import Emitter, layout_attribute
from .ir_values import shape_tensor
from .mlir import ir
from .module import ModuleContext, element_type
from .native import _jax

# Computes the dimension variables, by name, from the sizes of the arguments: it is given a function
# of the index of an argument and of a dimension of it.
Solve = Callable[[Callable[[int, int], Any]], Mapping[str, Any]]

_SCALAR = ShapedArray((), np.int32)
_TRUTH = ShapedArray((), np.bool_)


class Number:
    """A size that is computed by the program: an MLIR value, with Python's arithmetic."""

    __slots__ = ("b", "value")

    def __init__(self, b: Emitter, value: Any):
        self.b = b
        self.value = value

    def _op(self, name: str, other: Any) -> Number:
        y = other.value if isinstance(other, Number) else self.b.constant(other, np.int32)
        return Number(self.b, self.b.op(name, self.value, y, out=_SCALAR))

    def __add__(self, other: Any) -> Number:
        return self._op("add", other)

    def __sub__(self, other: Any) -> Number:
        return self._op("subtract", other)

    def __mul__(self, other: Any) -> Number:
        return self._op("multiply", other)

    __radd__, __rmul__ = __add__, __mul__

    def __mod__(self, other: Any) -> Number:
        """The remainder with the sign of the divisor; StableHLO's has that of the dividend."""
        rest = self._op("remainder", other)
        signs = rest._sign() * _number(self.b, other)._sign()
        wrong = self.b.compare(
            "LT", signs.value, self.b.constant(0, np.int32), _SCALAR.dtype, out=_TRUTH
        )
        shifted = rest + other
        return Number(self.b, self.b.op("select", wrong, shifted.value, rest.value, out=_SCALAR))

    def __floordiv__(self, other: Any) -> Number:
        return (self - self % other)._op("divide", other)

    def _sign(self) -> Number:
        return Number(self.b, self.b.op("sign", self.value, out=_SCALAR))


def _number(b: Emitter, x: Any) -> Number:
    return x if isinstance(x, Number) else Number(b, b.constant(x, np.int32))


class SymbolicModule(ModuleContext):
    """A module with symbolic sizes that is being written.

    Args:
      name, platform: as for `ModuleContext`.
      solve: computes the dimension variables.
    """

    def __init__(self, name: str, platform: str, solve: Solve):
        super().__init__(name, platform, SymbolicEmitter, is_portable=True)
        self._solve = solve
        self._variables: Mapping[str, Any] | None = None

    def type_of(self, aval: AbstractValue) -> Any:
        found = self._types.get(aval)
        if found is None and isinstance(aval, ShapedArray) and has_symbolic(aval.shape):
            physical = physical_aval(aval)
            unknown = ir.ShapedType.get_dynamic_size()
            shape = [unknown if isinstance(size, Dim) else size for size in physical.shape]
            found = ir.RankedTensorType.get(shape, element_type(physical.dtype))
            self._types[aval] = found
        return super().type_of(aval) if found is None else found

    def write_eqns(
        self, jaxpr: Jaxpr, operands: Sequence[Any], scopes: tuple[str, ...]
    ) -> list[Any]:
        if self._variables is None:  # the entry, and nothing of it is written yet
            given = operands[len(jaxpr.constvars) :]
            b = SymbolicEmitter(self, None, (), ())
            self._variables = self._solve(lambda i, axis: b.measured(given[i], axis))
        return super().write_eqns(jaxpr, operands, scopes)

    def call(self, name: str, closed: ClosedJaxpr, operands: Sequence[Any]) -> list[Any]:
        return self.inline(closed, operands, (f"jit({name})",))

    def size(self, b: Emitter, size: Size) -> Any:
        """A size as an MLIR value, a 32-bit scalar."""
        assert self._variables is not None
        if not isinstance(size, Dim):
            return b.constant(size, np.int32)
        return _number(b, size.evaluate(self._variables, NUMBERS)).value


def _extremum(op: str) -> Callable[[Any, Any], Any]:
    def compute(x: Any, y: Any) -> Any:
        return x._op(op, y) if isinstance(x, Number) else y._op(op, x)

    return compute


def _rest(x: Any, y: Any) -> Any:
    return _number(y.b, x) % y if isinstance(y, Number) else x % y


def _quotient(x: Any, y: Any) -> Any:
    return _number(y.b, x) // y if isinstance(y, Number) else x // y


# How operations in sizes are computed where variables are numbers of the program.
NUMBERS = Algebra(_quotient, _rest, _extremum("maximum"), _extremum("minimum"))


class SymbolicEmitter(Emitter):
    """Writes the operations of one eqn, in the forms that take sizes as operands where needed."""

    __slots__ = ()

    def measured(self, x: Any, axis: int) -> Number:
        """The size of a dimension of an MLIR value."""
        size = self.op("get_dimension_size", x, out=_SCALAR, dimension=axis)
        return Number(self, size)

    def size(self, size: Size) -> Any:
        """A size as an MLIR value, a 32-bit scalar."""
        module = self.module_context
        assert isinstance(module, SymbolicModule)
        return module.size(self, size)

    def constant(self, value: Any, dtype: Any = None) -> Any:
        if isinstance(value, Dim):
            return self.convert(self.size(value), _SCALAR, np.dtype(dtype or np.int32))
        if isinstance(value, list) and has_symbolic(value):
            vector = ShapedArray((len(value),), np.int32)
            return self.convert(self.sizes(value), vector, np.dtype(dtype or np.int32))
        return super().constant(value, dtype)

    def sizes(self, sizes: Sequence[Size]) -> Any:
        """Sizes as one MLIR value, a vector."""
        given = [self.size(size) if isinstance(size, Dim) else size for size in sizes]
        return shape_tensor(self.module_context, given)

    def op(self, name: str, /, *operands: Any, out: Any = None, **attributes: Any) -> Any:
        avals = self.avals_out if out is None else [out] if not isinstance(out, list) else out
        symbolic = any(isinstance(a, ShapedArray) and has_symbolic(a.shape) for a in avals)
        if not symbolic and not any(map(_holds_symbolic, attributes.values())):
            return super().op(name, *operands, out=out, **attributes)
        if name in _WITHOUT_FORM:
            raise NotImplementedError(errors.op_needs_constants(name, [a.shape for a in avals]))
        form = _FORMS.get(name)
        if form is not None:
            name, given, attributes = form(self, operands, avals, attributes)
            operands = tuple(given)
        if any(map(_holds_symbolic, attributes.values())):
            shapes = [aval.shape for aval in avals]
            raise NotImplementedError(errors.op_needs_constants(name, shapes))
        return super().op(name, *operands, out=out, **attributes)

    def op_with_regions(self, name, operands, regions, out=None, **attributes):  # type: ignore[no-untyped-def]
        if any(map(_holds_symbolic, attributes.values())):
            shapes = [aval.shape for aval in (self.avals_out if out is None else out)]
            raise NotImplementedError(errors.op_needs_constants(name, shapes))
        return super().op_with_regions(name, operands, regions, out, **attributes)


def _holds_symbolic(value: Any) -> bool:
    """Whether an attribute holds a symbolic size."""
    if isinstance(value, (tuple, list)):
        return any(map(_holds_symbolic, value))
    return isinstance(value, Dim) or (
        isinstance(value, np.ndarray)
        and value.dtype == object
        and any(map(_holds_symbolic, value.ravel()))
    )


# ---------------------------------------------------------------- the forms with operands for sizes

Form = tuple[str, Sequence[Any], dict[str, Any]]


def _broadcast(b: SymbolicEmitter, operands: Any, outs: Any, attributes: Any) -> Form:
    sizes = b.sizes(physical_aval(outs[0]).shape)
    return "dynamic_broadcast_in_dim", (*operands, sizes), attributes


def _reshape(b: SymbolicEmitter, operands: Any, outs: Any, attributes: Any) -> Form:
    return "dynamic_reshape", (*operands, b.sizes(physical_aval(outs[0]).shape)), attributes


def _iota(b: SymbolicEmitter, operands: Any, outs: Any, attributes: Any) -> Form:
    return "dynamic_iota", (b.sizes(outs[0].shape),), attributes


def _slice(b: SymbolicEmitter, operands: Any, outs: Any, attributes: Any) -> Form:
    names = ("start_indices", "limit_indices", "strides")
    places = [b.sizes(attributes[name]) for name in names]
    return "real_dynamic_slice", (*operands, *places), {}


def _pad(b: SymbolicEmitter, operands: Any, outs: Any, attributes: Any) -> Form:
    names = ("edge_padding_low", "edge_padding_high", "interior_padding")
    widths = [b.sizes(attributes[name]) for name in names]
    return "dynamic_pad", (*operands, *widths), {}


def _gather(b: SymbolicEmitter, operands: Any, outs: Any, attributes: Any) -> Form:
    if not _holds_symbolic(attributes["slice_sizes"]):
        return "gather", operands, attributes
    sizes = b.sizes(attributes.pop("slice_sizes"))
    return "dynamic_gather", (*operands, sizes), attributes


def _dynamic_slice(b: SymbolicEmitter, operands: Any, outs: Any, attributes: Any) -> Form:
    """A slice of symbolic size, whose start is moved to where the slice lies within the array.

    The limits are written as the sum of starts and sizes, by which XLA finds the sizes even if the
    starts are not known before the program runs.
    """
    x, *starts = operands
    if not _holds_symbolic(attributes["slice_sizes"]):
        return "dynamic_slice", operands, attributes
    rank = len(starts)
    vector = ShapedArray((rank,), np.int32)
    sizes = b.sizes(attributes["slice_sizes"])
    shape = shape_tensor(b.module_context, [b.measured(x, axis).value for axis in range(rank)])
    most = b.op("subtract", shape, sizes, out=vector)
    begin = shape_tensor(b.module_context, starts)
    begin = b.op("clamp", b.constant([0] * rank, np.int32), begin, most, out=vector)
    end = b.op("add", begin, sizes, out=vector)
    return "real_dynamic_slice", (x, begin, end, b.constant([1] * rank, np.int32)), {}


def _custom_call(b: SymbolicEmitter, operands: Any, outs: Any, attributes: Any) -> Form:
    """A call of a foreign function, with the shapes of its results as further operands.

    They are taken away again when the shapes are known.
    """
    shapes = [b.sizes(physical_aval(aval).shape) for aval in outs]
    places = np.arange(len(operands), len(operands) + len(shapes), dtype=np.int64)
    attributes["indices_of_shape_operands"] = places
    if "operand_layouts" in attributes:
        layouts = [*attributes["operand_layouts"], *[layout_attribute((0,))] * len(shapes)]
        attributes["operand_layouts"] = ir.ArrayAttr.get(layouts)
    return "custom_call", (*operands, *shapes), attributes


def _convolution(b: SymbolicEmitter, operands: Any, outs: Any, attributes: Any) -> Form:
    padding = attributes.pop("padding")
    if not _holds_symbolic(padding):
        return "convolution", operands, attributes | {"padding": padding}
    widths = np.asarray(padding, object)
    flat = b.sizes(list(widths.ravel()))
    shaped = b.op("reshape", flat, out=ShapedArray(widths.shape, np.int32))
    return "dynamic_conv", (*operands, shaped), attributes


_FORMS: dict[str, Callable[..., Form]] = {
    "broadcast_in_dim": _broadcast,
    "convolution": _convolution,
    "custom_call": _custom_call,
    "dynamic_slice": _dynamic_slice,
    "gather": _gather,
    "iota": _iota,
    "pad": _pad,
    "reshape": _reshape,
    "slice": _slice,
}

# Operations whose results have shapes that nothing else tells.
_WITHOUT_FORM = frozenset({"rng_bit_generator"})

# ---------------------------------------------------------------- from a jaxpr, and to known sizes


def lower_symbolic(
    closed: ClosedJaxpr, name: str, platform: str, solve: Solve
) -> tuple[SymbolicModule, list[int]]:
    """Write a closed jaxpr with symbolic sizes as a StableHLO module.

    All arguments are kept: their sizes are read even if their elements are not.

    Returns:
      The module, and the positions of the arguments that it takes.
    """
    jaxpr, kept = drop_dead_code(closed.jaxpr, keep_inputs=True)
    values = dict(zip(closed.jaxpr.constvars, closed.consts))
    module = SymbolicModule(f"jit_{name}", platform, solve)
    module.write_main(name, jaxpr, [values[v] for v in jaxpr.constvars], ())
    return module, kept


def refined(module: Any, in_types: Sequence[Any], out_types: Sequence[Any]) -> Any:
    """A module for arguments of certain shapes, from one that computes with their sizes.

    Args:
      module: the module, which is changed.
      in_types, out_types: the types of its arguments and results, all of whose sizes are known;
        MLIR types of its context.

    Returns:
      A module in the same context.
    """
    (entry,) = [f.operation for f in module.body.operations if _is_entry(f.operation)]
    inner = "entry with sizes that are not known"
    ir.SymbolTable.replace_all_symbol_uses("main", inner, module.operation)
    ir.SymbolTable.set_symbol_name(entry, inner)
    entry.attributes["sym_visibility"] = ir.StringAttr.get("private")
    kind = ir.FunctionType(ir.TypeAttr(entry.attributes["function_type"]).value)
    with ir.Location.unknown(), ir.InsertionPoint.at_block_begin(module.body):
        function = ir.Operation.create(
            "func.func",
            attributes={
                "sym_name": ir.StringAttr.get("main"),
                "sym_visibility": ir.StringAttr.get("public"),
                "function_type": ir.TypeAttr.get(ir.FunctionType.get(in_types, out_types)),
            },
            regions=1,
        )
        block = function.regions[0].blocks.append(*in_types)
        with ir.InsertionPoint(block):
            given = list(map(cast, block.arguments, kind.inputs))
            callee = ir.FlatSymbolRefAttr.get(inner)
            attributes = {"callee": callee}
            call = ir.Operation.create("func.call", kind.results, given, attributes)
            ir.Operation.create("func.return", [], list(map(cast, call.results, out_types)))
    buffer = io.BytesIO()
    module.operation.write_bytecode(file=buffer)
    return ir.Module.parse(_jax.mlir.refine_polymorphic_shapes(buffer.getvalue()))


def _is_entry(function: Any) -> bool:
    return ir.StringAttr(function.attributes["sym_name"]).value == "main"


def cast(x: Any, kind: Any) -> Any:
    """A value as one of a type with more or fewer sizes that are known."""
    if x.type == kind:
        return x
    return ir.Operation.create("stablehlo.convert", results=[kind], operands=[x]).result
