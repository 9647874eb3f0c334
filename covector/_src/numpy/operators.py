"""Operators, methods and properties of arrays and tracers, attached to both classes.

The classes themselves are below this layer, and know only what an array is made of.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..base import config, dtypes, numpy_errors, tracer_errors
from ..core.array import Array
from ..core.trace import Tracer
from . import (
    arithmetic,
    array_api,
    contraction,
    conversion,
    creation,
    cumulative,
    editing,
    joining,
    logic,
    matrices,
    nonzero,
    parts,
    printing,
    reductions,
    searching,
    selection,
    shaping,
    sorting,
    taking,
)
from .at import IndexUpdate
from .indexing import getitem
from .promotion import PYTHON_NUMBERS, operand, own

# ---------------------------------------------------------------- operators

_OPERANDS = (np.ndarray, np.generic, *PYTHON_NUMBERS)
_REFUSED = frozenset((list, tuple, set, dict))


class _Accepted(dict):
    """For each type, whether operators take its instances as the other operand.

    They leave what they do not know to the other operand's own operators.
    """

    def __missing__(self, kind: type) -> bool:
        accepted = self[kind] = own[kind] or issubclass(kind, _OPERANDS)
        return accepted


_accepted = _Accepted()


def _operator(function: Callable[[Any, Any], Any], symbol: str, swapped: bool = False) -> Any:
    """The method of a binary operator; `swapped` for the one of the right operand."""

    def method(self: Any, other: Any) -> Any:
        if _accepted[type(other)]:
            return function(self, other)
        return _unknown(function, symbol, self, other, False)

    def swapped_method(self: Any, other: Any) -> Any:
        if _accepted[type(other)]:
            return function(other, self)
        return _unknown(function, symbol, self, other, True)

    return swapped_method if swapped else method


def _unknown(function: Any, symbol: str, self: Any, other: Any, swapped: bool) -> Any:
    """What an operator makes of an operand that is no array or number."""
    if hasattr(type(other), "__jax_array__"):
        other = other.__jax_array__()
        return function(other, self) if swapped else function(self, other)
    if type(other) in _REFUSED:
        names = type(self).__name__, type(other).__name__
        left, right = reversed(names) if swapped else names
        raise TypeError(tracer_errors.unsupported_operands(symbol, left, right))
    return NotImplemented


def _pow(self: Any, other: Any, modulus: Any = None) -> Any:
    if modulus is not None:
        raise TypeError(tracer_errors.pow_with_modulus())
    if _accepted[type(other)]:
        return arithmetic.power(self, other)
    return _unknown(arithmetic.power, "**", self, other, False)


def _round(self: Any, ndigits: int | None = None) -> Any:
    """`round(x)` is of integers, as that of Python's floats is."""
    if ndigits is not None:
        return parts.round(self, ndigits)
    out = parts.round(self)
    return out if dtypes.issubdtype(out.dtype, np.integer) else out.astype(int)


def _contains(self: Any, value: Any) -> Any:
    """Whether an element equals a value; with the flag `parity` only a vector has such."""
    if config.parity.value and (self.ndim != 1 or np.ndim(value)):
        raise ValueError(numpy_errors.contains_by_parity(self.shape, np.shape(value)))
    try:
        value = operand("Array.__contains__", value)
    except TypeError:
        raise TypeError(numpy_errors.contains_no_operand(type(value))) from None
    return reductions.any(logic.equal(self, value))


_BINARY: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "add": (arithmetic.add, "+"),
    "sub": (arithmetic.subtract, "-"),
    "mul": (arithmetic.multiply, "*"),
    "truediv": (arithmetic.divide, "/"),
    "floordiv": (arithmetic.floor_divide, "//"),
    "mod": (arithmetic.remainder, "%"),
    "divmod": (arithmetic.divmod, "divmod"),
    "pow": (arithmetic.power, "**"),
    "matmul": (contraction.matmul, "@"),
    "and": (logic.bitwise_and, "&"),
    "or": (logic.bitwise_or, "|"),
    "xor": (logic.bitwise_xor, "^"),
    "lshift": (logic.left_shift, "<<"),
    "rshift": (logic.right_shift, ">>"),
}
_COMPARISONS: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "eq": (logic.equal, "=="),
    "ne": (logic.not_equal, "!="),
    "lt": (logic.less, "<"),
    "le": (logic.less_equal, "<="),
    "gt": (logic.greater, ">"),
    "ge": (logic.greater_equal, ">="),
}

_OPERATORS: dict[str, Callable[..., Any]] = {
    **{f"__{n}__": _operator(f, symbol) for n, (f, symbol) in (_BINARY | _COMPARISONS).items()},
    **{f"__r{n}__": _operator(f, symbol, swapped=True) for n, (f, symbol) in _BINARY.items()},
    "__pow__": _pow,
    "__neg__": arithmetic.negative,
    "__pos__": arithmetic.positive,
    "__abs__": parts.absolute,
    "__invert__": logic.bitwise_not,
    "__round__": _round,
    "__getitem__": getitem,
    "__setitem__": conversion.no_assignment,
    "__delitem__": conversion.no_deletion,
    "__contains__": _contains,
    "__len__": conversion.length,
    "__iter__": conversion.iterate,
    "__bool__": conversion.to_bool,
    "__int__": conversion.to_int,
    "__float__": conversion.to_float,
    "__complex__": conversion.to_complex,
    "__index__": conversion.to_index,
}

# ---------------------------------------------------------------- methods


def _astype(self: Any, dtype: Any, copy: bool = False, device: Any = None) -> Any:
    """The array in another dtype; see `covector.numpy.astype`."""
    return creation.astype(self, dtype, copy=copy, device=device)


def _reshape(self: Any, *args: Any, order: str = "C", out_sharding: Any = None) -> Any:
    """The array in another shape, given as one argument or several; see `numpy.reshape`."""
    shape = args[0] if len(args) == 1 else args
    return shaping.reshape(self, shape, order, out_sharding=out_sharding)


def _transpose(self: Any, *args: Any) -> Any:
    """The dimensions in another order, given as one argument or several."""
    axes = args[0] if len(args) == 1 and not isinstance(args[0], int) else args
    return shaping.transpose(self, axes or None)


def _flatten(self: Any, order: str = "C", *, out_sharding: Any = None) -> Any:
    """The elements in one dimension."""
    return shaping.ravel(self, order, out_sharding=out_sharding)


def _copy(self: Any) -> Any:
    """A copy of the array."""
    return creation.array(self)


def _clip(self: Any, min: Any = None, max: Any = None) -> Any:
    """The nearest values between two bounds; see `covector.numpy.clip`."""
    return selection.clip(self, min, max)


def _view(self: Any, dtype: Any = None, type: None = None) -> Any:
    """The bits of the elements as elements of another dtype; see `lax.bitcast_convert_type`.

    If the new dtype is of another width, the last dimension grows or shrinks accordingly.
    """
    return creation.view(self, dtype)


def _byteswap(self: Any) -> Any:
    """The array with the bytes of each element in reversed order."""
    return creation.byteswap(self)


def _choose(self: Any, choices: Any, out: None = None, mode: str = "raise") -> Any:
    """Elementwise one of several arrays, whose number the array holds; see `numpy.choose`."""
    return editing.choose(self, choices, out, mode)


def _compress(
    self: Any,
    condition: Any,
    axis: int | None = None,
    *,
    out: None = None,
    size: int | None = None,
    fill_value: Any = 0,
) -> Any:
    """The parts along an axis for which a condition holds; see `numpy.compress`."""
    return editing.compress(condition, self, axis, out=out, size=size, fill_value=fill_value)


def _to_device(self: Any, device: Any, *, stream: Any = None) -> Any:
    """The array on another device; see `covector.device_put`."""
    return creation.asarray(self, device=device)


_METHODS: dict[str, Callable[..., Any]] = {
    "__array_namespace__": array_api.array_namespace,
    "all": reductions.all,
    "any": reductions.any,
    "argmax": reductions.argmax,
    "argmin": reductions.argmin,
    "argpartition": sorting.argpartition,
    "argsort": sorting.argsort,
    "astype": _astype,
    "byteswap": _byteswap,
    "choose": _choose,
    "clip": _clip,
    "compress": _compress,
    "conj": parts.conjugate,
    "conjugate": parts.conjugate,
    "copy": _copy,
    "cumprod": cumulative.cumprod,
    "cumsum": cumulative.cumsum,
    "diagonal": matrices.diagonal,
    "dot": contraction.dot,
    "flatten": _flatten,
    "item": conversion.item,
    "max": reductions.max,
    "mean": reductions.mean,
    "min": reductions.min,
    "nonzero": nonzero.nonzero,
    "prod": reductions.prod,
    "ptp": reductions.ptp,
    "ravel": shaping.ravel,
    "repeat": joining.repeat,
    "reshape": _reshape,
    "round": parts.round,
    "searchsorted": searching.searchsorted,
    "sort": sorting.sort,
    "squeeze": shaping.squeeze,
    "std": reductions.std,
    "sum": reductions.sum,
    "swapaxes": shaping.swapaxes,
    "take": taking.take,
    "to_device": _to_device,
    "tobytes": conversion.tobytes,
    "tolist": conversion.tolist,
    "trace": matrices.trace,
    "transpose": _transpose,
    "var": reductions.var,
    "view": _view,
}

# ---------------------------------------------------------------- properties


def _at(self: Any) -> IndexUpdate:
    """`x.at[index].set(y)` and its kin: the array with a part changed."""
    return IndexUpdate(self)


def _T(self: Any) -> Any:
    """The array with its dimensions in reversed order."""
    return shaping.transpose(self)


def _flat(self: Any) -> Any:
    raise NotImplementedError(tracer_errors.no_flat())


def _itemsize(self: Any) -> int:
    """How many bytes an element takes."""
    return self.dtype.itemsize


def _nbytes(self: Any) -> int:
    """How many bytes all elements take."""
    return self.dtype.itemsize * self.size


_PROPERTIES: dict[str, Callable[[Any], Any]] = {
    "T": _T,
    "at": _at,
    "flat": _flat,
    "imag": parts.imag,
    "itemsize": _itemsize,
    "mT": shaping.matrix_transpose,
    "nbytes": _nbytes,
    "real": parts.real,
}

# ---------------------------------------------------------------- attachment

_OF_ARRAYS: dict[str, Callable[..., Any]] = {
    "__repr__": printing.text_of,
    "__str__": conversion.array_str,
    "__format__": conversion.array_format,
}
_OF_TRACERS: dict[str, Callable[..., Any]] = {
    "__array__": conversion.to_numpy,
    "__format__": conversion.tracer_format,
}


def _attach() -> None:
    for cls, own_methods in ((Array, _OF_ARRAYS), (Tracer, _OF_TRACERS)):
        for name, function in (_OPERATORS | _METHODS | own_methods).items():
            setattr(cls, name, function)
        for name, function in _PROPERTIES.items():
            setattr(cls, name, property(function))


_attach()
