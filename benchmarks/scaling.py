"""Whether tracing and lowering stay linear in the number of eqns, and what an eqn weighs.

The program is a chain, which would be compiled as a loop; here each of its eqns is written.
"""

from __future__ import annotations

import time
import tracemalloc
from typing import Any, NamedTuple

from covector._src.base import config


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
        cv.jit(chain(cv, 2)).lower(x)  # what only the first program takes
        start = time.thread_time()
        traced = cv.jit(f).trace(x)
        middle = time.thread_time()
        with config.roll_loops(False):
            traced.lower()
        end = time.thread_time()
        tracemalloc.start()
        kept = cv.make_jaxpr(chain(cv, count))(x)
        weight = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        eqns = len(kept.eqns)
        found.append(
            Size(eqns, 1e6 * (middle - start) / eqns, 1e6 * (end - middle) / eqns, weight / eqns)
        )
    return found
