"""`fori_loop`: a loop over a range of integers.

Where the bounds are known while the program is written it is a `scan`, whose number of steps is
known as well; otherwise it is a `while_loop` that counts.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any, TypeVar
from weakref import WeakKeyDictionary, ref

import numpy as np

from ..base import config, dtypes, loop_errors
from ..base.errors import InconclusiveDimensionOperation
from ..base.tracebacks import boundary
from ..core.avals import aval_of
from ..core.trace import Tracer
from ..ops.arithmetic import add
from ..ops.comparison import lt
from ..ops.conversion import convert
from ..ops.linear import constant_like
from .bodies import operand_avals
from .loops import while_loop
from .scan import scan
from .while_reverse import limits_of

T = TypeVar("T")


@boundary
def fori_loop(
    lower: Any,
    upper: Any,
    body_fun: Callable[[Any, T], T],
    init_val: T,
    *,
    unroll: int | bool | None = None,
    checkpoints: int | None = None,
    max_steps: int | None = None,
) -> T:
    """Apply a function for each integer of a range, one after the other.

    It computes what this does, as one program:

        val = init_val
        for i in range(lower, upper):
            val = body_fun(i, val)

    It may be differentiated in forward and in reverse mode. If the bounds are traced, so that the
    number of steps is only known at run time, reverse mode keeps some of the carries and computes
    the others again; `while_loop` says more.

    Args:
      lower: the first integer.
      upper: the integer before which the loop ends; if it is not above `lower` there is no step.
      body_fun: takes an integer and a carry, returns the next carry, with the same containers,
        shapes and dtypes.
      init_val: a tree of arrays and numbers, the first carry.
      unroll: how many steps are written out in each round of the loop; True means all of them. Only
        if the bounds are known.
      checkpoints, max_steps: as for `while_loop`; of use only if the bounds are traced.

    Returns:
      The last carry.

    Raises:
      TypeError: the bounds have different dtypes, or the body returns a carry of another type.
      ValueError: `unroll` is given, but a bound is traced.

    >>> import covector as cv
    >>> from covector import lax
    >>> lax.fori_loop(1, 5, lambda i, product: product * i, 1)
    Array(24, dtype=int32, weak_type=True)
    >>> power = lambda x, n: lax.fori_loop(0, n, lambda i, y: y * x, 1.0)
    >>> cv.jit(cv.grad(power))(2.0, 5)
    Array(80., dtype=float32, weak_type=True)
    """
    if not callable(body_fun):
        raise TypeError(loop_errors.not_callable("fori_loop", ("body_fun",)))
    dtype = _dtype_of_bounds(lower, upper)
    limits = limits_of("fori_loop", checkpoints, max_steps)
    bounds = _known(lower), _known(upper)
    if None not in bounds:
        first, last = bounds
        length = max(last - first, 0)
        if config.disable_jit.value and length == 0:
            return init_val
        init = (first, init_val)
        (_, result), _ = scan(_scanned(body_fun), init, None, length=length, unroll=unroll or False)
        return result
    if unroll is not None and unroll is not False and unroll != 1:
        raise ValueError(loop_errors.unknown_bounds_unrolled(unroll))
    lower, upper = (x if aval_of(x).dtype == dtype else convert(x, dtype) for x in (lower, upper))
    _, _, result = while_loop(_below, _counting(body_fun), (lower, upper, init_val), **limits)
    return result


def _dtype_of_bounds(lower: Any, upper: Any) -> Any:
    """The dtype in which a loop counts: a Python integer takes that of the other bound."""
    avals: list[Any] = operand_avals("fori_loop", (lower, upper))
    first, second = avals
    if first.ndim or second.ndim:
        raise TypeError(loop_errors.bounds_not_scalars(first, second))
    if first.dtype != second.dtype:
        signed = [dtypes.issubdtype(aval.dtype, np.signedinteger) for aval in avals]
        if not all(signed) or first.weak_type == second.weak_type:
            names = [dtypes.name(aval.dtype) for aval in avals]
            raise TypeError(loop_errors.bounds_of_two_types(*names))
    return second.dtype if first.weak_type else first.dtype


def _known(bound: Any) -> int | None:
    """A bound as a Python integer, if its value is known by now."""
    value = bound.concrete_value() if isinstance(bound, Tracer) else bound
    try:
        return None if value is None else int(value)
    except (TypeError, InconclusiveDimensionOperation):
        return None


def _below(carry: Any) -> Any:
    i, upper, _ = carry
    return lt(i, upper)


def _kept(make: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Let a function of functions return the same result for the same function.

    Loops over one function are then loops over one function too, and staged once.  What is kept has
    no more than a weak reference to the function, which may close over tracers and large arrays:
    `make` takes something that returns the function when it is called.
    """
    made: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()

    def kept(fun: Any) -> Any:
        try:
            found = made.get(fun)
            if found is None:
                found = made[fun] = make(ref(fun))
            return found
        except TypeError:  # neither hash nor weak reference
            return make(lambda: fun)

    return update_wrapper(kept, make)


@_kept
def _counting(fun: Callable[[], Callable[[Any, Any], Any]]) -> Callable[[Any], Any]:
    """The step of a `while_loop` that applies a function to a counter and a carry."""

    def step(carry: Any) -> Any:
        i, upper, x = carry
        return add(i, constant_like(i, 1)), upper, fun()(i, x)

    return step


@_kept
def _scanned(fun: Callable[[], Callable[[Any, Any], Any]]) -> Callable[[Any, Any], Any]:
    """The step of a `scan` that applies a function to a counter and a carry."""

    def step(carry: Any, _: None) -> Any:
        i, x = carry
        return (i + 1, fun()(i, x)), None

    return step
