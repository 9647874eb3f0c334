"""Quasi-Newton methods: the inverse of the Hessian is learned from how gradients change.

From a step s and the change y of the gradient along it, both methods take the inverse H of the
Hessian to be  (1 - r s y^T) H (1 - r y s^T) + r s s^T,  with r = 1 / y^T s: the matrix next to H
that takes y to s.  BFGS stores the matrix; L-BFGS the last pairs, and multiplies by their product.

(Nocedal, Wright, "Numerical Optimization", 2nd edition, 2006, chapters 6 and 7.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...control.fori_loop import fori_loop
from ...control.loops import while_loop
from ...numpy.contraction import dot, outer
from ...numpy.creation import asarray, zeros
from ...numpy.linear_algebra.norms import norm as norm_of
from ...numpy.parts import isfinite
from ...numpy.selection import where
from ...numpy.shaping import roll
from .line_search import search

ValueAndGrad = Callable[[Any], tuple[Any, Any]]

CONVERGED, MOST_STEPS, MOST_CALLS, MOST_GRADIENTS, NO_PROGRESS, NO_STEP = range(6)


class State(NamedTuple):
    """Where a minimization is.

    Attributes:
      x, value, gradient: the point, the value and the gradient there.
      memory: what the method has learned of the Hessian.
      gain: by how much the last step lowered the value.
      steps, calls: how many steps were made, and how often function and gradient were computed.
      status: `RUNNING`, or why the method has ended.
    """

    x: Any
    value: Any
    gradient: Any
    memory: Any
    gain: Any
    steps: Any
    calls: Any
    status: Any


RUNNING = -1


class Method(NamedTuple):
    """How the Hessian is learned.

    Attributes:
      start: the memory to begin with.
      product: the memory and a vector to the product of the inverse Hessian with it.
      learn: the memory, s, y and 1 / y^T s to the next memory.
    """

    start: Any
    product: Callable[[Any, Any], Any]
    learn: Callable[..., Any]


def descend(
    fun: ValueAndGrad,
    x: Any,
    method: Method,
    small: Callable[[Any], Any],
    status: Callable[[State, State, Any], Any],
    most_steps: float,
    most_trials: int,
) -> State:
    """Minimize.

    Args:
      fun: the function and its gradient.
      x: where to start.
      small: whether a gradient is small enough to end.
      status: of a step, from the states before and after it, and whether the line search failed;
        `RUNNING` to go on.
      most_steps: how many there may be.
      most_trials: how many steps a line search may try.
    """
    value, gradient = fun(x)
    code = where(small(gradient), CONVERGED, RUNNING)
    gain = norm_of(gradient) / 2

    def step(state: State) -> State:
        p = -method.product(state.memory, state.gradient)
        slope = dot(state.gradient, p)
        # A first guess of the step from the last gain; Newton's step of 1 once that is near.
        guess = 1.01 * 2 * state.gain / where(slope == 0, 1, -slope)
        first = where((guess > 0) & (guess < 1), guess, 1)
        found = search(fun, state.x, p, state.value, state.gradient, first, most_trials)
        s = found.low.step * p
        y = found.low.gradient - state.gradient
        curvature = dot(y, s)
        r = 1 / where(curvature == 0, 1, curvature)
        usable = (curvature > 0) & isfinite(r)
        learned = method.learn(state.memory, s, y, r)
        memory = _chosen(usable, learned, state.memory)
        after = State(
            state.x + s,
            found.low.value,
            found.low.gradient,
            memory,
            state.value - found.low.value,
            state.steps + 1,
            state.calls + found.count,
            state.status,
        )
        code = status(state, after, ~found.found & ~(after.gain > 0))
        return after._replace(status=where(small(after.gradient), CONVERGED, code))

    start = State(x, value, gradient, method.start, gain, 0, 1, code)
    end = while_loop(
        lambda state: (state.status == RUNNING) & (state.steps < most_steps), step, start
    )
    return end._replace(status=where(end.status == RUNNING, MOST_STEPS, end.status))


def _chosen(condition: Any, new: Any, old: Any) -> Any:
    if isinstance(new, tuple):
        return type(new)(*[_chosen(condition, a, b) for a, b in zip(new, old)])
    return where(condition, new, old)


def first_of(*reasons: tuple[Any, int]) -> Any:
    """The code of the first condition that holds, or RUNNING."""
    code: Any = RUNNING
    for condition, value in reversed(reasons):
        code = where(condition, value, code)
    return code


# ---------------------------------------------------------------- BFGS


class Inverse(NamedTuple):
    """The inverse of the Hessian, and whether that is still only a guess."""

    matrix: Any
    guess: Any


def bfgs(n: int, dtype: Any) -> Method:
    """The inverse of the Hessian as a matrix, the identity for the first step.

    Before the first pair is learned the identity is scaled to what that tells of its size (Nocedal
    and Wright's (6.20)): in low precision the update of a matrix that is far too large would leave
    nothing but rounding errors.
    """

    def product(inverse: Inverse, q: Any) -> Any:
        return dot(inverse.matrix, q)

    def learn(inverse: Inverse, s: Any, y: Any, r: Any) -> Inverse:
        scale = where(inverse.guess, 1 / (r * dot(y, y)), 1)
        h = scale * inverse.matrix
        h = h - r * outer(s, dot(h, y))
        h = h - r * outer(dot(h, y), s) + r * outer(s, s)
        return Inverse((h + h.T) / 2, asarray(False))

    return Method(Inverse(asarray(np.eye(n, dtype=dtype)), asarray(True)), product, learn)


def minimize_bfgs(
    fun: ValueAndGrad,
    x0: Any,
    maxiter: int | None = None,
    norm: Any = np.inf,
    gtol: float = 1e-5,
    line_search_maxiter: int = 10,
) -> State:
    most = x0.size * 200 if maxiter is None else maxiter

    def status(before: State, after: State, failed: Any) -> Any:
        return where(failed, NO_STEP, RUNNING)

    def small(gradient: Any) -> Any:
        return norm_of(gradient, ord=norm) < gtol

    method = bfgs(x0.size, x0.dtype)
    return descend(fun, x0, method, small, status, most, line_search_maxiter)


# ---------------------------------------------------------------- L-BFGS


class Pairs(NamedTuple):
    """The last steps and changes of the gradient, the latest last, and 1 / y^T s of each.

    Where there are fewer, there are zeros, which change nothing.
    """

    steps: Any
    changes: Any
    factors: Any
    scale: Any


def limited_bfgs(n: int, dtype: Any, count: int) -> Method:
    """The inverse of the Hessian as the product that `count` pairs make of a multiple of 1."""

    def product(pairs: Pairs, q: Any) -> Any:
        """Algorithm 7.4: through the pairs backwards, then forwards again."""

        def backwards(i: Any, state: Any) -> Any:
            q, weights = state
            k = count - 1 - i
            weight = pairs.factors[k] * dot(pairs.steps[k], q)
            return q - weight * pairs.changes[k], weights.at[k].set(weight)

        def forwards(k: Any, state: Any) -> Any:
            q, weights = state
            weight = weights[k] - pairs.factors[k] * dot(pairs.changes[k], q)
            return q + weight * pairs.steps[k], weights

        q, weights = fori_loop(0, count, backwards, (q, zeros((count,), dtype)))
        return fori_loop(0, count, forwards, (pairs.scale * q, weights))[0]

    def learn(pairs: Pairs, s: Any, y: Any, r: Any) -> Pairs:
        rows = [roll(x, -1, 0).at[-1].set(v) for x, v in zip(pairs, (s, y, r))]
        square = dot(y, y)
        return Pairs(*rows, 1 / (r * where(square == 0, 1, square)))

    empty = zeros((count, n), dtype)
    return Method(Pairs(empty, empty, zeros((count,), dtype), asarray(1, dtype)), product, learn)


def minimize_lbfgs(
    fun: ValueAndGrad,
    x0: Any,
    maxiter: float | None = None,
    norm: Any = np.inf,
    maxcor: int = 10,
    ftol: float = 2.220446049250313e-09,
    gtol: float = 1e-5,
    maxfun: float | None = None,
    maxgrad: float | None = None,
    maxls: int = 20,
) -> State:
    if maxiter is None and maxfun is None and maxgrad is None:
        maxiter = x0.size * 200
    most, most_calls, most_gradients = [
        np.inf if x is None else x for x in (maxiter, maxfun, maxgrad)
    ]

    def status(before: State, after: State, failed: Any) -> Any:
        return first_of(
            (failed, NO_STEP),
            (after.calls >= most_calls, MOST_CALLS),
            (after.calls >= most_gradients, MOST_GRADIENTS),
            (before.value - after.value < ftol, NO_PROGRESS),
        )

    def small(gradient: Any) -> Any:
        return norm_of(gradient, ord=norm) < gtol

    method = limited_bfgs(x0.size, x0.dtype, maxcor)
    return descend(fun, x0, method, small, status, most, maxls)
