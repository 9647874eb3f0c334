"""Programs of machine learning: networks of many kinds, with their gradients, and optimizers."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from .dynamics import Program, normal


def weights(*shape: int) -> np.ndarray:
    """Numbers whose scale fits the first dimension, over which a layer sums."""
    return normal(*shape, scale=shape[-2] ** -0.5)


def dense_network(m: Any) -> Any:
    """48 small layers."""

    def loss(layers: Any, x: Any) -> Any:
        for w, b in layers:
            x = m.numpy.tanh(x @ w + b)
        return (x**2).mean()

    layers = [(weights(64, 64), np.zeros(64, np.float32)) for _ in range(48)]
    return m.value_and_grad(loss), (layers, normal(32, 64))


def gelu_network(m: Any) -> Any:
    def loss(w: Any, x: Any) -> Any:
        return (m.nn.gelu(x @ w[0]) @ w[1]).mean()

    return m.value_and_grad(loss), ((weights(256, 1024), weights(1024, 256)), normal(512, 256))


def dropout_network(m: Any) -> Any:
    """Eight residual layers with dropout."""

    def loss(layers: Any, x: Any, key: Any) -> Any:
        for i, w in enumerate(layers):
            h = m.nn.relu(x @ w)
            keep = m.random.bernoulli(m.random.fold_in(key, i), 0.9, h.shape)
            x = x + m.numpy.where(keep, h / 0.9, 0)
        return (x**2).mean()

    arguments = [weights(128, 128) for _ in range(8)], normal(64, 128), np.array([0, 7], np.uint32)
    return m.value_and_grad(loss), arguments


def hessian_of_a_network(m: Any) -> Any:
    x = normal(16, 8)

    def loss(parameters: Any) -> Any:
        h = x
        for w in parameters.reshape(4, 8, 8):
            h = m.numpy.tanh(h @ w)
        return (h**2).mean()

    return m.hessian(loss), (weights(4, 8, 8).ravel(),)


def siren(m: Any) -> Any:
    """A network of sines whose own gradient is in the loss, as for differential equations."""

    def network(layers: Any, x: Any) -> Any:
        for w in layers:
            x = m.numpy.sin(30 * (x @ w))
        return x.sum()

    def loss(layers: Any, xs: Any) -> Any:
        slopes = m.vmap(m.grad(network, argnums=1), (None, 0))(layers, xs)
        return (slopes**2).mean()

    return m.value_and_grad(loss), ([weights(64, 64) / 30 for _ in range(5)], normal(128, 64))


def layer_norm(m: Any, x: Any, scale: Any) -> Any:
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) / m.numpy.sqrt(variance + 1e-5) * scale


def normalized_likelihood(m: Any) -> Any:
    """Layer norm, then log-softmax."""

    def loss(x: Any, scale: Any, shift: Any) -> Any:
        return -m.nn.log_softmax(layer_norm(m, x, scale) + shift, -1)[:, 0].mean()

    arguments = normal(1024, 1024), np.ones(1024, np.float32), np.zeros(1024, np.float32)
    return m.value_and_grad(loss, argnums=(0, 1, 2)), arguments


# ---------------------------------------------------------------- over time


def lstm(m: Any, steps: int) -> Any:
    jnp, sigmoid = m.numpy, m.nn.sigmoid

    def cell(w: Any, h: Any, c: Any, x: Any) -> Any:
        into, forget, out, new = jnp.split(x @ w["x"] + h @ w["h"] + w["b"], 4, -1)
        c = sigmoid(forget) * c + sigmoid(into) * jnp.tanh(new)
        return sigmoid(out) * jnp.tanh(c), c

    def loss(w: Any, xs: Any) -> Any:
        h = c = jnp.zeros((16, 64))
        for t in range(steps):
            h, c = cell(w, h, c, xs[t])
        return (h**2).mean()

    w = {"x": weights(32, 256), "h": weights(64, 256), "b": np.zeros(256, np.float32)}
    return m.value_and_grad(loss), (w, normal(steps, 16, 32))


def gru_with_attention(m: Any) -> Any:
    """Twelve steps, each of which looks back at all states so far."""
    jnp, sigmoid = m.numpy, m.nn.sigmoid

    def cell(w: Any, h: Any, x: Any) -> Any:
        update = sigmoid(x @ w[0] + h @ w[1])
        reset = sigmoid(x @ w[2] + h @ w[3])
        new = jnp.tanh(x @ w[4] + (reset * h) @ w[5])
        return (1 - update) * new + update * h

    def loss(w: Any, xs: Any) -> Any:
        h, states = jnp.zeros((8, 64)), []
        for t in range(12):
            h = cell(w, h, xs[t])
            states.append(h)
            past = jnp.stack(states, 1)
            attention = m.nn.softmax(jnp.einsum("bd,btd->bt", h, past), -1)
            h = h + jnp.einsum("bt,btd->bd", attention, past)
        return (h**2).mean()

    return m.value_and_grad(loss), ([weights(64, 64) for _ in range(6)], normal(12, 8, 64))


# ---------------------------------------------------------------- convolutions, transformers


def residual_network(m: Any, depth: int) -> Any:
    channels = 16

    def convolve(x: Any, w: Any) -> Any:
        names = ("NHWC", "HWIO", "NHWC")
        return m.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=names)

    def normalize(x: Any, scale: Any, shift: Any) -> Any:
        centred = x - x.mean((0, 1, 2))
        return centred * m.lax.rsqrt(x.var((0, 1, 2)) + 1e-5) * scale + shift

    def loss(layers: Any, x: Any) -> Any:
        for first, second, scale, shift in layers:
            h = convolve(m.nn.relu(normalize(x, scale, shift)), first)
            x = x + convolve(m.nn.relu(normalize(h, scale, shift)), second)
        return (x**2).mean()

    one = np.ones(channels, np.float32)
    kernel = normal(3, 3, channels, channels, scale=1 / 12)
    layers = [(kernel, kernel[::-1], one, 0 * one) for _ in range(depth)]
    return m.value_and_grad(loss), (layers, normal(4, 16, 16, channels))


WIDTH, HEADS = 128, 4


def transformer_block(m: Any, w: Any, x: Any) -> Any:
    jnp = m.numpy
    batch, length, _ = x.shape

    def heads(a: Any) -> Any:
        return a.reshape(batch, length, HEADS, WIDTH // HEADS).transpose(0, 2, 1, 3)

    q, k, v = map(heads, jnp.split(layer_norm(m, x, w["scale1"]) @ w["qkv"], 3, -1))
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) / np.float32(np.sqrt(WIDTH // HEADS))
    scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e9)
    mixed = jnp.einsum("bhqk,bhkd->bhqd", m.nn.softmax(scores, -1), v)
    x = x + mixed.transpose(0, 2, 1, 3).reshape(batch, length, WIDTH) @ w["out"]
    return x + m.nn.gelu(layer_norm(m, x, w["scale2"]) @ w["up"]) @ w["down"]


def transformer(m: Any, depth: int) -> Any:
    def loss(layers: Any, x: Any) -> Any:
        for w in layers:
            x = transformer_block(m, w, x)
        return (x**2).mean()

    def layer() -> dict[str, np.ndarray]:
        return {
            "qkv": weights(WIDTH, 3 * WIDTH),
            "out": weights(WIDTH, WIDTH),
            "up": weights(WIDTH, 4 * WIDTH),
            "down": weights(4 * WIDTH, WIDTH),
            "scale1": np.ones(WIDTH, np.float32),
            "scale2": np.ones(WIDTH, np.float32),
        }

    return m.value_and_grad(loss), ([layer() for _ in range(depth)], normal(4, 64, WIDTH))


# ---------------------------------------------------------------- optimizers


def adam_step(m: Any) -> Any:
    """The step alone, on six matrices."""

    def step(w: Any, first: Any, second: Any, g: Any) -> Any:
        first = [0.9 * a + 0.1 * b for a, b in zip(first, g)]
        second = [0.999 * a + 0.001 * b * b for a, b in zip(second, g)]
        moved = [a - 1e-3 * b / (m.numpy.sqrt(c) + 1e-8) for a, b, c in zip(w, first, second)]
        return moved, first, second

    w = [weights(64, 64) for _ in range(6)]
    return step, (w, w, [x * x for x in w], w)


def transformer_adam_step(m: Any) -> Any:
    """Gradient of a transformer, clipped by its norm, and the step of Adam."""
    jnp = m.numpy
    gradient, (layers, x) = transformer(m, 1)

    def step(w: Any, first: Any, second: Any, x: Any) -> Any:
        loss, g = gradient(w, x)
        norm = jnp.sqrt(sum((leaf**2).sum() for leaf in m.tree.leaves(g)))
        first = m.tree.map(lambda a, b: 0.9 * a + 0.1 * b, first, g)
        second = m.tree.map(lambda a, b: 0.999 * a + 0.001 * b * b, second, g)
        rate = 1e-3 * jnp.minimum(1, 1 / norm)
        w = m.tree.map(lambda w, a, b: w - rate * a / (jnp.sqrt(b) + 1e-8), w, first, second)
        return w, first, second, loss

    zeros = m.tree.map(np.zeros_like, layers)
    return step, (layers, zeros, zeros, x)


# ---------------------------------------------------------------- the table

PROGRAMS: dict[str, Program] = {
    "dense network, 48 layers": dense_network,
    "GELU network": gelu_network,
    "dropout network": dropout_network,
    "Hessian of a network": hessian_of_a_network,
    "SIREN with a gradient loss": siren,
    "layer norm, log-softmax": normalized_likelihood,
    "LSTM, 30 steps": partial(lstm, steps=30),
    "GRU with attention": gru_with_attention,
    "residual network, 4 layers": partial(residual_network, depth=4),
    "residual network, 16 layers": partial(residual_network, depth=16),
    **{
        f"transformer, {depth} layer{'s' * (depth > 1)}": partial(transformer, depth=depth)
        for depth in (1, 2, 8, 24, 48)
    },
    "Adam step": adam_step,
    "transformer, Adam step": transformer_adam_step,
}

# JAX compiles these for a minute or more.
SLOW = {"transformer, 24 layers", "transformer, 48 layers"}
