"""What collectives share: ops over named axes.

A collective computes for each example of a mapped axis something of all of them.  When the `vmap`
of that axis meets it, the axis is an ordinary dimension of a batch, and the collective becomes an
ordinary op along it: a sum, a transposition, a gather.  Over any other axis it is batched as every
op is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import axis_errors as errors
from ..core.avals import aval_of, with_vma, without_vma
from ..core.axis import Axis, check_axes_bound, checked_axes, size_of_axis
from ..core.effects import NamedAxisEffect
from ..core.trace import context
from .base import Op
from .gather import gather
from .gather_dimensions import GatherDimensionNumbers, GatherScatterMode
from .linear import bring_to, expand_dims, move_axis, reshape

Groups = tuple[tuple[int, ...], ...] | None


class Collective(Op):
    """A linear op over named axes of one operand.

    Subclasses define `over(axis, x, dim, **params)`: the op as the vmap of one of its axes computes
    it, from a batch or, if `dim` is None, from an operand that is the same for all examples.  What
    they must say of their parameters are the axes (`names`), and the parameters for operands with
    one more dimension in front (`beside`).
    """

    # The public function, for errors.
    where: str

    def names(self, **params: Any) -> tuple[Any, ...]:
        """The named axes that the op is over."""
        return as_tuple(params["axis_name"])

    def beside(self, params: dict[str, Any]) -> dict[str, Any]:
        """The parameters for operands with one more dimension in front; the same dict if equal."""
        return params

    def over(self, axis: Axis, x: Any, dim: int | None, **params: Any) -> tuple[Any, int | None]:
        """The op under the vmap of one of its axes: the result, and where its batch is."""
        raise NotImplementedError

    def uses_axis(self, name, params):
        return name in self.names(**params)

    def varies(self, vma: frozenset[Any], over: frozenset[Any], **params: Any) -> frozenset[Any]:
        """Along which axes of a mesh the result varies.

        Args:
          vma: those along which an operand does.
          over: those that the op is over and whose values are checked.
        """
        return vma | over

    def typecheck(self, avals, params):
        # Which axes are in scope, and their sizes, is looked at every time: nothing is memoized.
        names = self.names(**params)
        check_axes_bound(names, self.where)
        out, effects = self.effectful_abstract_eval(*map(without_vma, avals), **params)
        if context.axis_env:
            vma = frozenset().union(*[aval.vma for aval in avals])
            out = with_vma(out, self.varies(vma, frozenset(checked_axes(names)), **params))
        return out, effects

    def retype(self, params, vmas):
        axes = checked_axes(self.names(**params))
        return params, [frozenset(axes).union(*vmas)] * len(vmas)

    def effectful_abstract_eval(self, *avals, **params):
        effects = frozenset(map(NamedAxisEffect, self.names(**params)))
        return self.abstract_eval(*avals, **params), effects

    def jvp(self, primals, tangents, **params):
        (x,), (t,) = primals, tangents
        return self.bind(x, **params), self.bind(t, **params)

    def vmap(self, axis, dims, x, **params):
        (dim,) = dims
        if axis.name is None or axis.name not in self.names(**params):
            within = self.beside(params)
            if within is not params:
                x, dim = move_axis(x, dim, 0), 0
            return self.bind(x, **within), dim
        if params.get("axis_index_groups") is not None:
            return self._over_groups(axis, x, dim, **params)
        return self.over(axis, x, dim, **params)

    def _over_groups(
        self, axis: Axis, x: Any, dim: int | None, *, axis_index_groups: Any, **params: Any
    ) -> tuple[Any, int | None]:
        """The op within each of several groups of examples.

        Group by group, the examples are rows of a matrix: the op acts over its columns, and its
        rows are one more dimension that it is batched over.
        """
        if len(self.names(**params)) > 1:
            names = self.names(**params)
            raise NotImplementedError(errors.groups_of_several_axes(self.where, names))
        groups = np.array(check_groups(self.where, axis_index_groups, axis.size))
        count, size = groups.shape
        order = groups.reshape(-1)
        x = take(bring_to(x, axis.size, dim, 0), order)
        x = reshape(x, (count, size, *aval_of(x).shape[1:]))
        within = self.beside(params | dict(axis_index_groups=None))
        out, out_dim = self.over(Axis(size, axis.name), x, 1, **within)
        out = bring_to(out, size, out_dim, 1)
        out = reshape(out, (axis.size, *aval_of(out).shape[2:]))
        return take(out, np.argsort(order)), 0


# ---------------------------------------------------------------- axes and groups


def as_tuple(axis_name: Any) -> tuple[Any, ...]:
    """The names in what may be one name or several."""
    return tuple(axis_name) if isinstance(axis_name, (tuple, list)) else (axis_name,)


def size_of_axes(where: str, names: Sequence[Any], groups: Groups) -> int:
    """How many examples take part in a collective together."""
    sizes = [size_of_axis(name, where) for name in names]
    return math.prod(sizes) if groups is None else len(groups[0])


def as_groups(where: str, axis_index_groups: Any) -> Groups:
    """Groups of the indices of an axis, each index in one of them; None means one group of all."""
    if axis_index_groups is None:
        return None
    groups = tuple(map(tuple, axis_index_groups))
    indices = [i for group in groups for i in group]
    if sorted(indices) != list(range(len(indices))):
        raise ValueError(errors.groups_not_a_partition(where, groups))
    return groups


def check_groups(where: str, groups: Any, size: int) -> Any:
    """The groups; raise unless they are of one size, and of all indices of an axis."""
    if len({len(group) for group in groups}) != 1:
        raise NotImplementedError(errors.groups_differ_in_size(where, groups))
    if sum(map(len, groups)) != size:
        raise ValueError(errors.groups_not_a_partition(where, groups, size))
    return groups


# ---------------------------------------------------------------- moving elements


def take(x: Any, indices: np.ndarray, dim: int = 0) -> Any:
    """The parts of an array along a dimension that constant indices say."""
    shape = aval_of(x).shape
    if list(indices) == list(range(shape[dim])):
        return x
    others = tuple(i for i in range(len(shape)) if i != dim)
    numbers = GatherDimensionNumbers(others, (dim,), (dim,))
    sizes = tuple([1 if i == dim else size for i, size in enumerate(shape)])
    return gather(
        x,
        indices.astype(np.int32)[:, None],
        numbers,
        sizes,
        mode=GatherScatterMode.PROMISE_IN_BOUNDS,
        unique_indices=len(set(indices.tolist())) == len(indices),
    )


def rows(x: Any, indices: Any) -> Any:
    """The rows of an array with these numbers; any row where there is none of a number."""
    shape = aval_of(x).shape
    numbers = GatherDimensionNumbers(tuple(range(1, len(shape))), (0,), (0,))
    sizes = (1, *shape[1:])
    mode = GatherScatterMode.CLIP
    return gather(x, expand_dims(indices, (1,)), numbers, sizes, mode=mode)


def split_dim(x: Any, dim: int, *sizes: int) -> Any:
    """`x` with a dimension split into several, of which the last takes what the others leave."""
    shape = aval_of(x).shape
    parts = (*sizes, shape[dim] // math.prod(sizes))
    return reshape(x, (*shape[:dim], *parts, *shape[dim + 1 :]))


def merge_dims(x: Any, dim: int, count: int = 2) -> Any:
    """`x` with `count` dimensions, from `dim` on, as one."""
    shape = aval_of(x).shape
    size = math.prod(shape[dim : dim + count])
    return reshape(x, (*shape[:dim], size, *shape[dim + count :]))
