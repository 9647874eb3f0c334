"""`associative_scan`: all partial combinations of a sequence, in a logarithmic number of rounds.

    x0   x1   x2   x3   x4            elements
      x01       x23                   neighbours combined: half as many
           x0123                      of these, the partial combinations, by recursion:
      x01       x0123                 they are the results at odd places
    x0     x012        x01234         at even places: those, each with the element behind it

Ladner and Fischer, "Parallel prefix computation", Journal of the ACM 27 (1980).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..base import dtypes, tree
from ..base import scan_errors as errors
from ..base.shapes import with_size
from ..base.tracebacks import boundary
from ..core.avals import aval_of
from ..ops.arithmetic import add_p
from ..ops.bitwise import or_p
from ..ops.joining import concatenate
from ..ops.linear import scalar
from ..ops.shaping import rev
from ..ops.slicing import pad, slice_in_dim
from .bodies import operand_avals
from .carries import same_type

Elements = list[Any]
Combine = Callable[[Elements, Elements], Elements]


@boundary
def associative_scan(
    fn: Callable[[Any, Any], Any], elems: Any, reverse: bool = False, axis: int = 0
) -> Any:
    """Combine the first k elements of a sequence for each k, in parallel.

    For elements `a, b, c, ...` it is `a, fn(a, b), fn(fn(a, b), c), ...`, computed in about
    2 log2(n) rounds, in each of which `fn` combines many pairs at once.

    Args:
      fn: an associative function, `fn(a, fn(b, c)) == fn(fn(a, b), c)`, of two trees like `elems`
        with any number of elements along `axis`; it combines elements at the same index.
      elems: a tree of arrays; each index along `axis` of all of them is one element.
      reverse: whether to begin with the last element: `..., fn(fn(z, y), x), fn(z, y), z`.
      axis: along which dimension the elements lie.

    Returns:
      A tree like `elems`.

    Raises:
      TypeError: `fn` does not return arrays of the structure and types that it is given.
      ValueError: the arrays have no such axis, or several sizes along it.

    >>> import covector.numpy as jnp
    >>> from covector import lax
    >>> lax.associative_scan(jnp.multiply, jnp.arange(1, 6))
    Array([  1,   2,   6,  24, 120], dtype=int32)

    A linear recurrence, y[i] = a[i] * y[i-1] + b[i]:

    >>> def after(first, second):
    ...     (a1, b1), (a2, b2) = first, second
    ...     return a1 * a2, a2 * b1 + b2
    >>> _, y = lax.associative_scan(after, (jnp.array([0, 2, 3]), jnp.array([5, 1, 1])))
    >>> y
    Array([ 5, 11, 34], dtype=int32)
    """
    if not callable(fn):
        raise TypeError(errors.not_callable("associative_scan", "fn argument", fn))
    elements, treedef = tree.flatten(elems)
    axis = axis_of_elements(elements, axis)

    def combine(first: Elements, second: Elements) -> Elements:
        result = fn(tree.unflatten(treedef, first), tree.unflatten(treedef, second))
        combined, out_tree = tree.flatten(result)
        if out_tree != treedef:
            raise TypeError(errors.combined_structure(treedef, out_tree))
        given, returned = ([aval_of(x) for x in xs] for xs in (first, combined))
        if not all(map(same_type, given, returned)):
            raise TypeError(errors.combined_types(given, returned))
        return combined

    if reverse:
        elements = [rev(x, [axis]) for x in elements]
    results = prefixes(combine, elements, axis)
    if reverse:
        results = [rev(x, [axis]) for x in results]
    return tree.unflatten(treedef, results)


def axis_of_elements(elements: Sequence[Any], axis: int) -> int:
    """The axis along which the elements lie, counted from 0; all arrays must be as long there."""
    if not elements:
        raise ValueError(errors.no_elements())
    avals: list[Any] = operand_avals("associative_scan", elements)
    for aval in avals:
        if not -aval.ndim <= axis < aval.ndim:
            raise ValueError(errors.element_axis(axis, aval))
    axis %= avals[0].ndim
    if any(aval.shape[axis : axis + 1] != avals[0].shape[axis : axis + 1] for aval in avals):
        raise ValueError(errors.element_counts(axis, avals))
    return axis


def prefixes(combine: Combine, elements: Elements, axis: int) -> Elements:
    """The combinations of the first k elements, for each k."""
    count = aval_of(elements[0]).shape[axis]
    if count < 2:
        return elements

    def part(xs: Elements, start: int, stop: int | None, step: int = 1) -> Elements:
        return [slice_in_dim(x, start, stop, step, axis) for x in xs]

    pairs = combine(part(elements, 0, -1, 2), part(elements, 1, None, 2))
    odd = prefixes(combine, pairs, axis)
    before = odd if count % 2 else part(odd, 0, -1)
    later = combine(before, part(elements, 2, None, 2))
    even = [concatenate([x, y], axis) for x, y in zip(part(elements, 0, 1), later)]
    return [interleaved(x, y, axis) for x, y in zip(even, odd)]


def interleaved(even: Any, odd: Any, axis: int) -> Any:
    """The elements of two arrays by turns; the first has as many as the second, or one more."""
    aval: Any = aval_of(even)
    same = aval.shape[axis] == aval_of(odd).shape[axis]
    none = ((0, 0, 0),) * aval.ndim
    fill = neutral(aval.dtype)
    even = pad(even, fill, with_size(none, axis, (0, int(same), 1)))
    odd = pad(odd, fill, with_size(none, axis, (1, 1 - int(same), 1)))
    return (or_p if aval.dtype == np.bool_ else add_p).bind(even, odd)


def neutral(dtype: Any) -> Any:
    """What leaves every number as it is when it is added: -0 among floats, as -0 + 0 is 0."""
    if dtypes.issubdtype(dtype, np.complexfloating):
        return np.array(complex(-0.0, -0.0), dtype)
    return scalar(-0.0 if dtypes.issubdtype(dtype, np.floating) else 0, dtype)
