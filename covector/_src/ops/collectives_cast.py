"""`pcast`: say how a value varies between the examples of a mapped axis."""

from __future__ import annotations

from typing import Any

from ..base import axis_errors as errors
from ..base import tree
from ..core.avals import aval_of
from ..core.axis import check_axes_bound
from .collectives_base import as_tuple

KINDS = ("varying", "reduced", "unreduced")


def pcast(x: Any, axis_name: Any, *, to: str) -> Any:
    """A value with another statement of how it varies between the examples of a mapped axis.

    Maps over devices can check such statements. Under `vmap` nothing is checked: a value that is
    the same for all examples serves as one that varies, and the cast to `"varying"` returns it.

    Args:
      x: an array, or a tree of arrays.
      axis_name: the name of an axis, or a tuple of names.
      to: `"varying"`. Values that are `"reduced"` or `"unreduced"` exist in maps over devices only.

    Returns:
      `x`.

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
        raise NotImplementedError(errors.casts_between_devices(to))
    tree.map(aval_of, x)  # raises unless all leaves are arrays
    return x
