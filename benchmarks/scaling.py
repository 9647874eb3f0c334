"""Whether tracing and lowering stay linear in the number of eqns, and what an eqn weighs."""

from __future__ import annotations

import time
import tracemalloc
from typing import Any, NamedTuple


class Size(NamedTuple):
    """Microseconds and bytes per eqn of a program of so many eqns."""

    eqns: int
    trace_us: float
    lower_us: float
    bytes_per_eqn: float


def chain(cv: Any, count: int) -> Any:
    def f(x: Any) -> Any:
        for _ in range(count // 2):
            x = cv.lax.sin(cv.lax.mul(x, x))
        return x

    return f


def sizes(cv: Any, counts: tuple[int, ...] = (1_000, 10_000, 100_000)) -> list[Size]:
    """Measure programs of growing length."""
    found = []
    x = cv.numpy.ones(())
    for count in counts:
        f = chain(cv, count)
        start = time.perf_counter()
        traced = cv.jit(f).trace(x)
        middle = time.perf_counter()
        traced.lower()
        end = time.perf_counter()
        tracemalloc.start()
        kept = cv.make_jaxpr(chain(cv, count))(x)
        weight = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        eqns = len(kept.eqns)
        found.append(
            Size(eqns, 1e6 * (middle - start) / eqns, 1e6 * (end - middle) / eqns, weight / eqns)
        )
    return found
