"""Values of other examples of a mapped axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import axis_errors as errors
from ..base import tree
from ..core.avals import ShapedArray, aval_of
from ..core.axis import Axis, size_of_axis
from .arithmetic import add_p
from .axis_index import axis_index
from .collectives_base import Collective, as_tuple, merge_dims, rows, take
from .collectives_gather import all_gather_p
from .collectives_reduce import sum_over
from .comparison import eq_p, ge_p
from .families import filled_like
from .linear import bring_to, broadcast_in_dim, constant_like, reshape
from .replicas import all_reduce, exchanged, place_along, region_of
from .select import select_n_p
from .slicing import index_in_dim


class PPermute(Collective):
    """For each pair of `perm`, a source and a destination, the source's operand at the destination.

    Examples that are no destination get zeros.
    """

    where = "ppermute"

    def shape(self, x, **params):
        return x.shape

    def transpose(self, ct, x, *, axis_name, perm):
        back = tuple([(destination, source) for source, destination in perm])
        return (self.bind(ct, axis_name=axis_name, perm=back),)

    def over(self, axis, x, dim, *, axis_name, perm):
        if len(axis_name) > 1:
            x = bring_to(x, axis.size, dim, 0)
            return self._over_several(axis, x, axis_name, perm), 0
        check_perm(self.where, perm, axis.size)
        sources = {destination: source for source, destination in perm}
        full = len(sources) == axis.size
        if full and dim is None:
            return x, None
        to = dim or 0
        x = bring_to(x, axis.size, dim, to)
        x = take(x, np.array([sources.get(i, 0) for i in range(axis.size)]), to)
        if full:
            return x, to
        received = np.array([i in sources for i in range(axis.size)])
        received = broadcast_in_dim(received, aval_of(x).shape, (to,))
        return select_n_p.bind(received, filled_like(x, 0), x), to

    def emit(self, b, x, *, axis_name, perm):
        # As in JAX the order of several axes is that of the mesh, whatever the order of the names.
        region = region_of(b, self.where, axis_name)
        groups = region.groups([name for name in region.mesh.axis_names if name in axis_name])
        check_perm(self.where, perm, groups.shape[1])
        pairs = [(row[source], row[to]) for row in groups for source, to in perm]
        pairs = np.array(pairs, np.int64).reshape(-1, 2)
        return exchanged(b, "collective_permute", x, source_target_pairs=pairs)

    def _over_several(self, axis: Axis, x: Any, names: Sequence[Any], perm: Any) -> Any:
        """The op on a batch, along dimension 0, of one of its axes: all get all, and choose."""
        place = list(names).index(axis.name)
        others = (*names[:place], *names[place + 1 :])
        other_sizes = tuple([size_of_axis(name, self.where) for name in others])
        sizes = (*other_sizes[:place], axis.size, *other_sizes[place:])
        check_perm(self.where, perm, math.prod(sizes))

        def parted(index: int) -> tuple[Any, Any]:
            """An index along all axes as one along the others, and one along this axis."""
            coordinates = list(np.unravel_index(index, sizes))
            own = coordinates.pop(place)
            return np.ravel_multi_index(coordinates, other_sizes), own

        # For each destination the row of its source in what is gathered, or -1.
        row_of = np.full((math.prod(other_sizes), axis.size), -1, np.int32)
        for source, destination in perm:
            along_others, own = parted(source)
            row_of[parted(destination)] = along_others * axis.size + own
        everything = merge_dims(
            all_gather_p.bind(
                x,
                all_gather_dimension=0,
                axis_index_groups=None,
                axis_name=others,
                axis_size=math.prod(other_sizes),
                tiled=False,
            ),
            0,
        )
        mine = reshape(rows(row_of, reshape(axis_index(others), (1,))), (axis.size,))
        received = ge_p.bind(mine, constant_like(mine, 0))
        out = rows(everything, mine)
        received = broadcast_in_dim(received, aval_of(out).shape, (0,))
        return select_n_p.bind(received, filled_like(out, 0), out)


class PBroadcast(Collective):
    """The operand of the example `source`, for all."""

    where = "pbroadcast"

    def shape(self, x, **params):
        return x.shape

    def transpose(self, ct, x, *, axis_name, source):
        index = axis_index(axis_name)
        total = sum_over(ct, as_tuple(axis_name), None)
        is_source = eq_p.bind(index, constant_like(index, source))
        return (select_n_p.bind(is_source, filled_like(ct, 0), total),)

    def over(self, axis, x, dim, *, axis_name, source):
        names = as_tuple(axis_name)
        sizes = [size_of_axis(name, self.where) for name in names]
        if not 0 <= source < math.prod(sizes):
            raise ValueError(errors.source_outside(source, axis_name, math.prod(sizes)))
        coordinates = dict(zip(names, map(int, np.unravel_index(source, sizes))))
        own = coordinates.pop(axis.name)
        x = x if dim is None else index_in_dim(x, own, dim, keepdims=False)
        for name, other in coordinates.items():
            x = self.bind(x, axis_name=name, source=other)
        return x, None

    def emit(self, b, x, *, axis_name, source):
        # The source adds what it has to the zeros of the others.
        names, (aval,) = as_tuple(axis_name), b.avals_out
        region = region_of(b, self.where, names)
        sizes = [region.size(name) for name in names]
        if not 0 <= source < math.prod(sizes):
            raise ValueError(errors.source_outside(source, axis_name, math.prod(sizes)))
        flag = ShapedArray((), np.bool_)
        is_source = b.constant(True)
        for name, place in zip(names, np.unravel_index(source, sizes)):
            mine = place_along(b, self.where, name)
            here = b.compare("EQ", mine, b.constant(place, np.int32), np.dtype(np.int32), out=flag)
            is_source = b.op("and", is_source, here, out=flag)
        zeros = b.full(0, aval)
        return all_reduce(b, self.where, add_p, b.op("select", is_source, x, zeros), names)


ppermute_p = PPermute("ppermute")
pbroadcast_p = PBroadcast("pbroadcast")


def check_perm(where: str, perm: Sequence[tuple[int, int]], size: int | None = None) -> None:
    """Raise unless no index is twice the source, or the destination, and all are in range."""
    for i, what in enumerate(("source", "destination")):
        indices = [pair[i] for pair in perm]
        if len(set(indices)) != len(indices):
            raise ValueError(
                errors.not_a_permutation(where, perm, f"an index is a {what} more than once")
            )
        if size is not None and not all(0 <= index < size for index in indices):
            fact = f"indices of the axis go from 0 to {size - 1}"
            raise ValueError(errors.not_a_permutation(where, perm, fact))


# ---------------------------------------------------------------- public functions


def ppermute(x: Any, axis_name: Any, perm: Sequence[tuple[int, int]]) -> Any:
    """Send arrays from some examples of a mapped axis to others.

    Args:
      x: an array, or a tree of arrays.
      axis_name: the name of an axis, or a sequence of names, of which the last counts fastest.
      perm: pairs of the index of a source and of its destination. No index is twice a source, nor
        twice a destination.

    Returns:
      What the source has of `x`; zeros for examples that are no destination.

    Raises:
      NameError: there is no axis of that name in scope.
      ValueError: an index is twice a source or a destination, or out of range.

    >>> import covector as cv, covector.numpy as jnp
    >>> from covector import lax
    >>> shift = cv.vmap(lambda x: lax.ppermute(x, "i", [(0, 1), (1, 2)]), axis_name="i")
    >>> print(shift(jnp.array([3, 4, 5])))
    [0 3 4]
    """
    pairs = tuple([(int(source), int(destination)) for source, destination in perm])
    check_perm("ppermute", pairs)
    names = as_tuple(axis_name)
    return tree.map(lambda v: ppermute_p.bind(v, axis_name=names, perm=pairs), x)


def pshuffle(x: Any, axis_name: Any, perm: Sequence[int]) -> Any:
    """Arrays of the examples of a mapped axis in another order.

    Args:
      x: an array, or a tree of arrays.
      axis_name: the name of an axis.
      perm: for each index the one whose array it gets.

    Returns:
      What the example `perm[index]` has of `x`.

    Raises:
      NameError: there is no axis of that name in scope.
      ValueError: `perm` is not a permutation of the indices.

    >>> import covector as cv, covector.numpy as jnp
    >>> from covector import lax
    >>> rotate = cv.vmap(lambda x: lax.pshuffle(x, "i", [2, 0, 1]), axis_name="i")
    >>> print(rotate(jnp.array([3, 4, 5])))
    [5 3 4]
    """
    if sorted(perm) != list(range(len(perm))):
        fact = f"it does not hold each of 0 to {len(perm) - 1} once"
        raise ValueError(errors.not_a_permutation("pshuffle", perm, fact))
    return ppermute(x, axis_name, [(source, i) for i, source in enumerate(perm)])


def pbroadcast(x: Any, axis_name: Any, source: int) -> Any:
    """The array of one example of a mapped axis, for all.

    Args:
      x: an array, or a tree of arrays.
      axis_name: the name of an axis.
      source: the index of the example.

    Returns:
      What the example `source` has of `x`.

    Raises:
      NameError: there is no axis of that name in scope.
      ValueError: there is no such index.

    >>> import covector as cv, covector.numpy as jnp
    >>> from covector import lax
    >>> print(cv.vmap(lambda x: x - lax.pbroadcast(x, "i", 0), axis_name="i")(jnp.array([3, 4, 5])))
    [0 1 2]
    """
    return tree.map(lambda v: pbroadcast_p.bind(v, axis_name=axis_name, source=source), x)
