"""NumPy's implicit conversions: what may be an operand, the common dtype, the common rank.

A public function checks its operands first (`operands`); promotion takes them as checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import config, dtypes, numpy_errors, ref_errors
from ..base.dims import Dim
from ..base.shapes import broadcast_sizes
from ..base.warn import warn
from ..core.array import Array
from ..core.avals import aval_getters, aval_of
from ..core.refs import Ref
from ..core.trace import Tracer
from ..ops.conversion import convert_element_type_p
from ..ops.identities import stage
from ..ops.linear import broadcast_in_dim, broadcast_in_dim_p
from ..xla.array import ArrayImpl

BOOL = np.dtype(bool)
PYTHON_NUMBERS = frozenset((int, float, bool, complex))

# ---------------------------------------------------------------- sets of dtypes, for fast branches

_ALL = tuple(
    np.dtype(t)
    for t in (
        *(np.uint8, np.uint16, np.uint32, np.uint64, np.int8, np.int16, np.int32, np.int64),
        *(dtypes.bfloat16, np.float16, np.float32, np.float64, np.complex64, np.complex128),
    )
)
NUMBERS = frozenset(_ALL)
REALS = frozenset(t for t in _ALL if t.kind != "c")
SIGNED = frozenset(t for t in _ALL if t.kind != "u")
COMPLEX = frozenset(t for t in _ALL if t.kind == "c")
INEXACT = frozenset(t for t in _ALL if dtypes.issubdtype(t, np.inexact))
INTEGERS = frozenset(t for t in _ALL if t.kind in "iu")
BITS = INTEGERS | {BOOL}

# ---------------------------------------------------------------- operands


class _OwnTypes(dict):
    """For each type of value whether it is an array or tracer of ours, which has an aval."""

    def __missing__(self, kind: type) -> bool:
        own = self[kind] = issubclass(kind, (Array, Tracer))
        return own


own = _OwnTypes()


def operands(where: str, args: Sequence[Any]) -> list[Any]:
    """The arguments of the public function `where`, checked: each an array or a number.

    An object with a method `__jax_array__` is replaced by what that returns.
    """
    return [x if own[type(x)] else _foreign_operand(where, x, i) for i, x in enumerate(args)]


class _HostTypes(dict):
    """For each type of value whether it is one of numbers or NumPy arrays."""

    def __missing__(self, kind: type) -> bool:
        known = any(base in aval_getters for base in kind.__mro__[:-1])
        valid = self[kind] = known and not issubclass(kind, Ref)
        return valid


_on_host = _HostTypes()


def _foreign_operand(where: str, x: Any, position: int) -> Any:
    kind = type(x)
    if _on_host[kind]:
        return x
    if hasattr(kind, "__jax_array__"):
        return x.__jax_array__()
    if isinstance(x, Ref):
        raise TypeError(ref_errors.not_an_array(where, aval_of(x)))
    raise TypeError(numpy_errors.not_an_operand(where, x, position))


def operand(where: str, x: Any) -> Any:
    """The one argument of the public function `where`, checked."""
    return x if own[type(x)] else _foreign_operand(where, x, 0)


def as_array(where: str, x: Any) -> Any:
    """The one argument of the public function `where` as an array or tracer."""
    return x if own[type(x)] else stage(_foreign_operand(where, x, 0))


def dtype_of(x: Any) -> Any:
    """The dtype of an operand."""
    return aval_of(x).dtype


def shape_of(x: Any) -> tuple[int, ...]:
    """The shape of an operand."""
    return aval_of(x).shape


# ---------------------------------------------------------------- conversions of one operand


def convert(x: Any, dtype: Any, weak: bool = False) -> Any:
    """An operand in another dtype; what is known on the host is converted there."""
    kind = type(x)
    if own[kind]:
        aval = x.aval
        if aval.dtype == dtype and (aval.weak_type == weak or kind is ArrayImpl):
            return x
        return convert_element_type_p.bind(x, new_dtype=dtype, weak_type=weak, sharding=None)
    if not weak:
        if kind is Dim:
            return convert(x.__jax_array__(), dtype)
        if kind in PYTHON_NUMBERS or kind is not np.ndarray:
            return number(x, dtype)
        return x if aval_of(x).dtype == dtype else x.astype(dtype)
    if kind is not np.ndarray:
        x = dtype.type(x).item()
        if aval_of(x).dtype == dtype:
            return x
    return convert_element_type_p.bind(x, new_dtype=dtype, weak_type=True, sharding=None)


# Constants by dtype and value.  The two zeros are equal but not the same, hence `repr`.
_numbers: dict[Any, np.ndarray] = {}
_NUMBERS_LIMIT = 8192


def number(value: Any, dtype: Any) -> np.ndarray:
    """A number as a read-only constant of the given dtype; one object for each value."""
    if type(value) is Dim:
        return convert(value, dtype)
    key = (dtype, type(value), value or repr(value))
    found = _numbers.get(key)
    if found is None:
        found = _new_number(value, dtype)
        found.flags.writeable = False
        # Parts of complex numbers may be such zeros too: these constants are not kept.
        if not isinstance(value, (complex, np.complexfloating)):
            if len(_numbers) >= _NUMBERS_LIMIT:
                _numbers.clear()
            _numbers[key] = found
    return found


def _new_number(value: Any, dtype: Any) -> np.ndarray:
    """A number in a dtype; an integer that does not fit wraps around, if it fits the default one.

    Raises OverflowError if it does not.
    """
    try:
        return np.array(value, dtype)
    except OverflowError:
        pass
    try:
        return np.array(value, dtypes.python_scalar_dtype(int)).astype(dtype)
    except OverflowError as error:
        raise OverflowError(numpy_errors.integer_out_of_bounds(error)) from None


# ---------------------------------------------------------------- promotion of several


def promote_dtypes(*args: Any) -> list[Any]:
    """Operands in their common dtype."""
    avals: Any = [aval_of(x) for x in args]
    if len(avals) == 2:
        a, b = avals
        dtype, weak = dtypes.promote_pair(a.dtype, a.weak_type, b.dtype, b.weak_type)
    else:
        dtype, weak = dtypes.lattice_result_type(*avals)
    return [convert(x, dtype, weak) for x in args]


def promote_dtypes_inexact(*args: Any) -> list[Any]:
    """Operands in their common dtype, floating or complex."""
    dtype, weak = dtypes.lattice_result_type(*[aval_of(x) for x in args])
    inexact = dtypes.to_inexact_dtype(dtype)
    return [convert(x, inexact, weak) for x in args]


def promote_shapes(where: str, *args: Any) -> Sequence[Any]:
    """Operands of one rank: those of lower rank get leading dimensions of size 1.

    Operands of rank 0 stay as they are if all others are of one rank, since the primitives
    broadcast them themselves; so do dimensions of size 1.

    Raises ValueError if operands of several ranks cannot be broadcast together.
    """
    shapes = [shape_of(x) for x in args]
    ranks = {len(shape) for shape in shapes if shape}
    if len(ranks) < 2:
        return args
    check_rank_promotion(where, shapes)
    broadcast_shape(where, shapes)
    rank = max(ranks)
    return [raise_rank(x, len(shape), rank) for x, shape in zip(args, shapes)]


def raise_rank(x: Any, rank: int, to: int) -> Any:
    """An operand with dimensions of size 1 in front, so that its rank is `to`."""
    if rank == to:
        return x
    dims = tuple(range(to - rank, to))
    shape = (1,) * (to - rank) + shape_of(x)
    return broadcast_in_dim_p.bind(x, shape=shape, broadcast_dimensions=dims, sharding=None)


def check_rank_promotion(where: str, shapes: Sequence[tuple[int, ...]]) -> None:
    """Warn or raise about implicit rank promotion, as the flag `numpy_rank_promotion` says."""
    mode = config.numpy_rank_promotion.value
    if mode == "allow":
        return
    message = numpy_errors.implicit_rank_promotion(where, shapes, mode == "raise")
    if mode == "raise":
        raise ValueError(message)
    warn(message)


def common_shape(where: str, *args: Any) -> tuple[int, ...]:
    """The shape to which operands are broadcast together, if their ranks may differ."""
    shapes = [shape_of(x) for x in args]
    if len({len(shape) for shape in shapes if shape}) > 1:
        check_rank_promotion(where, shapes)
    return broadcast_shape(where, shapes)


def broadcast_shape(where: str, shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The shape to which arrays of these are broadcast together, whatever their ranks."""
    ranked = {shape for shape in shapes if shape}
    if len(ranked) < 2:
        return ranked.pop() if ranked else ()
    try:
        return broadcast_sizes(*shapes)
    except ValueError:
        raise ValueError(numpy_errors.cannot_broadcast(where, shapes)) from None


def broadcast_to_shape(x: Any, shape: tuple[int, ...]) -> Any:
    """An operand broadcast to a shape."""
    return broadcast_in_dim(x, shape, range(len(shape) - len(shape_of(x)), len(shape)))


def promote(where: str, *args: Any) -> Sequence[Any]:
    """Operands in their common dtype and rank."""
    try:
        args = tuple(promote_dtypes(*args))
    except dtypes.TypePromotionError:
        found = [dtype_of(x) for x in args]
        if any(isinstance(dtype, dtypes.ExtendedDType) for dtype in found):
            raise TypeError(numpy_errors.dtypes_do_not_mix(where, found)) from None
        raise
    return promote_shapes(where, *args)


def promote_inexact(where: str, *args: Any) -> Sequence[Any]:
    """Operands in their common dtype, floating or complex, and rank."""
    return promote_shapes(where, *promote_dtypes_inexact(*args))


def promote_numeric(where: str, *args: Any) -> Sequence[Any]:
    """Operands in their common dtype, which must be real, and rank; booleans become integers."""
    args = promote(where, *args)
    dtype = dtype_of(args[0])
    if dtype == BOOL:
        return [convert(x, dtypes.to_numeric_dtype(dtype)) for x in args]
    if dtype.kind == "c":
        raise TypeError(numpy_errors.not_for_complex(where, dtype))
    return args
