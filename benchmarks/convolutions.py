"""`python -m benchmarks.convolutions [--only WORD]`: layers and both of their gradients, in ms.

Beside JAX, in turns, and PyTorch where it is installed, which is measured afterwards: its threads
keep turning for a while after each call.
"""

from __future__ import annotations

import argparse
import os
import random
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

try:
    import torch
except ImportError:
    torch = None


class Layer(NamedTuple):
    """A convolution: sizes of the batch, its features and places; outputs; and the options.

    The window has `window` elements along each dimension.
    """

    batch: int
    features: int
    sizes: tuple[int, ...]
    outputs: int
    window: int
    stride: int = 1
    pad: int = 0
    dilation: int = 1
    groups: int = 1

    def arrays(self) -> tuple[np.ndarray, np.ndarray]:
        rng, window = np.random.default_rng(0), (self.window,) * len(self.sizes)
        shapes = (
            (self.batch, self.features, *self.sizes),
            (self.outputs, self.features // self.groups, *window),
        )
        x, y = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
        return x, y

    def options(self) -> dict[str, Any]:
        ones = np.ones(len(self.sizes), int)
        return dict(
            window_strides=tuple(self.stride * ones),
            padding=[(self.pad, self.pad)] * len(self.sizes),
            rhs_dilation=tuple(self.dilation * ones),
            feature_group_count=self.groups,
        )


LAYERS = {
    "3x3, 3 to 16, 8 of 32x32": Layer(8, 3, (32, 32), 16, 3, pad=1),
    "3x3, 16 to 16, 8 of 32x32": Layer(8, 16, (32, 32), 16, 3, pad=1),
    "3x3, 64 to 64, 8 of 8x8": Layer(8, 64, (8, 8), 64, 3, pad=1),
    "3x3, 32 to 64, 16 of 32x32": Layer(16, 32, (32, 32), 64, 3, pad=1),
    "5x5, 1 to 32, 32 of 28x28": Layer(32, 1, (28, 28), 32, 5, pad=2),
    "7x7 by 2, 3 to 64, 2 of 224x224": Layer(2, 3, (224, 224), 64, 7, 2, 3),
    "3x3, 64 to 64, 2 of 56x56": Layer(2, 64, (56, 56), 64, 3, pad=1),
    "3x3 by 2, 128 to 128, 2 of 56x56": Layer(2, 128, (56, 56), 128, 3, 2, 1),
    "3x3, 512 to 512, 2 of 7x7": Layer(2, 512, (7, 7), 512, 3, pad=1),
    "3x3 dilated, 64 to 64, 4 of 28x28": Layer(4, 64, (28, 28), 64, 3, 1, 2, 2),
    "1x1, 64 to 256, 2 of 56x56": Layer(2, 64, (56, 56), 256, 1),
    "1x1 by 2, 256 to 512, 2 of 56x56": Layer(2, 256, (56, 56), 512, 1, 2),
    "1x1, 1024 to 256, 2 of 14x14": Layer(2, 1024, (14, 14), 256, 1),
    "3x3, 4 groups of 16, 4 of 28x28": Layer(4, 64, (28, 28), 64, 3, pad=1, groups=4),
    "3x3, 32 groups of 4, 1 of 28x28": Layer(1, 128, (28, 28), 128, 3, pad=1, groups=32),
    "3x3 depthwise, 32, 16 of 32x32": Layer(16, 32, (32, 32), 32, 3, pad=1, groups=32),
    "5, 32 to 64, 16 of 1024": Layer(16, 32, (1024,), 64, 5, pad=2),
    "3x3x3, 8 to 16, 2 of 16x16x16": Layer(2, 8, (16, 16, 16), 16, 3, pad=1),
    "3x3x3 by 2, 16 to 32, 2 of 16x16x16": Layer(2, 16, (16, 16, 16), 32, 3, 2, 1),
}

# The convolution, its gradient for lhs, and that for the window.
PARTS = ("out", "lhs", "rhs")

Run = Callable[[], object]


def compiled(m: Any, layer: Layer) -> list[Run]:
    """Runs of the three parts under `jit`."""
    x, y = map(m.numpy.asarray, layer.arrays())

    def convolve(x: Any, y: Any) -> Any:
        return m.lax.conv_general_dilated(x, y, **layer.options())

    ct = m.numpy.ones_like(convolve(x, y))
    of_lhs = m.jit(lambda ct, y: m.linear_transpose(lambda x: convolve(x, y), x)(ct))
    of_rhs = m.jit(lambda ct, x: m.linear_transpose(lambda y: convolve(x, y), y)(ct))
    calls = [(m.jit(convolve), x, y), (of_lhs, ct, y), (of_rhs, ct, x)]
    return [lambda f=f, a=a, b=b: m.block_until_ready(f(a, b)) for f, a, b in calls]


def eager(layer: Layer) -> list[Run]:
    """Runs of the three parts in PyTorch."""
    x, y = map(torch.from_numpy, layer.arrays())
    rank = len(layer.sizes)
    convolve = getattr(torch.nn.functional, f"conv{rank}d")
    numbers = dict(stride=layer.stride, padding=layer.pad, dilation=layer.dilation)
    ct = torch.ones_like(convolve(x, y, groups=layer.groups, **numbers))
    options = ([layer.stride] * rank, [layer.pad] * rank, [layer.dilation] * rank)

    def backward(*wanted: bool) -> Run:
        rest = (None, *options, False, [0] * rank, layer.groups, [*wanted, False])
        return lambda: torch.ops.aten.convolution_backward(ct, x, y, *rest)

    forward = lambda: convolve(x, y, groups=layer.groups, **numbers)  # noqa: E731
    return [forward, backward(True, False), backward(False, True)]


def best(runs: Sequence[Run], seconds: float) -> list[float]:
    """The best time of each, in milliseconds; they take turns in an order that changes."""
    for run in runs:
        run()
    times, order = [float("inf")] * len(runs), list(range(len(runs)))
    end, count = time.perf_counter() + seconds * len(runs), 0
    while time.perf_counter() < end or count < 3:
        random.shuffle(order)
        count += 1
        for i in order:
            start = time.perf_counter()
            runs[i]()
            times[i] = min(times[i], time.perf_counter() - start)
    return [1e3 * t for t in times]


def rows(names: Sequence[str], seconds: float) -> Iterator[tuple[str, str, list[float]]]:
    """For each layer and part, the times here, in JAX, and in PyTorch."""
    import jax

    import covector

    for name in names:
        layer = LAYERS[name]
        pairs = zip(PARTS, *[compiled(m, layer) for m in (covector, jax)])
        measured = [(part, best(pair, seconds)) for part, *pair in pairs]
        peers = [] if torch is None else [best([run], seconds)[0] for run in eager(layer)]
        for i, (part, times) in enumerate(measured):
            yield name if i == 0 else "", part, [*times, *peers[i : i + 1]]


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.convolutions")
    parser.add_argument("--only", default="", help="layers whose name contains this")
    parser.add_argument("--seconds", type=float, default=0.3, help="of runs for each number")
    options = parser.parse_args()
    if torch is not None:
        torch.set_num_threads(os.cpu_count() or 1)
    print(f"{'layer':38}{'part':6}{'Covector':>10}{'JAX':>10}{'PyTorch':>10}   ratio to it")
    names = [name for name in LAYERS if options.only in name]
    for name, part, times in rows(names, options.seconds):
        numbers = "".join(f"{t:10.3f}" for t in times)
        ratio = f"{times[0] / times[2]:10.2f}" if len(times) > 2 else ""
        print(f"{name:38}{part:6}{numbers}{ratio}", flush=True)


if __name__ == "__main__":
    main()
