"""Functions that run as compiled programs, one for each set of their static options."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, update_wrapper
from typing import Any

from ..api.jit import JitFunction, jit

# A function's table of programs is emptied when it reaches this many entries.
PROGRAMS_LIMIT = 4096


class Program:
    """A `jit` of a function of arrays by position, and of static options by keyword.

    For each set of options there is a jitted function of the arrays alone; calls of those are
    dispatched faster than calls with static arguments.

    Args:
      fun: the function.
      inline: whether, within other traced functions, calls are written out in place.
    """

    def __init__(self, fun: Callable[..., Any], inline: bool = False):
        self.fun = fun
        self.inline = inline
        self._jitted: dict[tuple[Any, ...], JitFunction] = {}
        update_wrapper(self, fun)

    def __call__(self, *args: Any, **options: Any) -> Any:
        key = tuple(options.items())
        jitted = self._jitted.get(key)
        if jitted is None:
            if len(self._jitted) >= PROGRAMS_LIMIT:
                self._jitted.clear()
            jitted = self._jitted[key] = jit(partial(self.fun, **options), inline=self.inline)
        return jitted(*args)


def program(fun: Callable[..., Any]) -> Program:
    """Decorator: a `Program` that other programs call."""
    return Program(fun)


def inlined_program(fun: Callable[..., Any]) -> Program:
    """Decorator: a `Program` that is written out within others."""
    return Program(fun, inline=True)
