"""Covariances and correlations of variables, estimated from observations."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import calculus_errors, dtypes
from ..core.array import Array, ArrayLike
from ..ops.complex import complex_p
from .arguments import index_argument
from .arithmetic import divide
from .composite import composite
from .contraction import dot
from .creation import full
from .exponential import sqrt
from .joining import concatenate
from .matrices import diag
from .parts import absolute, conj, imag, iscomplexobj, real
from .promotion import as_array, convert, promote_dtypes_inexact, shape_of
from .reductions import average, sum
from .selection import clip
from .shaping import atleast_2d, squeeze, transpose


def cov(
    m: ArrayLike,
    y: ArrayLike | None = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: float | None = None,
    fweights: ArrayLike | None = None,
    aweights: ArrayLike | None = None,
    dtype: Any = None,
) -> Array:
    """The covariances of variables, estimated from observations.

    Args:
      m: a matrix with the observations of a variable in each row; or a vector, for one variable.
      y: more variables, in the same form.
      rowvar: whether variables are rows; otherwise they are columns.
      bias: whether to divide by the number of observations, rather than that less 1.
      ddof: what to subtract from the number, in place of what `bias` says.
      fweights: how often each observation occurred, a vector of integers.
      aweights: how much each counts, a vector; only their ratios matter.
      dtype: the dtype in which to compute, and that of the result.

    Returns:
      A matrix of the covariances of all pairs; a scalar if there is one variable.

    Raises:
      ValueError: an array has more than two dimensions, or the dtype is not floating.
      RuntimeError: weights are not one for each observation.
      TypeError: `fweights` are not integers.

    >>> import covector.numpy as jnp
    >>> jnp.cov(jnp.array([[1.0, 2.0, 3.0], [6.0, 4.0, 2.0]]))
    Array([[ 1., -2.],
           [-2.,  4.]], dtype=float32)
    """
    variables = [as_array("cov", x) for x in ((m,) if y is None else (m, y))]
    variables = promote_dtypes_inexact(*variables)
    for what, x in zip("my", variables):
        if x.ndim > 2:
            raise ValueError(calculus_errors.too_many_dimensions(what, x.shape))
    dtype = _floating("cov", dtype)
    rows = [atleast_2d(x) for x in variables]
    if not rowvar:
        # A vector is one variable in any case, as a matrix of one row is for `y`.
        turned = [variables[0].ndim != 1, *[x.shape[0] != 1 for x in rows[1:]]]
        rows = [transpose(x) if turn else x for x, turn in zip(rows, turned)]
    if rows[0].shape[0] == 0:
        return full((0, 0), 0, dtypes.default_float_dtype())
    x = rows[0] if y is None else concatenate(rows)
    size, count = x.shape
    if not count:
        return full(() if size == 1 else (size, size), np.nan, x.dtype)
    weights = _weights(count, fweights, aweights)
    if ddof is None:
        ddof = int(not bias)
    elif not isinstance(ddof, float):
        ddof = index_argument("cov", "ddof", ddof)
    return _cov(x, *weights.values(), names=tuple(weights), ddof=ddof, dtype=dtype)


def _floating(where: str, dtype: Any) -> Any:
    if dtype is None:
        return None
    if not dtypes.issubdtype(dtype, np.inexact):
        raise ValueError(calculus_errors.covariance_dtype(where, dtype))
    return dtypes.check_user_dtype_supported(dtype, where)


def _weights(count: int, fweights: Any, aweights: Any) -> dict[str, Any]:
    """The weights that were given, checked."""
    given = {"fweights": fweights, "aweights": aweights}
    given = {what: as_array("cov", w) for what, w in given.items() if w is not None}
    for what, w in given.items():
        if shape_of(w) != (count,):
            raise RuntimeError(calculus_errors.sample_weights(what, shape_of(w), count))
    if "fweights" in given and not dtypes.issubdtype(given["fweights"].dtype, np.integer):
        raise TypeError(calculus_errors.frequencies_dtype(given["fweights"].dtype))
    return given


@composite
def _cov(rows: Any, *given: Any, names: tuple[str, ...], ddof: float, dtype: Any) -> Any:
    """From a matrix of rows, and the weights of these names."""
    # Negative weights, of which NumPy complains, cannot be known here.
    weights = {name: absolute(w) for name, w in zip(names, given)}
    w = None
    for weight in weights.values():
        w = weight if w is None else w * weight
    if dtype is not None:
        rows = convert(rows, dtype)
        w = None if w is None else convert(w, dtype)
    means, totals = average(rows, axis=1, weights=w, returned=True)
    total = totals[0]
    if w is None:
        divisor = rows.shape[1] - ddof
    elif not ddof:
        divisor = total
    elif "aweights" not in weights:
        divisor = total - ddof
    else:
        divisor = total - ddof * sum(w * weights["aweights"]) / total
    rows = rows - means[:, None]
    weighted = rows if w is None else rows * w[None]
    return squeeze(divide(dot(rows, conj(transpose(weighted))), divisor))


def corrcoef(
    x: ArrayLike, y: ArrayLike | None = None, rowvar: bool = True, dtype: Any = None
) -> Array:
    """The correlations of variables, estimated from observations.

    Args:
      x, y, rowvar, dtype: as for `cov`.

    Returns:
      A matrix of numbers from -1 to 1, like that of `cov`.

    >>> import covector.numpy as jnp
    >>> jnp.corrcoef(jnp.array([[1.0, 2.0, 3.0], [6.0, 4.0, 2.0]])).round(3)
    Array([[ 1., -1.],
           [-1.,  1.]], dtype=float32)
    """
    _floating("corrcoef", dtype)
    return _normalized(cov(x, y, rowvar, dtype=dtype))


@composite
def _normalized(c: Any) -> Any:
    """Covariances divided by standard deviations; parts are kept from exceeding 1 by rounding."""
    if not c.ndim:
        return divide(c, c)
    deviations = convert(sqrt(real(diag(c))), c.dtype)
    c = c / deviations[:, None] / deviations[None, :]
    if iscomplexobj(c):
        return complex_p.bind(clip(real(c), -1, 1), clip(imag(c), -1, 1))
    return clip(c, -1, 1)
