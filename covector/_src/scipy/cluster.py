"""Vectors and the nearest codes."""

from __future__ import annotations

from typing import Any

from ..base import cluster_errors as errors
from ..core.array import Array, ArrayLike
from ..numpy.composite import composite_list
from ..numpy.linear_algebra.norms import norm
from ..numpy.promotion import as_array, operands, promote_dtypes_inexact
from ..numpy.reductions import argmin
from ..numpy.taking import take_along_axis


def vq(obs: ArrayLike, code_book: ArrayLike, check_finite: bool = True) -> tuple[Array, Array]:
    """Find the nearest code of each observation.

    Args:
      obs: observations, the rows of a matrix; or a vector of numbers.
      code_book: codes, the rows of a matrix with as many columns; or a vector of numbers.
      check_finite: of no effect.

    Returns:
      `(codes, distances)`: for each observation the index of the code, the first one of several,
      and the Euclidean distance.

    Raises:
      ValueError: the shapes do not fit, or there are no codes.

    >>> import covector.numpy as jnp
    >>> from covector.scipy.cluster.vq import vq
    >>> vq(jnp.array([[1.0, 1.0], [5.0, 9.0]]), jnp.array([[1.0, 2.0], [5.0, 5.0]]))
    (Array([0, 1], dtype=int32), Array([1., 4.], dtype=float32))
    """
    obs, code_book = (as_array("vq", x) for x in operands("vq", (obs, code_book)))
    a, b = obs.aval.shape, code_book.aval.shape
    if len(a) != len(b) or len(a) not in (1, 2) or a[1:] != b[1:]:
        raise ValueError(errors.shapes(a, b))
    if not b[0]:
        raise ValueError(errors.no_codes(b))
    codes, distances = _nearest(obs, code_book)
    return codes, distances


@composite_list
def _nearest(obs: Any, code_book: Any) -> list[Any]:
    obs, code_book = promote_dtypes_inexact(obs, code_book)
    if obs.ndim == 1:
        obs, code_book = obs[:, None], code_book[:, None]
    distances = norm(obs[:, None] - code_book[None], axis=-1)
    codes = argmin(distances, -1)
    return [codes, take_along_axis(distances, codes[:, None], 1)[:, 0]]
