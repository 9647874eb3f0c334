"""Density estimates: the mean of normal distributions around the points of a sample."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...base import dtypes
from ...base import stats_errors as errors
from ...base.tree_registry import register_pytree_node_class
from ...core.array import Array, ArrayLike
from ...linalg.cholesky import cholesky
from ...linalg.triangular_solve import triangular_solve
from ...numpy.composite import composite
from ...numpy.covariance import cov as covariance_of
from ...numpy.creation import full, zeros
from ...numpy.exponential import exp, log, sqrt
from ...numpy.linear_algebra.systems import inv
from ...numpy.matrices import diagonal
from ...numpy.promotion import as_array, operands, promote_dtypes_inexact, shape_of
from ...numpy.reductions import sum as sum_of
from ...numpy.shaping import atleast_1d, atleast_2d, moveaxis, reshape, squeeze
from ...random.keys import split
from ...random.matrices import multivariate_normal
from ...random.selection import choice
from ..special.log_sums import logsumexp
from ..special.normal import ndtr

# ---------------------------------------------------------------- kernels


def _log_kernels(x: Any, y: Any, covariance: Any) -> Any:
    """The logarithms of the normal density at each column of `x` around each of `y`."""
    factor = cholesky(covariance)
    x, y = (triangular_solve(factor, a, left_side=True, lower=True) for a in (x, y))
    squares = sum_of((x[:, :, None] - y[:, None, :]) ** 2, axis=0)
    constant = 0.5 * len(covariance) * math.log(2 * math.pi) + sum_of(log(diagonal(factor)))
    return -0.5 * squares - constant


@composite
def _density(x: Any, dataset: Any, weights: Any, covariance: Any) -> Any:
    return sum_of(exp(_log_kernels(x, dataset, covariance)) * weights, axis=1)


@composite
def _log_density(x: Any, dataset: Any, weights: Any, covariance: Any) -> Any:
    return logsumexp(_log_kernels(x, dataset, covariance), axis=1, b=weights)


@composite
def _box(low: Any, high: Any, dataset: Any, weights: Any, covariance: Any) -> Any:
    scale = sqrt(covariance[0, 0])
    shares = ndtr((high - dataset[0]) / scale) - ndtr((low - dataset[0]) / scale)
    return sum_of(weights * shares)


# ---------------------------------------------------------------- estimates

Bandwidth = None | str | ArrayLike | Callable[["gaussian_kde"], ArrayLike]

# The factors of standard deviations: rules of D. W. Scott, Multivariate Density Estimation, 1992,
# and B. W. Silverman, Density Estimation for Statistics and Data Analysis, 1986.
RULES: dict[str, Callable[[Any, int], Any]] = {
    "scott": lambda count, d: count ** (-1 / (d + 4)),
    "silverman": lambda count, d: (count * (d + 2) / 4) ** (-1 / (d + 4)),
}


@register_pytree_node_class
@dataclass(frozen=True, init=False, eq=False)
class gaussian_kde:
    """An estimate of a probability density from a sample, by normal distributions.

    It is immutable, and a tree of its arrays.

    Args:
      dataset: an array of shape (variables, points), or a vector of the points of one variable.
      bw_method: the bandwidth, as a factor of the standard deviations of the sample: a number, or
        "scott" or "silverman" for a rule of that name, or a function of the estimate, which has
        `dataset`, `weights`, `neff`, `d` and `n` already. The default is "scott".
      weights: a vector of the weights of the points, which are equal by default.

    Attributes:
      dataset, weights: the arguments, the weights with a sum of 1.
      covariance, inv_cov: the covariance matrix of the normal distributions, and its inverse.
      neff: the effective number of points, 1 over the sum of the squared weights.
      d, n: the numbers of variables and of points.

    Raises:
      NotImplementedError: the dataset is complex.
      ValueError: the arguments' shapes do not fit, or there is no such rule.

    >>> import covector.numpy as jnp
    >>> from covector.scipy.stats import gaussian_kde
    >>> kde = gaussian_kde(jnp.array([0.0, 1.0, 3.0]))
    >>> print(kde.evaluate(jnp.array([1.0, 50.0])).round(3))
    [0.215 0.   ]
    """

    neff: Any
    dataset: Any
    weights: Any
    covariance: Any
    inv_cov: Any

    def __init__(
        self, dataset: ArrayLike, bw_method: Bandwidth = None, weights: ArrayLike | None = None
    ):
        dataset = _real("dataset", atleast_2d(as_array("gaussian_kde", dataset)))
        if dataset.size < 2:
            raise ValueError(errors.kde_too_small(dataset.shape))
        n = dataset.shape[1]
        if weights is None:
            (dataset,) = promote_dtypes_inexact(dataset)
            weights = full(n, 1 / n, dataset.dtype)
        else:
            weights = atleast_1d(as_array("gaussian_kde", weights))
            if weights.shape != (n,):
                raise ValueError(errors.kde_weights(weights.shape, n))
            dataset, weights = promote_dtypes_inexact(dataset, weights)
            weights = weights / sum_of(weights)
        self._set(dataset=dataset, weights=weights, neff=1 / sum_of(weights**2))
        factor = self._factor(bw_method)
        covariance = atleast_2d(covariance_of(dataset, bias=False, aweights=weights))
        self._set(covariance=covariance * factor**2, inv_cov=inv(covariance) / factor**2)

    def _set(self, **attributes: Any) -> None:
        for name, value in attributes.items():
            object.__setattr__(self, name, value)

    def _factor(self, method: Bandwidth) -> Any:
        if method is None or isinstance(method, str):
            if (rule := RULES.get(method or "scott")) is None:
                raise ValueError(errors.kde_bandwidth(method))
            return rule(self.neff, self.d)
        if callable(method):
            return method(self)
        (factor,) = operands("gaussian_kde", [method])
        if shape_of(factor):
            raise ValueError(errors.kde_bandwidth(method))
        return factor

    def tree_flatten(self) -> tuple[tuple[Any, ...], None]:
        """The arrays, for trees."""
        return (self.neff, self.dataset, self.weights, self.covariance, self.inv_cov), None

    @classmethod
    def tree_unflatten(cls, static: None, children: Any) -> gaussian_kde:
        """An estimate of these arrays."""
        kde = cls.__new__(cls)
        names = ("neff", "dataset", "weights", "covariance", "inv_cov")
        kde._set(**dict(zip(names, children)))
        return kde

    @property
    def d(self) -> int:
        """The number of variables."""
        return self.dataset.shape[0]

    @property
    def n(self) -> int:
        """The number of points."""
        return self.dataset.shape[1]

    # ------------------------------------------------------------ densities

    def _arguments(self, where: str, points: ArrayLike) -> list[Any]:
        points = _real("points", atleast_2d(as_array(where, points)))
        if points.shape == (1, self.d):
            points = reshape(points, (self.d, 1))
        if points.shape[0] != self.d:
            raise ValueError(errors.kde_points(points.shape, self.d))
        return promote_dtypes_inexact(points, self.dataset, self.weights, self.covariance)

    def evaluate(self, points: ArrayLike) -> Array:
        """The density at points.

        Args:
          points: an array of shape (variables, points); a vector has the points of one variable, or
            one point.

        Returns:
          A vector.
        """
        return _density(*self._arguments("gaussian_kde.evaluate", points))

    def __call__(self, points: ArrayLike) -> Array:
        return self.evaluate(points)

    def pdf(self, x: ArrayLike) -> Array:
        """The density at points: the same as `evaluate`."""
        return self.evaluate(x)

    def logpdf(self, x: ArrayLike) -> Array:
        """The logarithm of the density at points, which are given as to `evaluate`."""
        return _log_density(*self._arguments("gaussian_kde.logpdf", x))

    # ------------------------------------------------------------ integrals

    def integrate_gaussian(self, mean: ArrayLike, cov: ArrayLike) -> Array:
        """The integral of the density times that of a normal distribution.

        Args:
          mean: the mean of the normal distribution, a vector.
          cov: its covariance matrix.
        """
        where = "gaussian_kde.integrate_gaussian"
        mean = atleast_1d(squeeze(as_array(where, mean)))
        cov = atleast_2d(as_array(where, cov))
        if mean.shape != (self.d,):
            raise ValueError(errors.kde_parameter("mean", mean.shape, self.d))
        if cov.shape != (self.d, self.d):
            raise ValueError(errors.kde_parameter("covariance", cov.shape, self.d))
        arrays = (mean[:, None], self.dataset, self.weights, self.covariance + cov)
        return _density(*promote_dtypes_inexact(*arrays))[0]

    def integrate_box_1d(self, low: ArrayLike, high: ArrayLike) -> Array:
        """The probability of numbers between two limits, for an estimate of one variable."""
        if self.d != 1:
            raise ValueError(errors.kde_one_variable(self.d))
        low, high = operands("gaussian_kde.integrate_box_1d", (low, high))
        if shape_of(low) or shape_of(high):
            raise ValueError(errors.kde_limits(shape_of(low), shape_of(high)))
        arrays = (low, high, self.dataset, self.weights, self.covariance)
        return _box(*promote_dtypes_inexact(*arrays))

    def integrate_kde(self, other: gaussian_kde) -> Array:
        """The integral of the density times that of another estimate."""
        if other.d != self.d:
            raise ValueError(errors.kde_variables(self.d, other.d))
        covariance = self.covariance + other.covariance
        arrays = (other.dataset, self.dataset, self.weights, covariance)
        return sum_of(_density(*promote_dtypes_inexact(*arrays)) * other.weights)

    def integrate_box(self, low_bounds: Any, high_bounds: Any, maxpts: Any = None) -> Array:
        """Not implemented: there are boxes of one variable only, `integrate_box_1d`."""
        raise NotImplementedError(errors.kde_boxes())

    # ------------------------------------------------------------ samples

    def resample(self, key: Any, shape: tuple[int, ...] = ()) -> Array:
        """Random points with the estimated density.

        Args:
          key: a random key.
          shape: how many points.

        Returns:
          An array of shape (variables, *shape).
        """
        key_of_points, key_of_noise = split(key)
        points = choice(key_of_points, self.n, shape=shape, p=self.weights)
        dtype = self.dataset.dtype
        mean = zeros(self.d, self.covariance.dtype)
        noise = multivariate_normal(key_of_noise, mean, self.covariance, shape=shape, dtype=dtype)
        return self.dataset[:, points] + moveaxis(noise, -1, 0)

    def set_bandwidth(self, bw_method: Bandwidth = None) -> None:
        """Not implemented: an estimate is immutable."""
        raise NotImplementedError(errors.kde_is_immutable())


def _real(what: str, x: Any) -> Any:
    if dtypes.issubdtype(x.dtype, np.complexfloating):
        raise NotImplementedError(errors.kde_complex(what, x.dtype))
    return x
