"""Interpolation in several dimensions, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any


def tensor_product(
    indices: Sequence[Sequence[Any]],
    weights: Sequence[Sequence[Any]],
    elements: Callable[[tuple[Any, ...]], Any],
) -> Any:
    """The sum of elements, each times a weight for each of its indices.

    It is written out, so that it becomes one loop over the places: gathered in one array, all
    elements would take many times the memory, and, measured on a CPU, forty times as long.

    Args:
      indices: for each dimension the indices of those elements that count at each place.
      weights: for each dimension their weights.
      elements: the elements of the array at a tuple of indices.
    """

    def total(chosen: tuple[Any, ...]) -> Any:
        axis = len(chosen)
        if axis == len(indices):
            return elements(chosen)
        terms = [w * total((*chosen, i)) for i, w in zip(indices[axis], weights[axis])]
        return reduce(lambda a, b: a + b, terms)

    return total(())
