"""Activations made of straight pieces, or bent on one side only.

Conventions at the corners are JAX's: `relu` and `relu6` have the derivative 0 there, by rules of
their own; the others are selections, whose derivative is that of the piece selected.
"""

from __future__ import annotations

from ..api.custom_derivatives import custom_jvp
from ..api.jit import jit
from ..core.array import Array, ArrayLike
from ..numpy.exponential import expm1
from ..numpy.promotion import as_array
from ..numpy.selection import maximum, minimum, where
from ..ops.full import full_like
from ..ops.select import select


@custom_jvp
@jit
def relu(x: ArrayLike) -> Array:
    """Elementwise max(x, 0), the rectified linear unit. Its derivative at 0 is 0.

    Args:
      x: an array of real numbers.

    Returns:
      An array of the same shape and dtype.

    >>> import covector.numpy as jnp
    >>> from covector import nn
    >>> nn.relu(jnp.array([-2.0, 0.0, 0.5]))
    Array([0. , 0. , 0.5], dtype=float32)
    """
    return maximum(x, 0)


relu.defjvps(lambda t, out, x: select(x > 0, t, full_like(t, 0)))


@custom_jvp
@jit
def relu6(x: ArrayLike) -> Array:
    """Elementwise min(max(x, 0), 6). Its derivative at 0 and at 6 is 0.

    >>> import covector.numpy as jnp
    >>> from covector import nn
    >>> nn.relu6(jnp.array([-1.0, 3.0, 8.0]))
    Array([0., 3., 6.], dtype=float32)
    """
    return minimum(maximum(x, 0), 6.0)


relu6.defjvps(lambda t, out, x: select((x > 0) & (x < 6), t, full_like(t, 0)))


@jit
def leaky_relu(x: ArrayLike, negative_slope: ArrayLike = 1e-2) -> Array:
    """Elementwise x where it is not negative, and a small multiple of x where it is.

    Args:
      x: an array of real numbers.
      negative_slope: the slope on the negative side, broadcast against `x`.

    >>> import covector.numpy as jnp
    >>> from covector import nn
    >>> nn.leaky_relu(jnp.array([-1.0, 2.0]), 0.25)
    Array([-0.25,  2.  ], dtype=float32)
    """
    x = as_array("leaky_relu", x)
    return where(x >= 0, x, negative_slope * x)


@jit
def hard_tanh(x: ArrayLike) -> Array:
    """Elementwise x, cut off at -1 and 1.

    >>> import covector.numpy as jnp
    >>> from covector import nn
    >>> nn.hard_tanh(jnp.array([-3.0, 0.5, 2.0]))
    Array([-1. ,  0.5,  1. ], dtype=float32)
    """
    x = as_array("hard_tanh", x)
    return where(x > 1, 1, where(x < -1, -1, x))


@jit
def hard_sigmoid(x: ArrayLike) -> Array:
    """Elementwise relu6(x + 3) / 6: 0 below -3, 1 above 3, straight in between.

    >>> import covector.numpy as jnp
    >>> from covector import nn
    >>> nn.hard_sigmoid(jnp.array([-4.0, 0.0, 4.0]))
    Array([0. , 0.5, 1. ], dtype=float32)
    """
    return relu6(x + 3.0) / 6.0


@jit
def hard_silu(x: ArrayLike) -> Array:
    """Elementwise x * hard_sigmoid(x); also called `hard_swish`.

    >>> import covector.numpy as jnp
    >>> from covector import nn
    >>> nn.hard_silu(jnp.array([-4.0, 1.5, 4.0]))
    Array([-0.   ,  1.125,  4.   ], dtype=float32)
    """
    x = as_array("hard_silu", x)
    return x * hard_sigmoid(x)


hard_swish = hard_silu


# ---------------------------------------------------------------- exponential on the negative side


@jit
def elu(x: ArrayLike, alpha: ArrayLike = 1.0) -> Array:
    """Elementwise x where it is positive, and alpha (e^x - 1) where it is not.

    Args:
      x: an array of real numbers.
      alpha: minus the limit on the negative side, broadcast against `x`.

    >>> import covector.numpy as jnp
    >>> from covector import nn
    >>> nn.elu(jnp.array([-jnp.inf, 0.0, 2.0]), 3.0)
    Array([-3.,  0.,  2.], dtype=float32)
    """
    x = as_array("elu", x)
    # Under the first branch the exponential is that of 0: it must not overflow there, since its
    # cotangent, which is 0, is multiplied by it.
    return where(x > 0, x, alpha * expm1(where(x > 0, 0.0, x)))


@jit
def celu(x: ArrayLike, alpha: ArrayLike = 1.0) -> Array:
    """Elementwise max(x, 0) + alpha (e^(min(x, 0) / alpha) - 1), whose derivative is continuous.

    Args:
      x: an array of real numbers.
      alpha: minus the limit on the negative side, broadcast against `x`.

    >>> import covector.numpy as jnp
    >>> from covector import nn
    >>> nn.celu(jnp.array([-jnp.inf, 0.0, 2.0]), 3.0)
    Array([-3.,  0.,  2.], dtype=float32)
    """
    return maximum(x, 0.0) + alpha * expm1(minimum(x, 0.0) / alpha)


# The constants for which activations of mean 0 and variance 1 keep them from layer to layer:
# Klambauer and others, "Self-normalizing neural networks", 2017, equation 14.
_SELU_ALPHA = 1.6732632423543772848170429916717
_SELU_SCALE = 1.0507009873554804934193349852946


@jit
def selu(x: ArrayLike) -> Array:
    """Elementwise scaled `elu`, which keeps mean 0 and variance 1 of activations.

    >>> import covector.numpy as jnp
    >>> from covector import nn
    >>> nn.selu(jnp.array([-jnp.inf, 0.0, 1.0]))
    Array([-1.7580993,  0.       ,  1.050701 ], dtype=float32)
    """
    return _SELU_SCALE * elu(x, _SELU_ALPHA)
