"""`pcast`: say how a value varies between the examples of a mapped axis."""

from __future__ import annotations

from typing import Any

from ..base import axis_errors as errors
from ..base import tree
from ..core.avals import aval_of
from ..core.axis import check_axes_bound, checked_axes
from .collectives_base import as_tuple
from .varying import vary

KINDS = ("varying", "reduced", "unreduced")


def pcast(x: Any, axis_name: Any, *, to: str) -> Any:
    """A value with another statement of how it varies between the examples of a mapped axis.

    `shard_map` checks such statements. Under `vmap` nothing is checked: a value that is the same
    for all examples serves as one that varies, and the cast to `"varying"` returns it.

    Args:
      x: an array, or a tree of arrays.
      axis_name: the name of an axis, or a tuple of names.
      to: `"varying"`. There are no casts to `"reduced"` and `"unreduced"`.

    Returns:
      `x`, of which devices may hold different values along the axes, as far as its type tells.

    Raises:
      NameError: there is no axis of that name in scope.
      ValueError: there is no such kind of values.
      TypeError: the names are a set, which has no order.

    >>> import covector as cv, covector.numpy as jnp
    >>> from covector import lax
    >>> f = cv.vmap(lambda x: x + lax.pcast(1.0, "i", to="varying"), axis_name="i")
    >>> print(f(jnp.arange(3.0)))
    [1. 2. 3.]
    """
    if isinstance(axis_name, (set, frozenset)):
        raise TypeError(errors.names_in_a_set(axis_name))
    names = as_tuple(axis_name)
    if not names:
        return x
    if to not in KINDS:
        raise ValueError(errors.casts_to(to, KINDS))
    check_axes_bound(names, "pcast")
    if to != "varying":
        raise NotImplementedError(errors.no_such_cast(to))
    axes = frozenset(checked_axes(names))
    # `aval_of` raises unless all leaves are arrays.
    return tree.map(lambda v: vary(v, aval_of(v).vma | axes), x)
