"""Polynomials as vectors of coefficients, the highest power first."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import calculus_errors, dtypes
from ..control.scan import scan
from ..core.array import Array, ArrayLike
from ..ops.linear import full
from .arguments import index_argument, known_array
from .arithmetic import power
from .composite import composite, composite_list
from .convolution import convolve
from .creation import full_like
from .editing import trim_zeros
from .exponential import sqrt
from .joining import concatenate
from .linear_algebra.decompositions import eigvals
from .linear_algebra.systems import inv, lstsq
from .matrices import eye
from .promotion import (
    as_array,
    common_shape,
    convert,
    dtype_of,
    number,
    operands,
    promote_dtypes,
    promote_dtypes_inexact,
    shape_of,
)
from .ranges import iota
from .reductions import all, argmin
from .selection import where
from .shaping import atleast_1d, roll
from .sorting import argsort

# ---------------------------------------------------------------- values, sums, products


def _vectors(where: str, *polynomials: Any) -> list[Any]:
    """Polynomials, checked to be vectors, in one floating dtype."""
    arrays = [as_array(where, p) for p in polynomials]
    for p in arrays:
        if p.ndim != 1:
            raise ValueError(calculus_errors.not_a_polynomial(where, p.shape))
    return promote_dtypes_inexact(*arrays)


@composite
def _polyval(p: Any, x: Any, *, unroll: int) -> Any:
    """Horner's rule."""
    p, x = promote_dtypes(p, x)
    total = full(common_shape("polyval", p[0], x) if len(p) else shape_of(x), 0, dtype_of(x))
    return scan(lambda total, c: (total * x + c, None), total, p, unroll=unroll)[0]


def polyval(p: ArrayLike, x: ArrayLike, *, unroll: int = 16) -> Array:
    """The values of a polynomial.

    Args:
      p: its coefficients along the first dimension; others are broadcast against `x`.
      x: where to evaluate it.
      unroll: how many steps of the loop over coefficients to write out; see `lax.scan`.

    Returns:
      An array of the shape of `x`.

    >>> import covector.numpy as jnp
    >>> jnp.polyval(jnp.array([1, 0, -2]), jnp.array([0, 3]))
    Array([-2,  7], dtype=int32)
    """
    p, x = (as_array("polyval", operand) for operand in (p, x))
    if not p.ndim:
        raise ValueError(calculus_errors.not_a_polynomial("polyval", ()))
    return _polyval(p, x, unroll=unroll)


@composite
def _polyadd(p: Any, q: Any) -> Any:
    p, q = promote_dtypes(p, q)
    if len(q) > len(p):
        p, q = q, p
    return p.at[len(p) - len(q) :].add(q)


def polyadd(a1: ArrayLike, a2: ArrayLike) -> Array:
    """The sum of two polynomials.

    >>> import covector.numpy as jnp
    >>> jnp.polyadd(jnp.array([1, 2, 3]), jnp.array([10, 20]))
    Array([ 1, 12, 23], dtype=int32)
    """
    return _polyadd(*_any_dtype("polyadd", a1, a2))


def polysub(a1: ArrayLike, a2: ArrayLike) -> Array:
    """The difference of two polynomials.

    >>> import covector.numpy as jnp
    >>> jnp.polysub(jnp.array([1, 2, 3]), jnp.array([10, 20]))
    Array([  1,  -8, -17], dtype=int32)
    """
    p, q = promote_dtypes(*_any_dtype("polysub", a1, a2))
    return _polyadd(p, -q)


def _any_dtype(where: str, *polynomials: Any) -> list[Any]:
    arrays = [as_array(where, p) for p in polynomials]
    for p in arrays:
        if not p.ndim:
            raise ValueError(calculus_errors.not_a_polynomial(where, p.shape))
    return arrays


def polymul(a1: ArrayLike, a2: ArrayLike, *, trim_leading_zeros: bool = False) -> Array:
    """The product of two polynomials.

    Args:
      a1, a2: the coefficients.
      trim_leading_zeros: whether to leave out zeros in front of them first, as NumPy does; then
        they must be known.

    Returns:
      Coefficients, as floats.

    >>> import covector.numpy as jnp
    >>> jnp.polymul(jnp.array([1, -1]), jnp.array([1, 1]))
    Array([ 1.,  0., -1.], dtype=float32)
    """
    factors = _vectors("polymul", a1, a2)
    if trim_leading_zeros:
        factors = [trim_zeros(p, "f") for p in factors]
    return convolve(*[p if p.size else full((1,), 0, p.dtype) for p in factors])


def polydiv(u: ArrayLike, v: ArrayLike, *, trim_leading_zeros: bool = False) -> tuple[Array, Array]:
    """The quotient of two polynomials, and the rest.

    Args:
      u, v: the coefficients of the dividend and the divisor.
      trim_leading_zeros: whether to leave out coefficients in front of the rest that are about 0,
        as NumPy does; then they must be known. Otherwise it has as many as the dividend.

    Returns:
      The coefficients of q and r, as floats, such that u = q v + r.

    >>> import covector.numpy as jnp
    >>> jnp.polydiv(jnp.array([1, 0, -1]), jnp.array([1, 1]))
    (Array([ 1., -1.], dtype=float32), Array([0., 0., 0.], dtype=float32))
    """
    quotient, rest = _polydiv(*_vectors("polydiv", u, v))
    if trim_leading_zeros:
        known = known_array(rest, calculus_errors.rest_unknown)
        large = np.abs(known) > np.sqrt(float(dtypes.finfo(rest.dtype).eps))
        first = int(np.argmax(large)) if large.any() else rest.size
        rest = rest[first:]
    return quotient, rest


@composite_list
def _polydiv(u: Any, v: Any) -> list[Any]:
    """Long division."""
    steps = u.size - v.size + 1
    if steps <= 0:
        return [full((1,), 0, u.dtype), u]
    quotient = []
    for k in range(steps):
        c = u[k : k + 1] / v[0]
        quotient.append(c)
        u = u.at[k : k + v.size].add(-c * v)
    return [concatenate(quotient), u]


# ---------------------------------------------------------------- derivatives, integrals


def _factors(count: int, m: int) -> np.ndarray:
    """The factors (n + 1) ... (n + m) of powers n = count - 1, ..., 0 that m derivatives bring."""
    powers = np.arange(count, dtype=np.float64)[::-1]
    return np.prod([powers + i for i in range(1, m + 1)], axis=0)


def polyder(p: ArrayLike, m: int = 1) -> Array:
    """The derivative of a polynomial.

    Args:
      p: its coefficients.
      m: how many times to differentiate.

    Returns:
      Coefficients, as floats.

    Raises:
      ValueError: `m` is negative.

    >>> import covector.numpy as jnp
    >>> jnp.polyder(jnp.array([1, 2, 3]))
    Array([2., 2.], dtype=float32)
    """
    m = index_argument("polyder", "m", m)
    if m < 0:
        raise ValueError(calculus_errors.negative_order("polyder", m))
    (p,) = _vectors("polyder", p)
    if m == 0:
        return p
    count = max(p.size - m, 0)
    return p[:count] * _factors(count, m).astype(p.dtype)


def polyint(p: ArrayLike, m: int = 1, k: int | ArrayLike | None = None) -> Array:
    """An integral of a polynomial.

    Args:
      p: its coefficients.
      m: how many times to integrate.
      k: the constants of integration, in order; one stands for all. 0 if not given.

    Returns:
      Coefficients, as floats.

    Raises:
      ValueError: `m` is negative, or there are not as many constants.

    >>> import covector.numpy as jnp
    >>> jnp.polyint(jnp.array([4, 2]), k=3)
    Array([2., 2., 3.], dtype=float32)
    """
    m = index_argument("polyint", "m", m)
    if m < 0:
        raise ValueError(calculus_errors.negative_order("polyint", m))
    p, constants = (as_array("polyint", x) for x in (p, 0 if k is None else k))
    p, constants = _vectors("polyint", p, atleast_1d(constants))
    if constants.size == 1:
        constants = full_like(constants, constants[0], shape=(m,))
    if constants.size != m:
        raise ValueError(calculus_errors.integration_constants(constants.shape, m))
    if m == 0:
        return p
    # The last constant is not integrated any more, the one before it once, and so on.
    orders = [_factors(p.size, m), *[_factors(1, i) for i in range(m - 1, 0, -1)], np.ones(1)]
    return concatenate([p, constants]) / np.concatenate(orders).astype(p.dtype)


# ---------------------------------------------------------------- zeros


def poly(seq_of_zeros: ArrayLike) -> Array:
    """The polynomial with given zeros, and 1 as its leading coefficient.

    Args:
      seq_of_zeros: a vector of zeros; or a square matrix, for its characteristic polynomial.

    Returns:
      Coefficients, as floats or complex numbers.

    Raises:
      ValueError: the array is of another shape.

    >>> import covector.numpy as jnp
    >>> jnp.poly(jnp.array([1, 2]))
    Array([ 1., -3.,  2.], dtype=float32)
    """
    (zeros,) = promote_dtypes_inexact(atleast_1d(as_array("poly", seq_of_zeros)))
    if zeros.ndim == 2 and zeros.shape[0] == zeros.shape[1] > 0:
        zeros = eigvals(zeros)
    if zeros.ndim != 1:
        raise ValueError(calculus_errors.not_zeros_of_a_polynomial(zeros.shape))
    return _poly(zeros) if zeros.size else full((), 1, zeros.dtype)


@composite
def _poly(zeros: Any) -> Any:
    """The product of x - z over all zeros z."""
    nothing = full((1,), 0, zeros.dtype)
    p = full((1,), 1, zeros.dtype)
    for i in range(zeros.size):
        p = concatenate([p, nothing]) - zeros[i] * concatenate([nothing, p])
    return p


def roots(p: ArrayLike, *, strip_zeros: bool = True) -> Array:
    """The zeros of a polynomial.

    Args:
      p: its coefficients.
      strip_zeros: whether to leave out zeros in front of them, for which they must be known. If
        not, there are as many results as powers, and what is too many is NaN, at the end.

    Returns:
      A vector of complex numbers.

    Raises:
      ConcretizationTypeError: the coefficients are traced, and `strip_zeros` is true.
      ValueError: they are not a vector.

    >>> import covector.numpy as jnp
    >>> jnp.sort(jnp.roots(jnp.array([1.0, -3.0, 2.0])).real).round(3)
    Array([1., 2.], dtype=float32)
    """
    (p,) = _vectors("roots", atleast_1d(as_array("roots", p)))
    if p.size < 2:
        return full((0,), 0, dtypes.to_complex_dtype(p.dtype))
    if not strip_zeros:
        return _all_roots(p)
    known = known_array(p, calculus_errors.roots_of_unknown)
    (places,) = np.nonzero(known)
    return _roots(p[int(places[0]) if places.size else p.size :])


@composite
def _roots(p: Any) -> Any:
    """The eigenvalues of the companion matrix, whose characteristic polynomial this is."""
    degree = p.size - 1
    if degree < 1:
        return full((0,), 0, dtypes.to_complex_dtype(p.dtype))
    companion = eye(degree, k=-1, dtype=p.dtype)
    return eigvals(companion.at[0].set(-p[1:] / p[0]))


@composite
def _all_roots(p: Any) -> Any:
    """With the zeros in front put behind, there is a root 0 more for each of them."""
    count = where(all(p == 0), p.size, argmin(p == 0))
    p = where(count == p.size, number(1, p.dtype), p)
    found = _roots(roll(p, -count))
    found = found[argsort(found == 0)]
    extra = iota(count.dtype, (found.size,), 0) >= found.size - count
    return where(extra, number(complex(np.nan, np.nan), found.dtype), found)


# ---------------------------------------------------------------- fits


def vander(x: ArrayLike, N: int | None = None, increasing: bool = False) -> Array:
    """The matrix of powers of the elements of a vector, whose product with coefficients gives the
    values of a polynomial.

    Args:
      x: the vector, along the rows.
      N: how many powers, along the columns; as many as elements by default.
      increasing: whether powers rise, from 0 on, rather than fall.

    Returns:
      A matrix of the dtype of `x`.

    Raises:
      ValueError: `x` is not a vector, or `N` is negative.

    >>> import covector.numpy as jnp
    >>> jnp.vander(jnp.array([2, 3]), 3)
    Array([[4, 2, 1],
           [9, 3, 1]], dtype=int32)
    """
    x = as_array("vander", x)
    if x.ndim != 1:
        raise ValueError(calculus_errors.not_a_vector(x.shape))
    count = x.size if N is None else index_argument("vander", "N", N)
    if count < 0:
        raise ValueError(calculus_errors.negative_count_of_powers(count))
    return _vander(x, count=count, increasing=bool(increasing))


@composite
def _vander(x: Any, *, count: int, increasing: bool) -> Any:
    powers = iota(dtype_of(x), (count,), 0)
    powers = powers if increasing else number(count - 1, dtype_of(x)) - powers
    return power(x[:, None], powers[None])


def polyfit(
    x: ArrayLike,
    y: ArrayLike,
    deg: int,
    rcond: float | None = None,
    full: bool = False,
    w: ArrayLike | None = None,
    cov: bool = False,
) -> Any:
    """The polynomial of a degree that is nearest to points, in the sense of least squares.

    Args:
      x: a vector of places.
      y: the values there; or a matrix, whose columns are fitted each.
      deg: the degree.
      rcond: singular values below this multiple of the largest are taken for 0; by default the
        number of points times the precision of the dtype.
      full: whether to return what `linalg.lstsq` does too.
      w: weights, by which the differences are multiplied before they are squared.
      cov: whether to return the covariance matrix of the coefficients too; "unscaled" if the
        weights are the inverses of known standard deviations.

    Returns:
      A vector of coefficients, or a matrix of such columns. If `full`, a tuple of it, the sums of
      squares, the rank, the singular values, and `rcond`. Otherwise, if `cov`, a pair.

    Raises:
      TypeError: a shape does not fit.
      ValueError: the degree is negative, or there are too few points for `cov`.

    >>> import covector.numpy as jnp
    >>> jnp.polyfit(jnp.arange(4.0), jnp.array([1.0, 3.0, 5.0, 7.0]), 1).round(3)
    Array([2., 1.], dtype=float32)
    """
    x, y, *weights = operands("polyfit", (x, y) if w is None else (x, y, w))
    order = index_argument("polyfit", "deg", deg) + 1
    if order < 1:
        raise ValueError(calculus_errors.negative_degree(order - 1))
    shapes = shape_of(x), shape_of(y)
    if len(shapes[0]) != 1 or not shapes[0][0] or len(shapes[1]) not in (1, 2):
        raise TypeError(calculus_errors.points_to_fit(*shapes))
    if shapes[0][0] != shapes[1][0]:
        raise TypeError(calculus_errors.points_to_fit(*shapes))
    count = shapes[0][0]
    for weight in weights:
        if shape_of(weight) != (count,):
            raise TypeError(calculus_errors.fit_weights(shape_of(weight), count))
    x, y, *weights = promote_dtypes_inexact(*[as_array("polyfit", z) for z in (x, y, *weights)])
    rcond = count * float(dtypes.finfo(dtype_of(x)).eps) if rcond is None else float(rcond)
    c, residuals, rank, singular, *inverse = _polyfit(
        x, y, *weights, order=order, rcond=rcond, cov=bool(cov)
    )
    if full:
        return c, residuals, rank, singular, as_array("polyfit", rcond)
    if not cov:
        return c
    if cov == "unscaled":
        return c, _for_columns(inverse[0], y)
    if count <= order:
        raise ValueError(calculus_errors.too_few_points(count, order))
    variance = residuals / (count - order)
    return c, _for_columns(inverse[0], y) * (variance if y.ndim == 1 else variance[None, None])


@composite_list
def _polyfit(x: Any, y: Any, *weights: Any, order: int, rcond: float, cov: bool) -> list[Any]:
    """Least squares with the powers of x as columns, each scaled to length 1."""
    powers = convert(iota(np.int32, (order,), 0)[::-1], dtypes.canonicalize_dtype(np.int32))
    columns = x[:, None] ** powers[None]
    for w in weights:
        columns = columns * w[:, None]
        y = y * (w if y.ndim == 1 else w[:, None])
    scale = sqrt((columns * columns).sum(0))
    columns = columns / scale[None]
    c, residuals, rank, singular = lstsq(columns, y, rcond)
    c = c / (scale if y.ndim == 1 else scale[:, None])
    results = [c, residuals, rank, singular]
    if cov:
        results.append(inv(columns.T @ columns) / (scale[None] * scale[:, None]))
    return results


def _for_columns(covariances: Any, y: Any) -> Any:
    """A matrix with a new last dimension, if there are several columns to fit."""
    return covariances if y.ndim == 1 else covariances[..., None]
