"""Images in other sizes: along each dimension a product with a matrix of weights.

Pixel i of an image covers the interval [i, i + 1]; its centre is i + 1/2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import dtypes
from ..base import image_errors as errors
from ..core.array import Array, ArrayLike
from ..numpy.arguments import axes_argument, shape_argument
from ..numpy.composite import composite
from ..numpy.contraction import tensordot
from ..numpy.parts import absolute
from ..numpy.promotion import as_array, operand, promote_dtypes_inexact
from ..numpy.ranges import arange
from ..numpy.selection import maximum, minimum, where
from ..numpy.shaping import moveaxis
from ..numpy.taking import take
from ..ops.precision import Precision, canonicalize_precision
from .methods import KERNELS, Kernel, ResizeMethod, method_argument

# A sum of weights below this is taken for that of none, and not divided by.
_NEGLIGIBLE = 1000 * float(np.finfo(np.float32).eps)

# ---------------------------------------------------------------- weights


def _weights(
    size: int, to: int, step: Any, start: Any, method: ResizeMethod, antialias: bool
) -> Any:
    """The matrix of shape `(size, to)` that takes a line of pixels to another.

    Args:
      size, to: the numbers of pixels.
      step: the width of a new pixel in old ones.
      start: where the first one begins.
      method: how to interpolate.
      antialias: whether kernels are as wide as the new pixels, if those are the wider.
    """
    number = arange(to, dtype=step.dtype)[None, :]
    middle = (number + 0.5) * step + start
    if method is ResizeMethod.AREA:
        left = number * step + start
        weights = _overlaps(size, left, left + step)
    else:
        kernel = KERNELS[method]
        if method is ResizeMethod.CUBIC_PYTORCH:
            return _normalized(_with_repeated_edges(size, middle - 0.5, kernel))
        width = maximum(step, 1) if antialias else 1
        distance = absolute(middle - 0.5 - _column(0, size, step.dtype))
        weights = kernel.weight(distance / width)
    inside = (middle >= 0) & (middle <= size)
    return where(inside, _normalized(weights), 0)


def _column(first: int, stop: int, dtype: Any) -> Any:
    return arange(first, stop, dtype=dtype)[:, None]


def _overlaps(size: int, left: Any, right: Any) -> Any:
    """How much of each old pixel the new ones, from left to right, cover."""
    first = _column(0, size, left.dtype)
    return maximum(0, minimum(right, first + 1) - maximum(left, first))


def _with_repeated_edges(size: int, centre: Any, kernel: Kernel) -> Any:
    """Weights where pixels beyond the edges have the values of those at the edges."""
    extra = kernel.radius
    places = _column(-extra, size + extra, centre.dtype)
    weights = kernel.weight(absolute(centre - places))
    inside = weights[extra : extra + size]
    return inside.at[0].add(weights[:extra].sum(0)).at[-1].add(weights[extra + size :].sum(0))


def _normalized(weights: Any) -> Any:
    """Weights divided by their sum for each new pixel, unless that is about 0."""
    total = weights.sum(0, keepdims=True)
    counts = absolute(total) > _NEGLIGIBLE
    return where(counts, weights / where(counts, total, 1), 0)


@composite
def _resampled(
    image: Any,
    steps: Any,
    starts: Any,
    *,
    shape: tuple[int, ...],
    dims: tuple[int, ...],
    method: ResizeMethod,
    antialias: bool,
    precision: Any,
) -> Any:
    (image,) = promote_dtypes_inexact(image)
    # Dimensions that shrink the most come first, so that the others have less to do.
    for i, dim in sorted(enumerate(dims), key=lambda d: shape[d[1]] / max(1, image.shape[d[1]])):
        size = image.shape[dim]
        weights = _weights(size, shape[dim], steps[i], starts[i], method, antialias)
        image = tensordot(image, weights.astype(image.dtype), ((dim,), (0,)), precision=precision)
        image = moveaxis(image, -1, dim)
    return image


@composite
def _nearest(image: Any, *, shape: tuple[int, ...]) -> Any:
    for dim, (size, to) in enumerate(zip(image.shape, shape)):
        if size != to:
            # The whole part of (i + 1/2) size / to, exactly.
            places = (2 * np.arange(to) + 1) * size // (2 * to)
            image = take(image, places.astype(np.int32), axis=dim, mode="clip")
    return image


# ---------------------------------------------------------------- public functions


def resize(
    image: ArrayLike,
    shape: Sequence[int],
    method: str | ResizeMethod,
    antialias: bool = True,
    precision: Any = Precision.HIGHEST,
) -> Array:
    """Resample an image to another shape.

    Args:
      image: an array of any rank.
      shape: the sizes of all dimensions, those of batches and channels included, which one leaves
        as they are.
      method: how to interpolate, a `ResizeMethod` or one of these names:
        - "nearest";
        - "linear", also "bilinear", "trilinear" or "triangle";
        - "cubic", also "bicubic" or "tricubic";
        - "cubic-pytorch" or "bicubic-pytorch": the same, but without `antialias` the weights are
          PyTorch's and pixels beyond the edges are like those at the edges;
        - "lanczos3", "lanczos5";
        - "area": the average of what a new pixel covers.
      antialias: whether the kernel of interpolation is made wider along with the pixels where the
        image shrinks.
      precision: how exactly to multiply.

    Returns:
      An array of that shape; its dtype is that of the image, if need be made floating, except that
      the nearest pixels keep theirs.

    Raises:
      ValueError: the shape has another length than that of the image, there is no such method, or
        a dimension that is to grow has no elements.
      TypeError: the shape does not hold integers.

    >>> import covector.numpy as jnp
    >>> from covector import image
    >>> image.resize(jnp.array([[0.0, 4.0]]), (1, 4), "linear")
    Array([[0., 1., 3., 4.]], dtype=float32)
    """
    image = as_array("resize", image)
    sizes, shape = image.aval.shape, shape_argument("resize", shape)
    if len(shape) != len(sizes):
        raise ValueError(errors.shape_length("resize", shape, sizes))
    method = method_argument("resize", method)
    dims = tuple([dim for dim, size in enumerate(sizes) if size != shape[dim]])
    for dim in dims:
        if not sizes[dim]:
            raise ValueError(errors.nothing_to_resize(dim, shape, sizes))
    if method is ResizeMethod.NEAREST:
        return _nearest(image, shape=shape)
    steps = np.array(
        [sizes[dim] / max(shape[dim], 1) for dim in dims], dtypes.default_float_dtype()
    )
    return _resampled(
        image,
        steps,
        np.zeros_like(steps),
        shape=shape,
        dims=dims,
        **_options(method, antialias, precision),
    )


def scale_and_translate(
    image: ArrayLike,
    shape: Sequence[int],
    spatial_dims: Sequence[int],
    scale: ArrayLike,
    translation: ArrayLike,
    method: str | ResizeMethod,
    antialias: bool = True,
    precision: Any = Precision.HIGHEST,
) -> Array:
    """Resample an image, scaled and moved.

    Along each of these dimensions the point x of the image comes to `x * scale + translation`,
    where pixel i covers the interval from i to i + 1. New pixels whose centres come from beyond the
    image are 0.

    Args:
      image: an array of any rank.
      shape: the sizes of all dimensions of the result.
      spatial_dims: the dimensions to scale; the others keep their sizes.
      scale: a vector of factors, one for each of these.
      translation: a vector of distances, one for each.
      method: how to interpolate, as for `resize`; not "nearest".
      antialias: as for `resize`.
      precision: how exactly to multiply.

    Returns:
      An array of that shape and a floating dtype, which can be differentiated in `image`, `scale`
      and `translation`.

    Raises:
      ValueError: lengths do not fit, other dimensions are to change, or there is no such method.

    >>> import covector.numpy as jnp
    >>> from covector import image
    >>> x = jnp.array([1.0, 2.0, 3.0])
    >>> image.scale_and_translate(x, (3,), (0,), jnp.ones(1), jnp.array([0.5]), "linear")
    Array([1. , 1.5, 2.5], dtype=float32)
    """
    where = "scale_and_translate"
    image = as_array(where, image)
    sizes, shape = image.aval.shape, shape_argument(where, shape)
    if len(shape) != len(sizes):
        raise ValueError(errors.shape_length(where, shape, sizes))
    method = method_argument(where, method)
    if method is ResizeMethod.NEAREST:
        raise ValueError(errors.nearest_with_scale())
    dims = axes_argument(where, tuple(spatial_dims), len(sizes))
    for dim, size in enumerate(sizes):
        if dim not in dims and shape[dim] != size:
            raise ValueError(errors.other_dimension(dim, shape, sizes))
    scale, translation = (
        _factors(x, name, len(dims)) for x, name in ((scale, "scale"), (translation, "translation"))
    )
    return _scaled(
        image, scale, translation, shape=shape, dims=dims, **_options(method, antialias, precision)
    )


def _factors(x: Any, name: str, count: int) -> Any:
    x = np.asarray(x) if isinstance(x, (list, tuple)) else operand("scale_and_translate", x)
    if np.shape(x) != (count,):
        raise ValueError(errors.factors(name, np.shape(x), count))
    return x


@composite
def _scaled(image: Any, scale: Any, translation: Any, **options: Any) -> Any:
    scale, translation = promote_dtypes_inexact(scale, translation)
    steps = 1 / scale
    return _resampled(image, steps, -translation * steps, **options)


def _options(method: ResizeMethod, antialias: bool, precision: Any) -> dict[str, Any]:
    if method is ResizeMethod.CUBIC_PYTORCH and antialias:
        method = ResizeMethod.CUBIC
    return dict(
        method=method, antialias=bool(antialias), precision=canonicalize_precision(precision)
    )
