"""Reductions over segments against NumPy and JAX."""

import numpy as np
import pytest

import covector
import covector.numpy as jnp
from covector import ops

KINDS = {
    "segment_sum": (np.add, 0),
    "segment_prod": (np.multiply, 1),
    "segment_min": (np.minimum, np.inf),
    "segment_max": (np.maximum, -np.inf),
}
DATA = np.random.default_rng(0).uniform(-2, 2, (7, 3)).astype(np.float32)
IDS = np.array([0, 2, 2, 0, 5, -1, 2])


@pytest.mark.parametrize("name", KINDS)
def test_values(name):
    function, identity = KINDS[name]
    want = np.full((4, 3), identity, np.float32)
    inside = (IDS >= 0) & (IDS < 4)
    function.at(want, IDS[inside], DATA[inside])
    run = getattr(ops, name)
    for got in (
        run(DATA, IDS, 4),
        covector.jit(lambda d, i: run(d, i, num_segments=4))(DATA, IDS),
        run(DATA, IDS, 4, bucket_size=2),
    ):
        np.testing.assert_allclose(np.asarray(got), want, rtol=1e-5)
    assert run(DATA, IDS).shape == (6, 3)  # as many as the greatest number says


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("dtype", ["int32", "uint8", "bool", "bfloat16"])
def test_as_jax(jax, name, dtype):
    if dtype == "bool" and name in ("segment_sum", "segment_prod"):
        pytest.skip("booleans are not added")
    data = np.abs(DATA[:, 0] * 10).astype(int) % 2 if dtype == "bool" else np.abs(DATA[:, 0])
    results = []
    for m in (covector, jax):
        x = m.numpy.asarray(data).astype(dtype)
        out = getattr(m.ops, name)(x, m.numpy.asarray(IDS), 4, indices_are_sorted=False)
        results.append(out)
    ours, theirs = results
    assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
    np.testing.assert_array_equal(np.asarray(ours).astype("f"), np.asarray(theirs).astype("f"))


def test_derivative():
    g = covector.grad(lambda d: jnp.sum(ops.segment_sum(d, IDS, 4)[2] ** 2))(DATA)
    want = np.zeros_like(DATA)
    want[IDS == 2] = 2 * DATA[IDS == 2].sum(0)
    np.testing.assert_allclose(np.asarray(g), want, rtol=1e-5)


def test_refusals():
    with pytest.raises(ValueError, match="must be non-negative"):
        ops.segment_sum(DATA, IDS, -1)
    with pytest.raises(TypeError, match="num_segments"):
        covector.jit(ops.segment_sum)(DATA, IDS)
