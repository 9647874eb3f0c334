"""Operations on a million elements, which programs for CPUs have lowerings of their own for.

PyTorch is measured too where it is installed, with as many threads as there are cores; the goals
are ratios to its times, for an installation with the kernels (docs/native.md).

Before each measured run of a library comes one that is not measured: the threads of the one before
still wait for work for a while, which takes the processor away, and its arrays are in the cache.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from .timing import seconds

try:
    import torch
except ImportError:
    torch = None

MILLION = 10**6
ROUNDS = 12


class Kernel(NamedTuple):
    """One operation, in each library.

    Attributes:
      name: of the row.
      program: from `covector` or `jax` to a function of arrays.
      args: NumPy arrays.
      peer: the same for PyTorch: from `torch` to a function of tensors; None if it has none.
      goal: the ratio to PyTorch's time to reach, or None.
    """

    name: str
    program: Callable[[Any], Callable[..., Any]]
    args: tuple[np.ndarray, ...]
    peer: Callable[[Any], Callable[..., Any]] | None = None
    goal: float | None = None


class Times(NamedTuple):
    """The best times of one operation, in seconds; PyTorch's is None if it was not measured."""

    name: str
    ours: float
    jax: float
    torch: float | None
    goal: float | None


@cache
def normal(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


@cache
def integers() -> np.ndarray:
    return np.random.default_rng(0).integers(0, 1000, MILLION).astype(np.int32)


def depthwise(m: Any) -> Callable[..., Any]:
    return lambda x, k: m.lax.conv_general_dilated(x, k, (1, 1), "SAME", feature_group_count=32)


def kernels() -> list[Kernel]:
    """The operations; their arrays are made here."""
    x, rows, numbers = normal(MILLION), normal(1024, 1024), integers()
    images, windows, thin = normal(16, 32, 32, 32), normal(64, 32, 3, 3), normal(32, 1, 3, 3)
    return [
        Kernel("sort", lambda m: m.numpy.sort, (x,), lambda t: t.sort, 0.15),
        Kernel("sort of rows", lambda m: m.numpy.sort, (rows,), lambda t: t.sort),
        Kernel("argsort", lambda m: m.numpy.argsort, (x,), lambda t: t.argsort, 0.15),
        Kernel("top 10", lambda m: lambda x: m.lax.top_k(x, 10), (x,), _top),
        Kernel("median", lambda m: m.numpy.median, (x,), lambda t: t.median, 0.5),
        Kernel(
            "unique, with a size",
            lambda m: lambda x: m.numpy.unique(x, size=1000),
            (numbers,),
            lambda t: t.unique,
            1,
        ),
        Kernel(
            "nonzero, with a size",
            lambda m: lambda x: m.numpy.nonzero(x > 0, size=MILLION),
            (x,),
            lambda t: lambda x: t.nonzero(x > 0),
            1,
        ),
        Kernel("cumsum", lambda m: m.numpy.cumsum, (x,), lambda t: lambda x: t.cumsum(x, 0), 0.5),
        Kernel(
            "cumsum of rows",
            lambda m: lambda x: m.numpy.cumsum(x, 1),
            (rows,),
            lambda t: lambda x: t.cumsum(x, 1),
        ),
        Kernel("argmax", lambda m: m.numpy.argmax, (x,), lambda t: t.argmax, 0.3),
        Kernel(
            "argmax of rows",
            lambda m: lambda x: m.numpy.argmax(x, 1),
            (rows,),
            lambda t: lambda x: t.argmax(x, 1),
            0.3,
        ),
        Kernel(
            "histogram",
            lambda m: lambda x: m.numpy.histogram(x, 100),
            (x,),
            lambda t: lambda x: t.histc(x, 100),
            0.7,
        ),
        Kernel(
            "bincount",
            lambda m: lambda x: m.numpy.bincount(x, length=1000),
            (numbers,),
            lambda t: lambda x: t.bincount(x, minlength=1000),
        ),
        Kernel(
            "searchsorted",
            lambda m: lambda a, x: m.numpy.searchsorted(a, x),
            (np.sort(x[:1000]), x),
            lambda t: t.searchsorted,
            1,
        ),
        Kernel("uniform", _uniform, (), lambda t: lambda: t.rand(MILLION), 0.4),
        Kernel(
            "convolution",
            lambda m: lambda x, k: m.lax.conv(x, k, (1, 1), "SAME"),
            (images, windows),
            lambda t: lambda x, k: t.nn.functional.conv2d(x, k, padding=1),
            1.4,
        ),
        Kernel(
            "depthwise convolution",
            depthwise,
            (images, thin),
            lambda t: lambda x, k: t.nn.functional.conv2d(x, k, padding=1, groups=32),
            1.5,
        ),
        Kernel(
            "its gradients",
            lambda m: m.grad(lambda x, k: (depthwise(m)(x, k) ** 2).sum(), (0, 1)),
            (images, thin),
        ),
        *transforms(19, 1.2),
        *transforms(20),
        *transforms(22),
    ]


def transforms(bits: int, goal: float = 1) -> Iterator[Kernel]:
    """Fourier transforms of as many real numbers, and of complex ones."""
    signal = normal(2**bits)
    both = (signal + 1j * signal[::-1]).astype(np.complex64)
    for kind, x in (("real", signal), ("complex", both)):
        name = f"fft of 2^{bits} {kind}"
        yield Kernel(name, lambda m: m.numpy.fft.fft, (x,), lambda t: t.fft.fft, goal)


def _top(t: Any) -> Callable[..., Any]:
    return lambda x: t.topk(x, 10)


def _uniform(m: Any) -> Callable[..., Any]:
    return lambda: m.random.uniform(m.random.key(0), (MILLION,))


def times(cv: Any, jax: Any, only: str = "") -> Iterator[Times]:
    """Measure the operations whose names contain `only`."""
    if torch is not None:
        torch.set_num_threads(os.cpu_count() or 1)
    for kernel in kernels():
        if only not in kernel.name:
            continue
        runs = [compiled(m, kernel) for m in (cv, jax)]
        if torch is not None and kernel.peer is not None:
            runs.append(eager(torch, kernel.peer(torch), kernel.args))
        best = [float("inf")] * len(runs)
        for run in runs:
            run()
        for _ in range(ROUNDS):
            for i, run in enumerate(runs):
                run()
                best[i] = min(best[i], seconds(run, 1))
        yield Times(kernel.name, *best[:2], best[2] if len(best) > 2 else None, kernel.goal)


def compiled(m: Any, kernel: Kernel) -> Callable[[], object]:
    """A run of an operation under `jit`."""
    jitted, arrays = m.jit(kernel.program(m)), [m.numpy.asarray(x) for x in kernel.args]
    return lambda: m.block_until_ready(jitted(*arrays))


def eager(torch: Any, function: Callable[..., Any], args: tuple[np.ndarray, ...]) -> Any:
    """A run of an operation of PyTorch."""
    tensors = [torch.from_numpy(x) for x in args]
    return lambda: function(*tensors)


def show(measured: Iterator[Times]) -> list[Times]:
    """Print the table row by row as it is measured."""
    print(
        f"\n{'kernels on CPUs, in ms':26}{'Covector':>10}{'JAX':>10}{'PyTorch':>10}   ratio to it"
    )
    shown = []
    for row in measured:
        shown.append(row)
        line = f"{row.name:26}{row.ours * 1e3:10.3f}{row.jax * 1e3:10.3f}"
        if row.torch is not None:
            line += f"{row.torch * 1e3:10.3f}{row.ours / row.torch:10.2f}"
            if row.goal is not None:
                missed = row.ours / row.torch > row.goal
                line += f"   <= {row.goal:g}" + ("  missed" if missed else "")
        print(line, flush=True)
    return shown
