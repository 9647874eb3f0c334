"""The Dirichlet distribution."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import stats_errors as errors
from ...core.array import Array, ArrayLike
from ...numpy.composite import composite
from ...numpy.exponential import exp
from ...numpy.joining import concatenate
from ...numpy.promotion import as_array, operands, promote_dtypes_inexact
from ...numpy.reductions import all as all_of
from ...numpy.reductions import sum as sum_of
from ...numpy.selection import where
from ..special.entropy import xlogy
from ..special.gamma import gammaln

TOLERANCE = 1e-6  # of the sum of numbers that should be 1


@composite
def _logpdf(x: Any, alpha: Any) -> Any:
    if len(x) < len(alpha):
        x = concatenate([x, 1 - sum_of(x, axis=0, keepdims=True)], axis=0)
    valid = all_of(x >= 0, axis=0) & (abs(sum_of(x, axis=0) - 1) < TOLERANCE)
    shape = alpha.reshape(-1, *(1,) * (x.ndim - 1))
    exponents = xlogy(shape - 1, where(valid[None], x, 1))
    normalizer = sum_of(gammaln(alpha)) - gammaln(sum_of(alpha))
    return where(valid, sum_of(exponents, axis=0) - normalizer, -np.inf)


def logpdf(x: ArrayLike, alpha: ArrayLike) -> Array:
    """Logarithm of the probability density under the Dirichlet distribution.

    The density of n numbers x that add up to 1 is proportional to the product of x^(alpha-1).

    Args:
      x: an array of the numbers along its first axis, the last of which may be left out.
      alpha: a vector of n positive shape parameters.

    Returns:
      An array of the shape of `x` without its first axis; -inf where numbers are negative, or
      differ from 1 in total.

    Raises:
      ValueError: the shapes do not fit.

    >>> import covector.numpy as jnp
    >>> from covector.scipy.stats import dirichlet
    >>> round(float(dirichlet.logpdf(jnp.array([0.5, 0.5]), jnp.array([2.0, 2.0]))), 3)
    0.405
    """
    given = operands("dirichlet.logpdf", (x, alpha))
    x, alpha = promote_dtypes_inexact(*(as_array("dirichlet.logpdf", a) for a in given))
    if alpha.ndim != 1:
        raise ValueError(errors.dirichlet_alpha(alpha.shape))
    if not x.ndim or len(x) not in (len(alpha), len(alpha) - 1):
        raise ValueError(errors.dirichlet_shapes(x.shape, alpha.shape))
    return _logpdf(x, alpha)


def pdf(x: ArrayLike, alpha: ArrayLike) -> Array:
    """Probability density under the Dirichlet distribution: the exponential of `logpdf`.

    >>> import covector.numpy as jnp
    >>> from covector.scipy.stats import dirichlet
    >>> round(float(dirichlet.pdf(jnp.array([0.5, 0.5]), jnp.array([2.0, 2.0]))), 3)
    1.5
    """
    return exp(logpdf(x, alpha))
