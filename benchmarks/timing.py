"""How times are taken: both libraries in turns, and the best of several runs.

Other work on the machine only ever makes a run slower, so that the best of several is the time
that the code itself takes; and taking turns lets both meet the same disturbances.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
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


def seconds(function: Callable[[], object], count: int) -> float:
    """The mean time of `count` calls, with garbage collection held off."""
    gc.collect()
    gc.disable()
    try:
        start = time.perf_counter()
        for _ in range(count):
            function()
        return (time.perf_counter() - start) / count
    finally:
        gc.enable()


def compare(
    name: str,
    ours: Callable[[], object],
    theirs: Callable[[], object],
    goal: float | None = None,
    count: int = 1000,
    rounds: int = 7,
    per: int = 1,
) -> Row:
    """Measure two functions in turns.

    Args:
      name: of the row.
      ours, theirs: do the same thing, once.
      goal: the ratio to reach.
      count: calls per run.
      rounds: runs of each; the best counts.
      per: divides the times, for functions that do the same thing many times.
    """
    ours(), theirs()
    best = [float("inf"), float("inf")]
    for _ in range(rounds):
        for i, function in enumerate((ours, theirs)):
            best[i] = min(best[i], seconds(function, count))
    return Row(name, best[0] / per, best[1] / per, goal)
