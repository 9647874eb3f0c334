"""How the elements of an array lie in the memory of its device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple


@dataclass(frozen=True)
class Layout:
    """The order of an array's dimensions in memory; in trees it is a leaf.

    Attributes:
      major_to_minor: the dimensions, the one with the largest stride first.
      tiling: shapes of the tiles in which the device keeps elements together; none on CPUs.
      sub_byte_element_size_in_bits: how many bits an element takes if several share a byte, else 0.

    >>> import covector.numpy as jnp
    >>> jnp.ones((2, 3)).format.layout.major_to_minor
    (0, 1)
    """

    major_to_minor: tuple[int, ...]
    tiling: tuple[tuple[int, ...], ...] = ()
    sub_byte_element_size_in_bits: int = 0


class Format(NamedTuple):
    """Where an array is, and how its elements lie there.

    Attributes:
      layout: the order in memory.
      sharding: the devices.
    """

    layout: Layout
    sharding: Any


def default_layout(ndim: int) -> Layout:
    """The layout of an array whose last dimension has the smallest stride."""
    return Layout(tuple(range(ndim)))


def layout_of(pjrt_layout: Any) -> Layout:
    """jaxlib's description of a layout as ours."""
    layout = pjrt_layout._xla_layout()
    return Layout(
        tuple(reversed(layout.minor_to_major())),
        tuple(map(tuple, layout.tiling())),
        layout.element_size_in_bits(),
    )
