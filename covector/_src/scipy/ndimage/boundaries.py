"""What arrays are beyond their edges: which element stands at an index that is out of bounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ...numpy.parts import absolute
from ...numpy.selection import clip


def _nearest(index: Any, size: int) -> Any:
    return clip(index, 0, size - 1)


def _wrap(index: Any, size: int) -> Any:
    return index % size


def _mirror(index: Any, size: int) -> Any:
    """The period is 0 1 2 ... 2 1: the elements at the edges are not repeated."""
    half = size - 1
    return absolute((index + half) % (2 * half) - half) if half else 0 * index


def _reflect(index: Any, size: int) -> Any:
    """The period is 0 1 2 ... 2 1 0: elements i and -1 - i are the same."""
    index = index % (2 * size)
    return clip(index, 0, size - 1) - clip(index - size, 0, size)


class Boundary(NamedTuple):
    """What is beyond the edges.

    Attributes:
      fold: from indices, and the size of a dimension, to those of the same elements within bounds;
        None if they are a number.
      padding: the mode of `numpy.pad` that does the same.
    """

    fold: Callable[[Any, int], Any] | None
    padding: str

    @property
    def is_periodic(self) -> bool:
        return self.padding in ("wrap", "reflect", "symmetric")


_CONSTANT = Boundary(None, "constant")
_WRAP = Boundary(_wrap, "wrap")
_REFLECT = Boundary(_reflect, "symmetric")

# JAX calls "wrap" and "constant" what is "grid-wrap" and "grid-constant" in SciPy.
BOUNDARIES = {
    "constant": _CONSTANT,
    "nearest": Boundary(_nearest, "edge"),
    "wrap": _WRAP,
    "mirror": Boundary(_mirror, "reflect"),
    "reflect": _REFLECT,
    "grid-constant": _CONSTANT,
    "grid-wrap": _WRAP,
    "grid-mirror": _REFLECT,
}
