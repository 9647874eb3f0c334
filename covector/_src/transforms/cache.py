"""Memoization of functions from jaxprs to jaxprs.

The derivative, batched or transposed form of a jaxpr is computed once, and kept for as long as the
jaxpr itself lives.  Identity of the result matters beyond the saved work: equal jaxprs that are one
object are lowered to one function of the compiled program.

The results are kept on the jaxpr and not in a table, because many of them refer to it: in a table,
even a weak one, such an entry would keep its own key alive for ever.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from ..base import config
from ..core.jaxpr import ClosedJaxpr
from ..core.trace import context

F = TypeVar("F", bound=Callable[..., Any])


# The results of a function, which lives longer than jaxprs do, are forgotten when they are so many.
FUNCTION_LIMIT = 1024


class _Generation:
    """What was memoized since the caches were cleared last; results of functions are kept here."""

    __slots__ = ("by_function",)

    def __init__(self) -> None:
        self.by_function: WeakKeyDictionary[Any, dict[Any, Any]] = WeakKeyDictionary()


_current = _Generation()


def _results_of(source: Any) -> dict[Any, Any]:
    """What has been computed from a closed jaxpr, or from a function."""
    if type(source) is not ClosedJaxpr:
        results = _current.by_function.setdefault(source, {})
        if len(results) >= FUNCTION_LIMIT:
            results.clear()
        return results
    if source.derived is None or source.derived[0] is not _current:
        source.derived = (_current, {})
    return source.derived[1]


def jaxpr_cache(fun: F) -> F:
    """Memoize `fun(jaxpr, *hashable)` on the identity of its jaxpr and its other arguments."""

    def cached(jaxpr: Any, *args: Any) -> Any:
        results = _results_of(jaxpr)
        key = (fun, args, config.trace_key().tracing, context.axis_env, context.hazards)
        try:
            result, context.hazards = results[key]
        except KeyError:
            result = fun(jaxpr, *args)
            results[key] = result, context.hazards
        return result

    return update_wrapper(cached, fun)  # type: ignore[return-value]


def clear_jaxpr_caches() -> None:
    """Forget every memoized result."""
    global _current
    _current = _Generation()
