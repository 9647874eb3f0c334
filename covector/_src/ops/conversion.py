"""Elements in another dtype: their values converted, or their bits reinterpreted.

convert_element_type  <->  convert_element_type (back)        reduce_precision  <->  itself
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..base import dtypes, elementwise_errors
from ..base.warn import warn
from ..core.array import Array
from ..core.avals import aval_of
from ..core.fusion import CHEAP
from ..core.zeros import Zero
from .base import Sample, draw
from .families import FLOATS, LinearUnary, Step, check_accepts
from .identities import stage
from .linear import Linear, move_axis, scalar


class ConvertElementType(Linear):
    """The operand in the dtype `new_dtype`; of complex numbers, the real part if that is real."""

    fusion = CHEAP

    def shown_params(self, params):
        return dict(new_dtype=params["new_dtype"], weak_type=params["weak_type"])

    def shape(self, x, *, new_dtype, weak_type, sharding):
        return x.shape

    def dtype(self, x, *, new_dtype, weak_type, sharding):
        if x.dtype != new_dtype and any(
            isinstance(dtype, dtypes.ExtendedDType) for dtype in (x.dtype, new_dtype)
        ):
            raise ValueError(elementwise_errors.no_conversion(x.dtype, new_dtype))
        return new_dtype

    def weak_type(self, x, *, new_dtype, weak_type, sharding):
        return weak_type

    def ref(self, x, *, new_dtype, weak_type, sharding):
        if _is_complex(np.asarray(x).dtype) and not _is_complex(new_dtype):
            x = np.real(x)
        return np.asarray(x).astype(new_dtype)

    def fold(self, x, *, new_dtype, weak_type, sharding):
        value = self._converted(x, new_dtype)
        if weak_type and value is not None:  # so are Python's numbers, also when they are evaluated
            number = value.item()
            return number if aval_of(number).dtype == new_dtype else value
        return value

    def _converted(self, x: Any, new_dtype: Any) -> np.ndarray | None:
        """A number in another dtype, or None if XLA may disagree."""
        if type(x) is float and dtypes.issubdtype(new_dtype, np.floating):
            return scalar(x, new_dtype)  # found, most often
        if dtypes.issubdtype(new_dtype, np.integer) and not np.issubdtype(type(x), np.integer):
            limits = dtypes.iinfo(new_dtype)
            if not limits.min <= np.real(x) <= limits.max:
                return None  # XLA saturates, NumPy does not
        return self.ref(x, new_dtype=new_dtype, weak_type=False, sharding=None)

    def jvp(self, primals, tangents, *, new_dtype, **params):
        (x,), (t,) = primals, tangents
        out = self.bind(x, new_dtype=new_dtype, **params)
        tangent_aval = aval_of(out).to_tangent_aval()
        if tangent_aval.dtype == dtypes.float0:
            return out, Zero(tangent_aval)
        return out, self.bind(t, new_dtype=tangent_aval.dtype, **params)

    def transpose(self, ct, x, *, new_dtype, weak_type, sharding):
        if dtypes.primal_tangent_dtype(x.aval.dtype) == dtypes.float0:
            return (Zero(x.aval.to_cotangent_aval()),)
        return (convert(ct, x.aval.dtype, x.aval.weak_type),)

    def vmap(self, axis, dims, x, **params):
        return self.bind(x, **params), dims[0]

    def emit(self, b, x, *, new_dtype, weak_type, sharding):
        (aval,) = b.avals_in
        if _is_complex(aval.dtype) and not _is_complex(new_dtype):
            aval = aval.update(dtype=dtypes.finfo(aval.dtype).dtype)
            x = b.op("real", x, out=aval)
        if new_dtype == np.bool_:
            return b.compare("NE", x, b.full(0, aval), aval.dtype)
        return b.op("convert", x)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        names = ("float32", "bfloat16", "complex64", "int32", "uint8", "bool")
        for old, new in [(old, new) for old in names for new in names]:
            params = dict(new_dtype=np.dtype(new), weak_type=False, sharding=None)
            smooth = all(dtypes.issubdtype(np.dtype(name), np.inexact) for name in (old, new))
            yield Sample((draw(rng, (2, 3), old, 0, 2),), params, smooth=smooth)
        params = dict(new_dtype=np.dtype("bfloat16"), weak_type=False, sharding=None)
        yield Sample((draw(rng, (0, 2), "float32"),), params)


def _is_complex(dtype: Any) -> bool:
    return dtypes.issubdtype(dtype, np.complexfloating)


convert_element_type_p = ConvertElementType("convert_element_type")


def convert(x: Any, dtype: Any, weak_type: bool = False) -> Any:
    """`convert_element_type_p` where it does something, `x` itself where it does not.

    Numbers are converted at once: to a NumPy array of rank 0, or to another Python number if the
    result is to be weakly typed.
    """
    aval: Any = aval_of(x)
    if aval.dtype == dtype and aval.weak_type == weak_type:
        return x
    if isinstance(x, _NUMBERS) and _numpy_agrees(x, dtype):
        number = _constant(x, dtype)
        if not weak_type:
            return number
        if dtypes.dtype_of(number.item()) == dtype:
            return number.item()
    return convert_element_type_p.bind(x, new_dtype=dtype, weak_type=weak_type, sharding=None)


_NUMBERS = (int, float, complex, np.generic)


def _numpy_agrees(number: Any, dtype: Any) -> bool:
    """Whether NumPy converts a number as XLA does: all but inf and NaN to integers."""
    if isinstance(dtype, dtypes.ExtendedDType):
        return False
    if isinstance(number, (int, np.integer, np.bool_)):
        return True
    if isinstance(number, (complex, np.complexfloating)):
        return _is_complex(dtype)
    return dtypes.issubdtype(dtype, np.inexact) or bool(np.isfinite(number))


def _constant(number: Any, dtype: Any) -> np.ndarray:
    """A number as an array of rank 0; mostly the same array for the same number."""
    if number or type(number) is int:  # 0.0 and -0.0 are equal
        try:
            return scalar(number, dtype)
        except OverflowError:  # an integer out of range, which wraps around
            pass
    return np.asarray(number).astype(dtype)


def convert_element_type(operand: Any, new_dtype: Any) -> Array:
    """Elementwise conversion to another dtype.

    Floats are rounded to other floats, and towards zero to integers; integers wrap around. To
    booleans, what is not zero becomes True. Of complex numbers made real, the real part remains.

    Args:
      operand: an array or a number.
      new_dtype: the dtype; a 64-bit one means its 32-bit counterpart if `enable_x64` is off.

    Returns:
      An array of the shape of `operand` and of dtype `new_dtype`; `operand` itself if it is one.

    Raises:
      TypeError: `new_dtype` is not a dtype.

    >>> import numpy as np
    >>> from covector import lax
    >>> lax.convert_element_type(np.array([1.9, -1.9]), np.int32)
    Array([ 1, -1], dtype=int32)
    """
    dtype = dtypes.check_user_dtype_supported(new_dtype, "lax.convert_element_type")
    if hasattr(operand, "__jax_array__"):
        operand = operand.__jax_array__()
    old = dtypes.dtype_of(operand)
    if _is_complex(old) and not _is_complex(dtype):
        warn(elementwise_errors.imaginary_part_lost(old, dtype), np.exceptions.ComplexWarning)
    return stage(convert(operand, dtype))


# ---------------------------------------------------------------- bits


class BitcastConvertType(Step):
    """The bits of the operand as elements of `new_dtype`.

    Narrower elements are numbered by a new last dimension; of wider ones, each is made of the
    elements along the operand's last dimension.
    """

    def shape(self, x, *, new_dtype):
        old, new = dtypes.itemsize_bits(x.dtype), dtypes.itemsize_bits(new_dtype)
        if old == new:
            return x.shape
        if old > new:
            return (*x.shape, old // new)
        last = x.shape[-1] if x.shape else 1
        if last * old != new:
            count = new // old
            raise ValueError(elementwise_errors.bitcast_shape(x.shape, x.dtype, new_dtype, count))
        return x.shape[:-1]

    def dtype(self, x, *, new_dtype):
        opaque = any(
            dtypes.issubdtype(dtype, kind)
            for dtype in (x.dtype, new_dtype)
            for kind in (np.bool_, np.complexfloating)
        )
        if opaque and x.dtype != new_dtype:
            raise TypeError(elementwise_errors.bitcast_of_bool_or_complex(x.dtype, new_dtype))
        return new_dtype

    def weak_type(self, x, *, new_dtype):
        return False

    def ref(self, x, *, new_dtype):
        x = np.asarray(x)
        shape = self.shape(aval_of(x), new_dtype=new_dtype)
        return np.frombuffer(x.tobytes(), new_dtype).reshape(shape)

    def vmap(self, axis, dims, x, *, new_dtype):
        # The last dimension may be the one that holds an element's parts, so the batch is in front.
        x = move_axis(x, dims[0], 0)
        return self.bind(x, new_dtype=new_dtype), 0

    def emit(self, b, x, *, new_dtype):
        return b.op("bitcast_convert", x)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for old, new, shape in [
            ("float32", "int32", (2, 3)),
            ("int32", "float32", ()),
            ("float32", "uint8", (3,)),
            ("uint16", "uint32", (3, 2)),
            ("bfloat16", "int16", (0, 2)),
        ]:
            yield Sample((draw(rng, shape, old),), dict(new_dtype=np.dtype(new)), smooth=False)


bitcast_convert_type_p = BitcastConvertType("bitcast_convert_type")


def bitcast_convert_type(operand: Any, new_dtype: Any) -> Array:
    """The bits of an array, read as elements of another dtype.

    Args:
      operand: an array or a number, not boolean or complex.
      new_dtype: the dtype. If its elements are narrower, the result has a further last dimension,
        along which lie the parts of an element; if they are wider, the last dimension of `operand`
        must hold the parts of one element, and goes.

    Returns:
      An array of dtype `new_dtype`.

    Raises:
      TypeError: one of the dtypes is boolean or complex, and not the other.
      ValueError: the last dimension is not of the size that `new_dtype` needs.

    >>> import numpy as np
    >>> from covector import lax
    >>> lax.bitcast_convert_type(np.float32(1.0), np.int32)
    Array(1065353216, dtype=int32)
    """
    dtype = dtypes.check_user_dtype_supported(new_dtype, "lax.bitcast_convert_type")
    return bitcast_convert_type_p.bind(operand, new_dtype=dtype)


# ---------------------------------------------------------------- precision


class ReducePrecision(LinearUnary):
    """Floats rounded to a format of fewer bits, but not stored in it."""

    def shape(self, x, *, exponent_bits, mantissa_bits):
        for what, value, least in (
            ("exponent_bits", exponent_bits, 1),
            ("mantissa_bits", mantissa_bits, 0),
        ):
            if value < least:
                raise ValueError(elementwise_errors.precision_out_of_range(what, value, least))
        return x.shape

    def dtype(self, x, *, exponent_bits, mantissa_bits):
        check_accepts(self.name, FLOATS, [x])
        return x.dtype

    def ref(self, x, *, exponent_bits, mantissa_bits):
        x = np.asarray(x)
        mantissa, exponent = np.frexp(x.astype(np.float64))
        rounded = np.ldexp(
            np.round(np.ldexp(mantissa, mantissa_bits + 1)), exponent - mantissa_bits - 1
        )
        # The largest exponent stands for inf, the smallest for 0; frexp has mantissas below 1.
        bias = 2 ** (exponent_bits - 1) - 1
        _, exponent = np.frexp(rounded)
        rounded = np.where(exponent - 1 > bias, np.copysign(np.inf, x), rounded)
        rounded = np.where(exponent - 1 < 1 - bias, np.copysign(0.0, x), rounded)
        return np.where(np.isfinite(x), rounded, x).astype(x.dtype)

    def emit(self, b, x, *, exponent_bits, mantissa_bits):
        bits = {"exponent_bits": exponent_bits, "mantissa_bits": mantissa_bits}
        return b.op("reduce_precision", x, **{k: np.int32(v) for k, v in bits.items()})

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for dtype, exponent_bits, mantissa_bits in [
            ("float32", 8, 7),
            ("float32", 5, 10),
            ("bfloat16", 5, 2),
            ("float32", 4, 3),
        ]:
            params = dict(exponent_bits=exponent_bits, mantissa_bits=mantissa_bits)
            yield Sample((draw(rng, (2, 3), dtype),), params, smooth=False)
        yield Sample((draw(rng, (0, 2), "float32"),), params, smooth=False)


reduce_precision_p = ReducePrecision("reduce_precision")


def reduce_precision(operand: Any, exponent_bits: int, mantissa_bits: int) -> Array:
    """Elementwise rounding to the nearest float of a format with fewer bits.

    Unlike two conversions, it is never optimized away.

    Args:
      operand: an array of floats.
      exponent_bits: how many bits the exponent has, at least 1.
      mantissa_bits: how many bits the mantissa has, without the implicit leading one.

    Returns:
      An array of the shape and dtype of `operand`.

    Raises:
      TypeError: `operand` is of another dtype, or the bits are not integers.
      ValueError: the number of bits is out of range.

    >>> from covector import lax
    >>> lax.reduce_precision(3.14159, exponent_bits=8, mantissa_bits=7)
    Array(3.140625, dtype=float32, weak_type=True)
    """
    return reduce_precision_p.bind(
        operand,
        exponent_bits=operator.index(exponent_bits),
        mantissa_bits=operator.index(mantissa_bits),
    )
