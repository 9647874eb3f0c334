"""Which example of a mapped axis one is."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.avals import ShapedArray
from .collectives_base import Collective
from .collectives_reduce import axis_size
from .creation import iota
from .replicas import place_along


class AxisIndex(Collective):
    """The position of the example along a mapped axis."""

    where = "axis_index"

    def abstract_eval(self, *, axis_name):
        return ShapedArray((), np.int32)

    def vmap(self, axis, dims, *, axis_name):
        return iota(np.int32, axis.size), 0

    def emit(self, b, *, axis_name):
        return place_along(b, self.where, axis_name)


axis_index_p = AxisIndex("axis_index")


def axis_index(axis_name: Any) -> Any:
    """The position of the example along a mapped axis.

    Args:
      axis_name: the name of an axis in scope, or a sequence of names, of which the last counts
        fastest.

    Returns:
      An integer scalar, another one for each example.

    Raises:
      NameError: there is no axis of that name in scope.

    >>> import covector as cv, covector.numpy as jnp
    >>> from covector import lax
    >>> print(cv.vmap(lambda x: 10 * lax.axis_index("i") + x, axis_name="i")(jnp.array([1, 1, 1])))
    [ 1 11 21]
    """
    if not isinstance(axis_name, (tuple, list)):
        return axis_index_p.bind(axis_name=axis_name)
    index: Any = 0
    inner = 1
    for name in reversed(axis_name):
        index = index + axis_index_p.bind(axis_name=name) * inner
        inner *= axis_size(name)
    return index
