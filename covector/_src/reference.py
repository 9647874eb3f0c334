"""The second backend: NumPy, one op at a time.

It evaluates each primitive with its `ref` rule instead of compiling it with XLA: slow, plain, and
easy to step through in a debugger.  The contract tests use the same rules as their oracle.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from .base import config, dtypes
from .core.avals import aval_of
from .core.jaxpr import ClosedJaxpr, eval_jaxpr
from .core.primitive import Primitive
from .core.trace import check_no_escaped_tracer, eval_trace
from .xla.array import ArrayImpl, put
from .xla.execute import XlaBackend


class ReferenceBackend(XlaBackend):
    """Evaluates primitives with NumPy; moving arrays between devices is left to XLA."""

    def __init__(self) -> None:
        super().__init__()
        # An attribute, as it is of the other backend, which finds programs of repeated calls.
        self._execute_on_xla, self.execute = self.execute, self._evaluate

    def _evaluate(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        check_no_escaped_tracer(args, primitive.name)
        avals = tuple(aval_of(x) for x in args)
        out, _ = primitive.typecheck(avals, params)
        if any(_is_extended(aval) for aval in (*avals, *(out if type(out) is list else [out]))):
            return self._execute_on_xla(primitive, args, params)  # NumPy has no arrays of keys
        operands = [np.asarray(x, numpy_dtype(aval)) for x, aval in zip(args, avals)]
        with np.errstate(all="ignore"):  # NaN and infinities are results here, not accidents
            results = primitive.ref(*operands, **params)
        if primitive.multiple_results:
            return [self._wrap(primitive, x, aval) for x, aval in zip(results, out)]
        return self._wrap(primitive, results, out)

    def _wrap(self, primitive: Primitive, result: Any, aval: Any) -> ArrayImpl:
        host = np.asarray(result, numpy_dtype(aval))
        if host.shape != aval.shape:
            raise TypeError(
                f"the reference rule of {primitive} gave the shape {host.shape}, but its shape "
                f"rule {aval.shape}"
            )
        return put(host, None, aval)

    def execute_body(
        self, jaxpr: ClosedJaxpr, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]
    ) -> Any:
        return self.execute(primitive, args, params)

    def run_jaxpr(self, args: Sequence[Any], *, jaxpr: ClosedJaxpr, **_params: Any) -> list[Any]:
        return eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, *args)


def _is_extended(aval: Any) -> bool:
    return isinstance(getattr(aval, "dtype", None), dtypes.ExtendedDType)


def numpy_dtype(aval: Any) -> Any:
    """The dtype of the NumPy array that stands for a value of type `aval`."""
    return np.dtype(np.bool_) if aval.dtype == dtypes.float0 else aval.dtype


@contextmanager
def reference_mode() -> Iterator[None]:
    """Evaluate with NumPy, op by op, and run jitted functions as plain Python.

    Every line of the user's program then runs where a debugger can stop, and every intermediate
    value is there to look at. It holds for the whole process, and is for debugging: slow.

    >>> import covector as cv, covector.numpy as jnp
    >>> with cv.reference_mode():
    ...     print(cv.jit(lambda x: jnp.abs(x) * 2)(-0.5))
    1.0
    """
    previous = eval_trace.backend
    eval_trace.backend = ReferenceBackend()
    try:
        with config.disable_jit(True):
            yield
    finally:
        eval_trace.backend = previous
