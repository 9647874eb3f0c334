"""Samplers of vectors and matrices made of normal numbers."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ..base import config, random_errors
from ..core.array import Array
from ..linalg.cholesky import cholesky
from ..linalg.eigh import eigh
from ..linalg.qr import qr
from ..linalg.svd import svd
from ..numpy.einsum import einsum
from ..numpy.matrices import diagonal
from ..numpy.promotion import operands, promote_dtypes_inexact
from ..numpy.shaping import matrix_transpose
from ..ops.arithmetic import sign
from ..ops.linear import reduce_sum
from ..ops.powers import sqrt
from ..ops.shaping import broadcast_shapes
from .arguments import (
    any_dtype,
    check_shape,
    float_dtype,
    placed,
    sample_shape,
    shape_or_none,
    single_key,
    standard,
)
from .keys import new_keys
from .normal import normal
from .program import program
from .uniform import rademacher

FACTORS = ("svd", "eigh", "cholesky")


def multivariate_normal(
    key: Any,
    mean: Any,
    cov: Any,
    shape: Any = None,
    dtype: Any = None,
    method: str = "cholesky",
    *,
    out_sharding: Any = None,
) -> Array:
    """Normal vectors of a given mean and covariance.

    Args:
      key: a random key.
      mean: the means, along the last dimension.
      cov: positive definite matrices in the last two dimensions, n by n for means of n elements.
      shape: the shape of the result without its last dimension, to which the other dimensions of
        `mean` and `cov` broadcast; by default their common shape.
      dtype: a float dtype; by default the common one of `mean` and `cov`.
      method: how a matrix is factored: "cholesky"; or "svd" or "eigh", which cost more, and allow
        matrices that are only positive semidefinite.
      out_sharding: the device or sharding to put the result on.

    Returns:
      An array of shape (*shape, n).

    Raises:
      ValueError: there is no such method, the shapes do not fit, or the dtype is not a float one.

    >>> import covector.numpy as jnp
    >>> from covector import random
    >>> random.multivariate_normal(random.key(0), jnp.zeros(2), jnp.eye(2), (5,)).shape
    (5, 2)
    """
    key = single_key("multivariate_normal", key)
    mean, cov = promote_dtypes_inexact(*operands("random.multivariate_normal", (mean, cov)))
    if method not in FACTORS:
        raise ValueError(random_errors.unknown_method("multivariate_normal", method, FACTORS))
    dtype = float_dtype("multivariate_normal", mean.dtype if dtype is None else dtype)
    shape = shape_or_none("multivariate_normal", shape)
    samples = _multivariate_normal(key, mean, cov, shape=shape, dtype=dtype, method=method)
    return placed(samples, out_sharding)


@program
def _multivariate_normal(
    key: Any, mean: Any, cov: Any, *, shape: Any, dtype: Any, method: str
) -> Any:
    name = "multivariate_normal"
    if mean.ndim < 1:
        raise ValueError(random_errors.rank_too_low(name, "mean", 1, mean.shape))
    if cov.ndim < 2:
        raise ValueError(random_errors.rank_too_low(name, "cov", 2, cov.shape))
    n = mean.shape[-1]
    if cov.shape[-2:] != (n, n):
        raise ValueError(random_errors.covariance_shape(n, cov.shape))
    if shape is None:
        shape = broadcast_shapes(mean.shape[:-1], cov.shape[:-2])
    else:
        check_shape(name, shape, mean.shape[:-1], cov.shape[:-2])
    samples = normal(key, (*shape, n), dtype)
    with config.numpy_rank_promotion("allow"):
        return mean + einsum("...ij,...j->...i", _square_root(cov, method), samples)


def _square_root(cov: Any, method: str) -> Any:
    """A matrix F with F F^T = cov."""
    if method == "svd":
        vectors, values, _ = svd(cov, full_matrices=True)
    elif method == "eigh":
        vectors, values = eigh(cov)
    else:
        return cholesky(cov)
    return vectors * sqrt(values[..., None, :])


def orthogonal(
    key: Any,
    n: Any,
    shape: Any = (),
    dtype: Any = None,
    m: Any = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Orthogonal matrices, equally likely to be any: of Haar measure.

    Args:
      key: a random key.
      n: the number of rows.
      shape: the shape of the array of matrices.
      dtype: a float dtype, by default that of Python's floats; or a complex one, for unitary
        matrices.
      m: the number of columns, by default `n`. If it is smaller, the columns are orthonormal; if it
        is larger, the rows are.
      out_sharding: the device or sharding to put the result on.

    Returns:
      An array of shape (*shape, n, m).

    >>> import covector.numpy as jnp
    >>> from covector import random
    >>> q = random.orthogonal(random.key(0), 3)
    >>> bool(jnp.allclose(q @ q.T, jnp.eye(3), atol=1e-5))
    True
    """
    shape = sample_shape("orthogonal", shape)
    key = single_key("orthogonal", key)
    dtype = any_dtype("orthogonal", dtype, float)
    n = operator.index(n)
    m = n if m is None else operator.index(m)
    return placed(_orthogonal(key, n=n, m=m, shape=shape, dtype=dtype), out_sharding)


@program
def _orthogonal(key: Any, *, n: int, m: int, shape: Any, dtype: Any) -> Any:
    """The factor Q of a normal matrix, with the signs for which R has a positive diagonal.

    Source: F. Mezzadri, "How to generate random matrices from the classical compact groups",
    Notices of the AMS 54 (2007).
    """
    q, r = qr(normal(key, (*shape, max(n, m), min(n, m)), dtype), full_matrices=False)
    q = q * sign(diagonal(r, axis1=-2, axis2=-1))[..., None, :]
    return matrix_transpose(q) if n < m else q


# ---------------------------------------------------------------- Maxwell


def maxwell(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Samples of the Maxwell distribution: lengths of normal vectors in three dimensions.

    Args:
      key: a random key.
      shape: the shape of the result.
      dtype: a float dtype; by default that of Python's floats.
      out_sharding: the device or sharding to put the result on.

    Returns:
      An array of that shape and dtype.

    >>> from covector import random
    >>> bool((random.maxwell(random.key(0), (100,)) > 0).all())
    True
    """
    return standard("maxwell", _maxwell, key, shape, dtype, out_sharding)


@program
def _maxwell(key: Any, *, shape: Any, dtype: Any) -> Any:
    x = normal(key, (*shape, 3), dtype)
    return sqrt(reduce_sum(x * x, (len(shape),)))


def double_sided_maxwell(
    key: Any, loc: Any, scale: Any, shape: Any = (), dtype: Any = None
) -> Array:
    """Samples of the Maxwell distribution with random signs, scaled and moved.

    Args:
      key: a random key.
      loc, scale: what is added to a sample, and what it is multiplied by before.
      shape: the shape of the array of draws for each element of the parameters.
      dtype: a float dtype; by default that of Python's floats.

    Returns:
      An array of shape (*shape, *common shape of the parameters).

    >>> from covector import random
    >>> random.double_sided_maxwell(random.key(0), 0.0, 2.0, (3,)).shape
    (3,)
    """
    key = single_key("double_sided_maxwell", key)
    dtype = float_dtype("double_sided_maxwell", dtype)
    shape = sample_shape("double_sided_maxwell", shape)
    return _double_sided_maxwell(key, loc, scale, shape=shape, dtype=dtype)


@program
def _double_sided_maxwell(key: Any, loc: Any, scale: Any, *, shape: Any, dtype: Any) -> Any:
    of_parameters = broadcast_shapes(np.shape(loc), np.shape(scale))
    shape = (*(shape or of_parameters), *of_parameters)
    key_size, key_sign = new_keys(key)
    size = maxwell(key_size, shape, dtype)
    return rademacher(key_sign, shape, dtype) * size * scale + loc
