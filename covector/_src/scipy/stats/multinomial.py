"""The multinomial distribution."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import dtypes
from ...base import stats_errors as errors
from ...core.array import Array, ArrayLike
from ...numpy.composite import composite
from ...numpy.exponential import exp
from ...numpy.promotion import (
    as_array,
    convert,
    operands,
    promote_dtypes,
    promote_dtypes_inexact,
)
from ...numpy.reductions import all as all_of
from ...numpy.reductions import sum as sum_of
from ...numpy.selection import where
from ..special.entropy import xlogy
from ..special.gamma import gammaln


@composite
def _logpmf(x: Any, n: Any, p: Any) -> Any:
    valid = all_of(x >= 0, axis=-1) & (sum_of(x, axis=-1) == n)
    counts = convert(where(x >= 0, x, 0), p.dtype)
    terms = xlogy(counts, p) - gammaln(counts + 1)
    return where(valid, gammaln(convert(n, p.dtype) + 1) + sum_of(terms, axis=-1), -np.inf)


def logpmf(x: ArrayLike, n: ArrayLike, p: ArrayLike) -> Array:
    """Logarithm of the probability of `x` under the multinomial distribution.

    It counts the outcomes of n trials, each of which has one of k outcomes.

    Args:
      x: an array of integers: the counts, along the last axis.
      n: an array of integers: the numbers of trials.
      p: an array of the probabilities of the outcomes, along the last axis.

    Returns:
      An array of floats; -inf where the counts do not add up to n.

    Raises:
      ValueError: `x` or `n` is not of integers.

    >>> import covector.numpy as jnp
    >>> from covector.scipy.stats import multinomial
    >>> round(float(multinomial.logpmf(jnp.array([1, 1]), 2, jnp.array([0.5, 0.5]))), 3)
    -0.693
    """
    where_ = "multinomial.logpmf"
    x, n, p = (as_array(where_, a) for a in operands(where_, (x, n, p)))
    (p,) = promote_dtypes_inexact(p)
    x, n = promote_dtypes(x, n)
    if not dtypes.issubdtype(x.dtype, np.integer):
        raise ValueError(errors.multinomial_counts(x.dtype))
    return _logpmf(x, n, p)


def pmf(x: ArrayLike, n: ArrayLike, p: ArrayLike) -> Array:
    """Probability of `x` under the multinomial distribution: the exponential of `logpmf`.

    >>> import covector.numpy as jnp
    >>> from covector.scipy.stats import multinomial
    >>> round(float(multinomial.pmf(jnp.array([1, 1]), 2, jnp.array([0.5, 0.5]))), 3)
    0.5
    """
    return exp(logpmf(x, n, p))
