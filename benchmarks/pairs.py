"""A program in both libraries: what compiling it takes, what running it takes, what it computes.

Compilation is measured in seconds of CPU time, of all threads of the process, from the function to
its first result: tracing, lowering, XLA, one run.  It happens once, so that nothing is averaged.
Runs are measured in turns, and the 10th percentile counts: other work on the machine makes a run
slower and never faster, while the very best of many may be an accident.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

# Runs of one program in one library, at most.
MOST_RUNS = 1000


class Pair(NamedTuple):
    """A program's seconds in each library, and how far apart the results are.

    Attributes:
      name: of the program.
      compile: CPU seconds, here and (if JAX is installed) in JAX.
      run: seconds, here and in JAX.
      difference: the largest difference of two results by the largest of them.
    """

    name: str
    compile: Sequence[float]
    run: Sequence[float]
    difference: float

    @property
    def compile_ratio(self) -> float:
        return self.compile[0] / self.compile[-1]

    @property
    def run_ratio(self) -> float:
        return self.run[0] / self.run[-1]


def measure(
    name: str,
    program: Callable[[Any], tuple[Callable[..., Any], tuple[Any, ...]]],
    libraries: Sequence[Any],
    seconds: float,
) -> Pair:
    """Compile and run a program in each library.

    Args:
      name: of the program.
      program: takes a library, gives a function and its arguments.
      libraries: Covector, and JAX if there.
      seconds: how long the runs may take, together.
    """
    compiled, results, runs = [], [], []
    for m in libraries:
        f, args = program(m)
        jitted, args = m.jit(f), m.tree.map(m.numpy.asarray, args)
        m.block_until_ready(args)
        gc.collect()
        start = time.process_time()
        results.append(m.block_until_ready(jitted(*args)))
        compiled.append(time.process_time() - start)
        runs.append(lambda m=m, f=jitted, args=args: m.block_until_ready(f(*args)))
    found = [libraries[0].tree.leaves(result) for result in results]
    return Pair(name, compiled, run_in_turns(runs, seconds), difference(found[0], found[-1]))


def run_in_turns(runs: Sequence[Callable[[], object]], seconds: float) -> list[float]:
    """The 10th percentile of each function's times, of as many runs as fit into the time."""
    times: list[list[float]] = [[] for _ in runs]
    order = list(range(len(runs)))
    end = time.perf_counter() + seconds
    gc.disable()
    try:
        while len(times[0]) < 5 or (time.perf_counter() < end and len(times[0]) < MOST_RUNS):
            order.reverse()  # whoever comes first finds other caches than who comes second
            for i in order:
                start = time.perf_counter()
                runs[i]()
                times[i].append(time.perf_counter() - start)
    finally:
        gc.enable()
    return [sorted(taken)[len(taken) // 10] for taken in times]


def difference(ours: Sequence[Any], theirs: Sequence[Any]) -> float:
    """The largest difference in an array by the largest absolute value in it, over all arrays."""
    worst = 0.0
    for x, y in zip(map(np.asarray, ours), map(np.asarray, theirs), strict=True):
        if x.shape != y.shape or x.dtype != y.dtype:
            return float("inf")
        wide = np.complex128 if x.dtype.kind == "c" else np.float64
        x, y = x.astype(wide), y.astype(wide)
        # Where both are the same, infinities and NaN among them, they do not differ.
        apart = np.where((x == y) | (np.isnan(x) & np.isnan(y)), 0, np.abs(x - y))
        largest = np.max(np.abs(y), initial=0.0, where=np.isfinite(y)) or 1.0
        worst = max(worst, float(np.max(apart / largest, initial=0.0)))
    return worst


def libraries() -> list[Any]:
    """Covector without its disk cache, and JAX if the version is here that fits this jaxlib."""
    import covector

    covector.config.update("jax_enable_compilation_cache", False)
    try:
        import jax
        import jax.nn
    except (ImportError, RuntimeError) as error:  # of another version than jaxlib
        print(f"without JAX: {error}", file=sys.stderr)
        return [covector]
    return [covector, jax]


def warm_up(libraries: Sequence[Any]) -> None:
    """Let each library start, so that the first program does not pay for that."""
    for m in libraries:
        jitted = m.jit(m.grad(lambda x, m=m: m.numpy.tanh(x @ x).sum()))
        m.block_until_ready(jitted(np.eye(4)))


def geometric_mean(ratios: Sequence[float]) -> float:
    return float(np.exp(np.mean(np.log(ratios)))) if len(ratios) else float("nan")
