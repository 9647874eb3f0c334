"""The longest part of a program that says the same again and again: a loop that was unrolled.

Two eqns say the same if they apply one primitive with equal parameters to operands of the same
types; which operands these are is not looked at.  Eqn by eqn, the program is so a text, and a part
of period p is one in which each letter equals the one p places on.  The periods that are tried are
the commonest distances between equal groups of three letters, so that the search is linear.
"""

from __future__ import annotations

from collections import Counter
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


def longest_repetition(values: Values) -> Repetition | None:
    """The repetition in which a loop would save the most eqns, or None if nothing repeats."""
    eqns: list[JaxprEqn] = []
    for eqn in values.eqns:
        if eqn is not None and (not eqns or eqn is not eqns[-1]):
            eqns.append(eqn)
    letters = _letters(eqns)
    best: tuple[int, int, int, int] | None = None
    for period in _distances(letters):
        equal = np.concatenate([[0], letters[:-period] == letters[period:], [0]]).astype(np.int8)
        edges = np.diff(equal)
        starts, stops = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
        if len(starts):
            longest = int(np.argmax(stops - starts))
            start, times = int(starts[longest]), int(stops[longest] - starts[longest]) // period + 1
            found = ((times - 1) * period, -period, -start, times)
            best = found if best is None else max(best, found)
    if best is None or best[0] == 0:
        return None
    _, period, start, times = best[0], -best[1], -best[2], best[3]
    return Repetition(eqns[start : start + period], times)


def _letters(eqns: list[JaxprEqn]) -> np.ndarray:
    """A number for each eqn: the same for eqns that say the same."""
    numbers: dict[object, int] = {}
    found = []
    for eqn in eqns:
        types = [atom.aval for atom in (*eqn.invars, *eqn.outvars)]
        key: object = (eqn.primitive, len(eqn.invars), *types, *eqn.params.items())
        try:
            found.append(numbers.setdefault(key, len(numbers)))
        except TypeError:  # a parameter is not hashable
            found.append(numbers.setdefault(id(eqn), len(numbers)))
    return np.array(found, np.int64)


def _distances(letters: np.ndarray) -> list[int]:
    """The commonest distances between a group of letters and the next one that is equal to it."""
    last: dict[tuple[int, ...], int] = {}
    counts: Counter[int] = Counter()
    groups = zip(*[letters[i:].tolist() for i in range(GROUP)])
    for at, group in enumerate(groups):
        before = last.get(group)
        if before is not None:
            counts[at - before] += 1
        last[group] = at
    return [distance for distance, _ in counts.most_common(PERIODS)]
