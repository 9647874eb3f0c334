"""The ways to interpolate between pixels, and their kernels."""

from __future__ import annotations

import enum
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from ..base import image_errors as errors
from ..numpy.exponential import sinc
from ..numpy.selection import maximum, where


class ResizeMethod(enum.Enum):
    """How to interpolate between pixels.

    NEAREST takes the nearest pixel, LINEAR interpolates between neighbours, CUBIC uses the kernel
    of Keys, and CUBIC_PYTORCH that of PyTorch. LANCZOS3 and LANCZOS5 are windowed sincs of radius 3
    and 5. AREA averages all that a pixel covers.

    >>> from covector import image
    >>> image.ResizeMethod.from_string("bilinear")
    <ResizeMethod.LINEAR: 1>
    """

    NEAREST = 0
    LINEAR = 1
    LANCZOS3 = 2
    LANCZOS5 = 3
    CUBIC = 4
    CUBIC_PYTORCH = 5
    AREA = 6

    @staticmethod
    def from_string(s: str) -> ResizeMethod:
        """The method of this name; `ValueError` is raised if there is none."""
        if s not in NAMES:
            raise ValueError(errors.unknown_method(s, list(NAMES)))
        return NAMES[s]


NAMES = {
    "nearest": ResizeMethod.NEAREST,
    **dict.fromkeys(["linear", "bilinear", "trilinear", "triangle"], ResizeMethod.LINEAR),
    "lanczos3": ResizeMethod.LANCZOS3,
    "lanczos5": ResizeMethod.LANCZOS5,
    **dict.fromkeys(["cubic", "bicubic", "tricubic"], ResizeMethod.CUBIC),
    **dict.fromkeys(["cubic-pytorch", "bicubic-pytorch"], ResizeMethod.CUBIC_PYTORCH),
    "area": ResizeMethod.AREA,
}


def method_argument(where: str, method: Any) -> ResizeMethod:
    """The method that the public function `where` was given."""
    if isinstance(method, str):
        return ResizeMethod.from_string(method)
    if not isinstance(method, ResizeMethod):
        raise TypeError(errors.method_type(where, method))
    return method


# ---------------------------------------------------------------- kernels


class Kernel(NamedTuple):
    """The weight of a pixel by its distance, in pixels, and the distance from which it is 0."""

    radius: int
    weight: Callable[[Any], Any]


def _triangle(x: Any) -> Any:
    return maximum(0, 1 - x)


def _lanczos(radius: int, x: Any) -> Any:
    return where(x > radius, 0, sinc(x) * sinc(x / radius))


def _cubic(slope: float, x: Any) -> Any:
    """The cubic kernel of R. G. Keys (IEEE Trans. ASSP 29(6), 1981), with this slope at 1.

    It is the one kernel of two cubics, on [0, 1] and [1, 2], that is 1 at 0, 0 at 1 and 2, has
    derivatives 0 at 0 and 2, and that at 1 from both sides.
    """
    near = ((slope + 2) * x - (slope + 3)) * x * x + 1
    far = slope * (x - 1) * (x - 2) ** 2
    return where(x >= 2, 0, where(x >= 1, far, near))


# All are 1 at distance 0 and 0 at others that are whole: an image that keeps its size is unchanged.
# With the slope -1/2 a cubic reproduces quadratic functions; PyTorch took another.
KERNELS = {
    ResizeMethod.LINEAR: Kernel(1, _triangle),
    ResizeMethod.LANCZOS3: Kernel(3, partial(_lanczos, 3)),
    ResizeMethod.LANCZOS5: Kernel(5, partial(_lanczos, 5)),
    ResizeMethod.CUBIC: Kernel(2, partial(_cubic, -0.5)),
    ResizeMethod.CUBIC_PYTORCH: Kernel(2, partial(_cubic, -0.75)),
}
