"""Train a classifier of handwritten digits, from NumPy arrays to a picture of its predictions.

    python examples/digits.py [--epochs N] [--out DIRECTORY]

The data are scikit-learn's 1,797 images of 8x8 pixels, which come with the package. The model is a
network of two hidden layers. One training step is a function of a few lines: its gradient comes
from `value_and_grad`, its speed from `jit`, and the norm of each single example's gradient, which
tells what the network still finds surprising, from `vmap` of `grad`.
"""

from __future__ import annotations

import argparse
import time
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

import covector as cv
import covector.numpy as jnp

SIZES = (64, 96, 64, 10)
BATCH = 64


# ---------------------------------------------------------------- data


def load() -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """The images scaled to [0, 1] and their labels: four fifths to train on, one to test with."""
    images, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(images))
    images, labels = images[order].astype(np.float32) / 16, labels[order].astype(np.int32)
    cut = len(images) * 4 // 5
    return (images[:cut], labels[:cut]), (images[cut:], labels[cut:])


def noisy(images: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The images with a little noise in their ink: new examples of the same digits."""
    return images * rng.uniform(0.6, 1.4, images.shape).astype(np.float32)


# ---------------------------------------------------------------- model


def initialize(rng: np.random.Generator) -> list[dict[str, np.ndarray]]:
    """Weights scaled so that each layer keeps the variance of what it is given."""
    return [
        {
            "w": (rng.standard_normal((m, n)) * np.sqrt(2 / m)).astype(np.float32),
            "b": np.zeros(n, np.float32),
        }
        for m, n in pairwise(SIZES)
    ]


def logits(params, x):
    """Scores of the ten digits for an image, or for each of a batch of images."""
    *hidden, last = params
    for layer in hidden:
        x = jnp.maximum(x @ layer["w"] + layer["b"], 0)
    return x @ last["w"] + last["b"]


def log_probabilities(params, x):
    z = logits(params, x)
    z = z - jnp.max(z, axis=-1, keepdims=True)
    return z - jnp.log(jnp.sum(jnp.exp(z), axis=-1, keepdims=True))


def loss(params, x, target):
    """Cross-entropy between the predicted distribution and the one-hot (smoothed) target."""
    return -jnp.mean(jnp.sum(target * log_probabilities(params, x), axis=-1))


# ---------------------------------------------------------------- training


@partial(cv.jit, donate_argnums=(0, 1))
def step(params, momentum, x, target, rate):
    """One step of gradient descent with momentum."""
    value, gradient = cv.value_and_grad(loss)(params, x, target)
    momentum = cv.tree.map(lambda m, g: 0.9 * m + g, momentum, gradient)
    params = cv.tree.map(lambda p, m: p - rate * m, params, momentum)
    return params, momentum, value


@cv.jit
def gradient_norms(params, x, target):
    """The norm of the gradient of each example's loss: `vmap` of `grad`."""

    def norm(x, target):
        gradient = cv.grad(loss)(params, x, target)
        return jnp.sqrt(sum(jnp.sum(g**2) for g in cv.tree.leaves(gradient)))

    return cv.vmap(norm)(x, target)


@cv.jit
def predict(params, x):
    return jnp.argmax(logits(params, x), axis=-1)


def rate_at(progress: float) -> float:
    """The learning rate: a short linear warm-up, then half a cosine down to nothing."""
    warm = 0.05
    if progress < warm:
        return 0.05 * progress / warm
    return 0.025 * (1 + np.cos(np.pi * (progress - warm) / (1 - warm)))


def one_hot(labels: np.ndarray, smoothing: float = 0.05) -> np.ndarray:
    hot = np.eye(10, dtype=np.float32)[labels]
    return hot * (1 - smoothing) + smoothing / 10


def train(data, epochs: int):
    images, labels = data
    rng = np.random.default_rng(1)
    params = cv.device_put(initialize(rng))
    momentum = cv.tree.map(jnp.zeros_like, params)
    targets = one_hot(labels)
    batches = len(images) // BATCH
    losses = []
    for epoch in range(epochs):
        order, shown = rng.permutation(len(images)), noisy(images, rng)
        for i in range(batches):
            chosen = order[i * BATCH : (i + 1) * BATCH]
            rate = rate_at((epoch + i / batches) / epochs)
            params, momentum, value = step(params, momentum, shown[chosen], targets[chosen], rate)
            losses.append(value)
        if epoch % 5 == 0 or epoch == epochs - 1:
            norms = np.asarray(gradient_norms(params, images[:512], targets[:512]))
            print(
                f"  epoch {epoch:3d}   loss {float(losses[-1]):.4f}   gradient norm of an example: "
                f"median {np.median(norms):.3f}, largest {norms.max():.3f}",
                flush=True,
            )
    return params, np.array([float(v) for v in losses])


# ---------------------------------------------------------------- picture


def picture(path: Path, losses: np.ndarray, images, labels, predicted) -> None:
    """The loss curve, and some test digits with what the network takes them for."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(11, 4.2), constrained_layout=True)
    left, right = figure.subfigures(1, 2, width_ratios=(1, 1.25))
    axes = left.subplots()
    axes.plot(losses, color="0.8", linewidth=0.8)
    axes.plot(np.convolve(losses, np.ones(25) / 25, "valid"), color="C0")
    axes.set(xlabel="step", ylabel="loss", yscale="log", title="training")
    wrong = np.flatnonzero(predicted != labels)
    shown = np.concatenate([wrong[:8], np.flatnonzero(predicted == labels)])[:32]
    for axis, i in zip(right.subplots(4, 8).flat, shown):
        axis.imshow(images[i].reshape(8, 8), cmap="gray_r")
        right_answer = predicted[i] == labels[i]
        title = f"{predicted[i]}" if right_answer else f"{predicted[i]}, is {labels[i]}"
        axis.set_title(title, fontsize=9, color="black" if right_answer else "crimson")
        axis.axis("off")
    right.suptitle("test digits and predictions (errors first)", fontsize=11)
    figure.savefig(path, dpi=130)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=50)
    parser.add_argument("--out", type=Path, default=Path("out"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)

    start = time.perf_counter()
    training, (images, labels) = load()
    print(f"{len(training[0])} digits to train on, {len(images)} to test with\n")
    params = initialize(np.random.default_rng(1))
    print("The loss of one batch, as traced:\n")
    print(cv.make_jaxpr(loss)(params, training[0][:BATCH], one_hot(training[1][:BATCH])), "\n")

    params, losses = train(training, options.epochs)
    predicted = np.asarray(predict(params, images))
    accuracy = float(np.mean(predicted == labels))
    path = options.out / "digits.png"
    picture(path, losses, images, labels, predicted)
    seconds = time.perf_counter() - start
    print(f"\ntest accuracy {100 * accuracy:.1f} %  after {seconds:.1f} s;  picture: {path}")
    if accuracy < 0.97:
        raise SystemExit("the accuracy is below 97 %: something is wrong")


if __name__ == "__main__":
    main()
