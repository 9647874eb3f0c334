"""Products of matrices whose rows, or whose sums, come in groups of different sizes.

The groups of one ragged dimension follow one another; their sizes are known at run time only.  A
product masks the operand once for each group, and lets one dense product do the rest:

    rows in groups   (m, k) (g, k, n) -> (m, n)       row i is multiplied by the matrix of its group
    sums in groups   (m, k) (k, n)    -> (g, m, n)    each group adds up its own part of k
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..base import dot_errors, dtypes
from ..core.array import Array
from ..core.avals import aval_of
from ..ops.arithmetic import sub
from ..ops.bitwise import bitwise_and
from ..ops.comparison import ge, lt
from ..ops.contraction import canonical_dimension_numbers, dot_general
from ..ops.conversion import convert
from ..ops.creation import broadcasted_iota
from ..ops.linear import broadcast_in_dim, full, transpose
from ..ops.select import select
from .cumulative import cumsum


class RaggedDotDimensionNumbers(NamedTuple):
    """How the dimensions of a ragged product belong together.

    Attributes:
      dot_dimension_numbers: `((lhs_contracting, rhs_contracting), (lhs_batch, rhs_batch))`, as of
        `dot_general`.
      lhs_ragged_dimensions: the dimension of the left operand that comes in groups, as a sequence
        of one.
      rhs_group_dimensions: the dimension of the right operand that counts the groups, if it has
        one.
    """

    dot_dimension_numbers: Any
    lhs_ragged_dimensions: Sequence[int]
    rhs_group_dimensions: Sequence[int]


def ragged_dot(
    lhs: Any,
    rhs: Any,
    group_sizes: Any,
    precision: Any = None,
    preferred_element_type: Any = None,
    group_offset: Any = None,
    out_sharding: Any = None,
) -> Array:
    """The product of each row with the matrix of the row's group.

    Args:
      lhs: an array of shape (m, k).
      rhs: an array of shape (g, k, n), a matrix for each group.
      group_sizes: integers of shape (g,): so many rows follow one another in each group. Rows
        behind the last group give zeros.
      precision, preferred_element_type: as of `dot`.
      group_offset: not supported; must be None.
      out_sharding: accepted for compatibility.

    Returns:
      An array of shape (m, n).

    Raises:
      TypeError: shapes do not fit, or the sizes are no integers.

    >>> import numpy as np
    >>> from covector import lax
    >>> rows, matrices = np.ones((3, 2)), np.array([[[1.0], [1.0]], [[5.0], [5.0]]])
    >>> lax.ragged_dot(rows, matrices, np.array([1, 2]))
    Array([[ 2.],
           [10.],
           [10.]], dtype=float32)
    """
    numbers = RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), (0,), (0,))
    return ragged_dot_general(
        lhs, rhs, group_sizes, numbers, precision, preferred_element_type, group_offset
    )


def ragged_dot_general(
    lhs: Any,
    rhs: Any,
    group_sizes: Any,
    ragged_dot_dimension_numbers: RaggedDotDimensionNumbers,
    precision: Any = None,
    preferred_element_type: Any = None,
    group_offset: Any = None,
    out_sharding: Any = None,
) -> Array:
    """A general product of which one dimension comes in groups of different sizes.

    Args:
      lhs, rhs: arrays.
      group_sizes: integers of shape (g,), or with the dimensions of `lhs` in front that are batches
        or stand before the ragged one.
      ragged_dot_dimension_numbers: which dimension of `lhs` comes in groups. If it is contracted,
        each group adds up its own part, and the result has a dimension of groups in front; if it is
        a batch dimension, its groups change nothing; otherwise `rhs` has a dimension of groups.
      precision, preferred_element_type: as of `dot_general`.
      group_offset: not supported; must be None.
      out_sharding: accepted for compatibility.

    Returns:
      An array with the dimensions that `dot_general` gives, and that of groups where it is said.

    Raises:
      TypeError: shapes do not fit, or the sizes are no integers.
      NotImplementedError: `group_offset` is given.

    >>> import numpy as np
    >>> from covector import lax
    >>> numbers = lax.RaggedDotDimensionNumbers((((0,), (0,)), ((), ())), (0,), ())
    >>> lax.ragged_dot_general(np.ones((3, 1)), np.ones((3, 1)), np.array([1, 2]), numbers)
    Array([[[1.]],
    <BLANKLINE>
           [[2.]]], dtype=float32)
    """
    if group_offset is not None:
        raise NotImplementedError(dot_errors.group_offset())
    sizes = aval_of(group_sizes)
    if not dtypes.issubdtype(sizes.dtype, np.integer):
        raise TypeError(dot_errors.group_sizes_dtype(sizes.dtype))
    numbers = canonical_dimension_numbers(ragged_dot_dimension_numbers.dot_dimension_numbers)
    (contracting, rhs_contracting), (batch, rhs_batch) = numbers
    lhs_ragged = tuple(ragged_dot_dimension_numbers.lhs_ragged_dimensions)
    if len(lhs_ragged) != 1 or not 0 <= lhs_ragged[0] < aval_of(lhs).ndim:
        raise TypeError(dot_errors.ragged_dimensions(lhs_ragged, aval_of(lhs).ndim))
    (ragged,) = lhs_ragged
    groups = tuple(ragged_dot_dimension_numbers.rhs_group_dimensions)
    wanted = 0 if ragged in batch or ragged in contracting else 1
    if len(groups) != wanted or not {*groups}.isdisjoint((*rhs_contracting, *rhs_batch)):
        raise TypeError(dot_errors.group_dimensions(groups, wanted))
    options = dict(precision=precision, preferred_element_type=preferred_element_type)
    prefix = _prefix(lhs, ragged, contracting, batch)
    _check_sizes(lhs, sizes, prefix)
    if ragged in batch:
        return dot_general(lhs, rhs, numbers, **options)
    masked = _masked_by_group(lhs, group_sizes, ragged, prefix if sizes.ndim > 1 else ())
    shifted = tuple([dim + 1 for dim in contracting])
    new_batch = tuple([dim + 1 for dim in batch])
    if ragged in contracting:
        pairs = (shifted, rhs_contracting), (new_batch, rhs_batch)
        out = dot_general(masked, rhs, pairs, **options)
        place = len(batch)  # of the groups: the first free dimension of the left operand
        rank = aval_of(out).ndim
        return transpose(out, (place, *[dim for dim in range(rank) if dim != place]))
    (group,) = groups
    if aval_of(rhs).shape[group] != sizes.shape[-1]:
        raise TypeError(dot_errors.group_count(aval_of(rhs).shape[group], sizes.shape[-1]))
    pairs = ((0, *shifted), (group, *rhs_contracting)), (new_batch, rhs_batch)
    return dot_general(masked, rhs, pairs, **options)


def _prefix(lhs: Any, ragged: int, contracting: Sequence[int], batch: Sequence[int]) -> Any:
    """The dimensions in which group sizes may differ: batches, and those before the ragged one."""
    if ragged in batch:
        return tuple(batch[: list(batch).index(ragged)])
    free = [d for d in range(aval_of(lhs).ndim) if d not in contracting and d not in batch]
    own = contracting if ragged in contracting else free
    return (*batch, *own[: list(own).index(ragged)])


def _check_sizes(lhs: Any, sizes: Any, prefix: Sequence[int]) -> None:
    """Raise unless the sizes of groups have a shape that they may have."""
    shape = aval_of(lhs).shape
    wanted = (*[shape[dim] for dim in prefix], *sizes.shape[-1:])
    if sizes.ndim != 1 and sizes.shape != wanted:
        raise TypeError(dot_errors.group_sizes_shape(wanted, sizes.shape))


def _masked_by_group(lhs: Any, group_sizes: Any, ragged: int, prefix: Sequence[int]) -> Any:
    """The operand once for each group, in front, with zeros outside of the group."""
    x, sizes = aval_of(lhs), aval_of(group_sizes)
    shape = (sizes.shape[-1], *x.shape)
    given = convert(group_sizes, np.dtype(np.int32))
    # Groups stand in front of the batches that sizes differ in.
    order = (sizes.ndim - 1, *range(sizes.ndim - 1))
    places = (0, *[dim + 1 for dim in prefix])
    size, end = [
        broadcast_in_dim(transpose(v, order), shape, places)
        for v in (given, cumsum(given, axis=sizes.ndim - 1))
    ]
    position = broadcasted_iota(np.int32, shape, ragged + 1)
    inside = bitwise_and(ge(position, sub(end, size)), lt(position, end))
    wide = broadcast_in_dim(lhs, shape, tuple(range(1, x.ndim + 1)))
    return select(inside, wide, full(shape, 0, x.dtype))
