"""Looking for tracers that outlive their transformation, while `checking_leaks` is on.

A tracer is a stand-in that means something only while its function is being transformed.  When a
transformation has returned, nobody should hold one; who does will meet an `UnexpectedTracerError`
later and elsewhere.  The garbage collector knows who it is.
"""

from __future__ import annotations

import functools
import gc
import sys
from collections.abc import Callable, Iterator
from types import CellType, FrameType, FunctionType, ModuleType
from typing import Any, TypeVar
from weakref import ReferenceType

from ..base import config
from ..base.errors import LeakedTracerError
from ..base.tracing_errors import leaked_tracers
from .trace import Trace, Tracer, context

F = TypeVar("F", bound=Callable[..., Any])

# How far the search for a name goes, in steps from a value to what holds it, and how many holders
# it follows at each step.
FARTHEST_HOLDER = 5
MOST_HOLDERS = 32


class LeakCheck:
    """Context manager around a transformation: with `check_tracer_leaks` on, it fails if tracers of
    the transformation survive it.

    Args:
      name: of the transformation, for its error.
    """

    __slots__ = ("name", "outer", "watches")

    def __init__(self, name: str):
        self.name = name

    def __enter__(self) -> None:
        self.watches = config.check_tracer_leaks.value
        if self.watches:
            self.outer, context.watched = context.watched, []

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        if not self.watches:
            return
        traces, context.watched = context.watched, self.outer
        if error is None:
            self._check(traces or [])

    def _check(self, traces: list[ReferenceType[Trace]]) -> None:
        if any(ref() is not None for ref in traces):
            gc.collect()  # what only cycles of garbage hold does not count
        survivors = [trace for trace in [ref() for ref in traces] if trace is not None]
        leaks = [(t.aval, t.origin(), _holder(t)) for t in _tracers_of(survivors)]
        if leaks:
            name = survivors[0].describe() or self.name
            raise LeakedTracerError(leaked_tracers(name, leaks))


def leaves_no_tracers(transform: F) -> F:
    """Decorate a transformation with a `LeakCheck`."""

    @functools.wraps(transform)
    def checked(*args: Any, **kwargs: Any) -> Any:
        with LeakCheck(transform.__name__):
            return transform(*args, **kwargs)

    return checked  # type: ignore[return-value]


def _tracers_of(traces: list[Trace]) -> list[Tracer]:
    return [
        holder
        for trace in traces
        for holder in gc.get_referrers(trace)
        if isinstance(holder, Tracer) and holder._trace is trace
    ]


def _holder(value: Any) -> str:
    """Who holds a value, as its user would write it; empty if that is not found.

    Walks from the value to what refers to it, and on, until something has a name.
    """
    seen = {id(value)}
    ways: list[tuple[Any, str]] = [(value, "")]
    for _ in range(FARTHEST_HOLDER):
        further: list[tuple[Any, str]] = []
        for held, way in ways:
            for holder in _holders(held, seen):
                path = _path_in(holder, held) + way
                if isinstance(holder, ModuleType):
                    return holder.__name__ + path
                if isinstance(holder, CellType):
                    return _closure_variable(holder) + path
                further.append((holder, path))
        ways = further[:MOST_HOLDERS]
    return ""


def _holders(held: Any, seen: set[int]) -> Iterator[Any]:
    """What refers to a value, but for running functions and for what was seen before."""
    for holder in gc.get_referrers(held):
        if isinstance(holder, dict):
            holder = _module_of_globals(holder) or holder
        if id(holder) not in seen and not isinstance(holder, (FrameType, Tracer)):
            seen.add(id(holder))
            yield holder


def _module_of_globals(names: dict) -> ModuleType | None:
    module = sys.modules.get(names.get("__name__", ""))
    return module if module is not None and vars(module) is names else None


def _path_in(holder: Any, held: Any) -> str:
    """How a value is reached from what holds it: `[0]`, `['key']`, `.name`."""
    if isinstance(holder, dict):
        return next((f"[{key!r}]" for key, x in holder.items() if x is held), "")
    if isinstance(holder, (list, tuple)):
        return next((f"[{i}]" for i, x in enumerate(holder) if x is held), "")
    names = getattr(holder, "__dict__", {})
    return next((f".{name}" for name, x in names.items() if x is held), "")


def _closure_variable(cell: CellType) -> str:
    """The name of a variable that lives on in the closure of a function."""
    for closure in gc.get_referrers(cell):
        for function in gc.get_referrers(closure) if isinstance(closure, tuple) else ():
            if isinstance(function, FunctionType) and function.__closure__ is closure:
                index = [c is cell for c in closure].index(True)
                return f"{function.__qualname__} as {function.__code__.co_freevars[index]}"
    return "a closure"
