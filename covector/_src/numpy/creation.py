"""Arrays made from values, and arrays of one value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..api.devices import device_put
from ..api.shape_dtype import ShapeDtypeStruct
from ..base import dtypes, numpy_errors, ref_errors, tree
from ..base.keys import KeyTy
from ..base.warn import warn
from ..core.array import Array, ArrayLike
from ..core.avals import aval_of, is_valid_type
from ..core.refs import Ref
from ..core.trace import Tracer, context, eval_trace
from ..ops.complex import complex_p, imag_p, real_p
from ..ops.conversion import bitcast_convert_type_p
from ..ops.identities import copy_p, stage
from ..ops.joining import concatenate_p
from ..ops.linear import broadcast_in_dim, expand_dims, reshape
from ..ops.random_keys import filled_keys
from ..ops.shaping import broadcast_to as broadcast_operand
from ..ops.shaping import rev_p
from ..xla.array import ArrayImpl
from .arguments import shape_argument
from .promotion import (
    PYTHON_NUMBERS,
    convert,
    dtype_of,
    number,
    operand,
    own,
    shape_of,
)

# ---------------------------------------------------------------- from values


def array(
    object: Any,
    dtype: Any = None,
    *args: Any,
    copy: bool = True,
    order: str | None = "K",
    ndmin: int = 0,
    device: Any = None,
    out_sharding: Any = None,
) -> Array:
    """Make an array of values.

    Args:
      object: an array, a number, a NumPy array or what can become one, or nested lists and tuples
        of these.
      dtype: the dtype of the result; by default the common one of the values. Python numbers alone
        give a dtype that is weak if `object` is a single one.
      *args: the next three by position, which is deprecated.
      copy: whether the result must not share memory with `object`.
      order: "K", "A" or "C"; the layout in memory cannot be chosen.
      ndmin: the least number of dimensions; missing ones are put in front, of size 1.
      device, out_sharding: where to put the array.

    Returns:
      An array; a traced one if a value is traced. Of a masked array the mask is left out.

    Raises:
      TypeError: a value is not numeric.
      OverflowError: a Python integer does not fit the dtype.

    >>> import covector.numpy as jnp
    >>> jnp.array([[1, 2], [3, 4.5]])
    Array([[1. , 2. ],
           [3. , 4.5]], dtype=float32)
    """
    if args:
        copy, order, ndmin = _by_position(args, copy=copy, order=order, ndmin=ndmin)
    return _array("array", object, dtype, copy, order, ndmin, device, out_sharding)


def _by_position(args: tuple[Any, ...], **by_name: Any) -> list[Any]:
    """Arguments of `array` that may be given by name or, which is deprecated, by position."""
    if len(args) > len(by_name):
        raise TypeError(numpy_errors.too_many_arguments("array", 5, 2 + len(args)))
    for (name, value), default in zip(by_name.items(), (True, "K", 0)[: len(args)]):
        if value != default:
            raise TypeError(numpy_errors.argument_given_twice("array", name))
    warn(numpy_errors.deprecated_positions("array"), DeprecationWarning)
    return [*args, *list(by_name.values())[len(args) :]]


def _array(
    where: str,
    value: Any,
    dtype: Any,
    copy: bool,
    order: str | None,
    ndmin: int,
    device: Any,
    sharding: Any,
) -> Array:
    if order not in ("K", "A", "C", None):
        raise NotImplementedError(numpy_errors.order_not_supported(where, order))
    if dtype is not None:
        dtype = dtypes.check_user_dtype_supported(dtype, where)
    out = _from_value(value, dtype, copy)
    missing = ndmin - out.ndim
    if missing > 0:
        out = expand_dims(out, range(missing))
    return _placed(out, device, sharding)


def asarray(
    a: Any,
    dtype: Any = None,
    order: str | None = None,
    *,
    copy: bool | None = None,
    device: Any = None,
    out_sharding: Any = None,
) -> Array:
    """Make an array of values; the same as `array`, but an array is not copied without need.

    Args:
      a: as `object` of `array`.
      dtype, order, device, out_sharding: as for `array`.
      copy: whether the result must not share memory with `a`.

    Returns:
      An array; `a` itself if it is one of the dtype.

    >>> import covector.numpy as jnp
    >>> x = jnp.ones(3)
    >>> jnp.asarray(x) is x
    True
    """
    return _array("asarray", a, dtype, bool(copy), order, 0, device, out_sharding)


def _placed(x: Any, device: Any, sharding: Any = None) -> Any:
    """An array at the place asked for, if there is one."""
    target = device if sharding is None else sharding
    return x if target is None else device_put(x, target)


def _from_value(value: Any, dtype: Any, copy: bool) -> Any:
    kind = type(value)
    if own[kind]:
        if copy:
            value = copy_p.bind(value)
        return value if dtype is None else convert_array(value, dtype)
    if kind in PYTHON_NUMBERS:
        if dtype is None:
            return stage(_checked_number(value))
        return stage(_host_array(value, dtype))
    if hasattr(kind, "__jax_array__"):
        return _from_value(value.__jax_array__(), dtype, copy)
    if isinstance(value, (list, tuple)):
        return _from_sequence(value, dtype)
    if isinstance(value, np.ma.MaskedArray):
        value = value.data
    return _from_host(value, dtype, copy)


def convert_array(x: Any, dtype: Any) -> Any:
    """An array in another dtype, no longer a weak one."""
    if type(x) is ArrayImpl and x.aval.weak_type and x.aval.dtype == dtype:
        return ArrayImpl(x._buffer, x.aval.strip_weak_type(), x._placement)
    return convert(x, dtype)


def _checked_number(value: Any) -> Any:
    """A Python number, which must fit the dtype of its type."""
    if type(value) is int:
        dtype = dtypes.python_scalar_dtype(int)
        try:
            number(value, dtype)
        except OverflowError:
            raise OverflowError(numpy_errors.integer_too_large(value, dtype)) from None
    return value


def _from_host(value: Any, dtype: Any, copy: bool) -> Any:
    """NumPy arrays and scalars, and what NumPy makes an array of."""
    if isinstance(value, Ref):
        raise TypeError(ref_errors.not_an_array("array", aval_of(value)))
    host = value if isinstance(value, (np.ndarray, np.generic)) else np.asarray(value)
    if host.dtype == object and value is None:
        raise ValueError(numpy_errors.none_in_array())
    if not is_valid_type(host) or not dtypes.is_supported(host.dtype):
        raise TypeError(numpy_errors.not_numeric(value, host.dtype))
    if dtype is not None and dtype != host.dtype:
        host = host.astype(dtype)
    elif copy and context.trace is not eval_trace:
        host = host.copy()
    return stage(host)


def _from_sequence(values: Sequence[Any], dtype: Any) -> Any:
    leaves, _ = tree.flatten(values, is_leaf=lambda x: x is None)
    kinds = set(map(type, leaves))
    if type(None) in kinds:
        raise ValueError(numpy_errors.none_in_array())
    if kinds <= PYTHON_NUMBERS:
        dtype = _python_dtype(kinds) if dtype is None else dtype
        return _from_host(_host_array(values, dtype), None, False)
    leaves = [x.__jax_array__() if hasattr(type(x), "__jax_array__") else x for x in leaves]
    if not all(map(is_valid_type, leaves)):
        return _from_host(values, dtype, False)
    if dtype is None:
        dtype = dtypes.result_type(*leaves)
    on_host = context.trace is eval_trace and isinstance(dtype, np.dtype)
    if on_host and not any(isinstance(x, Tracer) for x in leaves):
        return stage(np.asarray(_on_host(values), dtype))
    return _stacked(values, dtype)


def _host_array(values: Any, dtype: Any) -> np.ndarray:
    """Nested sequences of Python numbers as a NumPy array."""
    if dtypes.issubdtype(dtype, np.integer):
        # NumPy refuses integers that do not fit; floats are rounded towards zero first, if finite.
        host = np.asarray(values)
        if host.dtype.kind in "fc" and np.isfinite(host).all():
            return host.astype(dtype)
    try:
        return np.asarray(values, dtype)
    except OverflowError as error:
        raise OverflowError(numpy_errors.integer_out_of_bounds(error)) from None


def _python_dtype(kinds: set[type]) -> Any:
    """The dtype of a list of Python numbers of these types."""
    for kind in (complex, float, int, bool):
        if kind in kinds:
            return dtypes.python_scalar_dtype(kind)
    return dtypes.default_float_dtype()


def _on_host(values: Any) -> Any:
    """Nested sequences with NumPy arrays in place of arrays."""
    if isinstance(values, (list, tuple)):
        return [_on_host(x) for x in values]
    if hasattr(type(values), "__jax_array__"):
        values = values.__jax_array__()
    return np.asarray(values) if own[type(values)] else values


def _stacked(values: Any, dtype: Any) -> Any:
    """Nested sequences of arrays, some of them traced, put together level by level."""
    if not isinstance(values, (list, tuple)):
        return _from_value(values, dtype, False)
    if not values:
        return full((0,), 0, dtype)
    parts = [_stacked(x, dtype) for x in values]
    shapes = {part.shape for part in parts}
    if len(shapes) > 1:
        raise ValueError(numpy_errors.ragged(parts))
    parts = [expand_dims(part, (0,)) for part in parts]
    return concatenate_p.bind(*parts, dimension=0) if len(parts) > 1 else parts[0]


def copy(a: ArrayLike, order: str | None = None) -> Array:
    """A copy of an array.

    >>> import covector.numpy as jnp
    >>> jnp.copy(jnp.arange(3))
    Array([0, 1, 2], dtype=int32)
    """
    return array(operand("copy", a), copy=True, order=order)


def astype(x: ArrayLike, dtype: Any, /, *, copy: bool = False, device: Any = None) -> Array:
    """An array in another dtype.

    Args:
      x: an array.
      dtype: the dtype; None for the default floating one.
      copy: whether the result is a copy even if `x` has that dtype already.
      device: where to put the result.

    Returns:
      An array of the same shape. Of complex numbers made real, the real part remains.

    >>> import covector.numpy as jnp
    >>> jnp.astype(jnp.array([1.9, -1.9]), int)
    Array([ 1, -1], dtype=int32)
    """
    x = operand("astype", x)
    if dtype is None:
        dtype = dtypes.default_float_dtype()
    dtype = dtypes.check_user_dtype_supported(dtype, "astype")
    if dtypes.issubdtype(dtype_of(x), np.complexfloating):
        if dtypes.issubdtype(dtype, np.floating) or dtypes.issubdtype(dtype, np.integer):
            warn(numpy_errors.imaginary_part_lost(dtype_of(x), dtype), np.exceptions.ComplexWarning)
    out = convert_array(x, dtype) if own[type(x)] else stage(convert(x, dtype))
    if copy and out is x:
        out = copy_p.bind(out)
    return _placed(out, device)


def view(a: Any, dtype: Any = None) -> Any:
    """The bits of the elements as elements of another dtype.

    If that is of another width, the last dimension grows or shrinks accordingly.
    """
    dtype = dtypes.default_float_dtype() if dtype is None else dtype
    dtype = dtypes.check_user_dtype_supported(dtype, "view")
    if dtype == a.dtype:
        return a
    if a.dtype == np.bool_:
        return view(convert(a, _BYTE), dtype)
    if dtype == np.bool_:
        return convert(view(a, _BYTE), dtype)
    if a.dtype.kind == "c":
        parts = [expand_dims(part_p.bind(a), (a.ndim,)) for part_p in (real_p, imag_p)]
        pairs = concatenate_p.bind(*parts, dimension=a.ndim)
        flat = (*a.shape[:-1], 2 * a.shape[-1]) if a.ndim else (2,)
        return view(reshape(pairs, flat), dtype)
    if dtype.kind == "c":
        if not a.ndim or a.shape[-1] * a.dtype.itemsize % dtype.itemsize:
            raise ValueError(numpy_errors.view_width(a.aval, dtype))
        pairs = view(a, dtypes.finfo(dtype).dtype)
        pairs = reshape(pairs, (*pairs.shape[:-1], pairs.shape[-1] // 2, 2))
        return complex_p.bind(pairs[..., 0], pairs[..., 1])
    return _bits(a, dtype)


_BYTE = np.dtype(np.uint8)


def byteswap(a: Any) -> Any:
    """An array with the bytes of each element in reversed order; of complex ones, of each part."""
    if a.dtype.kind == "c":
        return complex_p.bind(byteswap(real_p.bind(a)), byteswap(imag_p.bind(a)))
    if a.dtype.itemsize == 1:
        return a
    swapped = rev_p.bind(bitcast_convert_type_p.bind(a, new_dtype=_BYTE), dimensions=(a.ndim,))
    return bitcast_convert_type_p.bind(swapped, new_dtype=a.dtype)


def _bits(a: Any, dtype: Any) -> Any:
    """`view` between dtypes whose bits are reinterpreted as they are."""
    old, new = (dtypes.itemsize_bits(t) for t in (a.dtype, dtype))
    if old == new:
        return bitcast_convert_type_p.bind(a, new_dtype=dtype)
    shape = a.shape
    if not shape or shape[-1] * old % new:
        raise ValueError(numpy_errors.view_width(a.aval, dtype))
    if old > new:
        out = bitcast_convert_type_p.bind(a, new_dtype=dtype)
        return reshape(out, (*shape[:-1], shape[-1] * old // new))
    grouped = reshape(a, (*shape[:-1], shape[-1] * old // new, new // old))
    return bitcast_convert_type_p.bind(grouped, new_dtype=dtype)


# ---------------------------------------------------------------- of one value


def filled(shape: tuple[int, ...], value: Any, dtype: Any, weak: bool = False) -> Any:
    """An array of one value, which is converted to the dtype."""
    if isinstance(dtype, KeyTy) and dtypes.dtype_of(value) != dtype:
        return filled_keys(shape, value, dtype)
    if isinstance(value, (float, np.floating)) and dtypes.issubdtype(dtype, np.integer):
        value = stage(value)  # the device rounds all numbers, and takes the nearest that there is
    value = convert(value, dtype, weak)
    return broadcast_in_dim(value, shape, ()) if shape else stage(value)


def full(
    shape: Any,
    fill_value: ArrayLike,
    dtype: Any = None,
    *,
    device: Any = None,
    out_sharding: Any = None,
) -> Array:
    """An array with the same value everywhere.

    Args:
      shape: an integer or a sequence of integers.
      fill_value: a number, or an array that is broadcast to the shape.
      dtype: the dtype of the result; by default that of the value.
      device, out_sharding: where to put the array.

    Returns:
      An array; weakly typed if the value is a Python number and no dtype is given.

    >>> import covector.numpy as jnp
    >>> jnp.full((2, 3), 7.0, dtype=int)
    Array([[7, 7, 7],
           [7, 7, 7]], dtype=int32)
    """
    fill_value = operand("full", fill_value)
    weak = False
    if dtype is None:
        aval: Any = aval_of(fill_value)
        dtype, weak = aval.dtype, aval.weak_type
    else:
        dtype = dtypes.check_user_dtype_supported(dtype, "full")
    shape = shape_argument("full", shape)
    if shape_of(fill_value) == ():
        return _placed(filled(shape, fill_value, dtype, weak), device, out_sharding)
    out = broadcast_operand(convert(fill_value, dtype, weak), shape, "full")
    return _placed(out, device, out_sharding)


def _constant(where: str, shape: Any, value: Any, dtype: Any, device: Any, sharding: Any) -> Any:
    if dtype is None:
        dtype = dtypes.default_float_dtype()
    else:
        dtype = dtypes.check_user_dtype_supported(dtype, where)
    if dtype == dtypes.float0:  # which no device holds
        return np.zeros(shape_argument(where, shape), dtype)
    return _placed(filled(shape_argument(where, shape), value, dtype), device, sharding)


def zeros(shape: Any, dtype: Any = None, *, device: Any = None, out_sharding: Any = None) -> Array:
    """An array of zeros.

    Args:
      shape: an integer or a sequence of integers.
      dtype: the dtype; by default the default floating one.
      device, out_sharding: where to put the array.

    Returns:
      An array of that shape and dtype.

    >>> import covector.numpy as jnp
    >>> jnp.zeros((2, 3))
    Array([[0., 0., 0.],
           [0., 0., 0.]], dtype=float32)
    """
    return _constant("zeros", shape, 0, dtype, device, out_sharding)


def ones(shape: Any, dtype: Any = None, *, device: Any = None, out_sharding: Any = None) -> Array:
    """An array of ones.

    Args:
      shape: an integer or a sequence of integers.
      dtype: the dtype; by default the default floating one.
      device, out_sharding: where to put the array.

    Returns:
      An array of that shape and dtype.

    >>> import covector.numpy as jnp
    >>> jnp.ones(3, dtype=int)
    Array([1, 1, 1], dtype=int32)
    """
    return _constant("ones", shape, 1, dtype, device, out_sharding)


def empty(shape: Any, dtype: Any = None, *, device: Any = None, out_sharding: Any = None) -> Array:
    """An array of zeros; for symmetry with NumPy, whose `empty` leaves the elements undefined.

    Args:
      shape, dtype, device, out_sharding: as for `zeros`.

    Returns:
      An array of zeros.

    >>> import covector.numpy as jnp
    >>> jnp.empty(2)
    Array([0., 0.], dtype=float32)
    """
    return _constant("empty", shape, 0, dtype, device, out_sharding)


def _like(
    where: str, a: Any, value: Any, dtype: Any, shape: Any, device: Any, sharding: Any
) -> Any:
    """An array of one value with the shape and type of another, or what else has those."""
    if not (hasattr(a, "shape") and hasattr(a, "dtype")):
        a = operand(where, a)
    shape = np.shape(a) if shape is None else shape_argument(where, shape)
    if dtype is None:
        dtype, weak = dtypes.dtype_and_weak_type(a)
    else:
        dtype, weak = dtypes.check_user_dtype_supported(dtype, where), False
    if device is None and sharding is None and shape == np.shape(a):
        sharding = _committed_to(a)
    return _placed(filled(shape, value, dtype, weak), device, sharding)


def _committed_to(x: Any) -> Any:
    """How an array lies that is there, and is committed to stay there; else None.

    A struct says how the array lies that it stands for.
    """
    if context.trace is not eval_trace:
        return None
    if type(x) is ShapeDtypeStruct:
        return x.sharding
    return x.sharding if type(x) is ArrayImpl and x.committed else None


def full_like(
    a: Any,
    fill_value: ArrayLike,
    dtype: Any = None,
    shape: Any = None,
    *,
    device: Any = None,
    out_sharding: Any = None,
) -> Array:
    """An array with the same value everywhere, of the type of another array.

    Args:
      a: an array, or anything with a shape and a dtype.
      fill_value: a number, or an array that is broadcast to the shape.
      dtype, shape: those of the result, if not those of `a`.
      device, out_sharding: where to put the array.

    Returns:
      An array; weakly typed if `a` is, and no dtype is given.

    >>> import covector.numpy as jnp
    >>> jnp.full_like(jnp.arange(3), 7)
    Array([7, 7, 7], dtype=int32)
    """
    fill_value = operand("full_like", fill_value)
    if shape_of(fill_value) == ():
        return _like("full_like", a, fill_value, dtype, shape, device, out_sharding)
    shape = np.shape(a) if shape is None else shape
    dtype = dtypes.dtype_of(a) if dtype is None else dtype
    return full(shape, fill_value, dtype, device=device, out_sharding=out_sharding)


def zeros_like(
    a: Any, dtype: Any = None, shape: Any = None, *, device: Any = None, out_sharding: Any = None
) -> Array:
    """An array of zeros of the type of another array; see `full_like`.

    >>> import covector.numpy as jnp
    >>> jnp.zeros_like(jnp.arange(3))
    Array([0, 0, 0], dtype=int32)
    """
    return _like("zeros_like", a, 0, dtype, shape, device, out_sharding)


def ones_like(
    a: Any, dtype: Any = None, shape: Any = None, *, device: Any = None, out_sharding: Any = None
) -> Array:
    """An array of ones of the type of another array; see `full_like`.

    >>> import covector.numpy as jnp
    >>> jnp.ones_like(jnp.arange(3))
    Array([1, 1, 1], dtype=int32)
    """
    return _like("ones_like", a, 1, dtype, shape, device, out_sharding)


def empty_like(
    prototype: Any,
    dtype: Any = None,
    shape: Any = None,
    *,
    device: Any = None,
) -> Array:
    """An array of zeros of the type of another array; see `empty` and `full_like`.

    >>> import covector.numpy as jnp
    >>> jnp.empty_like(jnp.arange(3))
    Array([0, 0, 0], dtype=int32)
    """
    return _like("empty_like", prototype, 0, dtype, shape, device, None)
