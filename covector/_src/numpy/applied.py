"""Functions applied along axes of arrays, or to those elements for which a condition holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..api.vectorize import vmap
from ..base import position_errors
from ..control.branches import switch
from ..core.array import Array, ArrayLike
from ..core.avals import is_valid_type
from .arguments import axis_argument
from .composite import composite
from .creation import asarray
from .joining import concatenate
from .promotion import as_array, convert, dtype_of, shape_of
from .reductions import argmax
from .shaping import broadcast_arrays, expand_dims


def apply_along_axis(
    func1d: Callable[..., Any], axis: int, arr: ArrayLike, *args: Any, **kwargs: Any
) -> Any:
    """Apply a function of vectors to all vectors along a dimension of an array.

    Args:
      func1d: takes a vector and the other arguments, returns an array.
      axis: the dimension.
      arr: the array.
      *args, **kwargs: the other arguments.

    Returns:
      An array in which the dimensions of a result are in the place of `axis`.

    >>> import covector.numpy as jnp
    >>> jnp.apply_along_axis(jnp.sort, 0, jnp.array([[3, 1], [2, 4]]))
    Array([[2, 1],
           [3, 4]], dtype=int32)
    """
    arr = as_array("apply_along_axis", arr)
    axis = axis_argument("apply_along_axis", axis, arr.ndim)

    def function(vector: Any) -> Any:
        return func1d(vector, *args, **kwargs)

    for dim in range(1, arr.ndim - axis):  # those behind the axis, from the inside out
        function = vmap(function, in_axes=dim, out_axes=-1)
    for _ in range(axis):
        function = vmap(function)
    return function(arr)


def apply_over_axes(
    func: Callable[[Any, int], Any], a: ArrayLike, axes: int | Sequence[int]
) -> Array:
    """Apply a function to an array along one axis, to the result along the next, and so on.

    Args:
      func: takes an array and an axis, returns an array with or without that axis.
      a: the array.
      axes: the axes.

    Returns:
      An array of as many dimensions: axes that were removed are there with size 1.

    Raises:
      ValueError: a result has another number of dimensions.

    >>> import covector.numpy as jnp
    >>> jnp.apply_over_axes(jnp.sum, jnp.ones((2, 3, 4)), [0, 2])
    Array([[[8.],
            [8.],
            [8.]]], dtype=float32)
    """
    a = as_array("apply_over_axes", a)
    for axis in axes if isinstance(axes, Sequence) else [axes]:
        result = func(a, axis)
        if result.ndim == a.ndim - 1:
            result = expand_dims(result, axis)
        if result.ndim != a.ndim:
            raise ValueError(position_errors.applied_shape(shape_of(a), shape_of(result)))
        a = result
    return a


def piecewise(
    x: ArrayLike,
    condlist: Array | Sequence[ArrayLike],
    funclist: list[ArrayLike | Callable[..., Array]],
    *args: Any,
    **kw: Any,
) -> Array:
    """Elementwise the value of that one of several functions whose condition holds.

    If several hold, the last of them counts.

    Args:
      x: an array.
      condlist: the conditions, arrays of booleans; or a single one.
      funclist: for each condition a function of an element, or a value; and one more if something
        other than 0 is wanted where no condition holds.
      *args, **kw: further arguments of the functions.

    Returns:
      An array like `x`.

    Raises:
      ValueError: there are not as many functions.

    >>> import covector.numpy as jnp
    >>> x = jnp.array([-2.0, 0.0, 3.0])
    >>> jnp.piecewise(x, [x < 0, x > 0], [lambda x: -x, lambda x: 10 * x, 7])
    Array([ 2.,  7., 30.], dtype=float32)
    """
    x = as_array("piecewise", x)
    holds, functions = asarray(condlist, bool), list(funclist)
    if x.ndim and holds.shape == x.shape and len(functions) < len(holds):
        holds = holds[None]  # one condition that is not in a list
    conditions = len(holds)
    if len(functions) == conditions:
        functions.append(0)
    if len(functions) != conditions + 1:
        raise ValueError(position_errors.piecewise_counts(conditions, len(funclist)))
    values = [asarray(f) for f in functions if not callable(f)]
    given = [*args, *kw.values()]
    apply = _piecewise if all(map(is_valid_type, given)) else _piecewise.fun
    return apply(
        x,
        holds,
        *values,
        *given,
        functions=tuple([f if callable(f) else None for f in functions]),
        keywords=tuple(kw),
    )


@composite
def _piecewise(
    x: Any, holds: Any, *rest: Any, functions: tuple[Any, ...], keywords: tuple[str, ...]
) -> Any:
    """`piecewise` with None for functions that are values: these, and arguments, are the rest."""
    values, rest = rest[: functions.count(None)], rest[functions.count(None) :]
    args, kw = rest[: len(rest) - len(keywords)], dict(zip(keywords, rest[-len(keywords) :]))
    constants, dtype = iter(values), dtype_of(x)

    def branch(f: Any) -> Callable[[Any], Any]:
        if f is not None:
            return lambda element: convert(asarray(f(element, *args, **kw)), dtype)
        value = convert(next(constants), dtype)
        return lambda element: value

    *branches, default = map(branch, functions)
    otherwise = np.ones((1, *shape_of(holds)[1:]), bool)
    which = argmax(concatenate([holds[::-1], otherwise]), 0)

    def chosen(index: Any, element: Any) -> Any:
        return switch(index, [*reversed(branches), default], element)

    which, x = broadcast_arrays(which, x)
    for _ in range(x.ndim):
        chosen = vmap(chosen)
    return chosen(which, x)


def iterable(y: Any) -> bool:
    """Whether one can iterate over something; over arrays of no dimensions one cannot.

    >>> import covector.numpy as jnp
    >>> jnp.iterable(jnp.ones(2)), jnp.iterable(jnp.ones(()))
    (True, False)
    """
    return np.iterable(y)
