"""Tracing: the current trace, tracers, and the evaluation that stands below them all.

Which interpretation of a program is running is a matter of *context*: each thread has one current
trace, and a primitive's `bind` hands itself to it.  A transformation makes a trace whose parent is
the current one, makes itself current while it runs the user's function, and runs the rules of the
primitives under its parent.  So transformations nest by nesting contexts, and values carry no
levels: a tracer only names the trace that it belongs to; to every other trace it is a constant.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import ContextDecorator, contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from weakref import ReferenceType, ref

from ..base.errors import ConcretizationTypeError, UnexpectedTracerError, escaped_tracer
from ..base.source import Place
from ..base.tracer_errors import no_sharding
from ..base.tracing_errors import value_not_known
from .avals import AbstractValue, aval_getters

if TYPE_CHECKING:
    from .primitive import Primitive

C = TypeVar("C", bound=type)


class Trace:
    """One interpretation of primitives.

    Subclasses implement `process`: interpret `primitive` applied to `args`, each of them a tracer
    of this trace, a tracer of an outer trace, or a concrete value.  The result is one value, or a
    list of them for a primitive with `multiple_results`.
    """

    __slots__ = ("__weakref__", "alive", "parent")

    def __init__(self, parent: Trace | None):
        self.parent = parent
        self.alive = True  # until the transformation that made the trace returns
        if context.watched is not None:
            context.watched.append(ref(self))

    @property
    def main(self) -> Trace:
        """What tells whether a tracer belongs to this use of a transformation; for libraries."""
        return self

    def process(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        raise NotImplementedError

    def lift(self, x: Any) -> Any:
        """A number or NumPy array as an array, or as a tracer where a program is being written."""
        assert self.parent is not None
        return self.parent.lift(x)

    def describe(self) -> str:
        """What is being transformed, in words, for error messages; empty if unknown."""
        return ""


class Tracer:
    """A stand-in for an array while a transformation runs a function.

    The arithmetic operators and array methods are attached by the NumPy layer.
    """

    __slots__ = ("__weakref__", "_trace")
    __array_priority__ = 1000
    _trace: Trace
    aval: AbstractValue

    __hash__ = None  # type: ignore[assignment]

    @property
    def shape(self) -> tuple[int, ...]:
        return self.aval.shape

    @property
    def dtype(self) -> Any:
        return self.aval.dtype

    @property
    def ndim(self) -> int:
        return self.aval.ndim

    @property
    def size(self) -> int:
        return self.aval.size

    @property
    def weak_type(self) -> bool:
        return self.aval.weak_type

    @property
    def sharding(self) -> Any:
        raise AttributeError(no_sharding(self.aval))

    def __copy__(self) -> Tracer:
        return self

    def __deepcopy__(self, memo: Any) -> Tracer:
        return self

    def __reduce__(self) -> Any:
        doing = "It was to be pickled, but stands for an array only while a function is traced."
        raise ConcretizationTypeError(value_not_known(self.aval, self.origin(), doing))

    def concrete_value(self) -> Any:
        """The number behind the tracer if there is one (as under `grad` of eager code), or None."""
        return None

    def origin(self) -> str:
        """Where the tracer came from, in words, for error messages; empty if unknown."""
        return ""


def tracer_type(cls: C) -> C:
    """Class decorator: let `aval_of` find the aval of tracers of this class."""
    aval_getters[cls] = lambda tracer: tracer.aval
    return cls


class Backend(Protocol):
    """What evaluation needs from below: see `xla/` and `reference.py` for the two there are."""

    def execute(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        """Apply a primitive to concrete values."""
        ...

    def execute_body(
        self, jaxpr: Any, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]
    ) -> Any:
        """Apply a primitive of which a jaxpr is a parameter; what is kept of it lives as long."""
        ...

    def call_python(
        self, fun: Any, name: str, args: Sequence[Any], out_avals: Sequence[Any]
    ) -> list[Any]:
        """Apply a Python function to concrete values; `name` is that of the public function."""
        ...

    def to_array(self, x: Any, doing: str = ...) -> Any:
        """A concrete value as an array."""
        ...

    def retyped(self, x: Any, aval: AbstractValue) -> Any:
        """An array under another type of the same numbers, as keys and what they are made of."""
        ...


class EvalTrace(Trace):
    """Evaluation: primitives applied to concrete values compute concrete values."""

    __slots__ = ("backend",)
    backend: Backend

    def __init__(self) -> None:  # the only trace without a context to be made in
        self.parent = None
        self.alive = True

    def process(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        return primitive.evaluate(self.backend, args, params)

    def lift(self, x: Any) -> Any:
        return self.backend.to_array(x)


class EagerTrace(Trace):
    """Evaluation of the ops that have concrete operands only; the others go to the parent trace."""

    __slots__ = ()
    parent: Trace

    def process(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        if any(isinstance(x, Tracer) for x in args):
            return self.parent.process(primitive, args, params)
        return eval_trace.process(primitive, args, params)

    def lift(self, x: Any) -> Any:
        return eval_trace.lift(x)


class _Context(threading.local):
    """What a thread is doing: its current trace, and the named axes in scope."""

    def __init__(self) -> None:
        self.trace: Trace = eval_trace
        self.axis_env: tuple[tuple[Any, ...], ...] = ()  # names, sizes; see `core.axis`
        self.name_stack: tuple[str, ...] = ()
        # While a jaxpr is interpreted: where the current eqn came from, instead of our caller.
        self.place: Place | None = None
        # Whether traces that write jaxprs are to evaluate what they can.
        self.eager = False
        # What the cotangents of the current backward pass may hold (`hazards.py`).
        self.hazards = 0
        # The same for each result of a transpose rule that knows it, when the rule is done.
        self.hazards_of_each: Sequence[int] | None = None
        # The traces made by the transformation whose leaks are being looked for.
        self.watched: list[ReferenceType[Trace]] | None = None


eval_trace = EvalTrace()
context = _Context()


def install_backend(backend: Backend) -> None:
    """Make `backend` the one that evaluates primitives on concrete values."""
    eval_trace.backend = backend


class current_trace:
    """Make `trace` the current trace of this thread for the duration of the block.

    An interrupt may come just when the block is left.  So what makes a trace of its own puts back
    the one before in a `finally`, where Python listens to no interrupts; and this is no generator,
    which would put it back when it is collected, long after the blocks around it.
    """

    __slots__ = ("outer", "trace")

    def __init__(self, trace: Trace):
        self.trace = trace

    def __enter__(self) -> Trace:
        self.outer = context.trace
        context.trace = self.trace
        return self.trace

    def __exit__(self, *exception: object) -> None:
        context.trace = self.outer


class Scope(ContextDecorator):
    """Context manager, and decorator: names what is traced in it; see `core.scopes`."""

    def __init__(self, name: str):
        self.name = name

    def _recreate_cm(self) -> Scope:  # for each call of a decorated function
        return Scope(self.name)

    def __enter__(self) -> tuple[str, ...]:
        self.outer = context.name_stack
        context.name_stack = (*self.outer, self.name)
        return context.name_stack

    def __exit__(self, *exception: object) -> None:
        context.name_stack = self.outer


@contextmanager
def eager_evaluation() -> Iterator[None]:
    """Evaluate, for the duration of the block, all ops that have concrete operands only."""
    previous = context.eager
    context.eager = True
    try:
        with current_trace(EagerTrace(context.trace)):
            yield
    finally:
        context.eager = previous


@contextmanager
def named_axes(*axes: tuple[Any, ...]) -> Iterator[None]:
    """Bring named axes of the given sizes into scope for the duration of the block."""
    previous = context.axis_env
    context.axis_env = previous + axes
    try:
        yield
    finally:
        context.axis_env = previous


def check_no_escaped_tracer(args: Sequence[Any], doing: str) -> None:
    """Raise if one of `args` is a tracer: at this point each of them has outlived its trace."""
    for arg in args:
        if isinstance(arg, Tracer):
            raise UnexpectedTracerError(escaped_tracer(arg, doing))
