"""The values of dimension variables, from the shapes of arguments.

Each symbolic dimension of an argument gives an equation: its size is a polynomial in the variables.
An equation in which all but one variable are known, and that one stands alone in a term, gives its
value; the others are checked once all variables are known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..base import dim_errors as errors
from ..base.dim_scope import Constraint
from ..base.dims import Algebra, Dim, Size, Term, has_symbolic, polynomial, variable, variables
from ..base.errors import InconclusiveDimensionOperation


class Equation(NamedTuple):
    """That a dimension of an argument, at a place that has a name, has a symbolic size."""

    size: Dim
    place: str
    argument: int
    axis: int


class Problem(NamedTuple):
    """What is solved: the equations, and in words the shapes that they are from."""

    equations: list[Equation]
    specs: str


def equations_of(avals: Sequence[Any], name_of: Callable[[int], str]) -> Problem:
    """The equations of arguments of these types; `name_of` says how an argument is called."""
    found, specs = [], []
    for i, aval in enumerate(avals):
        if has_symbolic(aval.shape):
            shape = f"({', '.join(map(str, aval.shape))}{',' if aval.ndim == 1 else ''})"
            specs.append(f"{name_of(i)}.shape = {shape}")
            for axis, size in enumerate(aval.shape):
                if isinstance(size, Dim):
                    found.append(Equation(size, f"{name_of(i)}.shape[{axis}]", i, axis))
    return Problem(found, ",".join(specs))


class Step(NamedTuple):
    """A variable that an equation gives: `factor * variable + rest = size`, the rest is known."""

    name: str
    factor: int
    rest: list[tuple[Term, int]]
    equation: Equation


def plan(problem: Problem) -> tuple[list[Step], list[Equation]]:
    """The steps in which the variables are found, and the equations that are left to check.

    Raises:
      ValueError: some variables cannot be found.
    """
    steps: list[Step] = []
    checks: list[Equation] = []
    known: set[str] = set()
    left = problem.equations
    while left:
        later = []
        for equation in left:
            unknown = variables(equation.size) - known
            step = _step(equation, unknown)
            if not unknown:
                checks.append(equation)
            elif step is None:
                later.append(equation)
            else:
                steps.append(step)
                known.add(step.name)
        if len(later) == len(left):
            names = sorted(set().union(*[variables(e.size) for e in left]) - known)
            words = ", ".join(f"'{e.size}' for dimension size {e.place}" for e in left)
            raise ValueError(errors.unsolvable(list(map(repr, names)), problem.specs, words))
        left = later
    for name, constraint in _strangers(problem, known):
        raise ValueError(errors.unknown_variable(name, constraint.text))
    return steps, checks


def _strangers(problem: Problem, known: set[str]) -> Iterator[tuple[str, Constraint]]:
    """The variables in constraints that are neither known nor replaced by others."""
    for equation in problem.equations[:1]:
        scope = equation.size.scope
        for constraint in scope.constraints:
            for name in sorted(variables(constraint.difference) - known):
                if not variables(variable(name, scope)) <= known:
                    yield name, constraint


def _step(equation: Equation, unknown: set[str]) -> Step | None:
    """What an equation says of the only variable in it that is not known."""
    if len(unknown) != 1:
        return None
    (name,) = unknown
    alone, rest = [], []
    for term, count in equation.size.terms:
        names = set().union(*[factor.variables() for factor, _ in term.powers])
        if name in names:
            alone.append((term, count))
        else:
            rest.append((term, count))
    if len(alone) != 1:
        return None
    ((term, count),) = alone
    factor = term.factor()
    return Step(name, count, rest, equation) if factor and not factor.operands else None


def measured(
    problem: Problem, size_at: Callable[[int, int], Any], algebra: Algebra
) -> dict[str, Any]:
    """The values of the variables, nothing of which is checked.

    Args:
      problem: the equations.
      size_at: gives the size of a dimension of an argument, by the indices of both.
      algebra: how operations in sizes are computed.
    """
    values: dict[str, Any] = {}
    for step in plan(problem)[0]:
        value = size_at(step.equation.argument, step.equation.axis)
        values[step.name] = _solved(step, value, values, algebra.floordiv, algebra)
    return values


def _solved(
    step: Step,
    size: Any,
    values: Mapping[str, Any],
    divide: Callable[[Any, int], Any],
    algebra: Algebra | None = None,
) -> Any:
    if step.rest:
        rest = polynomial(dict(step.rest), step.equation.size.scope)
        size = size - (rest.evaluate(values, algebra) if isinstance(rest, Dim) else rest)
    return size if step.factor == 1 else divide(size, step.factor)


class Solution:
    """The values of dimension variables for arguments of certain shapes, and their checks."""

    def __init__(self, problem: Problem, shapes: Sequence[Sequence[Size]]):
        self.values: dict[str, Size] = {}
        self._specs = problem.specs
        self._words: list[str] = []
        steps, checks = plan(problem)
        for step in steps:
            self._find(step, shapes[step.equation.argument][step.equation.axis])
        for equation in checks:
            self._check(equation, shapes[equation.argument][equation.axis])
        if problem.equations:
            self._check_constraints(problem.equations[0].size.scope)

    @property
    def _solution(self) -> str:
        return ", ".join(self._words)

    def shape(self, shape: Sequence[Size]) -> tuple[Size, ...]:
        """A shape with the values in it."""
        return tuple(
            size.evaluate(self.values) if isinstance(size, Dim) else size for size in shape
        )

    def _find(self, step: Step, size: Size) -> None:
        equation, name = step.equation, step.name

        def divide(x: Size, y: int) -> Size:
            if not _holds(lambda: x % y == 0):
                raise ValueError(errors.remainder_left(x % y, name, self._specs, self._solution))
            return x // y

        value = self.values[name] = _solved(step, size, self.values, divide)
        self._words.append(
            f"'{name}' = {value} from specification '{equation.size}' for dimension "
            f"{equation.place} (= {size})"
        )
        if not _holds(lambda: value >= 1):
            raise ValueError(errors.below_one(name, self._specs, self._solution))

    def _check(self, equation: Equation, size: Size) -> None:
        want = equation.size.evaluate(self.values)
        if not _holds(lambda: want == size):
            place, spec = equation.place, equation.size
            raise ValueError(
                errors.sizes_inconsistent(place, size, spec, want, self._specs, self._solution)
            )

    def _check_constraints(self, scope: Any) -> None:
        for difference, is_equality, text in scope.constraints:
            others = variables(difference) - set(self.values)
            values = {name: _evaluated(variable(name, scope), self.values) for name in others}
            value = _evaluated(difference, self.values | values)
            if not _holds(lambda v=value, e=is_equality: v == 0 if e else v >= 0):
                relation = "equal" if is_equality else "greater or equal"
                raise ValueError(
                    errors.constraint_violated(
                        text, difference, relation, value, self._specs, self._solution
                    )
                )


def _evaluated(size: Size, values: Mapping[str, Size]) -> Size:
    return size.evaluate(values) if isinstance(size, Dim) else size


def _holds(question: Callable[[], bool]) -> bool:
    """The answer, which is no where it cannot be told."""
    try:
        return question()
    except InconclusiveDimensionOperation:
        return False
