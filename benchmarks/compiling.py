"""Whether programs that have nothing to do with each other compile at the same time in threads."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from covector._src.base import config


class Compiling(NamedTuple):
    """Seconds that compiling so many programs takes, one after another and in as many threads."""

    programs: int
    in_turn: float
    in_threads: float

    @property
    def speed_up(self) -> float:
        return self.in_turn / self.in_threads


def lowered(cv: Any, number: int) -> Any:
    """A program that no other is like, ready to be compiled."""

    def f(x: Any) -> Any:
        for i in range(12):
            x = cv.numpy.sort(cv.numpy.sin(x) + number + i)
        return x

    return cv.jit(f).lower(cv.numpy.ones(8))


def compiling(cv: Any, programs: int = 2, rounds: int = 3) -> Compiling:
    """Measure XLA's compilation of so many programs; the best of several rounds counts."""
    best = [float("inf")] * 2
    numbers = iter(range(1, 10**6))

    def one_after_another(run: Callable[[Any], Any], stages: list[Any]) -> None:
        for stage in stages:
            run(stage)

    def at_once(run: Callable[[Any], Any], stages: list[Any]) -> None:
        with ThreadPoolExecutor(len(stages)) as pool:
            list(pool.map(run, stages))

    def run(stage: Any) -> None:  # flags are each thread's own
        with config.enable_compilation_cache(False):
            stage.compile()

    for _ in range(rounds):
        for i, way in enumerate((one_after_another, at_once)):
            stages = [lowered(cv, next(numbers)) for _ in range(programs)]
            start = time.perf_counter()
            way(run, stages)
            best[i] = min(best[i], time.perf_counter() - start)
    return Compiling(programs, *best)


def show(found: Compiling) -> Compiling:
    print(
        f"\ncompiling {found.programs} programs: one after another {found.in_turn:.2f} s, "
        f"in {found.programs} threads {found.in_threads:.2f} s, {found.speed_up:.2f} times as fast"
    )
    return found
