"""Matrices that a rule or a few numbers determine."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from ...base import dtypes
from ...base import scipy_linalg_errors as errors
from ...core.array import Array, ArrayLike
from ...numpy.creation import asarray, ones_like, zeros_like
from ...numpy.joining import concatenate
from ...numpy.linear_algebra.operands import inexact_array
from ...numpy.padding import pad
from ...numpy.promotion import as_array, operands, promote_dtypes
from ...numpy.shaping import atleast_1d, broadcast_shapes, broadcast_to

# ---------------------------------------------------------------- from vectors


def _vectors(where: str, *args: Any) -> list[Any]:
    """Arguments as arrays of one dtype, numbers as vectors of one element."""
    return promote_dtypes(*[atleast_1d(as_array(where, x)) for x in operands(where, args)])


def _arranged(x: Any, positions: np.ndarray) -> Any:
    """The matrices with the elements of vectors at the given positions."""
    return x[..., positions.astype(np.int32)]


def _joined(first: Any, second: Any) -> Any:
    """Vectors behind each other; their batch dimensions are broadcast."""
    batch = broadcast_shapes(first.shape[:-1], second.shape[:-1])
    parts = [broadcast_to(x, (*batch, x.shape[-1])) for x in (first, second)]
    return concatenate(parts, axis=-1)


def toeplitz(c: ArrayLike, r: ArrayLike | None = None) -> Array:
    """The matrices that are constant along their diagonals.

    Args:
      c: an array of shape `(..., m)`, the first columns.
      r: an array of shape `(..., n)`, the first rows, but for their first elements, which are
        those of `c`. By default the conjugates of `c`.

    Returns:
      An array of shape `(..., m, n)`, whose element `(i, j)` is `c[i - j]`, or `r[j - i]`.

    >>> import covector.numpy as jnp, covector.scipy as jsp
    >>> jsp.linalg.toeplitz(jnp.array([1, 2, 3]), jnp.array([1, 5]))
    Array([[1, 5],
           [2, 1],
           [3, 2]], dtype=int32)
    """
    if r is None:
        (c,) = _vectors("toeplitz", c)
        r = c.conj()
    else:
        c, r = _vectors("toeplitz", c, r)
    m, n = c.shape[-1], r.shape[-1]
    # The diagonals, from the lower left corner to the upper right one.
    diagonals = _joined(c[..., ::-1], r[..., 1:])
    return _arranged(diagonals, m - 1 - np.arange(m)[:, None] + np.arange(n))


def hankel(c: ArrayLike, r: ArrayLike | None = None) -> Array:
    """The matrices that are constant along their antidiagonals.

    Args:
      c: an array of shape `(..., m)`, the first columns.
      r: an array of shape `(..., n)`, the last rows, but for their first elements, which are the
        last ones of `c`. By default zeros.

    Returns:
      An array of shape `(..., m, n)`.

    Raises:
      ValueError: an argument is a number.

    >>> import covector.numpy as jnp, covector.scipy as jsp
    >>> jsp.linalg.hankel(jnp.array([1, 2, 3]))
    Array([[1, 2, 3],
           [2, 3, 0],
           [3, 0, 0]], dtype=int32)
    """
    for name, x in (("c", c), ("r", r)):
        if x is not None and not np.ndim(x):
            raise ValueError(errors.number_for_vector("hankel", name))
    if r is None:
        (c,) = _vectors("hankel", c)
        r = zeros_like(c)
    else:
        c, r = _vectors("hankel", c, r)
    m, n = c.shape[-1], r.shape[-1]
    return _arranged(_joined(c, r[..., 1:]), np.arange(m)[:, None] + np.arange(n))


def circulant(c: ArrayLike) -> Array:
    """The square matrices whose columns are all rotations of a vector.

    Args:
      c: an array of shape `(..., n)`, the first columns.

    Returns:
      An array of shape `(..., n, n)`.

    >>> import covector.numpy as jnp, covector.scipy as jsp
    >>> jsp.linalg.circulant(jnp.array([1, 2, 3]))
    Array([[1, 3, 2],
           [2, 1, 3],
           [3, 2, 1]], dtype=int32)
    """
    (c,) = _vectors("circulant", c)
    n = c.shape[-1]
    return _arranged(c, (np.arange(n)[:, None] - np.arange(n)) % max(n, 1))


def _with_positions(parts: Sequence[tuple[Any, np.ndarray]]) -> Any:
    """Square matrices with the given vectors at the given positions, and zeros elsewhere.

    Args:
      parts: vectors of shape `(..., k)`, and for each a matrix of positions in it, where it has
        elements, and -1 elsewhere.
    """
    vectors, positions, start = zeros_like(parts[0][0][..., :1]), 0, 1
    for vector, places in parts:
        vectors = _joined(vectors, vector)
        positions = positions + np.where(places < 0, 0, places + start)
        start += vector.shape[-1]
    return _arranged(vectors, positions)


def _placed(n: int, rows: Any, columns: Any) -> np.ndarray:
    """Positions for `_with_positions`: element k of the vector is at `(rows[k], columns[k])`."""
    places = np.full((n, n), -1)
    rows, columns = np.broadcast_arrays(rows, columns)
    places[rows, columns] = np.arange(len(rows))
    return places


def companion(a: ArrayLike) -> Array:
    """The companion matrices of polynomials, whose eigenvalues are the roots.

    Args:
      a: an array of shape `(..., n)`, the coefficients from the highest power down; n is at least
        2.

    Returns:
      An array of shape `(..., n - 1, n - 1)`.

    Raises:
      ValueError: there are fewer than two coefficients.

    >>> import covector.numpy as jnp, covector.scipy as jsp
    >>> jsp.linalg.companion(jnp.array([1.0, -5.0, 6.0]))
    Array([[ 5., -6.],
           [ 1.,  0.]], dtype=float32)
    """
    a = atleast_1d(inexact_array("companion", a))
    n = a.shape[-1] - 1
    if n < 1:
        raise ValueError(errors.too_short("companion", "`a`", 2, a.shape))
    ones = ones_like(a[..., 1:n])
    ordinals = np.arange(n)
    top = (-a[..., 1:] / a[..., :1], _placed(n, 0, ordinals))
    return _with_positions([top, (ones, _placed(n, ordinals[1:], ordinals[:-1]))])


def fiedler_companion(a: ArrayLike) -> Array:
    """Companion matrices of polynomials with five diagonals.

    They have the same eigenvalues as `companion`, the roots.
    (Fiedler, "A note on companion matrices", Linear Algebra and its Applications 372, 2003.)

    Args:
      a: an array of shape `(..., n)`, the coefficients from the highest power down.

    Returns:
      An array of shape `(..., n - 1, n - 1)`.

    Raises:
      ValueError: there are no coefficients.

    >>> import covector.numpy as jnp, covector.scipy as jsp
    >>> jsp.linalg.fiedler_companion(jnp.array([1.0, -16.0, 86.0, -176.0]))
    Array([[ 16., -86.,   1.],
           [  1.,   0.,   0.],
           [  0., 176.,   0.]], dtype=float32)
    """
    a = atleast_1d(inexact_array("fiedler_companion", a))
    if not a.shape[-1]:
        raise ValueError(errors.no_coefficients("fiedler_companion"))
    n = a.shape[-1] - 1
    if n < 2:
        return -a[..., 1:, None] / a[..., :1, None] if n else _arranged(a, np.zeros((0, 0), int))
    a = -a[..., 1:] / a[..., :1]
    evens, odds = np.arange(0, n - 2, 2), np.arange(1, n - 2, 2)
    parts = [
        (a[..., :2], _placed(n, 0, np.arange(2))),
        (ones_like(a[..., :1]), _placed(n, [1], 0)),
        (ones_like(a[..., : len(evens)]), _placed(n, evens, evens + 2)),
        (ones_like(a[..., : len(odds)]), _placed(n, odds + 2, odds)),
        (a[..., 2::2], _placed(n, np.arange(2, n, 2), np.arange(1, n - 1, 2))),
        (a[..., 3::2], _placed(n, np.arange(2, n - 1, 2), np.arange(3, n, 2))),
    ]
    return _with_positions(parts)


def leslie(f: ArrayLike, s: ArrayLike) -> Array:
    """Leslie matrices, which take a population's age groups one step further.

    Args:
      f: an array of shape `(..., n)`, the fecundities of the groups; n is at least 2.
      s: an array of shape `(..., n - 1)`, the survival rates.

    Returns:
      An array of shape `(..., n, n)`.

    Raises:
      ValueError: the lengths do not fit.

    >>> import covector.numpy as jnp, covector.scipy as jsp
    >>> jsp.linalg.leslie(jnp.array([0.1, 2.0]), jnp.array([0.5]))
    Array([[0.1, 2. ],
           [0.5, 0. ]], dtype=float32)
    """
    f, s = _vectors("leslie", f, s)
    n = f.shape[-1]
    if n < 2:
        raise ValueError(errors.too_short("leslie", "f", 2, f.shape))
    if s.shape[-1] != n - 1:
        raise ValueError(errors.leslie_lengths(f.shape, s.shape))
    ordinals = np.arange(n)
    below = _placed(n, ordinals[1:], ordinals[:-1])
    return _with_positions([(f, _placed(n, 0, ordinals)), (s, below)])


def fiedler(a: ArrayLike) -> Array:
    """The absolute differences of the elements of vectors.

    Args:
      a: an array of shape `(..., n)`.

    Returns:
      An array of shape `(..., n, n)`.

    >>> import covector.numpy as jnp, covector.scipy as jsp
    >>> jsp.linalg.fiedler(jnp.array([1, 4]))
    Array([[0, 3],
           [3, 0]], dtype=int32)
    """
    (a,) = _vectors("fiedler", a)
    return abs(a[..., None] - a[..., None, :])


def convolution_matrix(a: ArrayLike, n: int, mode: str = "full") -> Array:
    """The matrices whose product with a vector of length n is its convolution with `a`.

    Args:
      a: an array of shape `(..., m)`.
      n: the length of the vectors, at least 1.
      mode: `"full"`, `"valid"` or `"same"`, as of `numpy.convolve`.

    Returns:
      An array of shape `(..., k, n)`, with k equal to `m + n - 1`, `max(m, n) - min(m, n) + 1` or
      `max(m, n)`.

    Raises:
      ValueError: `a` is a number or empty, n is less than 1, or there is no such mode.

    >>> import covector.numpy as jnp, covector.scipy as jsp
    >>> jsp.linalg.convolution_matrix(jnp.array([1, 2]), 2)
    Array([[1, 0],
           [2, 1],
           [0, 2]], dtype=int32)
    """
    n = index(n)
    if n < 1:
        raise ValueError(errors.positive("convolution_matrix", n))
    if not np.ndim(a):
        raise ValueError(errors.number_for_vector("convolution_matrix", "a"))
    (a,) = _vectors("convolution_matrix", a)
    m = a.shape[-1]
    if not m:
        raise ValueError(errors.empty_vector("convolution_matrix", a.shape))
    dropped = {"full": 0, "same": min(n, m) - 1, "valid": 2 * (min(n, m) - 1)}
    if mode not in dropped:
        raise ValueError(errors.choice("convolution_matrix", "mode", mode, list(dropped)))
    above = dropped[mode] // 2
    rows = np.arange(above, m + n - 1 - (dropped[mode] - above))
    # Element (i, j) is a[i - j]; there are zeros on both sides of a.
    padded = pad(a, [(0, 0)] * (a.ndim - 1) + [(n, n)])
    return _arranged(padded, rows[:, None] - np.arange(n) + n)


# ---------------------------------------------------------------- from their size

# Their elements are computed in exact integers or in float64 when the function is called, and
# rounded once.


def _constant(values: Any, dtype: Any = None) -> Any:
    return asarray(values, dtype=dtypes.default_float_dtype() if dtype is None else dtype)


def _exact(n: int, element: Any) -> np.ndarray:
    """The square matrix of a function of row and column that returns integers of any size."""
    rows = [[float(element(i, j)) for j in range(n)] for i in range(n)]
    return np.array(rows, np.float64).reshape(n, n)


def hilbert(n: int) -> Array:
    """The Hilbert matrix of size n, with the elements `1 / (i + j + 1)`.

    >>> import covector.scipy as jsp
    >>> jsp.linalg.hilbert(2)
    Array([[1.        , 0.5       ],
           [0.5       , 0.33333334]], dtype=float32)
    """
    i = np.arange(index(n))
    return _constant(1 / (i[:, None] + i + 1.0))


def invhilbert(n: int) -> Array:
    """The inverse of the Hilbert matrix of size n, from its formula in binomial coefficients.

    (Choi, "Tricks or treats with the Hilbert matrix", American Mathematical Monthly 90, 1983.)

    >>> import covector.scipy as jsp
    >>> jsp.linalg.invhilbert(2)
    Array([[ 4., -6.],
           [-6., 12.]], dtype=float32)
    """
    n = index(n)

    def element(i: int, j: int) -> int:
        c = math.comb(n + i, n - j - 1) * math.comb(n + j, n - i - 1) * math.comb(i + j, i) ** 2
        return (-1) ** (i + j) * (i + j + 1) * c

    return _constant(_exact(n, element))


PASCAL_KINDS = ("symmetric", "lower", "upper")


def _pascal_kind(where: str, kind: str | None) -> str:
    kind = "symmetric" if kind is None else kind
    if kind not in PASCAL_KINDS:
        raise ValueError(errors.pascal_kind(where, kind, PASCAL_KINDS))
    return kind


def pascal(n: int, kind: str | None = None) -> Array:
    """Pascal's matrix of size n, of binomial coefficients.

    Args:
      n: the size.
      kind: `"symmetric"` (by default), with the elements `binomial(i + j, i)`; `"lower"`, with
        `binomial(i, j)`; or `"upper"`, the transpose of that.

    Raises:
      ValueError: there is no such kind.

    >>> import covector.scipy as jsp
    >>> jsp.linalg.pascal(3)
    Array([[1., 1., 1.],
           [1., 2., 3.],
           [1., 3., 6.]], dtype=float32)
    """
    kind = _pascal_kind("pascal", kind)
    if kind == "symmetric":
        return _constant(_exact(index(n), lambda i, j: math.comb(i + j, i)))
    lower = _exact(index(n), math.comb)
    return _constant(lower if kind == "lower" else lower.T)


def invpascal(n: int, kind: str | None = None) -> Array:
    """The inverse of Pascal's matrix.

    Args:
      n: the size.
      kind: as of `pascal`.

    Raises:
      ValueError: there is no such kind.

    >>> import covector.scipy as jsp
    >>> jsp.linalg.invpascal(3)
    Array([[ 3., -3.,  1.],
           [-3.,  5., -2.],
           [ 1., -2.,  1.]], dtype=float32)
    """
    n, kind = index(n), _pascal_kind("invpascal", kind)

    def lower(i: int, j: int) -> int:
        return (-1) ** (i - j) * math.comb(i, j) if i >= j else 0

    def symmetric(i: int, j: int) -> int:
        return sum([lower(k, i) * lower(k, j) for k in range(max(i, j), n)])

    if kind == "symmetric":
        return _constant(_exact(n, symmetric))
    inverse = _exact(n, lower)
    return _constant(inverse if kind == "lower" else inverse.T)


def helmert(n: int, full: bool = False) -> Array:
    """The Helmert matrix: orthonormal contrasts of n numbers.

    Args:
      n: how many, at least 1.
      full: whether to put the row of the mean in front, which makes it orthogonal.

    Returns:
      An array of shape `(n - 1, n)`, or `(n, n)`.

    Raises:
      ValueError: n is less than 1.

    >>> import covector.scipy as jsp
    >>> jsp.linalg.helmert(2)
    Array([[ 0.70710677, -0.70710677]], dtype=float32)
    """
    n = index(n)
    if n < 1:
        raise ValueError(errors.positive("helmert", n))
    k, j = np.arange(1, n)[:, None], np.arange(n)
    rows = np.where(j < k, 1.0, np.where(j == k, -1.0 * k, 0.0)) / np.sqrt(k * (k + 1.0))
    return _constant(np.concatenate([np.full((1, n), n**-0.5), rows]) if full else rows)


def hadamard(n: int, dtype: Any = int) -> Array:
    """Sylvester's Hadamard matrix: elements 1 and -1, and orthogonal rows.

    Args:
      n: the size, a power of 2.
      dtype: that of the result.

    Raises:
      ValueError: n is not a power of 2.

    >>> import covector.scipy as jsp
    >>> jsp.linalg.hadamard(2)
    Array([[ 1,  1],
           [ 1, -1]], dtype=int32)
    """
    n = index(n)
    if n < 1 or n & (n - 1):
        raise ValueError(errors.not_a_power("hadamard", n))
    i = np.arange(n)
    ones = np.bitwise_count(i[:, None] & i) if hasattr(np, "bitwise_count") else _ones(n)
    return _constant(np.where(ones % 2, -1, 1), dtype)


def _ones(n: int) -> np.ndarray:
    """How many bits the numbers of row and column share (NumPy 1 has no function for it)."""
    i = np.arange(n)
    shared = i[:, None] & i
    return sum([(shared >> bit) & 1 for bit in range(n.bit_length())], np.zeros((n, n), int))


SCALES = {None: lambda n: 1.0, "sqrtn": lambda n: n**-0.5, "n": lambda n: 1 / n}


def dft(n: int, scale: str | None = None, *, dtype: Any = None) -> Array:
    """The matrix of the discrete Fourier transform.

    Args:
      n: the size.
      scale: None, `"sqrtn"` to divide by the root of n, which makes it unitary, or `"n"` to divide
        by n.
      dtype: a complex dtype.

    Raises:
      ValueError: there is no such scale, or the dtype is not complex.

    >>> import covector.scipy as jsp
    >>> jsp.linalg.dft(2).real
    Array([[ 1.,  1.],
           [ 1., -1.]], dtype=float32)
    """
    n = index(n)
    if scale not in SCALES:
        raise ValueError(errors.choice("dft", "scale", scale, list(SCALES)))
    dtype = dtypes.canonicalize_dtype(np.complex128 if dtype is None else dtype)
    if not dtypes.issubdtype(dtype, np.complexfloating):
        raise ValueError(errors.complex_dtype("dft", dtype))
    i = np.arange(n)
    # The product of the indices is taken modulo n, so that the angle stays exact.
    turns = (i[:, None] * i) % max(n, 1) / max(n, 1)
    return _constant(np.exp(-2j * np.pi * turns) * SCALES[scale](max(n, 1)), dtype)
