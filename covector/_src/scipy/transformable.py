"""Short floats as those that Fourier transforms take."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import dtypes
from ..numpy.promotion import dtype_of, promote_dtypes_inexact


def as_transformable(x: Any) -> Any:
    """An array as one of float32, float64 or complex numbers."""
    (x,) = promote_dtypes_inexact(x)
    short = dtypes.issubdtype(dtype_of(x), np.floating) and dtype_of(x).itemsize < 4
    return x.astype(np.float32) if short else x
