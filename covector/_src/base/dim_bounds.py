"""Bounds of symbolic sizes, from what is known of the terms in them.

What is known is a set of inequalities: polynomials that are at least 0. Some are given as
constraints, the others follow from what a term is:

    a variable        a - 1
    q = x // y        x - y*q  and  y*q + y - 1 - x,  for positive y; and bounds of the quotient
    m = mod(x, y)     m  and  y - 1 - m,              for positive y
    m = max(x, y)     m - x  and  m - y
    a product         bounds from those of the factors; x*y - l*y for x >= l and y >= 0

For a lower bound of `e`, its largest term `k*t` is eliminated (Fourier and Motzkin): of an
inequality `c = j*t + ... >= 0`, where `t` is the largest term too and `j` has the sign of `k`,

    |j| * e  =  (|j| * e - |k| * c)  +  |k| * c  >=  |j| * e - |k| * c

and the right side has smaller terms only. The best of the bounds that the inequalities give is
taken. An upper bound of `e` is a lower one of `-e`. That is sound, and not complete: the bounds of
some sizes are wider than they might be.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

from . import dim_errors as errors
from .dims import ONE, Dim, Factor, Size, Term, operation, terms_of
from .errors import InconclusiveDimensionOperation

Bound = float  # an int, or an infinity


class Bounds:
    """What is known of the terms of a scope.

    Args:
      scope: the scope.
    """

    def __init__(self, scope: Any):
        self._scope = scope
        # The inequalities in which a term is the largest, by the term.
        self._known: dict[Term, list[Size]] = {}
        self._seen: set[Term] = set()
        self._bounds: dict[Size, tuple[Bound, Bound]] = {}

    def of(self, size: Size) -> tuple[Bound, Bound]:
        """The lower and the upper bound of a size."""
        if not isinstance(size, Dim):
            return size, size
        found = self._bounds.get(size.key)
        if found is None:
            self._learn(size)
            found = self._bounds[size.key] = (
                self._lower(size, {}),
                -self._lower(self._mixed(0, 1, size, -1), {}),
            )
        return found

    def add(self, size: Size) -> None:
        """Take a size to be at least 0."""
        self._learn(size)
        self._bounds.clear()
        self._note(size)
        for other in [*itertools.chain(*self._known.values())]:
            self._note_combined(size, other)

    # ---------------------------------------------------------------- what follows from terms

    def _learn(self, size: Size) -> None:
        for term, _ in terms_of(size):
            if term != ONE and term not in self._seen:
                self._seen.add(term)
                for fact in self._facts(term):
                    self._note(fact)

    def _facts(self, term: Term) -> Iterator[Size]:
        """Sizes that are at least 0 for what a term is."""
        whole, factor = self._alone(term), term.factor()
        if factor is None:
            yield from self._within(whole, self._bounds_of_product(term))
            yield from self._facts_of_product(whole, term)
        elif not factor.operands:
            yield whole - 1
        else:
            for operand in factor.operands:
                self._learn(operand)
            yield from getattr(self, f"_facts_of_{factor.name}")(whole, *factor.operands)

    def _alone(self, term: Term) -> Dim:
        """A term by itself, whatever the scope's equalities would make of it."""
        return Dim(((term, 1),), self._scope)

    def _within(self, whole: Size, bounds: tuple[Bound, Bound]) -> Iterator[Size]:
        low, high = bounds
        if low > -math.inf:
            yield whole - int(low)
        if high < math.inf:
            yield int(high) - whole

    def _bounds_of_product(self, term: Term) -> tuple[Bound, Bound]:
        ranges = []
        for factor, exponent in term.powers:
            low, high = self._bounds_of_factor(factor)
            ends = [low**exponent, high**exponent]
            ranges.append([*ends, 0] if low < 0 < high else ends)
        corners = [math.prod(corner) for corner in itertools.product(*ranges)]
        corners = [0 if math.isnan(corner) else corner for corner in corners]
        return min(corners), max(corners)

    def _facts_of_product(self, whole: Size, term: Term) -> Iterator[Size]:
        for factor, _ in term.powers:
            one = Term([(factor, 1)])
            rest = term.over(one)
            low = self._bounds_of_factor(factor)[0]
            if rest is not None and low > -math.inf and self.of(self._alone(rest))[0] >= 0:
                yield whole - self._alone(rest) * int(low)

    def _bounds_of_factor(self, factor: Factor) -> tuple[Bound, Bound]:
        return self.of(self._alone(Term([(factor, 1)])))

    def _facts_of_mod(self, whole: Size, x: Size, y: Size) -> Iterator[Size]:
        low, high = self.of(y)
        if low > 0:
            yield whole
            yield y - 1 - whole
            yield from self._within(whole, (0, high - 1))
        elif high < 0:
            yield -whole
            yield whole - y - 1
            yield from self._within(whole, (low + 1, 0))

    def _facts_of_floordiv(self, whole: Dim, x: Size, y: Size) -> Iterator[Size]:
        divisor = self.of(y)
        if divisor[0] <= 0 <= divisor[1]:
            raise InconclusiveDimensionOperation(errors.division_by_zero(y))
        corners = [_quotient(a, b) for a in self.of(x) for b in divisor]
        yield from self._within(whole, (min(corners), max(corners)))
        if divisor[0] > 0:
            rest = operation("mod", x, y, self._scope)
            self._learn(rest)
            # Without the scope's equalities, by which these might say nothing.
            below = self._mixed(x, 1, self._times(y, whole), -1)
            yield below
            yield self._mixed(y - 1, 1, below, -1)
            yield self._mixed(below, 1, rest, -1)
            yield self._mixed(rest, 1, below, -1)

    def _times(self, x: Size, whole: Dim) -> Size:
        """The product of a size and a term, to which the scope's equalities are not applied."""
        ((term, _),) = whole.terms
        pairs = [(other * term, count) for other, count in terms_of(x)]
        return Dim(tuple(sorted(pairs, key=lambda p: p[0].key, reverse=True)), self._scope)

    def _facts_of_max(self, whole: Size, x: Size, y: Size) -> Iterator[Size]:
        (low, high), (other_low, other_high) = self.of(x), self.of(y)
        yield from self._within(whole, (max(low, other_low), max(high, other_high)))
        yield whole - x
        yield whole - y

    def _facts_of_min(self, whole: Size, x: Size, y: Size) -> Iterator[Size]:
        (low, high), (other_low, other_high) = self.of(x), self.of(y)
        yield from self._within(whole, (min(low, other_low), min(high, other_high)))
        yield x - whole
        yield y - whole

    def _note(self, size: Size) -> None:
        """Take a size to be at least 0, under its largest term."""
        if not isinstance(size, Dim):
            return
        size = self._tightened(size)
        of_term = self._known.setdefault(size.terms[0][0], [])
        if all(size.key != other.key for other in of_term):
            of_term.append(size)

    def _tightened(self, size: Dim) -> Dim:
        """What it means for integers that a size is at least 0: 5*a - 8 >= 0 is a - 2 >= 0."""
        common = math.gcd(*[count for term, count in size.terms if term != ONE])
        return Dim(
            tuple([(t, n // common) for t, n in size.terms if t != ONE or n // common]), self._scope
        )

    def _note_combined(self, size: Size, other: Size) -> None:
        """Note what two inequalities say together of the terms that they do not share."""
        counts = dict(terms_of(other))
        for term, count in terms_of(size):
            opposite = counts.get(term, 0)
            if term != ONE and count * opposite < 0:
                self._note(self._mixed(size, abs(opposite), other, abs(count)))

    def _mixed(self, x: Size, factor: int, y: Size, other: int) -> Size:
        """factor * x + other * y, to which the scope's equalities are not applied."""
        counts = {term: factor * count for term, count in terms_of(x)}
        for term, count in terms_of(y):
            counts[term] = counts.get(term, 0) + other * count
        terms = sorted(
            [pair for pair in counts.items() if pair[1]], key=lambda pair: pair[0].key, reverse=True
        )
        if not terms or terms[0][0] == ONE:
            return terms[0][1] if terms else 0
        return Dim(tuple(terms), self._scope)

    # ---------------------------------------------------------------- elimination

    def _lower(self, size: Size, under_way: dict[Any, None]) -> Bound:
        """A lower bound of a size, all of whose terms have been learned."""
        if not isinstance(size, Dim):
            return size
        if size.key in under_way:  # equalities may bring larger terms back
            return -math.inf
        under_way = {**under_way, size.key: None}
        self._learn(size)
        term, count = size.terms[0]
        best: Bound = -math.inf
        for fact in self._known.get(term, ()):
            factor = dict(fact.terms)[term]
            if factor * count > 0:
                rest = self._mixed(size, abs(factor), fact, -abs(count))
                low = self._lower(rest, under_way)
                best = max(best, math.ceil(low / abs(factor)) if low > -math.inf else low)
        return max(best, self._lower_by_cases(size, under_way))

    def _lower_by_cases(self, size: Dim, under_way: dict[Any, None]) -> Bound:
        """A lower bound where the largest term is one of two sizes, and it is not known which."""
        term, count = size.terms[0]
        factor = term.factor()
        if factor is None or (factor.name, count > 0) not in (("max", False), ("min", True)):
            return -math.inf
        if not factor.operands:
            return -math.inf
        rest = self._mixed(size, 1, self._alone(term), -count)
        return min(self._lower(self._mixed(rest, 1, x, count), under_way) for x in factor.operands)


def _quotient(x: Bound, y: Bound) -> Bound:
    """x // y, where infinities stand for what is approached."""
    if math.isinf(y):
        if math.isinf(x):
            return math.inf if (x > 0) == (y > 0) else -math.inf
        return 0 if (x >= 0) == (y > 0) else -1
    if math.isinf(x):
        return x if y > 0 else -x
    return x // y
