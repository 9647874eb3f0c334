"""Sizes of dimensions that are not known yet: polynomials in dimension variables.

    factor   a variable, or an operation on sizes: `mod(a, 4)`, `floordiv`, `max`, `min`
    term     a product of powers of factors
    Dim      a sum of terms with integer coefficients, which is no constant

A variable stands for any positive integer. Sums and products are kept in one normal form, so that
two sizes are the same polynomial exactly if their difference is the integer 0; integers are plain
ints everywhere. Questions that the polynomials alone do not answer, as whether `a + b >= a`, go to
the scope (`dim_scope.py`), which knows bounds.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any, NamedTuple

from . import dim_errors as errors
from .errors import InconclusiveDimensionOperation

Size = Any  # an int, or a Dim


class Factor:
    """A variable, or an operation on sizes.

    Attributes:
      name: of the variable, or of the operation.
      operands: of the operation; a variable has none.
      key: by which factors are ordered, larger ones last.
    """

    __slots__ = ("_hash", "key", "name", "operands")

    def __init__(self, name: str, operands: tuple[Size, ...] = ()):
        self.name = name
        self.operands = operands
        size = 1 + sum(_size_of(operand) for operand in operands)
        self.key = (size, name, tuple(map(_key_of, operands)))
        self._hash = hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Factor) and self.key == other.key

    def __hash__(self) -> int:
        return self._hash

    def __str__(self) -> str:
        if not self.operands:
            return self.name
        return f"{self.name}({', '.join(map(str, self.operands))})"

    def variables(self) -> set[str]:
        """The names of the variables in it."""
        if not self.operands:
            return {self.name}
        return set().union(*map(variables, self.operands))


class Term:
    """A product of powers of factors; without factors it is 1.

    Attributes:
      powers: pairs of a factor and its exponent, the largest factor first.
      key: by which terms are ordered, larger ones last.
    """

    __slots__ = ("_hash", "key", "powers")

    def __init__(self, powers: Iterable[tuple[Factor, int]]):
        self.powers = tuple(sorted(powers, key=lambda power: power[0].key, reverse=True))
        size = sum(1 + exponent * factor.key[0] for factor, exponent in self.powers)
        self.key = (size, tuple((factor.key, exponent) for factor, exponent in self.powers))
        self._hash = hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Term) and self.key == other.key

    def __hash__(self) -> int:
        return self._hash

    def __str__(self) -> str:
        return "*".join(
            str(factor) if exponent == 1 else f"{factor}^{exponent}"
            for factor, exponent in reversed(self.powers)
        )

    def __mul__(self, other: Term) -> Term:
        powers = dict(self.powers)
        for factor, exponent in other.powers:
            powers[factor] = powers.get(factor, 0) + exponent
        return Term(powers.items())

    def over(self, other: Term) -> Term | None:
        """The term by which the other is to be multiplied to be this one, if there is one."""
        powers = dict(self.powers)
        for factor, exponent in other.powers:
            powers[factor] = powers.get(factor, 0) - exponent
        if any(exponent < 0 for exponent in powers.values()):
            return None
        return Term([power for power in powers.items() if power[1]])

    def factor(self) -> Factor | None:
        """The factor that the term is alone, if it is one."""
        if len(self.powers) == 1 and self.powers[0][1] == 1:
            return self.powers[0][0]
        return None


ONE = Term(())


def _size_of(size: Size) -> int:
    return size.key[0] if isinstance(size, Dim) else 1


def _key_of(size: Size) -> tuple[Any, ...]:
    return size.key if isinstance(size, Dim) else (1, ((ONE.key, size),))


class Division(NamedTuple):
    quotient: Size
    remainder: Size


class Dim:
    """A symbolic size: see `export.symbolic_shape`.

    Attributes:
      terms: pairs of a term and its coefficient, the largest term first.
      scope: where its variables belong, and what is known of them.
      key: by which operands of operations are ordered and compared.
    """

    weak_type = True  # as an integer of Python's, which it becomes where a number is needed
    __array_ufunc__ = None  # NumPy's arrays leave operations with sizes to these

    def __init__(self, terms: tuple[tuple[Term, int], ...], scope: Any):
        self.terms = terms
        self.scope = scope

    @cached_property
    def key(self) -> tuple[Any, ...]:
        size = sum(1 + abs(count) * term.key[0] for term, count in self.terms)
        return size, tuple((term.key, count) for term, count in self.terms)

    @cached_property
    def _hash(self) -> int:
        return hash((id(self.scope), self.key))

    def __hash__(self) -> int:
        return self._hash

    def __str__(self) -> str:
        return " ".join(_signed(term, count) for term, count in self.terms).removeprefix("+ ")

    __repr__ = __str__

    def __reduce__(self) -> Any:
        raise TypeError(f"the symbolic dimension '{self}' cannot be pickled or copied to elsewhere")

    def __copy__(self) -> Dim:
        return self

    def __deepcopy__(self, memo: Any) -> Dim:
        return self

    # ---------------------------------------------------------------- arithmetic

    def __add__(self, other: Any) -> Any:
        return _combined("addition", operator.add, _sum, self, other)

    __radd__ = __add__

    def __neg__(self) -> Size:
        return self * -1

    def __pos__(self) -> Dim:
        return self

    def __abs__(self) -> Size:
        return max_dim(self, -self)

    def __sub__(self, other: Any) -> Any:
        return _combined("subtraction", operator.sub, lambda x, y: _sum(x, y, -1), self, other)

    def __rsub__(self, other: Any) -> Any:
        return _combined(
            "subtraction", lambda x, y: y - x, lambda x, y: _sum(y, x, -1), self, other
        )

    def __mul__(self, other: Any) -> Any:
        return _combined("multiplication", operator.mul, _product, self, other)

    __rmul__ = __mul__

    def __pow__(self, exponent: Any) -> Any:
        if isinstance(exponent, int) and exponent >= 0:
            result: Size = 1
            for _ in range(exponent):
                result = result * self
            return result
        return self.__jax_array__() ** exponent

    def __rpow__(self, base: Any) -> Any:
        return base ** self.__jax_array__()

    def __floordiv__(self, other: Any) -> Any:
        quotient = lambda x, y: divided(x, y, self.scope).quotient  # noqa: E731
        return _combined("floordiv", operator.floordiv, quotient, self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        quotient = lambda x, y: divided(y, x, self.scope).quotient  # noqa: E731
        return _combined("floordiv", lambda x, y: y // x, quotient, self, other)

    def __mod__(self, other: Any) -> Any:
        remainder = lambda x, y: divided(x, y, self.scope).remainder  # noqa: E731
        return _combined("mod", operator.mod, remainder, self, other)

    def __rmod__(self, other: Any) -> Any:
        remainder = lambda x, y: divided(y, x, self.scope).remainder  # noqa: E731
        return _combined("mod", lambda x, y: y % x, remainder, self, other)

    def __divmod__(self, other: Any) -> tuple[Any, Any]:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> tuple[Any, Any]:
        return other // self, other % self

    def __truediv__(self, other: Any) -> Any:
        return self.__jax_array__() / other

    def __rtruediv__(self, other: Any) -> Any:
        return other / self.__jax_array__()

    # ---------------------------------------------------------------- comparison

    def __eq__(self, other: object) -> bool:
        """Whether the sizes are known to be equal; False is also the answer where they may be."""
        if other is self:
            return True
        if not is_size(other) or (isinstance(other, Dim) and other.scope is not self.scope):
            return False
        difference = self - other
        if not isinstance(difference, Dim):
            return difference == 0
        return self.scope.bounds(difference) == (0, 0)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __ge__(self, other: Any) -> bool:
        return self._decide(self - checked("comparison", other), f"'{self}' >= '{other}'")

    def __gt__(self, other: Any) -> bool:
        return self._decide(self - checked("comparison", other) - 1, f"'{self}' > '{other}'")

    def __le__(self, other: Any) -> bool:
        return self._decide(checked("comparison", other) - self, f"'{self}' <= '{other}'")

    def __lt__(self, other: Any) -> bool:
        return self._decide(checked("comparison", other) - self - 1, f"'{self}' < '{other}'")

    def _decide(self, difference: Size, comparison: str) -> bool:
        """Whether a difference is at least 0."""
        low, high = self.scope.bounds(difference)
        if low >= 0:
            return True
        if high < 0:
            return False
        raise InconclusiveDimensionOperation(errors.inconclusive(comparison, self.scope))

    def __bool__(self) -> bool:
        return self != 0

    def __index__(self) -> int:
        raise InconclusiveDimensionOperation(errors.not_constant(self))

    __int__ = __float__ = __index__

    # ---------------------------------------------------------------- values

    def __jax_array__(self) -> Any:
        """The size as a scalar of the program that is being traced."""
        return as_array.convert(self)

    def evaluate(self, values: Mapping[str, Any], algebra: Algebra | None = None) -> Any:
        """The value for values of the variables.

        Args:
          values: by name; numbers, sizes, or anything else that can be added and multiplied.
          algebra: how operations are computed; by default as for sizes.

        Raises:
          KeyError: a variable has no value.
        """
        rules = algebra or _SIZES
        total: Any = None
        for term, count in self.terms:
            product: Any = None
            for factor, exponent in term.powers:
                value = _value_of(factor, values, rules)
                for _ in range(exponent):
                    product = value if product is None else product * value
            product = count if product is None else product if count == 1 else product * count
            total = product if total is None else total + product
        return total


class Algebra(NamedTuple):
    """How the operations in factors are computed."""

    floordiv: Callable[[Any, Any], Any]
    mod: Callable[[Any, Any], Any]
    max: Callable[[Any, Any], Any]
    min: Callable[[Any, Any], Any]


def _value_of(factor: Factor, values: Mapping[str, Any], algebra: Algebra) -> Any:
    if not factor.operands:
        return values[factor.name]
    operands = [x.evaluate(values, algebra) if isinstance(x, Dim) else x for x in factor.operands]
    return getattr(algebra, factor.name)(*operands)


class _AsArray:
    """How a size becomes a value of a program; the layer of operations says so."""

    convert: Callable[..., Any]  # of a size, and of the dtype that it is to have


as_array = _AsArray()

# ---------------------------------------------------------------- making sizes


def _signed(term: Term, count: int) -> str:
    sign, count = ("+", count) if count > 0 else ("-", -count)
    if term == ONE:
        return f"{sign} {count}"
    return f"{sign} {term}" if count == 1 else f"{sign} {count}*{term}"


def is_size(value: Any) -> bool:
    """Whether a value is an integer or a symbolic size."""
    if isinstance(value, Dim):
        return True
    try:
        operator.index(value)
    except TypeError:
        return False
    return True


def checked(operation: str, value: Any) -> Size:
    """A size; TypeError if the value is none."""
    if isinstance(value, Dim):
        return value
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(errors.not_an_integer(operation, value)) from None


def size_of(value: Any) -> Size:
    """A size of a dimension: a symbolic one as it is, others as Python's ints.

    Raises:
      TypeError: it is no integer.
    """
    return value if type(value) is Dim else operator.index(value)


def is_symbolic_dim(p: Any) -> bool:
    """Whether a size is symbolic.

    >>> from covector import export
    >>> [export.is_symbolic_dim(size) for size in export.symbolic_shape("b, 3")]
    [True, False]
    """
    return isinstance(p, Dim)


def has_symbolic(shape: Iterable[Any]) -> bool:
    """Whether one of the sizes is symbolic."""
    return any(type(size) is Dim for size in shape)


def at_least(size: Size, other: Size) -> bool:
    """Whether a size is known to be so large, for choices by which nothing but the speed changes.

    Of one that is symbolic that is known only if it holds for all values of the variables.
    """
    if isinstance(size, Dim) or isinstance(other, Dim):
        difference = size - other
        return _scope_of(size, other).bounds(difference)[0] >= 0
    return size >= other


def variables(size: Size) -> set[str]:
    """The names of the variables in a size."""
    if not isinstance(size, Dim):
        return set()
    return {
        name for term, _ in size.terms for factor, _ in term.powers for name in factor.variables()
    }


def terms_of(size: Size) -> tuple[tuple[Term, int], ...]:
    """The terms of a size with their coefficients; an integer is a multiple of 1."""
    if isinstance(size, Dim):
        return size.terms
    return ((ONE, size),) if size else ()


def polynomial(counts: Mapping[Term, int], scope: Any) -> Size:
    """The size with these coefficients, where the scope's equalities are applied."""
    for term, count in counts.items():
        if count and (changes := scope.rewritten(term, count)) is not None:
            rest = dict(counts)
            del rest[term]
            for other, more in changes:
                rest[other] = rest.get(other, 0) + more
            return polynomial(rest, scope)
    terms = [pair for pair in counts.items() if pair[1]]
    if not terms:
        return 0
    terms.sort(key=lambda pair: pair[0].key, reverse=True)
    return terms[0][1] if terms[0][0] == ONE else Dim(tuple(terms), scope)


def variable(name: str, scope: Any) -> Size:
    """A dimension variable."""
    return polynomial({Term([(Factor(name), 1)]): 1}, scope)


def operation(name: str, x: Size, y: Size, scope: Any) -> Size:
    """An operation on sizes that is not computed, but for itself a factor."""
    return polynomial({Term([(Factor(name, (x, y)), 1)]): 1}, scope)


def _combined(name: str, of_arrays: Any, of_sizes: Any, x: Dim, y: Any) -> Any:
    """An operation on a size and something else: a size if that is one, else an array."""
    if isinstance(y, Dim):
        if x.scope is not y.scope:
            raise ValueError(errors.scopes_mixed(f"for {name}", x, y))
        return of_sizes(x, y)
    if is_size(y) and not hasattr(y, "aval"):
        return of_sizes(x, operator.index(y))
    return of_arrays(x.__jax_array__(), y)


def _scope_of(*sizes: Size) -> Any:
    return next(size.scope for size in sizes if isinstance(size, Dim))


def _sum(x: Size, y: Size, factor: int = 1) -> Size:
    """x + factor * y"""
    counts = dict(terms_of(x))
    for term, count in terms_of(y):
        counts[term] = counts.get(term, 0) + factor * count
    return polynomial(counts, _scope_of(x, y))


def _product(x: Size, y: Size) -> Size:
    counts: dict[Term, int] = {}
    for one, count in terms_of(x):
        for other, times in terms_of(y):
            term = one * other
            counts[term] = counts.get(term, 0) + count * times
    return polynomial(counts, _scope_of(x, y))


def divided(x: Size, y: Size, scope: Any) -> Division:
    """Floor division with remainder.

    Long division of polynomials, by leading terms; if it comes to an end with a remainder that is
    0, or both divisor and remainder are numbers, the result is a polynomial. Otherwise quotient
    and remainder are factors of their own.
    """
    rest, quotient = x, 0
    lead, lead_count = terms_of(y)[0] if y != 0 else (ONE, 0)
    if not lead_count:
        raise ZeroDivisionError(errors.division_by_zero(y))
    while isinstance(rest, Dim):
        term, count = rest.terms[0]
        partial = term.over(lead)
        if partial is None or count % lead_count:
            break
        step = polynomial({partial: count // lead_count}, scope)
        quotient, rest = quotient + step, rest - step * y
    if not isinstance(rest, Dim):
        if not isinstance(y, Dim):
            return Division(quotient + rest // y, rest % y)
        if rest == 0:
            return Division(quotient, 0)
    return Division(operation("floordiv", x, y, scope), operation("mod", x, y, scope))


def max_dim(x: Size, y: Size) -> Size:
    """The greater one of two sizes."""
    return _extremum("max", x, y)


def min_dim(x: Size, y: Size) -> Size:
    """The lesser one of two sizes."""
    return _extremum("min", x, y)


def _extremum(name: str, x: Any, y: Any) -> Size:
    if not isinstance(x, Dim) and not isinstance(y, Dim):
        x, y = checked(name, x), checked(name, y)
        return max(x, y) if name == "max" else min(x, y)
    x, y = checked(name, x), checked(name, y)
    scope = _scope_of(x, y)
    low, high = scope.bounds(x - y)
    if low >= 0:
        return x if name == "max" else y
    if high <= 0:
        return y if name == "max" else x
    return operation(name, x, y, scope)


_SIZES = Algebra(lambda x, y: x // y, lambda x, y: x % y, max_dim, min_dim)
