"""Memoization of functions from jaxprs to jaxprs.

The derivative, batched or transposed form of a jaxpr is computed once, and kept for as long as the
jaxpr itself lives.  Identity of the result matters beyond the saved work: equal jaxprs that are one
object are lowered to one function of the compiled program.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from ..base import config
from ..core.trace import context

F = TypeVar("F", bound=Callable[..., Any])

_caches: list[WeakKeyDictionary] = []


def jaxpr_cache(fun: F) -> F:
    """Memoize `fun(jaxpr, *hashable)` on the identity of its jaxpr and its other arguments."""
    cache: WeakKeyDictionary[Any, dict[Any, Any]] = WeakKeyDictionary()
    _caches.append(cache)

    def cached(jaxpr: Any, *args: Any) -> Any:
        results = cache.get(jaxpr)
        if results is None:
            results = cache.setdefault(jaxpr, {})
        key = (args, config.trace_key(), context.axis_env)
        try:
            return results[key]
        except KeyError:
            result = results[key] = fun(jaxpr, *args)
            return result

    return update_wrapper(cached, fun)  # type: ignore[return-value]


def clear_jaxpr_caches() -> None:
    """Forget every memoized result."""
    for cache in _caches:
        cache.clear()
