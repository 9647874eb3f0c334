"""Why a jitted function was traced again.

Each trace of a function leaves a record of what its cache key was made of.  The reason for a trace
is found when somebody asks: the ways in which its key differs from the most similar earlier one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from ..base import config, events, source
from ..base.logs import logger
from ..core.trace import context


class TraceRecord:
    """One trace of a function: the parts of its key, and where the call stood.

    Attributes:
      in_tree, avals, static, trace_key, axis_env: what decides whether a trace is reused.
      arg_names: how the user would write each flat argument.
      place: the user's line that made the call.
      compiled: whether XLA compiled the program (it is not for traces inside other traces).
    """

    __slots__ = (
        *("arg_names", "avals", "axis_env", "compiled", "in_tree"),
        *("place", "static", "trace_key"),
    )

    def __init__(self, in_tree: Any, avals: Any, static: Any, arg_names: tuple[str, ...]):
        self.in_tree = in_tree
        self.avals = avals
        self.static = static
        self.trace_key = config.trace_key().tracing
        self.axis_env = context.axis_env
        self.arg_names = arg_names
        self.place = source.current_place()
        self.compiled = False

    def differences(self, other: TraceRecord) -> list[str]:
        """How this trace's key differs from another's, each difference in words."""
        found = []
        if self.in_tree != other.in_tree:
            found.append(f"the arguments' tree was {other.in_tree}, now {self.in_tree}")
        else:
            found += [
                f"{name} was {_typed(old)}, now {_typed(new)}"
                for name, old, new in zip(self.arg_names, other.avals, self.avals)
                if old is not new
            ]
        if self.static != other.static:
            found.append(_static_difference(other.static, self.static))
        if self.trace_key is not other.trace_key:
            changes = self.trace_key.differences(other.trace_key)
            found += [f"the flag {k} was {old}, now {new}" for k, (new, old) in changes.items()]
        if self.axis_env != other.axis_env:
            found.append(f"the named axes were {other.axis_env}, now {self.axis_env}")
        return found


def _typed(aval: Any) -> str:
    return f"{aval.str_short()}{' (weakly typed)' if aval.weak_type else ''}"


def _static_difference(old: Any, new: Any) -> str:
    before = [*old[0], *old[1]] if old else []
    after = [*new[0], *new[1]] if new else []
    pairs = [
        f"{name if isinstance(name, str) else f'number {name}'} was {was!r}, now {now!r}"
        for (name, was), (_, now) in zip(before, after)
        if was != now
    ]
    return "the static argument " + "; ".join(pairs) if pairs else "other arguments are static"


_records: WeakKeyDictionary[Any, list[TraceRecord]] = WeakKeyDictionary()

# So many traces of one function are remembered in full.
_RECORDS_LIMIT = 256


def record_trace(fun: Callable[..., Any], record: TraceRecord) -> None:
    """Remember a trace; log its reason if `explain_cache_misses` is on."""
    events.record("trace", fun)
    records = _records.setdefault(fun, [])
    if config.explain_cache_misses.value:
        logger.warning("%s", _reason_line(fun, records, record))
    if len(records) < _RECORDS_LIMIT:
        records.append(record)


def _name(fun: Any) -> str:
    return getattr(fun, "__name__", None) or repr(fun)


def _reason(earlier: list[TraceRecord], record: TraceRecord) -> str:
    if not earlier:
        return "the first call"
    closest = min((record.differences(other) for other in earlier), key=len)
    return "; ".join(closest) or "what was traced before is gone, or was tied to an outer trace"


def _reason_line(fun: Any, earlier: list[TraceRecord], record: TraceRecord) -> str:
    place = source.describe(record.place)
    return f"tracing {_name(fun)}{f' at {place}' if place else ''}: {_reason(earlier, record)}"


class Retraces:
    """How often a function was traced and compiled, and why; prints as a table.

    Attributes:
      name: of the function.
      traces: how many times Python ran it.
      compilations: for how many of those traces XLA compiled a program.
      reasons: for each trace its reason in words.
    """

    def __init__(self, fun: Callable[..., Any]):
        records = _records.get(fun, [])
        self.name = _name(fun)
        self.traces = len(records)
        self.compilations = sum(record.compiled for record in records)
        self.reasons = [_reason(records[:i], record) for i, record in enumerate(records)]
        self._places = [source.describe(record.place) for record in records]

    def __repr__(self) -> str:
        head = f"{self.name}: traced {self.traces} times, compiled {self.compilations} times"
        lines = [
            f"  {i + 1}. {reason}{f'   [{place}]' if place else ''}"
            for i, (reason, place) in enumerate(zip(self.reasons, self._places))
        ]
        return "\n".join([head, *lines])


def explain_retraces(fun: Any = None) -> Any:
    """Tell how often jitted functions were traced and compiled, and why each time.

    Args:
      fun: a function that `jit` made, or the function under it; None means all functions that
        are alive.

    Returns:
      A `Retraces`, or a list of them: prints as a table, and has the counts and reasons as
      attributes.

    >>> import covector as cv, covector.numpy as jnp
    >>> f = cv.jit(lambda x: x + 1)
    >>> _ = f(jnp.ones(2)), f(jnp.ones(2)), f(jnp.ones(3))
    >>> report = cv.explain_retraces(f)
    >>> report.traces, report.reasons[1]
    (2, 'x was float32[2], now float32[3]')
    """
    if fun is None:
        return [Retraces(f) for f in list(_records)]
    return Retraces(getattr(fun, "_fun", fun))


def forget_traces() -> None:
    """Start counting anew."""
    _records.clear()
