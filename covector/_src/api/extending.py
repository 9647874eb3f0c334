"""What those who extend Covector ask of it: the state of tracing, and avals of batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..base import dtypes, tracing_errors
from ..base.errors import ConcretizationTypeError
from ..core.avals import AbstractValue, ShapedArray, aval_of
from ..core.jaxpr import Var
from ..core.trace import Trace, Tracer, context, current_trace, eval_trace
from ..transforms.stage import JaxprTrace
from ..transforms.vmap import BatchTrace, batch_aval, example_aval

# NumPy's types of arrays and scalars that may be operands of primitives.
array_types: frozenset[type] = frozenset(
    {
        np.ndarray,
        *(np.bool_, np.int8, np.int16, np.int32, np.int64, np.longlong, np.intc),
        *(np.uint8, np.uint16, np.uint32, np.uint64, np.ulonglong, np.uintc),
        *(np.float16, np.float32, np.float64, np.complex64, np.complex128),
        dtypes.bfloat16,
    }
)


class TraceTag:
    """A mark of one use of a transformation; all marks are equal, and serve as one cache key."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TraceTag)

    def __hash__(self) -> int:
        return hash(TraceTag)


# ---------------------------------------------------------------- avals and variables


def gensym() -> Callable[[AbstractValue], Var]:
    """A function that makes a new variable of a given type."""
    return Var


def mapped_aval(size: int, axis: int | None, aval: AbstractValue) -> AbstractValue:
    """The type of one example of a batch of `size` along dimension `axis`.

    Args:
      size: how many examples there are.
      axis: the batch's dimension; None if every example is the whole.
      aval: the type of the batch.

    >>> import covector as cv
    >>> core = cv.extend.core
    >>> core.mapped_aval(4, 0, cv.core.ShapedArray((4, 3), "float32"))
    ShapedArray(float32[3])
    """
    if axis is not None and isinstance(aval, ShapedArray) and aval.shape[axis] != size:
        raise ValueError(tracing_errors.not_a_batch_of(aval, axis, size))
    return example_aval(aval, axis)


def unmapped_aval(size: int, axis: int | None, aval: AbstractValue) -> AbstractValue:
    """The type of a batch of `size` examples of type `aval` along dimension `axis`.

    >>> import covector as cv
    >>> core = cv.extend.core
    >>> core.unmapped_aval(4, 1, cv.core.ShapedArray((3,), "float32"))
    ShapedArray(float32[3,4])
    """
    return batch_aval(aval, size, axis)


def primal_dtype_to_tangent_dtype(primal_dtype: Any) -> Any:
    """The dtype of tangents of values of a dtype: itself, or `float0` where nothing can vary."""
    return dtypes.primal_tangent_dtype(primal_dtype)


def valid_jaxtype(x: Any) -> bool:
    """Whether a value may be an operand of a primitive."""
    try:
        aval = aval_of(x)
    except TypeError:
        return False
    return getattr(aval, "dtype", None) != dtypes.string_dtype


def concrete_or_error(force: Callable[[Any], Any] | None, val: Any, context: str = "") -> Any:
    """`force(val)` for a value that is known while tracing.

    Args:
      force: what to make of the value, such as `int`; None for the value itself.
      val: any value. Under `grad` outside of `jit`, tracers have known values as well.
      context: a sentence that says what the value is needed for, for the error.

    Raises:
      ConcretizationTypeError: the value is a tracer whose number is not known.
    """
    if isinstance(val, Tracer):
        concrete = val.concrete_value()
        if concrete is None:
            raise ConcretizationTypeError(
                tracing_errors.value_not_known(val.aval, val.origin(), context)
            )
        val = concrete
    return val if force is None else force(val)


# ---------------------------------------------------------------- the state of tracing


class OpaqueTraceState:
    """Which trace was current; two states are equal if it was the same one."""

    __slots__ = ("_trace",)

    def __init__(self, trace: Trace):
        self._trace = trace

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OpaqueTraceState) and self._trace is other._trace

    def __hash__(self) -> int:
        return id(self._trace)


def get_opaque_trace_state(convention: Any = None) -> OpaqueTraceState:
    """The current state of tracing, to be compared with a later one."""
    return OpaqueTraceState(context.trace)


def find_top_trace(values: Any = ()) -> Trace:
    """The trace that the primitives applied now would go to."""
    return context.trace


@contextmanager
def take_current_trace() -> Iterator[Trace]:
    """Give out the current trace, while what happens in the block is evaluated."""
    trace = context.trace
    with current_trace(eval_trace):
        yield trace


@contextmanager
def eval_context() -> Iterator[None]:
    """Evaluate what happens in the block, whatever is being traced around it."""
    with current_trace(eval_trace):
        yield


def nonempty_axis_env() -> bool:
    """Whether a named axis is in scope."""
    return bool(context.axis_env)


def axis_names() -> list[Any]:
    """The names of the axes in scope, outermost first."""
    return [axis[0] for axis in context.axis_env]


def is_under_jit() -> bool:
    """Whether a jaxpr is being written."""
    return any(isinstance(trace, JaxprTrace) for trace in _traces())


def is_under_vmap() -> bool:
    """Whether a function is being vectorized."""
    return any(isinstance(trace, BatchTrace) for trace in _traces())


def _traces() -> Iterator[Trace]:
    """The current trace and those around it."""
    trace: Trace | None = context.trace
    while trace is not None:
        yield trace
        trace = trace.parent
