"""From arrays to Python: truth, numbers, lists; and what traced values say instead.

A tracer has a number behind it under a transformation of eager code, such as `grad`.  Under `jit`
it has none, and the error names the arguments of the traced function that it was computed from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..base import dtypes, tracer_errors
from ..base.errors import (
    ConcretizationTypeError,
    TracerArrayConversionError,
    TracerBoolConversionError,
    TracerIntegerConversionError,
)
from ..core.jaxpr import Literal
from ..core.trace import Tracer
from ..ops.slicing import index_in_dim
from ..transforms.stage import JaxprTrace, JaxprTracer

# ---------------------------------------------------------------- where a traced value came from


_UNKNOWN = "This concrete value was not available in Python because it depends on"


def behind(tracer: Any) -> str:
    """In words, the function that is being traced, and the arguments a value depends on."""
    staged = _staged(tracer)
    if staged is None:
        origin = tracer.origin()
        return f"It was made {origin}." if origin else ""
    trace: JaxprTrace = staged._trace
    if trace.debug_info is None:
        return ""
    names = [trace.name_of_input(var) for var in _inputs_behind(staged)]
    text = f"It was met while {trace.describe()}"
    if not names:
        return text + "."
    names = [name.removeprefix("the argument ") for name in names]
    if len(names) == 1:
        return f"{text}. {_UNKNOWN} the value of the argument {names[0]}."
    listed = ", ".join(names[:-1]) + " and " + names[-1]
    return f"{text}. {_UNKNOWN} the values of the arguments {listed}."


def _staged(tracer: Any) -> JaxprTracer | None:
    """The variable of a jaxpr behind a tracer, under whatever other transformations."""
    while isinstance(tracer, Tracer):
        if isinstance(tracer, JaxprTracer):
            return tracer
        tracer = getattr(tracer, "primal", getattr(tracer, "value", None))
    return None


def _inputs_behind(tracer: JaxprTracer) -> list[Any]:
    """The inputs of the jaxpr on which a variable depends, in order."""
    trace: Any = tracer._trace
    needed = {tracer.atom}
    for eqn in reversed(trace.eqns):
        if not needed.isdisjoint(eqn.outvars):
            needed.update([a for a in eqn.invars if type(a) is not Literal])
    return [var for var in trace.invars if var in needed]


# ---------------------------------------------------------------- the value of an array


def _known(x: Any, error: type[Exception], needed_for: str) -> np.ndarray:
    """The elements of an array or tracer; raises `error` if they are not known."""
    value = x.concrete_value() if isinstance(x, Tracer) else x
    if value is None:
        raise error(tracer_errors.value_unknown(x.aval, needed_for, behind(x)))
    return np.asarray(value)


def to_bool(x: Any) -> bool:
    if isinstance(x.dtype, dtypes.ExtendedDType):
        raise TypeError(tracer_errors.no_truth(x.dtype))
    size = x.size
    if size != 1:
        raise ValueError(tracer_errors.ambiguous_truth(x.aval))
    return bool(_known(x, TracerBoolConversionError, tracer_errors.FOR_BOOL).item())


def _number(x: Any, convert: Callable[[Any], Any]) -> Any:
    """The number in an array of rank 0, as a Python number."""
    if x.ndim:
        raise TypeError(tracer_errors.not_a_scalar(convert.__name__, x.aval))
    needed_for = tracer_errors.for_number(convert.__name__)
    return convert(_known(x, ConcretizationTypeError, needed_for).item())


def to_int(x: Any) -> int:
    return _number(x, int)


def to_float(x: Any) -> float:
    return _number(x, float)


def to_complex(x: Any) -> complex:
    return _number(x, complex)


def to_index(x: Any) -> int:
    if x.ndim or not dtypes.issubdtype(x.dtype, np.integer):
        raise TypeError(tracer_errors.not_an_index(x.aval))
    return int(_known(x, TracerIntegerConversionError, tracer_errors.FOR_INDEX))


def to_numpy(x: Any, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
    """`numpy.asarray` of a tracer, which has no answer even where the elements are known: NumPy
    would go on with bare numbers, and what it makes of them would have no derivative."""
    raise TracerArrayConversionError(tracer_errors.no_numpy_array(x.aval, behind(x)))


def item(x: Any, *args: Any) -> Any:
    """An element of an array as a Python number.

    Args:
      x: an array.
      *args: its index: a position in the raveled array, or an integer for each dimension; none if
        there is only one element.
    """
    return _known(x, ConcretizationTypeError, tracer_errors.for_method("item")).item(*args)


def tolist(x: Any) -> Any:
    """The elements of an array as nested lists of Python numbers."""
    return _known(x, ConcretizationTypeError, tracer_errors.for_method("tolist")).tolist()


def tobytes(x: Any, order: str = "C") -> bytes:
    """The elements of an array as bytes, in row-major order or, for "F", in column-major order."""
    return _known(x, ConcretizationTypeError, tracer_errors.for_method("tobytes")).tobytes(order)


def length(x: Any) -> int:
    shape = x.aval.shape
    if not shape:
        raise TypeError(tracer_errors.no_length())
    return shape[0]


def iterate(x: Any) -> Iterator[Any]:
    shape = x.aval.shape
    if not shape:
        raise TypeError(tracer_errors.not_iterable())
    if isinstance(x, Tracer):  # a program must not depend on how far somebody iterates
        return iter([index_in_dim(x, i, keepdims=False) for i in range(shape[0])])
    return (x[i] for i in range(shape[0]))


def array_format(x: Any, spec: str) -> str:
    """An array of rank 0 is formatted as its number, others as NumPy arrays."""
    if not _has_numbers(x):
        return format(repr(x), spec)
    return format(np.asarray(x)[()] if x.ndim == 0 else np.asarray(x), spec)


def tracer_format(x: Any, spec: str) -> str:
    """A tracer is formatted as itself; a format of numbers needs the number."""
    if not spec:
        return str(x)
    return format(_known(x, ConcretizationTypeError, tracer_errors.FOR_FORMAT)[()], spec)


def array_str(x: Any) -> str:
    return str(np.asarray(x)) if _has_numbers(x) else repr(x)


def _has_numbers(x: Any) -> bool:
    """Whether an array's elements are numbers, and all of them in this process."""
    return not isinstance(x.dtype, dtypes.ExtendedDType) and x._is_whole_here


def no_assignment(x: Any, index: Any, value: Any = None) -> None:
    raise TypeError(tracer_errors.immutable())


def no_deletion(x: Any, index: Any) -> None:
    raise TypeError(tracer_errors.no_deletion())
