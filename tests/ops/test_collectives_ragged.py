"""`ragged_all_to_all` against a loop over senders, receivers and slices."""

import numpy as np
import pytest

import covector as cv
from covector import lax

COUNT, PER, N, M = 3, 2, 9, 14  # examples, slices for each of them, rows sent and received


def problem(seed):
    """Random slices; those that one example receives do not overlap."""
    rng = np.random.default_rng(seed)
    shape = (COUNT, COUNT, PER)  # sender, receiver, slice
    sizes = rng.integers(0, 3, shape).astype(np.int32)
    starts = rng.integers(0, N - 2, shape).astype(np.int32)
    targets = np.zeros(shape, np.int32)
    for receiver in range(COUNT):
        own = sizes[:, receiver].reshape(-1)
        order = rng.permutation(own.size)
        ends = np.cumsum(own[order])
        flat = np.zeros(own.size, np.int32)
        flat[order] = ends - own[order] + rng.integers(0, 3)
        targets[:, receiver] = flat.reshape(COUNT, PER)
    received = np.swapaxes(sizes, 0, 1)
    vectors = [v.reshape(COUNT, COUNT * PER) for v in (starts, sizes, targets, received)]
    operand = rng.standard_normal((COUNT, N, 2)).astype(np.float32)
    output = rng.standard_normal((COUNT, M, 2)).astype(np.float32)
    return operand, output, *vectors


def by_loops(operand, output, starts, sizes, targets, received):
    out = output.copy()
    for sender in range(COUNT):
        for k in range(COUNT * PER):
            i, n, to = starts[sender, k], sizes[sender, k], targets[sender, k]
            out[k // PER, to : to + n] = operand[sender, i : i + n]
    return out


def send(*args):
    return lax.ragged_all_to_all(*args, axis_name="i")


@pytest.mark.parametrize("seed", range(4))
def test_values(seed):
    args = problem(seed)
    got = cv.jit(cv.vmap(send, axis_name="i"))(*args)
    np.testing.assert_array_equal(got, by_loops(*args))


def test_beside_another_axis():
    problems = [problem(seed) for seed in range(4)]
    args = [np.stack(parts) for parts in zip(*problems, strict=True)]
    want = np.stack([by_loops(*p) for p in problems])
    inner = cv.vmap(cv.vmap(send, axis_name="i"))
    np.testing.assert_array_equal(cv.jit(inner)(*args), want)
    outer = cv.vmap(cv.vmap(send), in_axes=1, out_axes=1, axis_name="i")
    np.testing.assert_array_equal(cv.jit(outer)(*args), want)


def test_derivatives():
    operand, output, *vectors = problem(5)
    f = cv.vmap(lambda x, y, *v: send(x, y, *v), axis_name="i")
    t, u = operand[::-1].copy(), output[::-1].copy()
    g = lambda x, y: f(x, y, *vectors)  # noqa: E731
    _, out_t = cv.jit(lambda: cv.jvp(g, (operand, output), (t, u)))()
    np.testing.assert_allclose(out_t, by_loops(t, u, *vectors))
    ct = np.random.default_rng(1).standard_normal(output.shape).astype(np.float32)
    back = cv.jit(lambda: cv.vjp(g, operand, output)[1](ct))()
    np.testing.assert_allclose(
        np.vdot(ct, out_t), np.vdot(back[0], t) + np.vdot(back[1], u), rtol=1e-4
    )
    # Transposed for each example, with slices that are sent back.
    pull = cv.vmap(
        lambda x, y, ct, *v: cv.vjp(lambda x, y: send(x, y, *v), x, y)[1](ct), axis_name="i"
    )
    within = cv.jit(pull)(operand, output, ct, *disjoint(vectors))
    whole = cv.vjp(lambda x, y: f(x, y, *disjoint(vectors)), operand, output)[1](ct)
    for x, y in zip(within, whole, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-6)


def disjoint(vectors):
    """The same slices, but sent from places that do not overlap: only they can be sent back."""
    starts, sizes, targets, received = vectors
    sizes = np.minimum(sizes, 1)
    starts = np.tile(np.arange(COUNT * PER, dtype=np.int32), (COUNT, 1))
    received = np.swapaxes(sizes.reshape(COUNT, COUNT, PER), 0, 1).reshape(COUNT, -1)
    return starts, sizes, targets, received


def test_text(jax):
    args = [x[0] for x in problem(0)]
    texts = [
        str(m.make_jaxpr(lambda *a, m=m: m.lax.ragged_all_to_all(*a, axis_name="i"),
                         axis_env=[("i", COUNT)])(*args))
        for m in (cv, jax)
    ]  # fmt: skip
    assert texts[0] == texts[1]


def test_errors():
    operand, output, *vectors = problem(0)
    for wrong, text in [
        ([v.astype(np.float32) for v in vectors], "input_offsets must be integer type"),
        ([v[..., None] for v in vectors], "input_offsets must be rank 1 with positive dimension"),
    ]:
        traced = cv.make_jaxpr(send, axis_env=[("i", COUNT)])
        with pytest.raises(ValueError, match=text):
            traced(operand[0], output[0], *[v[0] for v in wrong])
