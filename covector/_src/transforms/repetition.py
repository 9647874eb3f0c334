"""Parts of a program that say the same again and again: loops that were unrolled.

Two eqns say the same if they apply one primitive with equal parameters to operands of the same
types; which operands these are is not looked at.  Eqn by eqn, the program is so a text, and a part
of period p is one in which each letter equals the one p places on.  The periods that are tried are
the commonest distances between equal groups of three letters, so that the search is linear.

What follows from where the operands come from is `recurrence.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ..core.jaxpr import JaxprEqn
from .inline import Values

# How many distances are tried as periods.
PERIODS = 12
# So many letters next to each other are compared at once.
GROUP = 3


class Repetition(NamedTuple):
    """A part of a program that repeats.

    Attributes:
      eqns: those of one repetition.
      times: how often they stand one after the other.
    """

    eqns: list[JaxprEqn]
    times: int

    @property
    def saved(self) -> int:
        """How many eqns fewer the program would have with a loop in their place."""
        return len(self.eqns) * (self.times - 1)


class Stretch(NamedTuple):
    """Letters from `start` up to `stop` that repeat after `period`, the last time in part."""

    start: int
    stop: int
    period: int

    @property
    def times(self) -> int:
        """How often the period is there as a whole."""
        return (self.stop - self.start) // self.period

    @property
    def saved(self) -> int:
        """How many letters there are but for one period of them."""
        return (self.times - 1) * self.period


def longest_repetition(values: Values) -> Repetition | None:
    """The repetition in which a loop would save the most eqns, or None if nothing repeats."""
    eqns: list[JaxprEqn] = []
    for eqn in values.eqns:
        if eqn is not None and (not eqns or eqn is not eqns[-1]):
            eqns.append(eqn)
    found = stretches(letters_of(eqns))
    if not found or not found[0].saved:
        return None
    start, _, period = found[0]
    return Repetition(eqns[start : start + period], found[0].times)


def letters_of(
    eqns: Iterable[JaxprEqn], may_repeat: Callable[[JaxprEqn], bool] = lambda eqn: True
) -> np.ndarray:
    """A number for each eqn: the same for eqns that say the same, and of which `may_repeat`."""
    numbers: dict[object, int] = {}
    found = []
    for eqn in eqns:
        types = [atom.aval for atom in (*eqn.invars, *eqn.outvars)]
        key: object = (eqn.primitive, len(eqn.invars), *types, *eqn.params.items())
        try:
            number = numbers.get(key)
        except TypeError:  # a parameter is not hashable
            key = number = None
        if number is None:
            number = len(numbers)
            alone = key is None or not may_repeat(eqn)
            numbers[(id(eqn), number) if alone else key] = number
        found.append(number)
    return np.array(found, np.int64)


def stretches(letters: np.ndarray) -> list[Stretch]:
    """For each period that is tried, where the text repeats; what saves most comes first."""
    found = []
    for period in _distances(letters.tolist()):
        equal = np.concatenate([[0], letters[:-period] == letters[period:], [0]]).astype(np.int8)
        edges = np.diff(equal)
        starts, stops = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
        found += [
            Stretch(start, stop + period, period)
            for start, stop in zip(starts.tolist(), stops.tolist())
            if stop - start >= period
        ]
    return sorted(found, key=lambda part: (-part.saved, part.period, part.start))


def _distances(letters: Sequence[int]) -> list[int]:
    """The commonest distances between a group of letters and the next one that is equal to it."""
    last: dict[tuple[int, ...], int] = {}
    counts: Counter[int] = Counter()
    for at, group in enumerate(zip(*[letters[i:] for i in range(GROUP)])):
        before = last.get(group)
        if before is not None:
            counts[at - before] += 1
        last[group] = at
    return [distance for distance, _ in counts.most_common(PERIODS)]
