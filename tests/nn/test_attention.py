"""dot_product_attention against JAX 0.10.2, and against its definition."""

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp

attention = cv.nn.dot_product_attention
B, T, S, N, K, H = 2, 5, 6, 4, 2, 3


def randoms(*shapes, dtype="float32"):
    rng = np.random.default_rng(0)
    return [rng.standard_normal(shape).astype(np.float32).astype(dtype) for shape in shapes]


Q, KEYS, VALUES, BIAS = randoms((B, T, N, H), (B, S, K, H), (B, S, K, H), (B, N, T, S))
MASK = np.random.default_rng(1).random((B, 1, T, S)) > 0.3
LENGTHS = np.array([4, 2], np.int32)

CASES = {
    "plain": {},
    "scale": {"scale": 0.25},
    "bias": {"bias": BIAS},
    "bias for all heads": {"bias": BIAS[:, :1]},
    "mask": {"mask": MASK},
    "mask of rank 2": {"mask": MASK[0, 0]},
    "mask of each head": {"mask": np.broadcast_to(MASK, (B, N, T, S))},
    "causal": {"is_causal": True},
    "window": {"local_window_size": 1},
    "window of two sizes": {"local_window_size": (2, 0), "is_causal": True},
    "lengths": {"query_seq_lengths": LENGTHS, "key_value_seq_lengths": LENGTHS},
    "keys' lengths": {"key_value_seq_lengths": LENGTHS, "is_causal": True},
    "all": {"bias": BIAS, "mask": MASK, "is_causal": True, "query_seq_lengths": LENGTHS},
    "nothing visible": {"mask": np.zeros((1, 1, T, S), bool)},
    "residual": {"return_residual": True, "implementation": "xla"},
}


def values_and_gradients(of, arrays, cases):
    """For each case the result, and the gradients of a sum of functions of it."""

    def total(q, k, v, kwargs):
        out = of.tree.leaves(of.nn.dot_product_attention(q, k, v, **kwargs))
        return sum((of.numpy.sin(x.astype("float32")) * 3).sum() for x in out)

    def run(q, k, v):
        return {
            name: (
                of.nn.dot_product_attention(q, k, v, **kwargs),
                of.grad(total, (0, 1, 2))(q, k, v, kwargs),
            )
            for name, kwargs in cases.items()
        }

    return of.tree.map(np.asarray, of.jit(run)(*arrays))


SOME = {name: CASES[name] for name in ("plain", "all", "residual")}


@pytest.mark.parametrize(
    ("dtype", "tolerance", "cases"),
    [("float32", 1e-5, CASES), ("bfloat16", 6e-2, SOME)],
)
def test_values_and_gradients(jax, dtype, tolerance, cases):
    arrays = [x.astype(dtype) for x in (Q, KEYS, VALUES)]
    ours, theirs = [values_and_gradients(of, arrays, cases) for of in (cv, jax)]
    for name in cases:
        got, want = [jax.tree.leaves(x[name]) for x in (ours, theirs)]
        for g, w in zip(got, want, strict=True):
            assert g.dtype == w.dtype and g.shape == w.shape, name
            np.testing.assert_allclose(
                g.astype(np.float32),
                w.astype(np.float32),
                rtol=tolerance,
                atol=tolerance,
                err_msg=name,
            )


def test_the_definition():
    """In NumPy, head by head, each query with the keys that it sees."""
    got = np.asarray(attention(Q, KEYS, VALUES, is_causal=True, scale=0.7))
    for b in range(B):
        for n in range(N):
            for t in range(T):
                seen = slice(0, t + 1)
                head = n * K // N
                logits = 0.7 * KEYS[b, seen, head] @ Q[b, t, n]
                weights = np.exp(logits) / np.exp(logits).sum()
                want = weights @ VALUES[b, seen, head]
                np.testing.assert_allclose(got[b, t, n], want, rtol=1e-4, atol=1e-5)


def test_without_a_batch_and_under_vmap():
    want = np.asarray(attention(Q, KEYS, VALUES, bias=BIAS))
    got = attention(Q[0], KEYS[0], VALUES[0], bias=BIAS[0])
    np.testing.assert_allclose(got, want[0], rtol=1e-5, atol=1e-6)
    batched = cv.jit(cv.vmap(lambda q, k, v, b: attention(q, k, v, bias=b)))
    np.testing.assert_allclose(batched(Q, KEYS, VALUES, BIAS), want, rtol=1e-5, atol=1e-6)
    slope = cv.grad(lambda q, k, v: attention(q, k, v).sum())
    per_example, together = [cv.jit(f)(Q, KEYS, VALUES) for f in (cv.vmap(slope), slope)]
    np.testing.assert_allclose(per_example, together, rtol=1e-4, atol=1e-5)


def test_a_query_that_sees_nothing_gives_a_mean_and_no_nan():
    mask = jnp.zeros((1, 1, T, S), bool)
    got = attention(Q, KEYS, VALUES, mask=mask)
    want = np.repeat(VALUES.mean(1), N // K, axis=1)[:, None]
    np.testing.assert_allclose(got, np.broadcast_to(want, got.shape), rtol=1e-5, atol=1e-6)
    assert np.isfinite(cv.grad(lambda q: attention(q, KEYS, VALUES, mask=mask).sum())(Q)).all()


def test_float16():
    """JAX compiles no such program for CPUs."""
    short = [x.astype(np.float16) for x in (Q, KEYS, VALUES)]
    got = cv.jit(attention)(*short)
    assert got.dtype == np.float16
    want = attention(*[x.astype(np.float32) for x in short])
    np.testing.assert_allclose(np.asarray(got, np.float32), want, rtol=1e-2, atol=2e-3)
    slope = cv.grad(lambda q, k, v: attention(q, k, v).astype("float32").sum())
    got, want = slope(*short), slope(*[x.astype(np.float32) for x in short])
    np.testing.assert_allclose(np.asarray(got, np.float32), want, rtol=2e-2, atol=1e-2)


def test_no_rank_is_promoted():
    with cv.numpy_rank_promotion("raise"):
        for kwargs in (CASES["all"], CASES["lengths"], CASES["window"]):
            cv.eval_shape(lambda q: attention(q, KEYS, VALUES, **kwargs), Q)  # noqa: B023


def test_the_scale_is_not_part_of_the_program():
    compiled = cv.jit(lambda scale: attention(Q, KEYS, VALUES, scale=scale))
    np.testing.assert_allclose(compiled(0.3), attention(Q, KEYS, VALUES, scale=0.3), rtol=1e-5)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"key": KEYS[:, :, :1, :2]}, "value shape should be"),
        ({"value": VALUES.astype("float16")}, "value dtype should be float32, but got float16"),
        ({"query": Q[..., :2]}, "query shape should be (2, any, any, 3): but got (2, 5, 4, 2)"),
        ({"query": Q[:, :, :3]}, "multiple of key/value heads, but got 3 vs 2"),
        ({"mask": BIAS}, "mask dtype should be bool, but got float32"),
        ({"mask": MASK[None]}, "mask ndim should be 4, but got 5"),
        ({"bias": BIAS[:, :3]}, "bias shape should be"),
        ({"query_seq_lengths": LENGTHS[:1]}, "query_seq_lengths shape should be (2)"),
        ({"key_value_seq_lengths": LENGTHS.astype("uint8")}, "dtype should be int32"),
        ({"implementation": "cudnn"}, "Unsupported implementation option: cudnn"),
    ],
)
def test_errors(change, words):
    arguments = {"query": Q, "key": KEYS, "value": VALUES} | change
    with pytest.raises(ValueError) as info:
        attention(**arguments)
    assert words in str(info.value)
