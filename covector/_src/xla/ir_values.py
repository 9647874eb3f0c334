"""Python values as MLIR types, attributes and constants, for those who write lowering rules."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..base import dtypes
from ..core.avals import AbstractValue, ShapedArray, aval_of
from .mlir import ir, make_context
from .module import ModuleContext, dense_elements, element_type

make_ir_context = make_context


def dtype_to_ir_type(dtype: Any) -> ir.Type:
    """The MLIR type of the elements of an array of this dtype."""
    return element_type(dtype)


# What a `channel_handle` of StableHLO leads from and to, as XLA numbers it.
DEVICE_TO_DEVICE_TYPE = 1
SEND_TO_HOST_TYPE = 2
RECV_FROM_HOST_TYPE = 3


def aval_to_ir_type(ctx: ModuleContext, aval: AbstractValue) -> ir.Type:
    """The MLIR type of values of the type `aval`, in a module."""
    return ctx.type_of(aval)


def aval_to_ir_types(ctx: ModuleContext, aval: AbstractValue) -> tuple[ir.Type, ...]:
    """As `aval_to_ir_type`, in a tuple: every value is one MLIR value."""
    return (ctx.type_of(aval),)


def token_type() -> ir.Type:
    """The MLIR type of the tokens that order side effects."""
    return ir.Type.parse("!stablehlo.token")


# ---------------------------------------------------------------- attributes


def i32_attr(i: int) -> ir.IntegerAttr:
    """A 32-bit integer as an attribute."""
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(32), i)


def i64_attr(i: int) -> ir.IntegerAttr:
    """A 64-bit integer as an attribute."""
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), i)


def dense_int_elements(xs: Sequence[int]) -> ir.DenseElementsAttr:
    """Integers as the elements of a 64-bit tensor attribute."""
    return dense_elements(np.asarray(xs, np.int64))


def dense_int_array(xs: Sequence[int]) -> ir.DenseI64ArrayAttr:
    """Integers as a 64-bit array attribute."""
    return ir.DenseI64ArrayAttr.get([int(x) for x in xs])


def ir_attribute(value: Any) -> ir.Attribute:
    """A Python value as an attribute: a truth value, number, string, NumPy array, sequence, or
    dict with strings for keys."""
    if isinstance(value, ir.Attribute):
        return value
    if isinstance(value, (bool, np.bool_)):
        return ir.BoolAttr.get(bool(value))
    if isinstance(value, (int, float, np.generic)):
        return _number_attribute(value)
    if isinstance(value, str):
        return ir.StringAttr.get(value)
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        return ir.TypeAttr.get(element_type(value))
    if isinstance(value, np.ndarray):
        return dense_elements(value)
    if isinstance(value, dict):
        return ir.DictAttr.get({key: ir_attribute(item) for key, item in value.items()})
    if isinstance(value, Iterable):
        return ir.ArrayAttr.get([ir_attribute(item) for item in value])
    raise TypeError(
        f"[ir_attribute] a value of type {type(value)} is no attribute: {value!r}. Give a truth "
        "value, number, string, dtype, array, sequence or dict, or an attribute of jaxlib.mlir."
    )


def _number_attribute(value: Any) -> ir.Attribute:
    """A number as an attribute; those of Python have 64 bits."""
    dtype = value.dtype if isinstance(value, np.generic) else np.dtype(type(value))
    if dtypes.issubdtype(dtype, np.integer):
        return ir.IntegerAttr.get(element_type(dtype), int(value))
    return ir.FloatAttr.get(element_type(dtype), float(value))


# ---------------------------------------------------------------- constants

_constant_handlers: dict[type, Callable[..., Any]] = {}


def register_constant_handler(type_: type, handler_fun: Callable[..., Any]) -> None:
    """Say how `ir_constant` writes values of a type of your own.

    Args:
      type_: the type.
      handler_fun: is called as `handler(value, aval)`, and returns an MLIR value.
    """
    _constant_handlers[type_] = handler_fun


def ir_constant(
    val: Any, *, const_lowering: Any = None, aval: AbstractValue | None = None
) -> ir.Value:
    """Write a constant at the current place.

    Args:
      val: an array, NumPy array or number. A Python number has the dtype that it has elsewhere:
        32 bits, unless 64-bit mode is on.
      const_lowering: unused.
      aval: the type of the constant, if it is known.

    Returns:
      The MLIR value.
    """
    for base in type(val).__mro__:
        if base in _constant_handlers:
            return _constant_handlers[base](val, aval)
    if not isinstance(val, (np.ndarray, np.generic)):
        aval = aval_of(val) if aval is None else aval
        val = np.asarray(val, aval.dtype)
    attribute = dense_elements(np.asarray(val))
    return ir.Operation.create(
        "stablehlo.constant", results=[attribute.type], attributes={"value": attribute}
    ).results[0]


def ir_constants(
    val: Any, *, const_lowering: Any = None, aval: AbstractValue | None = None
) -> tuple[ir.Value, ...]:
    """As `ir_constant`, in a tuple: every constant is one MLIR value."""
    return (ir_constant(val, aval=aval),)


def shape_tensor(ctx: ModuleContext, sizes: Sequence[int | ir.Value]) -> ir.Value:
    """A shape as a one-dimensional tensor of 32-bit integers.

    Args:
      ctx: the module.
      sizes: numbers, or MLIR values that are scalar tensors of integers.
    """
    if all(isinstance(size, (int, np.integer)) for size in sizes):
        return ir_constant(np.array(sizes, np.int32))
    scalar, vector = (
        ctx.type_of(ShapedArray((), np.int32)),
        ctx.type_of(ShapedArray((1,), np.int32)),
    )
    parts = []
    for size in sizes:
        if isinstance(size, (int, np.integer)):
            parts.append(ir_constant(np.array([size], np.int32)))
            continue
        if size.type != scalar:
            size = ir.Operation.create("stablehlo.convert", [scalar], [size]).results[0]
        parts.append(ir.Operation.create("stablehlo.reshape", [vector], [size]).results[0])
    whole = ctx.type_of(ShapedArray((len(parts),), np.int32))
    dimension = {"dimension": i64_attr(0)}
    return ir.Operation.create("stablehlo.concatenate", [whole], parts, dimension).results[0]


# ---------------------------------------------------------------- modules


def module_to_string(module: ir.Module, enable_debug_info: bool | None = None) -> str:
    """A module as text, with the places of the operations in the user's program if asked."""
    return module.operation.get_asm(enable_debug_info=bool(enable_debug_info))


def module_to_bytecode(module: ir.Module) -> bytes:
    """A module as MLIR bytecode."""
    buffer = io.BytesIO()
    module.operation.write_bytecode(file=buffer)
    return buffer.getvalue()


def flatten_ir_types(types: Iterable[Any]) -> list[ir.Type]:
    """The MLIR types in a sequence of types and sequences of types."""
    return [t for item in types for t in (item if isinstance(item, (tuple, list)) else (item,))]


def unflatten_ir_values_like_types(values: Iterable[ir.Value], types: Sequence[Any]) -> list[Any]:
    """MLIR values put together as the types are: a tuple of values for each sequence of types."""
    rest = iter(values)
    return [
        tuple([next(rest) for _ in item]) if isinstance(item, (tuple, list)) else next(rest)
        for item in types
    ]
