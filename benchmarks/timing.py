"""How times are taken: both libraries in turns, and the best of several runs.

Other work on the machine only ever makes a run slower, so that the best of several is the time
that the code itself takes; and taking turns lets both meet the same disturbances.  What runs in
this thread alone, as tracing and lowering do, is measured in CPU time of the thread, which does not
count what others do in between.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple


class Row(NamedTuple):
    """One line of a table: seconds here, seconds in JAX, and the ratio to reach."""

    name: str
    ours: float
    theirs: float
    goal: float | None

    @property
    def ratio(self) -> float:
        return self.ours / self.theirs


Clock = Callable[[], float]


def seconds(function: Callable[[], object], count: int, clock: Clock = time.perf_counter) -> float:
    """The mean time of `count` calls."""
    start = clock()
    for _ in range(count):
        function()
    return (clock() - start) / count


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Within, garbage is not collected; before, all of it is."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def compare(
    name: str,
    ours: Callable[[], object],
    theirs: Callable[[], object],
    goal: float | None = None,
    count: int = 100,
    rounds: int = 50,
    per: int = 1,
    clock: Clock = time.perf_counter,
) -> Row:
    """Measure two functions in turns.

    Args:
      name: of the row.
      ours, theirs: do the same thing, once.
      goal: the ratio to reach.
      count: calls per run.
      rounds: runs of each; the best counts.
      per: divides the times, for functions that do the same thing many times.
      clock: what tells the time.
    """
    ours(), theirs()
    best = [float("inf"), float("inf")]
    with without_garbage_collection():
        for _ in range(rounds):
            for i, function in enumerate((ours, theirs)):
                best[i] = min(best[i], seconds(function, count, clock))
    return Row(name, best[0] / per, best[1] / per, goal)
