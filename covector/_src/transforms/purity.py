"""Looking for side effects of traced functions, while `checking_purity` is on.

A function that is traced must be pure: the program computes what Python did once.  Here each
function that a transformation runs is run a second time in the same way, and two things are found:

  - what it *wrote* besides its results: the contents of all that it reaches (`core/contents.py`)
    are compared before and after the first run.  They are put back, and the second run, watched
    line by line, tells where the writes are.
  - what it *read* that is not the same each time (a counter, the clock, `random`): both runs record
    the ops that they ask for, and the records are compared.

The second run leaves no trace: what it added to programs that are being written is taken off, and
ops with effects (`debug.print`, callbacks) are not done again but give what they gave before.  Only
in a custom rule, where it is evaluated and not staged, such an op happens twice.

Limits.  Writes are seen in variables, attributes, dicts, lists, sets, deques and NumPy arrays that
are reached by a few steps from the function, its arguments, closure, defaults and the globals that
its code names; not within modules, objects of libraries, or files.  What callbacks reach does not
count.  A memo that a function keeps by hand looks like any other write: `functools.lru_cache` does
not.  A value that changes only between calls, such as a global that other code sets, is not seen.
"""

from __future__ import annotations

import re
import reprlib
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from itertools import zip_longest
from types import CodeType, FrameType
from typing import Any, NamedTuple

import numpy as np

from ..base import config, purity_errors, source, tree
from ..base.errors import ImpureFunctionError
from ..base.transform_errors import function
from ..core.array import Array
from ..core.avals import ShapedArray, aval_of
from ..core.contents import Change, Holder, Picture, is_user_module, shown
from ..core.effects import must_stay
from ..core.jaxpr import ClosedJaxpr, Jaxpr
from ..core.primitive import Primitive
from ..core.show import jaxprs_in_params
from ..core.trace import Trace, Tracer, context, current_trace, eval_trace
from .linearize import PartialTrace
from .signatures import signature_of
from .stage import JaxprTrace


class _Thread(threading.local):
    """Whether a thread is in a second run: within it nothing is run twice again."""

    again = False


_thread = _Thread()


def call_traced(fun: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Call a user's function on behalf of a transformation; twice while purity is checked.

    Raises:
      ImpureFunctionError: it has side effects.
    """
    if not config.check_purity.value or _thread.again or context.trace is eval_trace:
        return fun(*args, **kwargs)
    picture = Picture([(fun, getattr(fun, "__name__", "fun")), *_named(fun, args, kwargs)])
    first = RecordingTrace(context.trace)
    with current_trace(first):
        result = fun(*args, **kwargs)
    first.end(result)
    written = _written(picture, first.steps)
    for holder, _ in written:
        holder.put_back()
    lines = _Lines([holder for holder, _ in written])
    second = RecordingTrace(context.trace, first)
    findings = []
    try:
        with _second_run(), current_trace(second), lines:
            second.end(fun(*args, **kwargs))
    except Exception as error:
        findings = [purity_errors.second_run_failed(error)]
    else:
        findings = _differences(first, second)
    findings = [
        *[purity_errors.finding(lines.found.get(c.mark, ""), c.text) for _, c in written],
        *findings,
    ]
    if findings:
        for holder, _ in written:
            holder.put_back()
        raise ImpureFunctionError(purity_errors.impure(function(fun), findings), findings)
    return result


def _named(
    fun: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]
) -> Iterator[tuple[Any, str]]:
    """The arguments, and how the function calls them."""
    signature = signature_of(fun)
    names = list(signature.parameters) if signature else []
    for i, arg in enumerate(args):
        yield arg, names[i] if i < len(names) else f"args[{i}]"
    for name, arg in kwargs.items():
        yield arg, name


@contextmanager
def _second_run() -> Iterator[None]:
    """Take off what is added, in the block, to programs and records that are being written."""
    written = list(_written_by(context.trace))
    before = [copy(part) for part in written]
    hazards, _thread.again = context.hazards, True
    try:
        yield
    finally:
        _thread.again = False
        context.hazards = hazards
        for now, then in zip(written, before):
            now.clear()
            if isinstance(now, dict):
                now.update(then)
            else:
                now.extend(then)


def _written_by(trace: Trace | None) -> Iterator[Any]:
    """The lists and dicts that a trace and those around it fill."""
    while trace is not None:
        if isinstance(trace, RecordingTrace):
            yield from (trace.steps, trace._made, trace._lifted)
        program = trace.unknown if isinstance(trace, PartialTrace) else trace
        if isinstance(program, JaxprTrace):
            yield from (program.eqns, program.invars, program.consts, program.constvars)
        trace = trace.parent


# ---------------------------------------------------------------- what was written


def _written(picture: Picture, steps: Sequence[Step]) -> list[tuple[Holder, Change]]:
    """The changes since the picture was taken, but for what callbacks reach."""
    changes = [(holder, change) for holder in picture.holders for change in holder.changes()]
    if not changes:
        return []
    callbacks = [x for step in steps for x in _callbacks(step.params)]
    others = Picture([(x, "") for x in callbacks]).marks()
    return [(h, c) for h, c in changes if c.mark not in others and c.mark[0] not in others]


def _callbacks(params: dict[str, Any]) -> Iterator[Any]:
    """The Python functions that a program with these parameters calls when it runs."""
    if "callback" in params:
        yield params["callback"]
    for jaxpr in jaxprs_in_params(params):
        for eqn in jaxpr.eqns:
            yield from _callbacks(eqn.params)


class _Lines:
    """Context manager: finds the lines of the user's code that change what some objects hold.

    Attributes:
      found: for each mark of a change the line of the first such change.
    """

    def __init__(self, holders: Sequence[Holder]):
        self.holders = {id(holder): holder for holder in holders}.values()
        self.found: dict[Any, str] = {}
        self._last: tuple[CodeType, int] | None = None

    def __enter__(self) -> None:
        if self.holders:
            self._before = sys.gettrace()
            sys.settrace(self._enter_frame)

    def __exit__(self, *exception: object) -> None:
        if self.holders:
            sys.settrace(self._before)

    def _enter_frame(self, frame: FrameType, event: str, arg: Any) -> Any:
        if not is_user_module(frame.f_globals.get("__name__", "")):
            return None
        return self._step(frame, event, arg)

    def _step(self, frame: FrameType | None, event: str, arg: Any) -> Any:
        """Before a line, or at the end of a frame: blame the line before for what is new."""
        for holder in self.holders if self._last else ():
            for change in holder.changes():
                code, line = self._last  # type: ignore[misc]
                place = f"{code.co_filename}:{line} ({code.co_qualname})"
                self.found.setdefault(change.mark, place)
        if event == "return" and frame is not None:
            frame = frame.f_back  # whose line goes on
        self._last = None if frame is None else (frame.f_code, frame.f_lineno)
        return self._step


# ---------------------------------------------------------------- what was read


class Step(NamedTuple):
    """An op that a function asked for.

    Attributes:
      primitive, params: the op.
      operands: each as what it was made by, or as its value (see `RecordingTrace.known`).
      outs: what it gave.
      place: the user's line.
    """

    primitive: Primitive
    operands: tuple[Any, ...]
    params: dict[str, Any]
    outs: Any
    place: Any


class RecordingTrace(Trace):
    """What its parent does, with a record of what is asked of it.

    Args:
      parent: the trace that interprets the ops.
      before: the record of an earlier run, whose ops with effects are not done again.
    """

    __slots__ = ("_lifted", "_made", "before", "results", "steps")
    parent: Trace

    def __init__(self, parent: Trace, before: RecordingTrace | None = None):
        super().__init__(parent)
        self.before = before
        self.steps: list[Step] = []
        self.results: list[Any] = []
        # What is known of values by the ids of their objects, which are kept alive.
        self._made: dict[int, Any] = {}
        self._lifted: list[Any] = []

    def describe(self) -> str:
        return self.parent.describe()

    def lift(self, x: Any) -> Any:
        lifted = self.parent.lift(x)
        self._made[id(lifted)] = self.known(x)
        self._lifted.append(lifted)
        return lifted

    def process(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        place = context.place or source.current_place(2)
        operands = tuple(map(self.known, args))
        number = len(self.steps)
        outs = self._earlier(number, primitive, args, params)
        if outs is None:
            outs = self.parent.process(primitive, args, params)
        self.steps.append(Step(primitive, operands, params, outs, place))
        for i, x in enumerate(outs if primitive.multiple_results else [outs]):
            self._made[id(x)] = number, i
        return outs

    def _earlier(
        self, number: int, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]
    ) -> Any:
        """What an op with effects, or a callback, gave in the run before; None for others."""
        if self.before is None or number >= len(self.before.steps) or primitive.stage is not None:
            return None
        step = self.before.steps[number]
        if step.primitive is not primitive:
            return None
        _, effects = primitive.typecheck(tuple(map(aval_of, args)), params)
        return step.outs if must_stay(effects) or "callback" in params else None

    def end(self, result: Any) -> None:
        """Record what the function returned."""
        self.results = [self.known(x) for x in tree.leaves(result)]

    def known(self, x: Any) -> Any:
        """What two runs must agree in: which op made a value, or else its type and elements."""
        made = self._made.get(id(x))
        if made is not None:
            return made
        if isinstance(x, Tracer):
            return str(x.aval)
        if not isinstance(x, (bool, int, float, complex, np.generic, np.ndarray, Array)):
            return type(x)
        aval = aval_of(x)
        if not isinstance(aval, ShapedArray) or not isinstance(aval.dtype, np.dtype):
            return str(aval)
        elements = np.asarray(x)
        if elements.ndim:
            text = f"{aval.str_short()} of {reprlib.repr(elements.ravel()[:3].tolist())} ..."
        else:
            text = repr(elements.item())
        return str(aval), elements.tobytes(), text


def _differences(first: RecordingTrace, second: RecordingTrace) -> list[str]:
    """The first difference between two records, in words; all others may follow from it."""
    for a, b in zip_longest(first.steps, second.steps):
        fact = _difference(a, b)
        if fact:
            return [purity_errors.finding(source.describe((b or a).place), fact)]
    for a, b in zip_longest(first.results, second.results):
        if a != b:
            return [purity_errors.other_result(_shown(a), _shown(b))]
    return []


def _difference(a: Step | None, b: Step | None) -> str:
    if a is None:
        return purity_errors.more_ops("second", str(b.primitive)) if b is not None else ""
    if b is None:
        return purity_errors.more_ops("first", str(a.primitive))
    if a.primitive is not b.primitive:
        return purity_errors.other_op(str(a.primitive), str(b.primitive))
    for x, y in zip_longest(a.operands, b.operands):
        if x != y:
            return purity_errors.other_operand(str(a.primitive), _shown(x), _shown(y))
    for name, x in a.params.items():
        y = b.params.get(name)
        if not _same_parameter(x, y):
            return purity_errors.other_parameter(str(a.primitive), name, shown(x), shown(y))
    return ""


def _shown(known: Any) -> str:
    """What `RecordingTrace.known` says of a value, in words."""
    if isinstance(known, tuple) and len(known) == 3:
        return known[2]
    if isinstance(known, tuple):
        return "the result of another op"
    return "nothing" if known is None else f"a traced {known}"


def _same_parameter(x: Any, y: Any) -> bool:
    """Whether two parameters say the same: of functions and the like, only that they are alike."""
    if x is y:
        return True
    if type(x) is not type(y):
        return False
    if isinstance(x, (tuple, list)):
        return len(x) == len(y) and all(map(_same_parameter, x, y))
    if isinstance(x, (ClosedJaxpr, Jaxpr)):
        return _text(x) == _text(y) and _same_consts(x, y)
    if isinstance(x, np.ndarray):
        return str(x.dtype) == str(y.dtype) and x.tobytes() == y.tobytes()
    return type(x).__eq__ is object.__eq__ or callable(x) or bool(x == y)


def _text(jaxpr: Any) -> str:
    """A program as text, without the addresses of objects in it."""
    return re.sub(r"0x[0-9a-f]+", "", str(jaxpr))


def _same_consts(x: Any, y: Any) -> bool:
    consts: Iterable[tuple[Any, Any]] = zip(getattr(x, "consts", ()), getattr(y, "consts", ()))
    return all(
        a is b or isinstance(a, Tracer) or np.asarray(a).tobytes() == np.asarray(b).tobytes()
        for a, b in consts
    )
