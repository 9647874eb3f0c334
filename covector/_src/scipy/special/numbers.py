"""Bernoulli's numbers."""

from __future__ import annotations

import math
from fractions import Fraction
from operator import index

import numpy as np

from ...base import dtypes
from ...base import special_errors as errors
from ...core.array import Array
from ...numpy.creation import array


def _first(count: int) -> list[Fraction]:
    """B_0, ..., B_(count-1), by their recurrence (DLMF 24.5.3)."""
    numbers: list[Fraction] = []
    for n in range(count):
        known = sum(math.comb(n + 1, k) * b for k, b in enumerate(numbers))
        numbers.append(Fraction(int(n == 0)) - Fraction(known, n + 1))
    return numbers


BERNOULLI = _first(40)


def _approximations(n: int) -> np.ndarray:
    """B_0, ..., B_n: the even ones are 2 (2k)! zeta(2k) / (2 pi)^(2k), with alternating signs."""
    out = np.zeros(n + 1)
    known = [float(b) for b in BERNOULLI[: n + 1]]
    out[: len(known)] = known
    with np.errstate(over="ignore"):
        for m in range(len(BERNOULLI), n + 1, 2):
            before = 1 + 2.0 ** (2 - m) + 3.0 ** (2 - m)
            ratio = -m * (m - 1) / (2 * math.pi) ** 2 * (1 + 2.0**-m + 3.0**-m) / before
            out[m] = out[m - 2] * ratio
    return out


def bernoulli(n: int) -> Array:
    """Bernoulli's numbers B_0, ..., B_n, where B_1 = -1/2.

    Args:
      n: an integer from 0.

    Returns:
      An array of n + 1 floats, of the default dtype.

    Raises:
      ValueError: `n` is negative.

    >>> from covector.scipy import special
    >>> special.bernoulli(2)
    Array([ 1.        , -0.5       ,  0.16666667], dtype=float32)
    """
    n = index(n)
    if n < 0:
        raise ValueError(errors.negative_order(n))
    return array(_approximations(n), dtypes.default_float_dtype())
