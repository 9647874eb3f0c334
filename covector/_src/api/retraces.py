"""Why a jitted function was traced again.

Each trace of a function leaves a record of what its cache key was made of.  The reason for a trace
is found when somebody asks: the ways in which its key differs from the most similar earlier one.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from types import CodeType
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, WeakSet

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

    def differences(self, other: TraceRecord) -> list[Difference]:
        """How this trace's key differs from another's."""
        found = []
        if self.in_tree != other.in_tree:
            found.append(changed("input pytree", "arguments", self.in_tree, other.in_tree))
        else:
            found += [
                changed("input types", f"at {name}", _typed(new), _typed(old))
                for name, new, old in zip(self.arg_names, self.avals, other.avals)
                if new is not old
            ]
        if self.static != other.static:
            found += _static_differences(self.static, other.static)
        if self.trace_key is not other.trace_key:
            flags = self.trace_key.differences(other.trace_key)
            found += [changed("tracing context", f"flag {k}", *pair) for k, pair in flags.items()]
        if self.axis_env != other.axis_env:
            found.append(changed("tracing context", "named axes", self.axis_env, other.axis_env))
        return found


class Difference(NamedTuple):
    """One way in which a trace differs from an earlier one.

    Attributes:
      kind: what differs, in general words.
      text: what differs, in the user's names and values.
    """

    kind: str
    text: str


def changed(kind: str, what: Any, new: Any, old: Any) -> Difference:
    return Difference(f"different {kind}", f"{what}, now {new} and before {old}")


def _typed(aval: Any) -> str:
    return f"{aval.str_short(True)}{' (weakly typed)' if aval.weak_type else ''}"


def _static_differences(new: Any, old: Any) -> list[Difference]:
    after = [*new[0], *new[1]] if new else []
    before = [*old[0], *old[1]] if old else []
    return [
        changed("static arguments", f"static argument {name}", repr(now), repr(was))
        for (name, now), (_, was) in zip(after, before)
        if now != was
    ] or [Difference("different static arguments", "other arguments are static")]


_records: WeakKeyDictionary[Any, list[TraceRecord]] = WeakKeyDictionary()

# The code of functions that were traced, which the functions that a loop makes share.
_seen_code: WeakSet[CodeType] = WeakSet()

# So many traces of one function are remembered in full.
_RECORDS_LIMIT = 256


def record_trace(fun: Callable[..., Any], record: TraceRecord) -> None:
    """Remember a trace; log its reason if `explain_cache_misses` is on."""
    events.record("trace", fun)
    records = _records.setdefault(fun, [])
    if config.explain_cache_misses.value:
        logger.warning("%s", _log_line(fun, records, record))
    if len(records) < _RECORDS_LIMIT:
        records.append(record)
    if hasattr(fun, "__code__"):
        _seen_code.add(fun.__code__)


def _name(fun: Any) -> str:
    return getattr(fun, "__name__", None) or repr(fun)


def _reasons(earlier: list[TraceRecord], record: TraceRecord) -> list[Difference]:
    if not earlier:
        return [Difference("never seen function", "the first call")]
    closest = min((record.differences(other) for other in earlier), key=len)
    return closest or [Difference("forgotten", GONE)]


GONE = "what was traced before is gone, or was tied to an outer trace"


def _reason(earlier: list[TraceRecord], record: TraceRecord) -> str:
    return "; ".join([difference.text for difference in _reasons(earlier, record)])


def _log_line(fun: Any, earlier: list[TraceRecord], record: TraceRecord) -> str:
    """The reasons, each after its kind, which tells those who search logs what to look for."""
    place = source.describe(record.place)
    head = f"TRACING CACHE MISS of {_name(fun)}{f' at {place}' if place else ''}: "
    reasons = []
    for kind, found in groupby(_reasons(earlier, record), key=lambda difference: difference.kind):
        reasons.append(f"{kind}: {', '.join([difference.text for difference in found])}")
    if not earlier and getattr(fun, "__code__", None) in _seen_code:
        reasons.append(
            "another function defined on the same line was traced before; each new one is traced "
            "anew, so make it once, outside of the loop or function that makes it"
        )
    return head + "; ".join(reasons)


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
    (2, 'at x, now f32[3] and before f32[2]')
    """
    if fun is None:
        return [Retraces(f) for f in list(_records)]
    return Retraces(getattr(fun, "_fun", fun))
