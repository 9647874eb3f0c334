"""`odeint`: the solution of an ordinary differential equation, and its derivatives.

The solution comes from steps of the method of Dormand and Prince (`dormand_prince.py`), as long as
the error that is estimated for each allows.  Its cotangents come from another such solution,
backwards in time.  With y' = f(y, t, p), a cotangent a of the state fulfils

    a' = -a df/dy,    and adds  -a df/dp  to that of p, and  a df/dt  to that of the time, per time

(L. S. Pontryagin et al., 1962; R. T. Q. Chen et al., "Neural Ordinary Differential Equations",
NeurIPS 2018, appendix B).  So nothing of the way there is kept but the states at the given times;
from each of these, backwards to the one before, state and cotangents are solved for together.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..api.autodiff import vjp
from ..api.closures import closure_convert
from ..api.custom_derivatives import custom_vjp
from ..api.jit import jit
from ..api.vectorize import vmap
from ..base import dtypes, tree
from ..base import ode_errors as errors
from ..control.loops import while_loop
from ..control.scan import scan
from ..core.array import Array
from ..core.avals import aval_of
from ..core.trace import Tracer
from ..numpy.contraction import vdot
from ..numpy.creation import asarray, zeros_like
from ..numpy.joining import concatenate
from ..numpy.parts import real
from ..numpy.polynomials import polyval
from ..numpy.promotion import promote_dtypes_inexact, shape_of
from ..numpy.ravel import ravel_pytree
from ..numpy.selection import clip, where
from . import dormand_prince as method


def odeint(
    func: Callable[..., Any],
    y0: Any,
    t: Any,
    *args: Any,
    rtol: float = 1.4e-8,
    atol: float = 1.4e-8,
    mxstep: float = np.inf,
    hmax: float = np.inf,
) -> Any:
    """Solve dy/dt = func(y, t, *args) with y = y0 at the first of the times.

    An explicit method of order five that chooses its steps (Dormand and Prince, 1980).  The result
    may be differentiated in `y0`, `t`, `args` and what `func` closes over: its cotangents are
    solved for backwards in time, in memory that does not grow with the number of steps.

    Args:
      func: takes a state, a time and `args`; returns the derivative, a tree like `y0`.
      y0: the state at `t[0]`, a tree of arrays of real or complex numbers.
      t: a vector of increasing times.
      *args: trees of arrays, further arguments of `func`.
      rtol, atol: the error of a step that is allowed, relative to the state and absolute.
      mxstep: the largest number of steps between two times; what is reached by then counts.
      hmax: the longest step.

    Returns:
      The states at the times: a tree like `y0`, with the times as leading dimension.

    Raises:
      TypeError: an argument holds something else than arrays and numbers, or `func` returns
        another structure than that of `y0`.
      ValueError: `t` is no vector, or derivatives have other shapes than the state.

    >>> import covector as cv, covector.numpy as jnp
    >>> from covector.experimental.ode import odeint
    >>> def pendulum(state, t, length):
    ...     angle, speed = state
    ...     return speed, -jnp.sin(angle) / length
    >>> t = jnp.linspace(0.0, 3.0, 4)
    >>> angle, speed = odeint(pendulum, (1.0, 0.0), t, 1.0, rtol=1e-6, atol=1e-6)
    >>> print(*[f"{x:.2f}" for x in angle])
    1.00 0.60 -0.31 -0.95
    >>> last = lambda length: odeint(pendulum, (1.0, 0.0), t, length, rtol=1e-6, atol=1e-6)[0][-1]
    >>> print(f"{cv.grad(last)(1.0):.2f}")
    0.44
    """
    times = _checked(y0, t, args)
    converted, values = closure_convert(func, y0, times[0], *args)
    if not values:
        converted = func  # by which the compiled program is found again
    return _solve(converted, rtol, atol, mxstep, hmax, y0, times, *args, *values)


def _checked(y0: Any, t: Any, args: tuple[Any, ...]) -> Any:
    """The times as an array of floats."""
    for what, given in (("`y0`", y0), ("`t`", t), *[("`args`", arg) for arg in args]):
        for leaf in tree.leaves(given):
            try:
                numeric = isinstance(leaf, Tracer) or dtypes.issubdtype(
                    aval_of(leaf).dtype, np.number
                )
            except TypeError:
                numeric = False
            if not numeric and getattr(leaf, "dtype", None) != np.bool_:
                raise TypeError(errors.not_numbers(what, leaf))
    if len(shape_of(t)) != 1 or not shape_of(t)[0]:
        raise ValueError(errors.times(shape_of(t)))
    (times,) = promote_dtypes_inexact(asarray(t))
    return times


@partial(jit, static_argnums=(0, 1, 2, 3, 4))
def _solve(
    func: Any, rtol: float, atol: float, mxstep: float, hmax: float, y0: Any, t: Any, *args: Any
) -> Any:
    """`odeint` for a function that closes over nothing; states become vectors."""
    y0 = tree.map(lambda x: promote_dtypes_inexact(asarray(x))[0], y0)
    start, unravel = ravel_pytree(y0)

    def slope(y: Any, t: Any, *args: Any) -> Any:
        found = func(unravel(y), t, *args)
        _check_slope(y0, found)
        return ravel_pytree(tree.map(lambda x, k: asarray(k).astype(x.dtype), y0, found))[0]

    return vmap(unravel)(_states(slope, rtol, atol, mxstep, hmax, start, t, *args))


def _check_slope(y0: Any, slope: Any) -> None:
    if tree.structure(y0) != tree.structure(slope):
        raise TypeError(errors.other_structure(tree.structure(y0), tree.structure(slope)))
    for y, k in zip(tree.leaves(y0), tree.leaves(slope)):
        if shape_of(y) != shape_of(k):
            raise ValueError(errors.other_shape(shape_of(y), shape_of(k)))


# ---------------------------------------------------------------- forwards


@partial(custom_vjp, nondiff_argnums=(0, 1, 2, 3, 4))
def _states(
    func: Any, rtol: float, atol: float, mxstep: float, hmax: float, y0: Any, ts: Any, *args: Any
) -> Array:
    """The vectors of state at the times."""

    def slope_at(y: Any, t: Any) -> Any:
        return func(y, t, *args)

    def wanting(target: Any) -> Callable[[Any], Any]:
        def is_before(state: Any) -> Any:
            count, _, _, t, h, _, _ = state
            return (t < target) & (count < mxstep) & (h > 0)

        return is_before

    def one_step(state: Any) -> Any:
        count, y, slope, t, h, begin, curve = state
        taken = method.step(slope_at, y, slope, t, h)
        error = method.relative_error(taken.error, y, taken.state, rtol, atol)
        after = clip(method.next_length(h, error), 0.0, hmax)
        accepted = (count + 1, taken.state, taken.slope, t + h, after, t, taken.curve)
        refused = (count + 1, y, slope, t, after, begin, curve)
        return [where(error <= 1, new, old) for new, old in zip(accepted, refused)]

    def up_to(state: Any, target: Any) -> tuple[Any, Any]:
        _, *rest = while_loop(wanting(target), one_step, [np.int32(0), *state])
        _, _, t, _, begin, curve = rest
        # Where no step was taken, both ends are one: the curve is constant there.
        part = where(t > begin, target - begin, 0.0) / where(t > begin, t - begin, 1.0)
        return rest, polyval(curve, part.astype(y0.dtype))

    slope = slope_at(y0, ts[0])
    h = clip(method.first_length(slope_at, y0, slope, ts[0], rtol, atol), 0.0, hmax)
    begun = [y0, slope, ts[0], h.astype(ts.dtype), ts[0], method.constant_curve(y0)]
    _, states = scan(up_to, begun, ts[1:])
    return concatenate([y0[None], states])


# ---------------------------------------------------------------- backwards


def _forward(
    func: Any, rtol: float, atol: float, mxstep: float, hmax: float, y0: Any, ts: Any, *args: Any
) -> tuple[Any, Any]:
    states = _states(func, rtol, atol, mxstep, hmax, y0, ts, *args)
    return states, (states, ts, args)


def _backward(
    func: Any, rtol: float, atol: float, mxstep: float, hmax: float, residuals: Any, cts: Any
) -> tuple[Any, ...]:
    states, ts, args = residuals

    def slopes(state: Any, minus_t: Any, args: Any) -> Any:
        """The derivative by -t of the state, its cotangent, and the sums for t and `args`."""
        y, ct, _, _ = state
        slope, pull = vjp(func, y, -minus_t, *args)
        y_bar, t_bar, *args_bar = pull(ct)
        return -slope, y_bar, t_bar, tuple(args_bar)

    def to_time_before(carry: Any, index: Any) -> tuple[Any, Any]:
        ct, t0_bar, args_bar = carry
        # A later end would have changed the result by the slope there.
        t_bar = real(vdot(func(states[index], ts[index], *args).conj(), cts[index]))
        between = -ts[np.array([0, -1]) + index]
        at_ends = odeint(
            slopes,
            (states[index], ct, t0_bar - t_bar, args_bar),
            between,
            args,
            rtol=rtol,
            atol=atol,
            mxstep=mxstep,
            hmax=hmax,
        )
        _, ct, t0_bar, args_bar = tree.map(lambda x: x[1], at_ends)
        return (ct + cts[index - 1], t0_bar, args_bar), t_bar

    zeros = tree.map(zeros_like, args)
    begun = (cts[-1], zeros_like(ts[0]), zeros)
    last_to_first = np.arange(len(ts) - 1, 0, -1)
    (y_bar, t0_bar, args_bar), ts_bar = scan(to_time_before, begun, last_to_first)
    return (y_bar, concatenate([t0_bar[None], ts_bar[::-1]]), *args_bar)


_states.defvjp(_forward, _backward)
