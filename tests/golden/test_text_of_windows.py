"""The text of programs with convolutions, windows and cumulative reductions."""

from __future__ import annotations

import numpy as np
import pytest

IMAGE = np.ones((2, 6, 6, 3), np.float32)
KERNEL = np.ones((3, 3, 3, 4), np.float32)
NUMBERS = ("NHWC", "HWIO", "NHWC")
X = np.arange(6, dtype=np.float32)


def conv(m, x, y, **options):
    options = dict(window_strides=(1, 2), padding="SAME", dimension_numbers=NUMBERS) | options
    return m.lax.conv_general_dilated(x, y, **options)


def total(m, x):
    return m.lax.reduce_sum(x * x, tuple(range(x.ndim)))


def pool(m, x):
    return m.lax.reduce_window(x, -np.inf, m.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def network(m, x, y):
    """A layer as convolutional networks have it."""
    return total(m, pool(m, m.lax.max(conv(m, x, y), 0.0)))


PROGRAMS = {
    "conv": lambda m: m.make_jaxpr(lambda x, y: conv(m, x, y))(IMAGE, KERNEL),
    "conv with options": lambda m: m.make_jaxpr(
        lambda x, y: conv(m, x, y, precision="highest", preferred_element_type="float32")
    )(IMAGE, KERNEL),
    "gradients of conv": lambda m: m.make_jaxpr(
        m.grad(lambda x, y: total(m, conv(m, x, y)), (0, 1))
    )(IMAGE, KERNEL),
    "vmap of conv": lambda m: m.make_jaxpr(m.vmap(lambda x, y: conv(m, x, y), (None, 0)))(
        IMAGE, KERNEL[None]
    ),
    "vmap of conv in both": lambda m: m.make_jaxpr(m.vmap(lambda x, y: conv(m, x, y)))(
        IMAGE[None], KERNEL[None]
    ),
    "conv_transpose": lambda m: m.make_jaxpr(
        lambda x, y: m.lax.conv_transpose(x, y, (2, 2), "SAME", transpose_kernel=True)
    )(IMAGE, np.ones((3, 3, 4, 3), np.float32)),
    "max pool": lambda m: m.make_jaxpr(lambda x: pool(m, x))(IMAGE),
    "gradient of max pool": lambda m: m.make_jaxpr(m.grad(lambda x: total(m, pool(m, x))))(IMAGE),
    "second derivative of max pool": lambda m: m.make_jaxpr(
        lambda x: m.jvp(m.grad(lambda x: total(m, pool(m, x))), (x,), (x,))
    )(IMAGE),
    "gradients of a network": lambda m: m.make_jaxpr(m.grad(lambda x, y: network(m, x, y), (0, 1)))(
        IMAGE, KERNEL
    ),
    "reduce_window": lambda m: m.make_jaxpr(
        lambda x: m.lax.reduce_window(x, 1.0, m.lax.mul, (2,), (1,), "VALID")
    )(X),
    "jvp of reduce_window": lambda m: m.make_jaxpr(
        lambda x: m.jvp(
            lambda x: m.lax.reduce_window(x, 1.0, m.lax.mul, (2,), (1,), "VALID"), (x,), (x,)
        )
    )(X),
    "cumsum": lambda m: m.make_jaxpr(m.grad(lambda x: total(m, m.lax.cumsum(x))))(X),
    "cumulative reductions": lambda m: m.make_jaxpr(
        lambda x: (
            m.lax.cumprod(x, reverse=True),
            m.lax.cummax(x),
            m.lax.cummin(x),
            m.lax.cumlogsumexp(x),
        )
    )(X),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_text(name, same_text):
    same_text(PROGRAMS[name])
