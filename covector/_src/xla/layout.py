"""How the elements of an array lie in the memory of its device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..base import sharding_errors


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


@dataclass(frozen=True)
class Format:
    """Where an array is, and how its elements lie there; in trees it is a leaf.

    Attributes:
      layout: the order in memory; None is the usual one.
      sharding: the devices; None leaves them open.
    """

    layout: Layout | None = None
    sharding: Any = None


def default_layout(ndim: int) -> Layout:
    """The layout of an array whose last dimension has the smallest stride."""
    return Layout(tuple(range(ndim)))


def place_of(target: Any, ndim: int) -> Any:
    """Where to put an array of some rank: what a `Format` says of it, or the target itself.

    Raises NotImplementedError if the elements are to lie in another order than usual.
    """
    if not isinstance(target, Format):
        return target
    if target.layout not in (None, default_layout(ndim)):
        raise NotImplementedError(sharding_errors.other_layout(target.layout, ndim))
    return target.sharding


def layout_of(pjrt_layout: Any) -> Layout:
    """jaxlib's description of a layout as ours."""
    layout = pjrt_layout._xla_layout()
    return Layout(
        tuple(reversed(layout.minor_to_major())),
        tuple(map(tuple, layout.tiling())),
        layout.element_size_in_bits(),
    )
