"""Collectives that turn a mapped axis into a dimension, or a dimension into a mapped axis.

    all_gather  <->  reduce_scatter          all_to_all  <->  all_to_all

With `tiled`, no dimension comes or goes: one becomes longer or shorter by the size of the axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import axis_errors as errors
from ..base import tree
from ..base.shapes import canonicalize_axis, inserted, with_size, without
from ..core.avals import aval_of
from ..core.axis import Axis, checked_axes, manual_axes
from .arithmetic import add_p, mul_p
from .axis_index import axis_index
from .collectives_base import (
    Collective,
    as_groups,
    as_tuple,
    merge_dims,
    size_of_axes,
    split_dim,
)
from .dynamic_slicing import dynamic_slice_p
from .linear import bring_to, constant_like, expand_dims, move_axis, reduce_sum
from .replicas import exchanged, gathered, reduced, replica_groups
from .shaping import squeeze


def around(names: Sequence[Any], axis: Axis) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The names that stand before the one of an axis, and those behind it, which count faster."""
    i = list(names).index(axis.name)
    return tuple(names[:i]), tuple(names[i + 1 :])


def check_split(
    where: str, dim: int, shape: Sequence[int], names: Any, size: int, tiled: bool
) -> None:
    """Raise unless a dimension can be divided among the examples of axes of some size."""
    if tiled and shape[dim] % size:
        raise ValueError(errors.split_size_tiled(where, dim, shape, names, size))
    if not tiled and shape[dim] != size:
        raise ValueError(errors.split_size(where, dim, shape, names, size))


class AllGather(Collective):
    """The operands of all examples, side by side along `all_gather_dimension`."""

    where = "all_gather"

    def beside(self, params):
        return params | dict(all_gather_dimension=params["all_gather_dimension"] + 1)

    def shape(self, x, *, all_gather_dimension, axis_size, tiled, **params):
        dim = all_gather_dimension
        if not tiled:
            return inserted(x.shape, dim, axis_size)
        return with_size(x.shape, dim, x.shape[dim] * axis_size)

    def transpose(self, ct, x, *, all_gather_dimension, **params):
        return (reduce_scatter_p.bind(ct, scatter_dimension=all_gather_dimension, **params),)

    def over(self, axis, x, dim, *, all_gather_dimension, axis_name, tiled, **params):
        major, minor = around(axis_name, axis)
        to = all_gather_dimension
        if minor:
            if dim is not None:
                x, dim = move_axis(x, dim, 0), 0
            x = self._untiled(x, minor, to + (dim is not None))
        x = bring_to(x, axis.size, dim, to)
        if major:
            x = self._untiled(x, major, to)
        return merge_dims(x, to, bool(major) + 1 + bool(minor) + bool(tiled)), None

    def emit(self, b, x, *, all_gather_dimension, axis_name, axis_index_groups, tiled, **params):
        groups = replica_groups(b, self.where, axis_name, axis_index_groups)
        return gathered(b, x, b.avals_in[0], groups, all_gather_dimension, tiled)

    def _untiled(self, x: Any, names: Sequence[Any], dim: int) -> Any:
        return self.bind(
            x,
            all_gather_dimension=dim,
            axis_index_groups=None,
            axis_name=tuple(names),
            axis_size=size_of_axes(self.where, names, None),
            tiled=False,
        )


class ReduceScatter(Collective):
    """The sum of the operands of all examples, of which each gets a part of `scatter_dimension`."""

    where = "psum_scatter"

    def beside(self, params):
        return params | dict(scatter_dimension=params["scatter_dimension"] + 1)

    def shape(self, x, *, axis_name, axis_size, scatter_dimension, tiled, **params):
        check_split(self.where, scatter_dimension, x.shape, axis_name, axis_size, tiled)
        if not tiled:
            return without(x.shape, (scatter_dimension,))
        return with_size(x.shape, scatter_dimension, x.shape[scatter_dimension] // axis_size)

    def transpose(self, ct, x, *, scatter_dimension, **params):
        return (all_gather_p.bind(ct, all_gather_dimension=scatter_dimension, **params),)

    def over(self, axis, x, dim, *, scatter_dimension, axis_name, tiled, **params):
        x = mul_p.bind(x, constant_like(x, axis.size)) if dim is None else reduce_sum(x, (dim,))
        major, minor = around(axis_name, axis)
        to = scatter_dimension
        sizes = [size_of_axes(self.where, names, None) for names in (major, minor) if names]
        if sizes or tiled:
            x = split_dim(x, to, *sizes[: bool(major)], axis.size, *sizes[bool(major) :])
            if not tiled:
                x = squeeze(x, (to + len(sizes) + 1,))
        if major:
            x = self._untiled(x, major, to)
        if minor:
            x = self._untiled(x, minor, to + 1)
        return x, to

    def emit(self, b, x, *, scatter_dimension, axis_name, axis_index_groups, tiled, **params):
        groups = replica_groups(b, self.where, axis_name, axis_index_groups)
        (out,) = b.avals_out
        part = out if tiled else out.update(shape=inserted(out.shape, scatter_dimension, 1))
        kind, dim = "reduce_scatter", scatter_dimension
        x = reduced(b, kind, add_p, x, groups, out=part, scatter_dimension=dim)
        return x if tiled else b.op("reshape", x)

    def _untiled(self, x: Any, names: Sequence[Any], dim: int) -> Any:
        return self.bind(
            x,
            axis_index_groups=None,
            axis_name=tuple(names),
            axis_size=size_of_axes(self.where, names, None),
            scatter_dimension=dim,
            tiled=False,
        )


class AllToAll(Collective):
    """Parts of the operand, one for each example, and the parts that each has for this one.

    The parts lie side by side along `split_axis`, and afterwards along `concat_axis`, whether or
    not `tiled` says that the public function was to add no dimensions.
    """

    where = "all_to_all"

    def beside(self, params):
        return params | {name: params[name] + 1 for name in ("split_axis", "concat_axis")}

    def shape(self, x, *, axis_index_groups, axis_name, concat_axis, split_axis, tiled):
        size = size_of_axes(self.where, as_tuple(axis_name), axis_index_groups)
        check_split(self.where, split_axis, x.shape, axis_name, size, True)
        shape = with_size(x.shape, split_axis, x.shape[split_axis] // size)
        return with_size(shape, concat_axis, shape[concat_axis] * size)

    def weak_type(self, x, **params):
        return False

    def transpose(self, ct, x, *, concat_axis, split_axis, **params):
        return (self.bind(ct, concat_axis=split_axis, split_axis=concat_axis, **params),)

    def over(self, axis, x, dim, *, axis_name, concat_axis, split_axis, tiled, **params):
        if dim is None:
            x, dim = bring_to(x, axis.size, None, 0), 0
        major, minor = around(as_tuple(axis_name), axis)
        if not major and not minor and split_axis != concat_axis:
            x = merge_dims(move_axis(x, dim, concat_axis), concat_axis)
            return split_dim(x, split_axis, axis.size), split_axis
        x = move_axis(x, dim, 0)
        # The dimension of parts becomes one for each axis, of which each is exchanged on its own.
        first = split_axis + 1
        sizes = [size_of_axes(self.where, names, None) for names in (major, minor) if names]
        x = split_dim(x, first, *sizes[: bool(major)], axis.size, *sizes[bool(major) :])
        own = first + bool(major)
        if major:
            x = self._in_place(x, major, first)
        x = move_axis(move_axis(x, 0, own), own - 1, 0)
        if minor:
            x = self._in_place(x, minor, own + 1)
        x = move_axis(merge_dims(x, first, 1 + len(sizes)), first, concat_axis + 1)
        return merge_dims(x, concat_axis + 1), 0

    def emit(self, b, x, *, axis_name, axis_index_groups, concat_axis, split_axis, **params):
        groups = replica_groups(b, self.where, as_tuple(axis_name), axis_index_groups)
        return exchanged(
            b,
            "all_to_all",
            x,
            split_dimension=split_axis,
            concat_dimension=concat_axis,
            split_count=groups.shape[1],
            replica_groups=groups,
        )

    def _in_place(self, x: Any, names: Sequence[Any], dim: int) -> Any:
        """The exchange of parts along a dimension that has one for each example."""
        return self.bind(
            x,
            axis_index_groups=None,
            axis_name=tuple(names),
            concat_axis=dim,
            split_axis=dim,
            tiled=True,
        )


class AllGatherInvariant(AllGather):
    """The same as a value of which types tell that all devices have the same.

    There is one result, not one for each device; and so each has of its cotangent its own part.
    """

    def shown_params(self, params):
        shown = super().shown_params(params)
        return {k: v for k, v in shown.items() if k != "axis_index_groups" or v is not None}

    def varies(self, vma, over, *, axis_index_groups, **params):
        return vma - over if axis_index_groups is None else vma | over

    def transpose(self, ct, x, *, all_gather_dimension, axis_name, tiled, **params):
        dim = all_gather_dimension
        size, number = x.aval.shape[dim] if tiled else 1, axis_index(axis_name)
        start = mul_p.bind(number, constant_like(number, size))
        starts = [start if i == dim else np.int32(0) for i in range(aval_of(ct).ndim)]
        sizes = with_size(aval_of(ct).shape, dim, size)
        part = dynamic_slice_p.bind(ct, *starts, slice_sizes=sizes)
        return (part if tiled else squeeze(part, (dim,)),)


all_gather_p = AllGather("all_gather")
all_gather_invariant_p = AllGatherInvariant("all_gather_invariant")
reduce_scatter_p = ReduceScatter("reduce_scatter")
all_to_all_p = AllToAll("all_to_all")


# ---------------------------------------------------------------- public functions


def all_gather(
    x: Any,
    axis_name: Any,
    *,
    axis_index_groups: Any = None,
    axis: int = 0,
    tiled: bool = False,
    to: str = "varying",
) -> Any:
    """The arrays of all examples of a mapped axis as one array.

    Args:
      x: an array, or a tree of arrays.
      axis_name: the name of an axis, or a tuple of names, of which the last counts fastest.
      axis_index_groups: lists of the indices of the axis, all of one length, to gather within each
        group, in the order given.
      axis: the dimension of the result that counts the examples.
      tiled: whether the arrays are joined along the existing dimension `axis`, instead of stacked
        along a new one.
      to: `"varying"`, or within `shard_map` `"invarying"`: then types tell, where they tell of
        that, that all devices have the same result.

    Returns:
      The array, the same for all examples (of a group).

    Raises:
      NameError: there is no axis of that name in scope.
      ValueError: the groups are not a partition of the indices; there is no such kind of results
        here.

    >>> import covector as cv, covector.numpy as jnp
    >>> from covector import lax
    >>> everyone = cv.vmap(lambda x: lax.all_gather(x, "i"), axis_name="i")
    >>> print(everyone(jnp.array([1, 2])))
    [[1 2]
     [1 2]]
    """
    names = as_tuple(axis_name)
    if not names:
        return x
    between_devices = {axis.name for axis in manual_axes()}.issuperset(names)
    if to != "varying" and not (to == "invarying" and between_devices):
        raise ValueError(errors.gathers_to(to))
    stays = to == "varying" or not checked_axes(names)
    primitive = all_gather_p if stays else all_gather_invariant_p
    groups = as_groups("all_gather", axis_index_groups)
    size = size_of_axes("all_gather", names, groups)

    def gathered(v: Any) -> Any:
        rank = aval_of(v).ndim + (not tiled)
        return primitive.bind(
            v,
            all_gather_dimension=canonicalize_axis(axis, rank),
            axis_index_groups=groups,
            axis_name=names,
            axis_size=size,
            tiled=tiled,
        )

    return tree.map(gathered, x)


def psum_scatter(
    x: Any,
    axis_name: Any,
    *,
    scatter_dimension: int = 0,
    axis_index_groups: Any = None,
    tiled: bool = False,
) -> Any:
    """The sum of an array over the examples of a mapped axis, of which each gets a part.

    Args:
      x: an array, or a tree of arrays.
      axis_name: the name of an axis, or a tuple of names, of which the last counts fastest.
      scatter_dimension: the dimension that is divided among the examples. Its size is that of the
        axis, or with `tiled` a multiple of it.
      axis_index_groups: lists of the indices of the axis, all of one length, to sum within each
        group.
      tiled: whether the dimension stays, with the part's length, instead of going.

    Returns:
      The part of the sum that belongs to the example's position.

    Raises:
      NameError: there is no axis of that name in scope.
      ValueError: the dimension cannot be divided so; the groups are not a partition.

    >>> import covector as cv, covector.numpy as jnp
    >>> from covector import lax
    >>> x = jnp.array([[1, 2], [10, 20]])
    >>> print(cv.vmap(lambda x: lax.psum_scatter(x, "i"), axis_name="i")(x))
    [11 22]
    """
    names = as_tuple(axis_name)
    if not names:
        return x
    groups = as_groups("psum_scatter", axis_index_groups)
    size = size_of_axes("psum_scatter", names, groups)

    def scattered(v: Any) -> Any:
        shape = aval_of(v).shape
        dim = canonicalize_axis(scatter_dimension, len(shape))
        check_split("psum_scatter", dim, shape, names, size, tiled)
        return reduce_scatter_p.bind(
            v,
            axis_index_groups=groups,
            axis_name=names,
            axis_size=size,
            scatter_dimension=dim,
            tiled=tiled,
        )

    return tree.map(scattered, x)


def all_to_all(
    x: Any,
    axis_name: Any,
    split_axis: int,
    concat_axis: int,
    *,
    axis_index_groups: Any = None,
    tiled: bool = False,
) -> Any:
    """Turn a dimension into a mapped axis, and the mapped axis into a dimension.

    Args:
      x: an array, or a tree of arrays.
      axis_name: the name of an axis, or a tuple of names, of which the last counts fastest.
      split_axis: the dimension that is divided among the examples. Its size is that of the axis, or
        with `tiled` a multiple of it.
      concat_axis: the dimension of the result along which the parts from all examples lie.
      axis_index_groups: lists of the indices of the axis, all of one length, to exchange within
        each group.
      tiled: whether both dimensions stay, one divided by the size of the axis and one multiplied,
        instead of one going and one coming.

    Returns:
      The parts that all examples have for this one.

    Raises:
      NameError: there is no axis of that name in scope.
      ValueError: the dimension cannot be divided so; the groups are not a partition.

    >>> import covector as cv, covector.numpy as jnp
    >>> from covector import lax
    >>> x = jnp.array([[1, 2], [3, 4]])
    >>> print(cv.vmap(lambda x: lax.all_to_all(x, "i", 0, 0), axis_name="i")(x))
    [[1 3]
     [2 4]]
    """
    groups = as_groups("all_to_all", axis_index_groups)
    names = tuple(axis_name) if isinstance(axis_name, list) else axis_name
    size = size_of_axes("all_to_all", as_tuple(names), groups)

    def exchanged(v: Any) -> Any:
        shape = aval_of(v).shape
        split = canonicalize_axis(split_axis, len(shape))
        concat = canonicalize_axis(concat_axis, len(shape))
        added = not tiled and split != concat
        check_split("all_to_all", split, shape, names, size, tiled)
        if added:
            # The part's place in the result counts from where it was taken out.
            concat += split < concat
            v = expand_dims(v, (concat,))
            split += concat <= split
        out = all_to_all_p.bind(
            v,
            axis_index_groups=groups,
            axis_name=names,
            concat_axis=concat,
            split_axis=split,
            tiled=tiled,
        )
        return squeeze(out, (split,)) if added else out

    return tree.map(exchanged, x)


def pswapaxes(x: Any, axis_name: Any, axis: int, *, axis_index_groups: Any = None) -> Any:
    """Exchange a dimension with a mapped axis, of the same size.

    Args:
      x: an array, or a tree of arrays.
      axis_name: the name of an axis.
      axis: the dimension.
      axis_index_groups: lists of the indices of the axis, all of one length, to exchange within
        each group.

    Returns:
      An array of the shape of `x`; the index along `axis` is that of the example it came from.

    Raises:
      NameError: there is no axis of that name in scope.
      ValueError: the sizes differ; the groups are not a partition.

    >>> import covector as cv, covector.numpy as jnp
    >>> from covector import lax
    >>> x = jnp.array([[1, 2], [3, 4]])
    >>> print(cv.vmap(lambda x: lax.pswapaxes(x, "i", 0), axis_name="i")(x))
    [[1 3]
     [2 4]]
    """
    return all_to_all(x, axis_name, axis, axis, axis_index_groups=axis_index_groups)
