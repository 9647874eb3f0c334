"""Smooth activations, and those that select among a few smooth pieces."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..api.custom_derivatives import custom_jvp
from ..api.jit import jit
from ..base import nn_errors as errors
from ..core.array import Array, ArrayLike
from ..numpy.composite import composite
from ..numpy.exponential import exp, expm1, log, log1p, logaddexp, sqrt, tanh
from ..numpy.joining import split
from ..numpy.promotion import as_array, operand, promote_dtypes_inexact
from ..numpy.selection import clip, where
from ..ops.exponential import logistic
from ..ops.special import erfc


@jit
def identity(x: ArrayLike) -> Array:
    """The argument itself, as an array.

    >>> from covector import nn
    >>> nn.identity(2.0)
    Array(2., dtype=float32, weak_type=True)
    """
    return as_array("identity", x)


# ---------------------------------------------------------------- around the logistic function


@jit(inline=True)
def sigmoid(x: ArrayLike) -> Array:
    """Elementwise logistic function 1 / (1 + e^-x).

    Args:
      x: an array of floats or complex numbers.

    Returns:
      An array of the same shape and dtype.

    >>> import covector.numpy as jnp
    >>> from covector import nn
    >>> nn.sigmoid(jnp.array([-jnp.inf, 0.0, jnp.inf]))
    Array([0. , 0.5, 1. ], dtype=float32)
    """
    return logistic(x)


@jit
def silu(x: ArrayLike) -> Array:
    """Elementwise x * sigmoid(x); also called `swish`.

    >>> import covector.numpy as jnp
    >>> from covector import nn
    >>> nn.silu(jnp.array([-100.0, 0.0, 100.0]))
    Array([ -0.,   0., 100.], dtype=float32)
    """
    x = as_array("silu", x)
    return x * sigmoid(x)


swish = silu


@jit
def softplus(x: ArrayLike) -> Array:
    """Elementwise log(1 + e^x), a smooth form of `relu`.

    >>> import covector.numpy as jnp
    >>> from covector import nn
    >>> nn.softplus(jnp.array([-1000.0, 0.0, 1000.0]))
    Array([0.000000e+00, 6.931472e-01, 1.000000e+03], dtype=float32)
    """
    return logaddexp(x, 0)


@jit
def log_sigmoid(x: ArrayLike) -> Array:
    """Elementwise logarithm of the logistic function, also where that rounds to 0.

    >>> import covector.numpy as jnp
    >>> from covector import nn
    >>> nn.log_sigmoid(jnp.array([-1000.0, 0.0]))
    Array([-1.000000e+03, -6.931472e-01], dtype=float32)
    """
    x = as_array("log_sigmoid", x)
    return -softplus(-x)


@jit
def mish(x: ArrayLike) -> Array:
    """Elementwise x * tanh(softplus(x)).

    >>> import covector.numpy as jnp
    >>> from covector import nn
    >>> nn.mish(jnp.array([0.0, 10.0]))
    Array([ 0., 10.], dtype=float32)
    """
    x = as_array("mish", x)
    return x * tanh(softplus(x))


@jit(static_argnames=("axis",))
def glu(x: ArrayLike, axis: int = -1) -> Array:
    """Gated linear unit: one half of an array times the logistic function of the other.

    Args:
      x: an array.
      axis: the axis that is split: its first half holds values, its second half gates.

    Returns:
      An array of half the size along that axis.

    >>> import covector.numpy as jnp
    >>> from covector import nn
    >>> nn.glu(jnp.array([1.0, 2.0, 0.0, jnp.inf]))
    Array([0.5, 2. ], dtype=float32)
    """
    x = as_array("glu", x)
    # An AssertionError, since that is what programs written for JAX catch.
    assert x.shape[axis] % 2 == 0, errors.odd_axis(x.shape, axis)
    values, gates = split(x, 2, axis)
    return values * sigmoid(gates)


# ---------------------------------------------------------------- the normal distribution function


def gelu(x: ArrayLike, approximate: bool = True) -> Array:
    """Elementwise x times the probability that a standard normal number is below x.

    Args:
      x: an array of real numbers.
      approximate: whether the probability is taken to be the logistic-like
        (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2, which is right to three digits.

    >>> import covector.numpy as jnp
    >>> from covector import nn
    >>> nn.gelu(jnp.array([0.0, 2.0]), approximate=False)
    Array([0.       , 1.9544997], dtype=float32)
    """
    return _gelu(operand("gelu", x), approximate=bool(approximate))


@composite
def _gelu(x: Any, *, approximate: bool) -> Any:
    (x,) = promote_dtypes_inexact(x)
    if approximate:
        slope = np.sqrt(2 / np.pi).astype(x.dtype)
        return x * (0.5 * (1.0 + tanh(slope * (x + 0.044715 * x**3))))
    return 0.5 * x * erfc(-x * np.sqrt(0.5).astype(x.dtype))


# ---------------------------------------------------------------- algebraic


@jit
def squareplus(x: ArrayLike, b: ArrayLike = 4) -> Array:
    """Elementwise (x + sqrt(x^2 + b)) / 2, a smooth form of `relu` without exponentials.

    Args:
      x: an array of real numbers.
      b: how smooth: the value at 0 is sqrt(b) / 2. Broadcast against `x`.

    >>> import covector.numpy as jnp
    >>> from covector import nn
    >>> nn.squareplus(jnp.array([0.0, 1.5]))
    Array([1., 2.], dtype=float32)
    """
    x, b = as_array("squareplus", x), as_array("squareplus", b)
    return (x + sqrt(x**2 + b)) / 2


@jit
def soft_sign(x: ArrayLike) -> Array:
    """Elementwise x / (|x| + 1).

    >>> import covector.numpy as jnp
    >>> from covector import nn
    >>> nn.soft_sign(jnp.array([-1.0, 0.0, 3.0]))
    Array([-0.5 ,  0.  ,  0.75], dtype=float32)
    """
    x = as_array("soft_sign", x)
    return x / (abs(x) + 1)


@jit
def sparse_plus(x: ArrayLike) -> Array:
    """Elementwise 0 up to -1, x from 1 on, and the parabola (x + 1)^2 / 4 in between.

    >>> import covector.numpy as jnp
    >>> from covector import nn
    >>> nn.sparse_plus(jnp.array([-2.0, 0.0, 2.0]))
    Array([0.  , 0.25, 2.  ], dtype=float32)
    """
    x = as_array("sparse_plus", x)
    return where(x <= -1.0, 0.0, where(x >= 1.0, x, (x + 1.0) ** 2 / 4))


@jit
def sparse_sigmoid(x: ArrayLike) -> Array:
    """Elementwise (x + 1) / 2, cut off at 0 and 1: the derivative of `sparse_plus`.

    >>> import covector.numpy as jnp
    >>> from covector import nn
    >>> nn.sparse_sigmoid(jnp.array([-2.0, 0.5, 2.0]))
    Array([0.  , 0.75, 1.  ], dtype=float32)
    """
    return 0.5 * clip(x + 1.0, 0.0, 2.0)


# ---------------------------------------------------------------- logarithms


@custom_jvp
@jit
def log1mexp(x: ArrayLike) -> Array:
    """Elementwise log(1 - e^-x) of x >= 0, accurate for small x and for large x; else NaN.

    >>> import covector.numpy as jnp
    >>> from covector import nn
    >>> nn.log1mexp(jnp.array([0.0, 1e-10, 50.0]))
    Array([          -inf, -2.3025850e+01, -1.9287499e-22], dtype=float32)
    """
    x = as_array("log1mexp", x)
    # Up to log 2 the difference is the smaller part of 1, and expm1 gives it to all digits; beyond,
    # the power is: M. Maechler, "Accurately computing log(1 - exp(-|a|))", 2012.
    return where(x < np.log(2.0), log(-expm1(-x)), log1p(-exp(-x)))


log1mexp.defjvps(lambda t, out, x: t / expm1(x))
