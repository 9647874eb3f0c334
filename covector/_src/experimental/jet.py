"""`jet`: higher derivatives along a curve, at a cost that grows with a power of their number.

For a curve x(t) and z(t) = f(x(t)) nesting `jvp` gives z', z'', ... in work that doubles with each.
But the chain rule

    z' = df(x) x'        that is, as programs:   z' = T(x, x')   with T the jvp rule of f

says that the velocity of z is the value of a program on curves again, on x and its velocity x'.  So
let a *curve* be a value at t = 0 and a velocity, a curve, that is computed when it is asked for.  A
primitive maps curves to the curve whose value is the primitive of their values, and whose velocity
is T of the curves and their velocities.  What keeps this from doubling is that nothing is computed
twice: an eqn that was met with the same operands is the same curve.  Of z = tanh(x), the rule

    z' = (1 - tanh(x)^2) x'

names z itself, and so only products are new with each order, which is the recurrence that books
give for tanh; in the same way they all follow, of exp, of powers, of convolutions, from the rules
that forward mode has.  Of a quotient that rule names another one, (x / y) / y, which would double
the work; with z' = (x' - z y') / y it does not.  (A. Griewank, A. Walther, "Evaluating
Derivatives", 2nd edition, 2008, chapter 13, has the recurrences.)

Loops and branches are primitives, too; their programs are differentiated as often as the order
says, so that in them the work does double.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import factorial
from typing import Any

import numpy as np

from ..api.wrapping import check_function
from ..base import dtypes, tree
from ..base import jet_errors as errors
from ..control.jit import jit_p
from ..core.avals import aval_of
from ..core.jaxpr import Jaxpr, Literal
from ..core.primitive import Primitive
from ..core.trace import context
from ..core.zeros import Zero
from ..numpy.creation import asarray, zeros_like
from ..ops.arithmetic import add_p, div_p, mul_p, neg_p
from ..transforms.flatten import FlatFunction
from ..transforms.signatures import debug_info
from ..transforms.simplify import prune
from ..transforms.stage import stage


def jet(
    fun: Callable[..., Any],
    primals: Sequence[Any],
    series: Sequence[Sequence[Any]],
    factorial_scaled: bool = True,
) -> tuple[Any, Any]:
    """Push a curve forward through a function: derivatives of any order along it (Taylor mode).

    Args:
      fun: a function of trees of arrays.
      primals: its arguments, where the curve is at t = 0.
      series: for each argument the derivatives of the curve in t there, the first one first; as
        many for all. Each is a tree like the argument.
      factorial_scaled: with False the terms are the coefficients of powers of t instead, that is
        divided by factorials, in `series` and in the result.

    Returns:
      `(fun(*primals), series of the result)`, in which a list of terms stands for each array.

    Raises:
      ValueError: the series have different numbers of terms, or not the shapes of the primals.
      TypeError: a series is no list or tuple.

    >>> import covector as cv, covector.numpy as jnp
    >>> from covector.experimental.jet import jet
    >>> value, (first, second, third) = jet(jnp.sin, (0.0,), ((1.0, 0.0, 0.0),))
    >>> print(value, first, second, third)
    0.0 1.0 0.0 -1.0
    """
    check_function("jet", fun)
    order = _checked_order(primals, series)
    leaves, in_tree = tree.flatten((tuple(primals), {}))
    terms = [[asarray(x) for x in tree.leaves(list(term))] for term in zip(*series)]
    if not factorial_scaled:
        terms = [[x * factorial(k) for x in term] for k, term in enumerate(terms, 1)]
    flat = FlatFunction(fun, in_tree)
    info = debug_info("jet", fun, primals, {})
    jaxpr, consts = stage(flat, list(map(aval_of, leaves)), info)
    curves = [_given(x, [term[i] for term in terms]) for i, x in enumerate(map(asarray, leaves))]
    outs = Interpreter().evaluate(jaxpr, list(map(Curve, consts)), curves)
    out_terms = [_terms(curve, order) for curve in outs]
    if not factorial_scaled:
        out_terms = [[x / factorial(k) for k, x in enumerate(t, 1)] for t in out_terms]
    values = [curve.value for curve in outs]
    return tree.unflatten(flat.out_tree, values), tree.unflatten(flat.out_tree, out_terms)


def _checked_order(primals: Sequence[Any], series: Sequence[Sequence[Any]]) -> int:
    """The number of terms of all series."""
    if len(primals) != len(series):
        raise ValueError(errors.not_as_many(len(primals), len(series)))
    for i, (primal, terms) in enumerate(zip(primals, series)):
        if not isinstance(terms, (list, tuple)):
            raise TypeError(errors.not_a_series(i, terms))
        shapes = tree.map(np.shape, primal)
        for k, term in enumerate(terms, 1):
            if tree.map(np.shape, term) != shapes:
                raise ValueError(errors.term(i, k, shapes, tree.map(np.shape, term)))
    counts = list(map(len, series))
    if len({*counts}) > 1:
        raise ValueError(errors.lengths(counts))
    return counts[0] if counts else 0


# ---------------------------------------------------------------- curves


class Curve:
    """A curve of arrays at t = 0: its value, and its velocity, another curve; None if it rests."""

    __slots__ = ("_velocity", "value")

    def __init__(self, value: Any, velocity: Callable[[], Curve | None] | None = None):
        self.value = value
        self._velocity: Any = velocity

    @property
    def may_move(self) -> bool:
        """Whether there is a velocity, as far as is known without computing it."""
        return self._velocity is not None

    @property
    def velocity(self) -> Curve | None:
        if callable(self._velocity):
            self._velocity = self._velocity()
        return self._velocity


def _given(value: Any, terms: Sequence[Any]) -> Curve:
    """The curve with these derivatives, of which those behind the last are not asked for."""
    if not terms or not dtypes.issubdtype(value.dtype, np.inexact):
        return Curve(value)
    return Curve(value, lambda: _given(terms[0].astype(value.dtype), terms[1:]))


def _terms(curve: Curve, order: int) -> list[Any]:
    """The first derivatives of a curve."""
    terms: list[Any] = []
    derivative: Curve | None = curve
    for _ in range(order):
        derivative = derivative and derivative.velocity
        terms.append(zeros_like(curve.value) if derivative is None else derivative.value)
    return terms


class Interpreter:
    """Evaluates programs on curves, each eqn once for the same operands."""

    def __init__(self) -> None:
        # Curves by what they are the result of; the operands are kept, since their ids are keys.
        self._results: dict[Any, tuple[list[Curve], Sequence[Curve]]] = {}
        self._literals: dict[Any, Curve] = {}
        self._tangents: dict[Any, tuple[Jaxpr, list[Curve], list[bool]]] = {}

    def evaluate(self, jaxpr: Jaxpr, consts: Sequence[Curve], args: Sequence[Curve]) -> list[Curve]:
        """The curves that a program returns for curves as constants and arguments."""
        curves = dict(zip((*jaxpr.constvars, *jaxpr.invars), (*consts, *args)))

        def read(atom: Any) -> Curve:
            return self._literal(atom) if type(atom) is Literal else curves[atom]

        for eqn in jaxpr.eqns:
            outs = self.apply(eqn.primitive, list(map(read, eqn.invars)), eqn.params)
            curves.update(zip(eqn.outvars, outs))
        return list(map(read, jaxpr.outvars))

    def apply(
        self, primitive: Primitive, operands: list[Curve], params: dict[str, Any]
    ) -> list[Curve]:
        """The curves that a primitive makes of curves."""
        if primitive is jit_p:
            closed = params["jaxpr"]
            return self.evaluate(closed.jaxpr, list(map(Curve, closed.consts)), operands)
        key = (primitive, *params.items(), *map(id, operands))
        try:
            known = self._results.get(key)
        except TypeError:  # a parameter is not hashable
            return self._applied(primitive, operands, params)
        if known is None:
            outs = self._applied(primitive, operands, params)
            self._results[key] = known = outs, operands
        return known[0]

    def _applied(
        self, primitive: Primitive, operands: list[Curve], params: dict[str, Any]
    ) -> list[Curve]:
        if primitive is div_p and operands[1].may_move:
            return [self._quotient(*operands)]
        out = context.trace.process(primitive, [x.value for x in operands], params)
        values = out if primitive.multiple_results else [out]
        if not any(x.may_move for x in operands):
            return list(map(Curve, values))
        found: list[Curve | None] = []

        def velocity(i: int) -> Curve | None:
            if not found:
                found.extend(self._velocities(primitive, operands, params, len(values)))
            return found[i]

        return [Curve(x, lambda i=i: velocity(i)) for i, x in enumerate(values)]

    def _velocities(
        self, primitive: Primitive, operands: list[Curve], params: dict[str, Any], count: int
    ) -> list[Curve | None]:
        """The velocities of the `count` results of a primitive, by the chain rule."""
        moving = [x.velocity for x in operands]
        if all(v is None for v in moving):
            return [None] * count
        program, consts, nonzeros = self._tangent_program(
            primitive, operands, tuple(v is not None for v in moving), params
        )
        curves = [*operands, *[v for v in moving if v is not None]]
        outs = iter(self.evaluate(program, consts, curves))
        return [next(outs) if nonzero else None for nonzero in nonzeros]

    def _quotient(self, x: Curve, y: Curve) -> Curve:
        """x / y; its velocity is a quotient by the same y, which names the result."""

        def velocity() -> Curve | None:
            terms = [x.velocity] if x.velocity else []
            if y.velocity:
                terms += self.apply(neg_p, self.apply(mul_p, [z, y.velocity], {}), {})
            if not terms:
                return None
            sum_of = self.apply(add_p, terms, {}) if len(terms) > 1 else terms
            return self._quotient(*sum_of, y)

        z = Curve(div_p.bind(x.value, y.value), velocity)
        return z

    def _tangent_program(
        self,
        primitive: Primitive,
        operands: list[Curve],
        moves: tuple[bool, ...],
        params: dict[str, Any],
    ) -> tuple[Jaxpr, list[Curve], list[bool]]:
        """The program from operands and the tangents of those that move to tangents of results,
        and for each result whether it has one."""
        avals = [aval_of(x.value) for x in operands]
        key = (primitive, moves, *avals, *params.items())
        try:
            known = self._tangents.get(key)
        except TypeError:
            return _tangent_program(primitive, avals, moves, params)
        if known is None:
            known = self._tangents[key] = _tangent_program(primitive, avals, moves, params)
        return known

    def _literal(self, atom: Literal) -> Curve:
        key = (atom.aval, np.asarray(atom.val).tobytes())
        return self._literals.setdefault(key, Curve(atom.val))


def _tangent_program(
    primitive: Primitive, avals: Sequence[Any], moves: Sequence[bool], params: dict[str, Any]
) -> tuple[Jaxpr, list[Curve], list[bool]]:
    tangent_avals = [aval.to_tangent_aval() for aval in avals]
    nonzeros: list[bool] = []

    def tangents_of_results(*args: Any) -> list[Any]:
        given = iter(args[len(avals) :])
        tangents = [next(given) if m else Zero(a) for a, m in zip(tangent_avals, moves)]
        _, out = primitive.jvp(args[: len(avals)], tangents, **params)
        outs = out if primitive.multiple_results else [out]
        nonzeros[:] = [type(t) is not Zero for t in outs]
        return [t for t in outs if type(t) is not Zero]

    given_avals = [*avals, *[aval for aval, m in zip(tangent_avals, moves) if m]]
    jaxpr, consts = prune(*stage(tangents_of_results, given_avals))
    return jaxpr, list(map(Curve, consts)), nonzeros
