"""Comparing results with what they should be: types exactly, numbers up to their precision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import dtypes
from ..core.zeros import Zero


class Disagreement(AssertionError):
    """Two ways to compute one thing gave different results."""


# How far two computations of one quantity may differ, relative to its size: some units in the
# last place, since XLA and NumPy round differently and add in different orders.
_TOLERANCES = {
    "float64": 1e-11,
    "complex128": 1e-11,
    "float32": 1e-5,
    "complex64": 1e-5,
    "float16": 4e-3,
    "bfloat16": 4e-2,
}
_COARSEST = 0.3  # floats of 8 bits and fewer


def tolerance(dtype: Any) -> float:
    """The relative difference that rounding explains, between results of this dtype."""
    if not dtypes.issubdtype(dtype, np.inexact):
        return 0.0
    return _TOLERANCES.get(np.dtype(dtype).name, _COARSEST)


def host(x: Any) -> np.ndarray:
    """A value as a NumPy array in which arithmetic is exact enough to measure differences."""
    if type(x) is Zero:
        return np.zeros(x.aval.shape)
    x = np.asarray(x)
    if x.dtype == dtypes.float0:
        return np.zeros(x.shape)
    if dtypes.issubdtype(x.dtype, np.complexfloating):
        return x.astype(np.complex128)
    return x.astype(np.float64) if dtypes.issubdtype(x.dtype, np.floating) else x


def assert_same_type(got: Any, want: Any, what: str) -> None:
    """Raise `Disagreement` unless two avals agree in shape and dtype."""
    if got.shape != want.shape:
        raise Disagreement(f"{what}: the shape is {got.shape}, but should be {want.shape}")
    if got.dtype != want.dtype:
        raise Disagreement(f"{what}: the dtype is {got.dtype}, but should be {want.dtype}")


def assert_close(
    got: Any, want: Any, what: str, rtol: float | None = None, atol: Any = None
) -> None:
    """Raise `Disagreement` unless two arrays agree in shape and, up to rounding, in their numbers.

    Args:
      got, want: arrays, or symbolic zeros.
      what: what `got` is, for the message.
      rtol: the largest difference allowed, relative to the element or to 1, whichever is larger;
        by default what rounding explains in the coarser of the two dtypes.
      atol: the largest difference allowed besides, a number or an array of them; then `rtol` is
        relative to the element alone. Integers and booleans must be equal in any case.
    """
    if rtol is None:
        rtol = max(tolerance(_dtype_of(got)), tolerance(_dtype_of(want)))
    got, want = host(got), host(want)
    if got.shape != want.shape:
        raise Disagreement(f"{what}: the shape is {got.shape}, but should be {want.shape}")
    if got.size == 0:
        return
    agree = got == want
    if np.issubdtype(np.result_type(got, want), np.inexact):
        with np.errstate(all="ignore"):
            size = np.abs(want)
            allowed = rtol * np.maximum(1.0, size) if atol is None else atol + rtol * size
            agree |= np.abs(got - want) <= allowed
            agree |= np.isnan(got) & np.isnan(want)
    if not agree.all():
        place = tuple(int(i) for i in np.argwhere(~np.atleast_1d(agree))[0])
        index = str(list(place)) if got.ndim else ""
        found, wanted = np.atleast_1d(got)[place], np.atleast_1d(want)[place]
        raise Disagreement(
            f"{what}: {np.sum(~agree)} of {agree.size} elements differ; the first{index} is "
            f"{found:.9g}, but should be {wanted:.9g}"
        )


def assert_all_close(
    got: Sequence[Any], want: Sequence[Any], what: str, rtol: float | None = None
) -> None:
    """`assert_close` for each of several results."""
    if len(got) != len(want):
        raise Disagreement(f"{what}: there are {len(got)} results, but should be {len(want)}")
    for i, (x, y) in enumerate(zip(got, want)):
        assert_close(x, y, what if len(want) == 1 else f"{what}, result {i}", rtol)


def _dtype_of(x: Any) -> Any:
    return np.dtype(np.bool_) if type(x) is Zero else np.asarray(x).dtype
