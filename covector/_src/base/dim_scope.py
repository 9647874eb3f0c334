"""The scope of symbolic sizes: which variables belong together, and what is known of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from . import dim_errors as errors
from . import source
from .dim_bounds import Bound, Bounds
from .dim_parser import parse
from .dims import Dim, Factor, Size, Term, terms_of


class Constraint(NamedTuple):
    """That a difference of sizes is 0 (`is_equality`), or at least 0; and how it was written."""

    difference: Size
    is_equality: bool
    text: str


class SymbolicScope:
    """What symbolic sizes have in common that may be compared and combined with one another.

    Args:
      constraints_str: strings of the form `"e1 >= e2"`, `"e1 <= e2"` or `"e1 == e2"`, which the
        variables satisfy. An equality also replaces its left side, a single term, by its right
        side wherever it occurs.

    Raises:
      ValueError: a constraint is not of this form, or cannot be satisfied.

    >>> from covector import export
    >>> scope = export.SymbolicScope(["a >= 4", "mod(b, 2) == 0"])
    >>> a, b = export.symbolic_shape("a, b", scope=scope)
    >>> a > 3, b % 2
    (True, 0)
    """

    def __init__(self, constraints_str: Sequence[str] = ()):
        if isinstance(constraints_str, str):
            raise ValueError(errors.constraints_not_a_sequence(constraints_str))
        self.constraints: list[Constraint] = []
        # What takes the place of a multiple of a term: `count * term` becomes the size.
        self._rules: dict[Term, tuple[int, Size]] = {}
        self._bounds = Bounds(self)
        self._place = source.file_and_line(source.current_place())
        for text in constraints_str:
            self._constrain(text)

    def __str__(self) -> str:
        place = "" if self._place is None else f" created at {self._place[0]}:{self._place[1]}"
        texts = "".join(f"\n  {constraint.text}" for constraint in self.constraints)
        return f"{id(self)}{place}{' with constraints:' if texts else ''}{texts}"

    __repr__ = __str__

    def bounds(self, size: Size) -> tuple[Bound, Bound]:
        """The lower and the upper bound of a size."""
        return self._bounds.of(size)

    def rewritten(self, term: Term, count: int) -> list[tuple[Term, int]] | None:
        """What a multiple of a term is by the equalities; None if they do not speak of it."""
        for left, (times, right) in self._rules.items():
            rest = term.over(left)
            if rest is not None and count % times == 0:
                return [(rest * other, more * (count // times)) for other, more in terms_of(right)]
        return None

    # ---------------------------------------------------------------- constraints

    def _constrain(self, text: str) -> None:
        if not isinstance(text, str):
            raise ValueError(errors.constraint_not_a_string(text))
        for sign in ("==", ">=", "<="):
            left, found, right = text.partition(sign)
            if found:
                break
        else:
            raise ValueError(errors.constraint_without_comparison(text))
        (x,), (y,) = parse(left, None, self), parse(right, None, self)
        self._add(Constraint(y - x if sign == "<=" else x - y, sign == "==", text), x, y)

    def _add(self, constraint: Constraint, left: Size, right: Size) -> None:
        difference, is_equality, text = constraint
        low, high = self.bounds(difference)
        if high < 0 or (is_equality and low > 0):
            raise ValueError(errors.unsatisfiable(text, not isinstance(difference, Dim)))
        if not isinstance(difference, Dim):
            return
        self.constraints.append(constraint)
        inequalities = [difference, -difference] if is_equality else [difference]
        if is_equality:
            self._replace(left, right, text)
        for inequality in inequalities:
            self._bounds.add(inequality)

    def _replace(self, left: Size, right: Size, text: str) -> None:
        """Let the right side of an equality take the place of the left one."""
        if not isinstance(left, Dim) or left.terms[1:]:
            raise ValueError(errors.equality_of_several_terms(text))
        term, times = left.terms[0]
        if term in self._rules:
            raise NotImplementedError(errors.equalities_of_one_term(str(term)))
        self._rules[term] = (times, right)
        factor = term.factor()
        if factor is None or factor.name != "mod" or not factor.operands or right != 0:
            return
        x, y = factor.operands  # x is a multiple of y, so that y * (x // y) is x
        if times == 1 and not isinstance(y, Dim):
            self._rules[Term([(Factor("floordiv", (x, y)), 1)])] = (y, x)
