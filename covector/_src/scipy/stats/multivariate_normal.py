"""The normal distribution of several variables."""

from __future__ import annotations

import math
from typing import Any

from ...base import stats_errors as errors
from ...core.array import Array, ArrayLike
from ...linalg.cholesky import cholesky
from ...linalg.lu import to_batch
from ...linalg.triangular_solve import triangular_solve
from ...numpy.composite import composite
from ...numpy.exponential import exp, log
from ...numpy.matrices import diagonal
from ...numpy.promotion import as_array, operands, promote_dtypes_inexact
from ...numpy.reductions import sum as sum_of
from ...numpy.shaping import broadcast_shapes

_LOG_2_PI = math.log(2 * math.pi)


@composite
def _of_one_variance(x: Any, mean: Any, variance: Any) -> Any:
    """The logarithm of the density of independent variables, or of one if `mean` is a scalar."""
    squares, count = (x - mean) ** 2, 1
    if mean.ndim:
        squares, count = sum_of(squares, axis=-1), mean.shape[-1]
    return -0.5 * squares / variance - 0.5 * count * (_LOG_2_PI + log(variance))


@composite
def _of_covariance(x: Any, mean: Any, cov: Any) -> Any:
    factor = cholesky(cov)
    y = x - mean
    n = mean.shape[-1]
    if cov.ndim == 2:  # all points are columns of one right-hand side
        columns = y.reshape(-1, n).T
        z = triangular_solve(factor, columns, left_side=True, lower=True)
        squares = sum_of(z * z, axis=0).reshape(y.shape[:-1])
    else:
        batch = broadcast_shapes(cov.shape[:-2], y.shape[:-1])
        z = triangular_solve(
            to_batch(factor, batch, 2), to_batch(y, batch, 1)[..., None], left_side=True, lower=True
        )
        squares = sum_of(z * z, axis=(-2, -1))
    log_determinant = 2 * sum_of(log(diagonal(factor, axis1=-2, axis2=-1)), axis=-1)
    return -0.5 * (squares + n * _LOG_2_PI + log_determinant)


def logpdf(x: ArrayLike, mean: ArrayLike, cov: ArrayLike, allow_singular: None = None) -> Array:
    """Logarithm of the probability density under a normal distribution of n variables.

    Args:
      x: an array of points, along the last axis.
      mean: an array of means, along the last axis; or a scalar, for one variable.
      cov: positive definite matrices in the last two axes; or the one variance of independent
        variables, as a scalar.
      allow_singular: must be None or false.

    Returns:
      An array of the shape to which the other axes of all broadcast; NaN for matrices that are not
      positive definite.

    Raises:
      NotImplementedError: `allow_singular` is true.
      ValueError: the shapes do not fit.

    >>> import covector.numpy as jnp
    >>> from covector.scipy.stats import multivariate_normal
    >>> multivariate_normal.logpdf(jnp.zeros(2), jnp.zeros(2), jnp.eye(2))
    Array(-1.837877, dtype=float32)
    """
    where = "multivariate_normal.logpdf"
    if allow_singular:
        raise NotImplementedError(errors.singular_covariance())
    x, mean, cov = (as_array(where, a) for a in operands(where, (x, mean, cov)))
    x, mean, cov = promote_dtypes_inexact(x, mean, cov)
    if not mean.ndim or not cov.ndim:
        return _of_one_variance(x, mean, cov)
    n = mean.shape[-1]
    if cov.shape[-2:] != (n, n):
        raise ValueError(errors.covariance_shape(x.shape, mean.shape, cov.shape))
    return _of_covariance(x, mean, cov)


def pdf(x: ArrayLike, mean: ArrayLike, cov: ArrayLike) -> Array:
    """Probability density under a normal distribution of n variables: see `logpdf`.

    >>> import covector.numpy as jnp
    >>> from covector.scipy.stats import multivariate_normal
    >>> round(float(multivariate_normal.pdf(jnp.zeros(2), jnp.zeros(2), jnp.eye(2))), 4)
    0.1592
    """
    return exp(logpdf(x, mean, cov))
