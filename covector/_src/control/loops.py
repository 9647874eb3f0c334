"""`while_loop`: repeat a function of the user's for as long as another says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from ..base import config, loop_errors, tree
from ..base.errors import ConcretizationTypeError
from ..base.tracebacks import boundary
from ..core.array import as_array
from .while_loop import bind_while
from .while_reverse import limits_of

T = TypeVar("T")


@boundary
def while_loop(
    cond_fun: Callable[[T], Any],
    body_fun: Callable[[T], T],
    init_val: T,
    *,
    checkpoints: int | None = None,
    max_steps: int | None = None,
) -> T:
    """Apply a function again and again for as long as a condition holds.

    It computes what this does, as one program, however many steps it takes:

        val = init_val
        while cond_fun(val):
            val = body_fun(val)

    The loop may be differentiated in forward mode, and in reverse mode although nobody knows
    beforehand how many steps it takes: some of the carries are kept as checkpoints, and the others
    computed again from them. See the guide to gradients for what that costs.

    Args:
      cond_fun: takes a carry, returns one bool.
      body_fun: takes a carry, returns the next one, with the same containers, shapes and dtypes.
      init_val: a tree of arrays and numbers, the first carry.
      checkpoints: how many carries reverse mode keeps as checkpoints, at least 2; by default 64.
      max_steps: how many steps between two checkpoints reverse mode keeps the carries of; by
        default as many as `checkpoints`. If the loop takes no more steps in all, none is computed
        again; if it takes more, the derivative is the same but takes longer.

    Returns:
      The first carry for which the condition does not hold.

    Raises:
      TypeError: the condition is no bool, or the body returns a carry of another type.
      ValueError: `checkpoints` or `max_steps` is too small.

    >>> import covector as cv
    >>> from covector import lax
    >>> def halvings(x):
    ...     return lax.while_loop(lambda s: s[1] > 1, lambda s: (s[0] + 1, s[1] / 2), (0, x))
    >>> halvings(10.0)
    (Array(4, dtype=int32, weak_type=True), Array(0.625, dtype=float32, weak_type=True))
    >>> cv.grad(lambda x: halvings(x)[1])(10.0)
    Array(0.0625, dtype=float32, weak_type=True)
    """
    if not (callable(body_fun) and callable(cond_fun)):
        raise TypeError(loop_errors.not_callable("while_loop", ("cond_fun", "body_fun")))
    limits = limits_of("while_loop", checkpoints, max_steps)
    if config.disable_jit.value:
        try:
            return _run_in_python(cond_fun, body_fun, init_val)
        except ConcretizationTypeError:
            pass  # the condition is traced: there is nothing that Python could decide
    return bind_while(cond_fun, body_fun, init_val, **limits)


def _run_in_python(cond_fun: Callable[..., Any], body_fun: Callable[..., Any], carry: Any) -> Any:
    carry = tree.map(as_array, carry)
    while cond_fun(carry):
        carry = tree.map(as_array, body_fun(carry))
    return carry
