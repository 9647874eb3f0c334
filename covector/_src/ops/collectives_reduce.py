"""Reductions over named axes: sums, means, maxima and minima of what all examples hold."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..base import axis_errors as errors
from ..base import dtypes, tree
from ..base.shapes import without
from ..core.avals import aval_of
from ..core.axis import checked_axes, size_of_axis
from ..core.trace import Tracer
from .arithmetic import add_p, div_p, max_p, min_p, mul_p
from .base import Sample, draw
from .collectives_base import Collective, Groups, as_groups, as_tuple, size_of_axes
from .comparison import eq_p
from .conversion import convert
from .linear import broadcast_in_dim, constant_like, move_axis, reduce_sum, reduce_sum_p
from .reductions import reduce_max_p, reduce_min_p
from .replicas import all_reduce
from .varying import psum_invariant_p


class CollectiveReduction(Collective):
    """A reduction over `axes`: names of mapped axes, and numbers of dimensions of the operand.

    Subclasses define `positional`, the primitive of the reduction over dimensions, `combine`, the
    one of two elements, and `of_equals(x, size)`, what becomes of equal values.
    """

    positional: Any
    combine: Any

    def of_equals(self, x: Any, size: int) -> Any:
        """The reduction of `size` values that are all x."""
        return x

    def names(self, *, axes, **params):
        return tuple([axis for axis in axes if not isinstance(axis, int)])

    def beside(self, params):
        if not numbers(params["axes"]):
            return params
        return params | dict(axes=shifted(params["axes"]))

    def shape(self, x, *, axes, axis_index_groups):
        if axis_index_groups is not None and numbers(axes):
            raise ValueError(errors.groups_of_positions(self.where, axes))
        self.positional.shape(x, axes=numbers(axes))  # raises unless there are these dimensions
        return without(x.shape, numbers(axes))

    def weak_type(self, x, **params):
        return False

    def ref(self, x, *, axes, axis_index_groups):
        return self.positional.ref(x, axes=axes)

    def over(self, axis, x, dim, *, axes, **params):
        if dim is None:
            rest = tuple([other for other in axes if other != axis.name])
            x = self.bind(x, axes=rest, axis_index_groups=None) if rest else x
            return self.of_equals(x, axis.size), None
        axes = tuple([0 if other == axis.name else other for other in shifted(axes)])
        return self.bind(move_axis(x, dim, 0), axes=axes, axis_index_groups=None), None

    def emit(self, b, x, *, axes, axis_index_groups):
        names, positions = self.names(axes=axes), numbers(axes)
        if positions or not names:
            x = self.positional.emit(b, x, axes=positions)
        if not names:
            return x
        return all_reduce(b, self.where, self.combine, x, names, axis_index_groups)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for shape, axes in [((3,), (0,)), ((2, 3, 4), (0, 2)), ((2, 3), ()), ((2, 0), (0,))]:
            for dtype in ("float32", "int32"):
                yield Sample((draw(rng, shape, dtype),), dict(axes=axes, axis_index_groups=None))


def numbers(axes: Sequence[Any]) -> tuple[int, ...]:
    """Those of the axes that are dimensions."""
    return tuple([axis for axis in axes if isinstance(axis, int)])


def shifted(axes: Sequence[Any]) -> tuple[Any, ...]:
    """The axes of an operand with one more dimension in front."""
    return tuple([axis + 1 if isinstance(axis, int) else axis for axis in axes])


class PSum(CollectiveReduction):
    """The sum of what the examples hold."""

    where = "psum"
    positional = reduce_sum_p
    combine = add_p

    def of_equals(self, x, size):
        return mul_p.bind(constant_like(x, size), x)

    def transpose(self, ct, x, *, axes, axis_index_groups):
        # Each example gets the sum, so the cotangent of what one holds is the sum of the
        # cotangents that all have for it.
        positions = numbers(axes)
        if positions:
            kept = without(range(x.aval.ndim), positions)
            ct = broadcast_in_dim(ct, x.aval.shape, kept)
        names = self.names(axes=axes)
        if not names:
            return (ct,)
        return (self.bind(ct, axes=names, axis_index_groups=axis_index_groups),)


class CollectiveExtremum(CollectiveReduction):
    """The greatest or the least of what the examples hold."""

    def varies(self, vma, over, *, axis_index_groups, **params):
        # All have the same; those of other groups have another.
        return vma - over if axis_index_groups is None else vma | over

    def jvp(self, primals, tangents, **params):
        # As for the positional reductions: where several values are the greatest, each has an
        # equal share of the derivative.
        (x,), (t,) = primals, tangents
        out = self.bind(x, **params)
        kept = without(range(aval_of(x).ndim), numbers(params["axes"]))
        wide = broadcast_in_dim(out, aval_of(x).shape, kept)
        where = convert(eq_p.bind(x, wide), aval_of(t).dtype)
        total = sum_over(mul_p.bind(t, where), **params)
        return out, div_p.bind(total, sum_over(where, **params))


class PMax(CollectiveExtremum):
    """The greatest of what the examples hold."""

    where = "pmax"
    positional = reduce_max_p
    combine = max_p


class PMin(CollectiveExtremum):
    """The least of what the examples hold."""

    where = "pmin"
    positional = reduce_min_p
    combine = min_p


def sum_over(x: Any, axes: Sequence[Any], axis_index_groups: Groups) -> Any:
    """The sum over named axes, and dimensions, by the primitives that are for them.

    Of axes whose values are checked for being equal it is one that makes them so.
    """
    checked = checked_axes(axes) if axis_index_groups is None else ()
    rest = tuple([axis for axis in axes if axis not in checked])
    if rest:
        x = psum_p.bind(x, axes=rest, axis_index_groups=axis_index_groups)
    return psum_invariant_p.bind(x, axes=checked) if checked else x


psum_p = PSum("psum")
pmax_p = PMax("pmax")
pmin_p = PMin("pmin")


# ---------------------------------------------------------------- public functions


def psum(x: Any, axis_name: Any, *, axis_index_groups: Any = None) -> Any:
    """The sum of an array over the examples of a mapped axis.

    Args:
      x: an array, or a tree of arrays, that each example has one of. Booleans count as integers.
      axis_name: the name of an axis, or a sequence of names to sum over together. A number in it
        is a dimension of the array.
      axis_index_groups: lists of the indices of the axis, each index in one of them, to sum within
        each group.

    Returns:
      The sums, the same for all examples (of a group). Of a number, or an array that is not traced,
      the product with the size of the axis, known while tracing.

    Raises:
      NameError: there is no axis of that name in scope.
      ValueError: the groups are not a partition of the indices.

    >>> import covector as cv, covector.numpy as jnp
    >>> from covector import lax
    >>> share = cv.vmap(lambda x: x / lax.psum(x, "i"), axis_name="i")
    >>> print(share(jnp.array([1.0, 3.0, 4.0])))
    [0.125 0.375 0.5  ]
    """
    leaves, treedef = tree.flatten(x)
    axes = as_tuple(axis_name)
    if not axes:
        return x
    groups = as_groups("psum", axis_index_groups)
    if groups is not None and numbers(axes):
        raise ValueError(errors.groups_of_positions("psum", axes))
    leaves = [convert(v, np.dtype(np.int32)) if _is_boolean(v) else v for v in leaves]
    outs = [
        sum_over(v, axes, groups) if isinstance(v, Tracer) else _sum_of_constant(v, axes, groups)
        for v in leaves
    ]
    return tree.unflatten(treedef, outs)


def _is_boolean(x: Any) -> bool:
    return aval_of(x).dtype == np.bool_


def _sum_of_constant(x: Any, axes: Sequence[Any], groups: Groups) -> Any:
    """The sum of a value that all examples share; Python numbers stay Python numbers."""
    names = [axis for axis in axes if not isinstance(axis, int)]
    size = size_of_axes("psum", names, groups)
    if isinstance(x, (int, float, complex)):
        return x * dtypes.scalar_type_of(x)(size)
    rank = aval_of(x).ndim
    return mul_p.bind(constant_like(x, size), reduce_sum(x, [a % rank for a in numbers(axes)]))


def pmean(x: Any, axis_name: Any, *, axis_index_groups: Any = None) -> Any:
    """The mean of an array over the examples of a mapped axis.

    Args:
      x: an array, or a tree of arrays.
      axis_name: the name of an axis, or a sequence of names.
      axis_index_groups: lists of the indices of the axis, to average within each group.

    Returns:
      The means, the same for all examples (of a group).

    Raises:
      NameError: there is no axis of that name in scope.

    >>> import covector as cv, covector.numpy as jnp
    >>> from covector import lax
    >>> centered = cv.vmap(lambda x: x - lax.pmean(x, "i"), axis_name="i")
    >>> print(centered(jnp.array([1.0, 3.0, 5.0])))
    [-2.  0.  2.]
    """
    total = psum(x, axis_name, axis_index_groups=axis_index_groups)
    size = psum(1, axis_name, axis_index_groups=axis_index_groups)
    return tree.map(lambda v: v / size, total)


def pmax(x: Any, axis_name: Any, *, axis_index_groups: Any = None) -> Any:
    """The greatest values of an array over the examples of a mapped axis, element by element.

    It has a derivative: that of the example which holds the value, or the mean of those if several
    do.

    Args:
      x: an array, or a tree of arrays.
      axis_name: the name of an axis, or a sequence of names.
      axis_index_groups: lists of the indices of the axis, to compare within each group.

    Returns:
      The greatest values, the same for all examples (of a group).

    Raises:
      NameError: there is no axis of that name in scope.
      ValueError: the groups are not a partition of the indices.

    >>> import covector as cv, covector.numpy as jnp
    >>> from covector import lax
    >>> print(cv.vmap(lambda x: lax.pmax(x, "i") - x, axis_name="i")(jnp.array([1, 5, 2])))
    [4 0 3]
    """
    return _extremum(pmax_p, x, axis_name, axis_index_groups)


def pmin(x: Any, axis_name: Any, *, axis_index_groups: Any = None) -> Any:
    """The least values of an array over the examples of a mapped axis, element by element.

    It has a derivative, like `pmax`.

    Args:
      x: an array, or a tree of arrays.
      axis_name: the name of an axis, or a sequence of names.
      axis_index_groups: lists of the indices of the axis, to compare within each group.

    Returns:
      The least values, the same for all examples (of a group).

    Raises:
      NameError: there is no axis of that name in scope.
      ValueError: the groups are not a partition of the indices.

    >>> import covector as cv, covector.numpy as jnp
    >>> from covector import lax
    >>> print(cv.vmap(lambda x: x - lax.pmin(x, "i"), axis_name="i")(jnp.array([3, 5, 2])))
    [1 3 0]
    """
    return _extremum(pmin_p, x, axis_name, axis_index_groups)


def _extremum(primitive: CollectiveExtremum, x: Any, axis_name: Any, axis_index_groups: Any) -> Any:
    axes = as_tuple(axis_name)
    groups = as_groups(primitive.where, axis_index_groups)
    if groups is not None and numbers(axes):
        raise ValueError(errors.groups_of_positions(primitive.where, axes))
    bind: Callable[[Any], Any] = lambda v: primitive.bind(  # noqa: E731
        v, axes=axes, axis_index_groups=groups
    )
    return tree.map(bind, x)


def axis_size(axis_name: Any) -> int:
    """The size of a mapped axis, or the product of the sizes of several.

    Args:
      axis_name: the name of an axis in scope, or a sequence of names.

    Returns:
      A Python integer.

    Raises:
      NameError: there is no axis of that name in scope.

    >>> import covector as cv, covector.numpy as jnp
    >>> from covector import lax
    >>> print(cv.vmap(lambda x: x / lax.axis_size("i"), axis_name="i")(jnp.ones(4)))
    [0.25 0.25 0.25 0.25]
    """
    return math.prod([size_of_axis(name, "axis_size") for name in as_tuple(axis_name)])
