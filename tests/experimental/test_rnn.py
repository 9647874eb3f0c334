"""LSTMs, against JAX's reference and a plain loop."""

import inspect

import jax
import numpy as np
import pytest
from jax.experimental import rnn as in_jax

import covector as cv
import covector.numpy as jnp
from covector.experimental import rnn

BATCH, STEPS, INPUT, HIDDEN = 3, 5, 4, 2


def problem(layers, bidirectional, dtype=np.float32):
    rng = np.random.default_rng(0)
    sizes = INPUT, HIDDEN, layers, bidirectional
    count = layers * (1 + bidirectional)
    draw = lambda *shape: rng.standard_normal(shape).astype(dtype)  # noqa: E731
    weights = 0.5 * draw(rnn.get_num_params_in_lstm(*sizes))
    given = draw(BATCH, STEPS, INPUT), draw(count, BATCH, HIDDEN), draw(count, BATCH, HIDDEN)
    return *given, weights, np.array([5, 1, 3], np.int32), sizes


def test_against_jax():
    bidirectional = True
    x, h, c, weights, lengths, sizes = problem(2, bidirectional)
    assert rnn.get_num_params_in_lstm(*sizes) == in_jax.get_num_params_in_lstm(*sizes)
    theirs = in_jax.unpack_lstm_weights(weights, *sizes)
    for ours, other in zip(rnn.unpack_lstm_weights(jnp.asarray(weights), *sizes), theirs):
        assert ours.keys() == other.keys()
        for k in ours:
            np.testing.assert_array_equal(ours[k], other[k])
    np.testing.assert_array_equal(
        rnn.swap_lstm_gates(weights, *sizes), in_jax.swap_lstm_gates(weights, *sizes)
    )
    wanted = in_jax.lstm_ref(x, h, c, *theirs, lengths, *sizes[:3], 0.0, bidirectional)
    parts = rnn.unpack_lstm_weights(jnp.asarray(weights), *sizes)
    for found in (
        rnn.lstm_ref(x, h, c, *parts, jnp.asarray(lengths), *sizes[:3], 0.0, bidirectional),
        cv.jit(lambda *a: rnn.lstm(*a, *sizes[:3], 0.0, bidirectional))(x, h, c, weights, lengths),
    ):
        for ours, other in zip(found, wanted):
            assert ours.dtype == other.dtype
            np.testing.assert_allclose(ours, other, rtol=2e-5, atol=2e-6)


def test_initial_weights_are_those_of_jax():
    ours = rnn.init_lstm_weight(cv.random.key(1), 3, 2, 2, True)
    theirs = in_jax.init_lstm_weight(jax.random.key(1), 3, 2, 2, True)
    # XLA may multiply and add with one rounding or with two.
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-7)


def logistic(z):
    return 1 / (1 + np.exp(-z))


def test_one_sequence_against_a_loop():
    x, h, c, weights, _, sizes = problem(1, False, np.float64)
    with cv.enable_x64(True):
        W, V, b, d = (
            np.asarray(part[0]) for part in rnn.unpack_lstm_weights(jnp.asarray(weights), *sizes)
        )
        y, h_n, c_n = rnn.lstm(
            *map(jnp.asarray, (x, h, c, weights)),
            jnp.array([4, 0, 5], "int32"),
            *sizes[:3],
            0.0,
            False,
        )
    state, cell = h[0, 0], c[0, 0]
    for t in range(4):
        gates = W @ x[0, t] + V @ state + b + d
        i, f, g, o = np.split(gates, 4)
        cell = logistic(f) * cell + logistic(i) * np.tanh(g)
        state = logistic(o) * np.tanh(cell)
        np.testing.assert_allclose(y[0, t], state, rtol=1e-12)
    np.testing.assert_allclose(h_n[0, 0], state, rtol=1e-12)
    np.testing.assert_allclose(c_n[0, 0], cell, rtol=1e-12)
    assert not np.any(y[0, 4]) and not np.any(y[1])
    np.testing.assert_array_equal(h_n[0, 1], h[0, 1])  # of an empty sequence


def test_derivatives():
    x, h, c, weights, lengths, sizes = problem(1, True)
    tail = *sizes[:3], 0.0, True, None
    lengths = jnp.asarray(lengths)

    @cv.jit
    def there_and_back(*given):
        outs, residuals = rnn.lstm_fwd(*given, lengths, *tail)
        return rnn.lstm_bwd(*tail, residuals, tuple([jnp.ones_like(out) for out in outs]))

    *found, of_lengths = there_and_back(x, h, c, weights)
    assert of_lengths.dtype == jnp.int32 and not of_lengths.any()

    def total(x, h, c, weights):
        parts = in_jax.unpack_lstm_weights(weights, *sizes)
        at = jax.numpy.asarray(np.asarray(lengths))
        return sum(y.sum() for y in in_jax.lstm_ref(x, h, c, *parts, at, *sizes[:3], 0.0, True))

    theirs = jax.jit(jax.grad(total, argnums=(0, 1, 2, 3)))(x, h, c, weights)
    for ours, other in zip(found, theirs):
        np.testing.assert_allclose(ours, other, rtol=2e-4, atol=2e-5)


def test_mistakes():
    x, h, c, weights, lengths, sizes = problem(1, False)
    with pytest.raises(NotImplementedError, match="`seq_lengths` can only be int32, and is int8"):
        rnn.lstm(x, h, c, weights, lengths.astype(np.int8), *sizes[:3], 0.0, False)
    with pytest.raises(NotImplementedError, match="Dropout not supported in LSTM"):
        rnn.lstm(x, h, c, weights, lengths, *sizes[:3], 0.5, False)
    with pytest.raises(ValueError, match=r"shape \(63,\), and sizes and layers ask for \(64,\)"):
        rnn.lstm(x, h, c, weights[1:], lengths, *sizes[:3], 0.0, False)


def test_signatures_are_those_of_jax():
    for name in ("get_num_params_in_lstm", "init_lstm_weight", "lstm", "lstm_bwd", "lstm_fwd",
                 "lstm_ref", "swap_lstm_gates", "unpack_lstm_weights"):  # fmt: skip
        ours, theirs = (inspect.signature(getattr(m, name)).parameters for m in (rnn, in_jax))
        assert [(p.name, p.default) for p in ours.values()] == [
            (p.name, p.default) for p in theirs.values()
        ], name
