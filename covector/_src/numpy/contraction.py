"""Products of matrices, vectors and tensors."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ..base import dtypes, numpy_errors
from ..core.array import Array, ArrayLike
from ..ops.arithmetic import mul_p
from ..ops.bitwise import and_p
from ..ops.contraction import dot_general_p
from ..ops.joining import stack_p
from ..ops.linear import expand_dims, full, move_axis, reshape, transpose_p
from ..ops.precision import canonicalize_precision
from ..ops.shaping import squeeze_p
from .arguments import axis_argument, check_no_out
from .composite import composite
from .parts import conjugate
from .promotion import as_array, convert, dtype_of, operands, own, promote_dtypes, shape_of

_MATMUL = (((1,), (0,)), ((), ()))
_NONE: tuple[int, ...] = ()


def contract(
    a: Any,
    b: Any,
    dimension_numbers: Any,
    precision: Any = None,
    dtype: Any = None,
    out_sharding: Any = None,
) -> Any:
    """`dot_general` with the common dtype of the operands, or another one, for a result."""
    common, weak = dtypes.lattice_result_type(a.aval, b.aval)
    if dtype is not None:
        common, weak = dtypes.check_user_dtype_supported(dtype, "dot"), False
    else:  # a weak operand may be wider than the result: `dot(x, 2)` for x of uint8
        a, b = (convert(x, common) if dtype_of(x).itemsize > common.itemsize else x for x in (a, b))
    out = dot_general_p.bind(
        a,
        b,
        dimension_numbers=dimension_numbers,
        precision=canonicalize_precision(precision),
        preferred_element_type=common,
        out_sharding=out_sharding,
    )
    return convert(out, common, weak)


# ---------------------------------------------------------------- matrices and vectors


def matmul(
    a: ArrayLike,
    b: ArrayLike,
    *,
    precision: Any = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Array:
    """Products of matrices in the last two dimensions; the others are broadcast.

    Args:
      a, b: arrays of one or more dimensions. A vector is a row on the left, a column on the right,
        and its added dimension is removed from the result.
      precision: as for `lax.dot`.
      preferred_element_type: the dtype of the result; by default the common one.
      out_sharding: how the result is to be sharded.

    Returns:
      An array of shape `(*batch, n, m)` for operands `(*batch, n, k)` and `(*batch, k, m)`.

    Raises:
      ValueError: an operand has no dimension, or batches do not fit.
      TypeError: the sizes that are summed over do not fit.

    >>> import covector.numpy as jnp
    >>> jnp.matmul(jnp.array([[1, 2], [3, 4]]), jnp.array([5, 6]))
    Array([17, 39], dtype=int32)
    """
    a, b = (x if own[type(x)] else as_array("matmul", x) for x in operands("matmul", (a, b)))
    x, y = a.aval, b.aval
    if x.ndim == 2 and y.ndim == 2:
        return contract(a, b, _MATMUL, precision, preferred_element_type, out_sharding)
    if not x.ndim or not y.ndim:
        raise ValueError(numpy_errors.matmul_of_scalar(x.shape, y.shape))
    a_drop, b_drop, numbers, order, ones = _matmul_plan(x.shape, y.shape)
    a = squeeze_p.bind(a, dimensions=a_drop) if a_drop else a
    b = squeeze_p.bind(b, dimensions=b_drop) if b_drop else b
    out = contract(a, b, numbers, precision, preferred_element_type, out_sharding)
    out = out if order is None else transpose_p.bind(out, permutation=order)
    return expand_dims(out, ones) if ones else out


@functools.lru_cache(maxsize=1024)
def _matmul_plan(x: tuple[int, ...], y: tuple[int, ...]) -> Any:
    """How to multiply stacks of matrices with `dot_general`.

    A batch dimension that both have is one to `dot_general` too. One that only an operand has, the
    other lacking it or having size 1 there, stays among that operand's own dimensions, so that
    nothing is copied; the result's dimensions are then put in order. One that is of size 1 in both
    is removed, and added to the result in the end.

    Returns:
      For both operands the dimensions of size 1 that are removed; the dimension numbers; the
      permutation of the result, or None; and the dimensions of size 1 that are to be added to it.
    """
    a_lead, b_lead = x[:-2], y[:-2]
    rank = max(len(a_lead), len(b_lead))
    # For each batch dimension of the result: where it is in a and in b, or None.
    a_at = [None] * (rank - len(a_lead)) + list(range(len(a_lead)))
    b_at = [None] * (rank - len(b_lead)) + list(range(len(b_lead)))
    a_drop, b_drop, ones = [], [], []
    for i in range(rank):
        p, q = a_at[i], b_at[i]
        if p is None or q is None or x[p] == y[q] != 1:
            continue
        if x[p] == y[q]:
            a_drop.append(p)
            b_drop.append(q)
            ones.append(i)
        elif x[p] == 1:
            a_drop.append(p)
            a_at[i] = None
        elif y[q] == 1:
            b_drop.append(q)
            b_at[i] = None
        else:
            raise ValueError(numpy_errors.matmul_batches(x, y))
    a_place = _places(len(x), a_drop)
    b_place = _places(len(y), b_drop)
    kept = [i for i in range(rank) if i not in ones]
    both = [i for i in kept if a_at[i] is not None and b_at[i] is not None]
    batch = tuple([a_place[a_at[i]] for i in both]), tuple([b_place[b_at[i]] for i in both])
    contracted = (a_place[len(x) - 1],), (b_place[max(len(y) - 2, 0)],)
    order = _result_order(kept, both, a_at, len(x) > 1, len(y) > 1)
    in_order = order == tuple(range(len(order)))
    numbers = (contracted, batch)
    return tuple(a_drop), tuple(b_drop), numbers, None if in_order else order, tuple(ones)


def _places(rank: int, dropped: list[int]) -> dict[int, int]:
    """Where each dimension is once some are dropped."""
    kept = [dim for dim in range(rank) if dim not in dropped]
    return {dim: i for i, dim in enumerate(kept)}


def _result_order(
    lead: list[int], both: list[int], a_at: list[int | None], rows: bool, columns: bool
) -> tuple[int, ...]:
    """The permutation from the dimensions of `dot_general` to those of `matmul`."""
    of_a = [i for i in lead if i not in both and a_at[i] is not None]
    of_b = [i for i in lead if i not in both and a_at[i] is None]
    names = [*both, *of_a, *(["row"] if rows else []), *of_b, *(["column"] if columns else [])]
    wanted = [*lead, *(["row"] if rows else []), *(["column"] if columns else [])]
    return tuple([names.index(name) for name in wanted])


def dot(
    a: ArrayLike,
    b: ArrayLike,
    *,
    precision: Any = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Array:
    """Sum of products over the last dimension of `a` and the last but one of `b`.

    Args:
      a, b: arrays; of vectors the only dimension is summed over, scalars multiply.
      precision, preferred_element_type, out_sharding: as for `matmul`.

    Returns:
      An array with the other dimensions of `a`, then those of `b`.

    >>> import covector.numpy as jnp
    >>> jnp.dot(jnp.array([1, 2]), jnp.array([3, 4]))
    Array(11, dtype=int32)
    """
    a, b = (as_array("dot", x) for x in operands("dot", (a, b)))
    if a.ndim == 0 or b.ndim == 0:
        contracted = (_NONE, _NONE)
    else:
        contracted = ((a.ndim - 1,), (max(b.ndim - 2, 0),))
    numbers = (contracted, (_NONE, _NONE))
    return contract(a, b, numbers, precision, preferred_element_type, out_sharding)


def vdot(
    a: ArrayLike, b: ArrayLike, *, precision: Any = None, preferred_element_type: Any = None
) -> Array:
    """Sum of the products of all elements of `b` and the conjugates of those of `a`.

    Args:
      a, b: arrays with the same number of elements; they are raveled.
      precision, preferred_element_type: as for `matmul`.

    Returns:
      An array of rank 0.

    >>> import covector.numpy as jnp
    >>> jnp.vdot(jnp.array([1j, 2]), jnp.array([1j, 1]))
    Array(3.+0.j, dtype=complex64)
    """
    a, b = (as_array("vdot", x) for x in operands("vdot", (a, b)))
    a, b = (reshape(x, (x.size,)) for x in (conjugate(a), b))
    return dot(a, b, precision=precision, preferred_element_type=preferred_element_type)


def vecdot(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    *,
    axis: int = -1,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Array:
    """Sums of products along one dimension, with the conjugate of `x1`; the others are broadcast.

    Args:
      x1, x2: arrays of the same size along `axis`.
      axis: the dimension that is summed over.
      precision, preferred_element_type: as for `matmul`.

    Returns:
      An array of the shape to which the other dimensions broadcast.

    Raises:
      ValueError: the sizes along the dimension differ.

    >>> import covector.numpy as jnp
    >>> jnp.vecdot(jnp.array([[1, 2], [3, 4]]), jnp.array([1, 1]))
    Array([3, 7], dtype=int32)
    """
    x1, x2 = (as_array("vecdot", x) for x in operands("vecdot", (x1, x2)))
    x1, x2 = (move_axis(x, axis_argument("vecdot", axis, x.ndim), x.ndim - 1) for x in (x1, x2))
    if x1.shape[-1] != x2.shape[-1]:
        raise ValueError(numpy_errors.vecdot_sizes(x1.shape, x2.shape))
    if x1.shape == x2.shape:
        last, lead = (x1.ndim - 1,), tuple(range(x1.ndim - 1))
        numbers = ((last, last), (lead, lead))
        return contract(conjugate(x1), x2, numbers, precision, preferred_element_type)
    row, column = expand_dims(conjugate(x1), (x1.ndim - 1,)), expand_dims(x2, (x2.ndim,))
    out = matmul(row, column, precision=precision, preferred_element_type=preferred_element_type)
    return squeeze_p.bind(out, dimensions=(out.ndim - 2, out.ndim - 1))


def matvec(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Products of matrices and vectors, in the last dimensions; the others are broadcast.

    >>> import covector.numpy as jnp
    >>> jnp.matvec(jnp.array([[1, 2], [3, 4]]), jnp.array([5, 6]))
    Array([17, 39], dtype=int32)
    """
    x1, x2 = (as_array("matvec", x) for x in operands("matvec", (x1, x2)))
    out = matmul(x1, expand_dims(x2, (x2.ndim,)))
    return squeeze_p.bind(out, dimensions=(out.ndim - 1,))


def vecmat(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Products of vectors, conjugated, and matrices, in the last dimensions; see `matvec`.

    >>> import covector.numpy as jnp
    >>> jnp.vecmat(jnp.array([5, 6]), jnp.array([[1, 2], [3, 4]]))
    Array([23, 34], dtype=int32)
    """
    x1, x2 = (as_array("vecmat", x) for x in operands("vecmat", (x1, x2)))
    out = matmul(expand_dims(conjugate(x1), (x1.ndim - 1,)), x2)
    return squeeze_p.bind(out, dimensions=(out.ndim - 2,))


# ---------------------------------------------------------------- tensors


def inner(
    a: ArrayLike, b: ArrayLike, *, precision: Any = None, preferred_element_type: Any = None
) -> Array:
    """Sum of products over the last dimension of both operands; scalars multiply.

    Args:
      a, b: arrays whose last dimensions are of one size.
      precision, preferred_element_type: as for `matmul`.

    Returns:
      An array of shape `(*a.shape[:-1], *b.shape[:-1])`.

    >>> import covector.numpy as jnp
    >>> jnp.inner(jnp.array([[1, 2], [3, 4]]), jnp.array([5, 6]))
    Array([17, 39], dtype=int32)
    """
    a, b = (as_array("inner", x) for x in operands("inner", (a, b)))
    if a.ndim == 0 or b.ndim == 0:
        contracted = (_NONE, _NONE)
    else:
        contracted = ((a.ndim - 1,), (b.ndim - 1,))
    return contract(a, b, (contracted, (_NONE, _NONE)), precision, preferred_element_type)


def outer(a: ArrayLike, b: ArrayLike, out: None = None) -> Array:
    """The products of each element of `a` with each of `b`; both are raveled.

    Args:
      a, b: arrays.
      out: not supported.

    Returns:
      A matrix of shape `(a.size, b.size)`.

    >>> import covector.numpy as jnp
    >>> jnp.outer(jnp.array([1, 2]), jnp.array([3, 4, 5]))
    Array([[ 3,  4,  5],
           [ 6,  8, 10]], dtype=int32)
    """
    check_no_out("outer", out)
    a, b = (as_array("outer", x) for x in promote_dtypes(*operands("outer", (a, b))))
    return _outer(reshape(a, (a.size,)), reshape(b, (b.size,)))


@composite
def _outer(a: Any, b: Any) -> Any:
    return multiply_raised(expand_dims(a, (1,)), expand_dims(b, (0,)))


def multiply_raised(a: Any, b: Any) -> Any:
    """The product of operands of one type and rank; of booleans, "and"."""
    return (and_p if dtype_of(a) == np.bool_ else mul_p).bind(a, b)


def tensordot(
    a: ArrayLike,
    b: ArrayLike,
    axes: Any = 2,
    *,
    precision: Any = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Array:
    """Sum of products over pairs of dimensions.

    Args:
      a, b: arrays.
      axes: how many of the last dimensions of `a` are summed over with as many of the first of
        `b`; or a pair of dimensions, or of sequences of them.
      precision, preferred_element_type, out_sharding: as for `matmul`.

    Returns:
      An array with the other dimensions of `a`, then those of `b`.

    >>> import covector.numpy as jnp
    >>> jnp.tensordot(jnp.ones((2, 3, 4)), jnp.ones((4, 3)), axes=((1, 2), (1, 0))).shape
    (2,)
    """
    a, b = (as_array("tensordot", x) for x in operands("tensordot", (a, b)))
    if isinstance(axes, (int, np.integer)):
        if axes > min(a.ndim, b.ndim):
            raise TypeError(numpy_errors.tensordot_count(axes, a.shape, b.shape))
        contracted = tuple(range(a.ndim - axes, a.ndim)), tuple(range(axes))
    else:
        if not isinstance(axes, (tuple, list)) or len(axes) != 2:
            raise TypeError(numpy_errors.tensordot_axes(axes))
        of_a, of_b = (
            (dims,) if isinstance(dims, (int, np.integer)) else tuple(dims) for dims in axes
        )
        if len(of_a) != len(of_b):
            raise TypeError(numpy_errors.tensordot_lengths(of_a, of_b))
        contracted = (
            tuple([axis_argument("tensordot", dim, a.ndim) for dim in of_a]),
            tuple([axis_argument("tensordot", dim, b.ndim) for dim in of_b]),
        )
    numbers = (contracted, (_NONE, _NONE))
    return contract(a, b, numbers, precision, preferred_element_type, out_sharding)


@composite
def _kron(a: Any, b: Any) -> Any:
    rank = len(shape_of(a))
    a = expand_dims(a, range(1, 2 * rank, 2))
    b = expand_dims(b, range(0, 2 * rank, 2))
    out = multiply_raised(a, b)
    shape = shape_of(out)
    return reshape(out, [n * m for n, m in zip(shape[::2], shape[1::2])])


def kron(a: ArrayLike, b: ArrayLike) -> Array:
    """Kronecker product: a copy of `b` in the place of each element of `a`, multiplied by it.

    >>> import covector.numpy as jnp
    >>> jnp.kron(jnp.array([1, 10]), jnp.array([[1, 2]]))
    Array([[ 1,  2, 10, 20]], dtype=int32)
    """
    a, b = promote_dtypes(*operands("kron", (a, b)))
    rank = max(len(shape_of(a)), len(shape_of(b)))
    a, b = (expand_dims(x, range(rank - len(shape_of(x)))) for x in (a, b))
    return _kron(a, b)


@composite
def _cross(a: Any, b: Any) -> Any:
    """The vector product along the last dimension, whose size is 2 or 3 in each operand."""
    x, y = ([v[..., i] for i in range(shape_of(v)[-1])] for v in (a, b))

    def part(i: int, j: int) -> Any:
        """x_i y_j - x_j y_i, where a third component that is missing is zero."""
        terms = [x[p] * y[q] if p < len(x) and q < len(y) else None for p, q in ((i, j), (j, i))]
        first, second = terms
        if first is None and second is None:
            out = x[0] * y[0]
            return full(shape_of(out), 0, dtype_of(out))
        if second is None:
            return first
        return -second if first is None else first - second

    if len(x) == 2 and len(y) == 2:
        return part(0, 1)
    parts = [part(1, 2), part(2, 0), part(0, 1)]
    return stack_p.bind(*parts, axis=parts[0].ndim)


def cross(
    a: ArrayLike,
    b: ArrayLike,
    axisa: int = -1,
    axisb: int = -1,
    axisc: int = -1,
    axis: int | None = None,
) -> Array:
    """Vector product of vectors of two or three components.

    Args:
      a, b: arrays of vectors; the other dimensions are broadcast.
      axisa, axisb: the dimensions of the components.
      axisc: where that dimension is in the result; there is none if both have two components.
      axis: all three in one.

    Returns:
      An array of vectors orthogonal to both, or of their one component out of the plane.

    >>> import covector.numpy as jnp
    >>> jnp.cross(jnp.array([1, 0, 0]), jnp.array([0, 1, 0]))
    Array([0, 0, 1], dtype=int32)
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = (as_array("cross", x) for x in promote_dtypes(*operands("cross", (a, b))))
    a = move_axis(a, axis_argument("cross", axisa, a.ndim), a.ndim - 1)
    b = move_axis(b, axis_argument("cross", axisb, b.ndim), b.ndim - 1)
    if a.shape[-1] not in (2, 3) or b.shape[-1] not in (2, 3):
        raise ValueError(numpy_errors.cross_sizes(a.shape, b.shape))
    out = _cross(a, b)
    if a.shape[-1] == 2 and b.shape[-1] == 2:
        return out
    return move_axis(out, out.ndim - 1, axis_argument("cross", axisc, out.ndim))
