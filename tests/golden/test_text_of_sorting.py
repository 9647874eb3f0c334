"""The text of programs that sort, transform, or use special functions."""

import numpy as np
import pytest

X = np.arange(1, 13, dtype=np.float32).reshape(3, 4)
I = np.arange(12, dtype=np.int32).reshape(3, 4)

PROGRAMS = {
    "sort": lambda m, x, i: m.lax.sort(x),
    "sort by two keys": lambda m, x, i: m.lax.sort((i, x), num_keys=2, dimension=0),
    "sort unstably": lambda m, x, i: m.lax.sort(x, is_stable=False),
    "sort with values": lambda m, x, i: m.lax.sort_key_val(x, i, dimension=0)[0],
    "sort two arrays": lambda m, x, i: m.lax.sort((x, x), dimension=0),
    "top_k": lambda m, x, i: m.lax.top_k(x, 2)[0],
    "top_k of columns": lambda m, x, i: m.lax.top_k(x, 2, axis=0)[0],
    "approx_max_k": lambda m, x, i: m.lax.approx_max_k(x, 2),
    "approx_min_k": lambda m, x, i: m.lax.approx_min_k(x, 2, reduction_dimension=0),
    "fft": lambda m, x, i: m.lax.fft_p.bind(x, fft_type=m.lax.FftType.RFFT, fft_lengths=(4,)),
    "igamma": lambda m, x, i: m.lax.igamma(x, x),
    "igammac": lambda m, x, i: m.lax.igammac(np.float32(2), x),
    "betainc": lambda m, x, i: m.lax.betainc(x, x, 0.5),
    "bessel_i0e": lambda m, x, i: m.lax.bessel_i0e(x),
    "bessel_i1e": lambda m, x, i: m.lax.bessel_i1e(x),
    "zeta": lambda m, x, i: m.lax.zeta(x, x),
    "barrier": lambda m, x, i: m.lax.optimization_barrier((x, x)),
    "sink": lambda m, x, i: m.lax.dce_sink(m.lax.sin(x)),
    "tokens": lambda m, x, i: m.lax.after_all(m.lax.create_token(), m.lax.create_token()),
    "composite": lambda m, x, i: m.lax.composite(lambda x, *, n: x * n, "my.op", 2)(x, n=3),
}
TANGENTS = [
    *("sort", "sort with values", "sort two arrays", "top_k", "top_k of columns", "igammac"),
    *("bessel_i0e", "bessel_i1e", "barrier", "sink"),
]
GRADIENTS = ["sort", "top_k", "bessel_i0e", "bessel_i1e"]
# Here JAX's batches have a `jit` of the function in them, or lose the sink.
UNLIKE_BATCHES = ("fft", "sink", "tokens", "composite")


@pytest.mark.parametrize("name", PROGRAMS)
def test_text(name, same_text):
    same_text(lambda m: m.make_jaxpr(lambda x, i: PROGRAMS[name](m, x, i))(X, I))


@pytest.mark.parametrize("name", TANGENTS)
def test_text_of_jvp(name, same_text):
    def program(m):
        def tangent(x, t, i):
            return m.jvp(lambda x: PROGRAMS[name](m, x, i), (x,), (t,))

        return m.make_jaxpr(tangent)(X, X, I)

    same_text(program)


@pytest.mark.parametrize("name", GRADIENTS)
def test_text_of_gradient(name, same_text):
    def program(m):
        def loss(x, i):
            return m.lax.reduce_sum(m.lax.sin(PROGRAMS[name](m, x, i)), (0, 1))

        return m.make_jaxpr(m.grad(loss))(X, I)

    same_text(program)


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in UNLIKE_BATCHES])
def test_text_of_vmap(name, same_text):
    def program(m):
        def batch(x, i):
            return m.vmap(lambda x, i: PROGRAMS[name](m, x, i), in_axes=(1, None))(x, i)

        return m.make_jaxpr(batch)(np.stack([X, X], 1), I)

    same_text(program)
