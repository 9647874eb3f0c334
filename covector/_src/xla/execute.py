"""Evaluation on XLA: single ops, and compiled programs.

An op on concrete arrays runs as a compiled program of that one op, cached on the types of its
operands and its parameters.  A compiled program is an `Executable`; calling it takes four
microseconds in XLA and as little as possible here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ..base import config
from ..core.avals import ShapedArray, aval_of
from ..core.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Var
from ..core.primitive import Primitive
from ..core.trace import check_no_escaped_tracer
from .array import ArrayImpl, put
from .compile import Executable, compile_jaxpr
from .devices import default_device

# In-memory caches are emptied when they reach this many entries.
OP_CACHE_LIMIT = 4096
SCALAR_CACHE_LIMIT = 4096


class XlaBackend:
    """Evaluates primitives by compiling them with XLA."""

    array_type = ArrayImpl

    def __init__(self) -> None:
        self._ops: dict[Any, Executable] = {}
        self._scalars: dict[Any, ArrayImpl] = {}
        # Compiled programs live as long as the jaxprs that they were compiled from.
        self._programs: WeakKeyDictionary[ClosedJaxpr, dict[Any, Executable]] = WeakKeyDictionary()

    def execute(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        arrays = [x if type(x) is ArrayImpl else self.to_array(x, primitive.name) for x in args]
        key = (
            primitive,
            tuple([x.aval for x in arrays]),
            tuple(params.items()) if params else None,
            config.trace_key(),
        )
        try:
            executable = self._ops.get(key)
        except TypeError:  # a parameter is not hashable
            return compile_jaxpr(_single_op(primitive, arrays, params)).run(arrays)
        if executable is None:
            if len(self._ops) >= OP_CACHE_LIMIT:
                self._ops.clear()
            executable = compile_jaxpr(_single_op(primitive, arrays, params), primitive.name)
            self._ops[key] = executable
        outs = executable.run(arrays)
        return outs if primitive.multiple_results else outs[0]

    def executable_of(
        self,
        *,
        jaxpr: ClosedJaxpr,
        name: str,
        donated_invars: tuple[bool, ...],
        keep_unused: bool,
        inline: bool,
        compiler_options: tuple[tuple[str, Any], ...],
    ) -> Executable:
        """The compiled program of a `jit`, compiled at the first request for it."""
        options = (donated_invars, keep_unused, compiler_options, config.trace_key())
        programs = self._programs.setdefault(jaxpr, {})
        executable = programs.get(options)
        if executable is None:
            executable = programs[options] = compile_jaxpr(
                jaxpr, name, donated_invars, keep_unused, dict(compiler_options)
            )
        return executable

    def run_jaxpr(self, args: Sequence[Any], **params: Any) -> list[ArrayImpl]:
        """Apply the `jit` primitive to concrete values."""
        arrays = [x if type(x) is ArrayImpl else self.to_array(x, params["name"]) for x in args]
        return self.executable_of(**params).run(arrays)

    def to_array(self, x: Any, doing: str = "evaluation") -> ArrayImpl:
        """A concrete value as an array; scalars are put on the device once per value."""
        if isinstance(x, ArrayImpl):
            return x
        check_no_escaped_tracer((x,), doing)
        aval = aval_of(x)
        if not isinstance(aval, ShapedArray):
            raise TypeError(f"[{doing}] a value of type {aval} cannot be put on a device")
        if aval.shape != ():
            return put(x, aval=aval)
        value = x.item() if isinstance(x, (np.ndarray, np.generic)) else x
        # 0.0 and -0.0 are equal but not the same, NaN is the same but not equal: hence repr.
        key = (aval, repr(value) if value == 0 or value != value else value, default_device())
        array = self._scalars.get(key)
        if array is None:
            if len(self._scalars) >= SCALAR_CACHE_LIMIT:
                self._scalars.clear()
            array = self._scalars[key] = put(x, aval=aval)
        return array

    def clear(self) -> None:
        """Forget compiled ops and scalars."""
        self._ops.clear()
        self._scalars.clear()
        self._programs.clear()


def _single_op(primitive: Primitive, arrays: Sequence[ArrayImpl], params: Any) -> ClosedJaxpr:
    """The program of one op."""
    avals = tuple([x.aval for x in arrays])
    out, effects = primitive.typecheck(avals, params)
    invars = [Var(aval) for aval in avals]
    outvars = [Var(aval) for aval in (out if primitive.multiple_results else [out])]
    eqn = JaxprEqn(list(invars), outvars, primitive, params, effects)
    return ClosedJaxpr(Jaxpr([], invars, outvars, [eqn]))
