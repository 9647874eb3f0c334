"""Calls: the application of a function, kept as one eqn, to which nothing else is to be said."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.avals import aval_of
from ..core.jaxpr import ClosedJaxpr
from ..core.trace import context, eval_trace
from ..transforms.linearize import constvars_to_invars
from ..transforms.stage import stage
from .applied import Application


class CallPrimitive(Application):
    """A primitive that applies a function.

    `bind` takes the function as `subfuns=(f,)`, a `WrappedFun` of flat arguments. Under a trace
    the function becomes a jaxpr, the parameter `call_jaxpr`, to which all transformations apply;
    on concrete values it simply runs.

    Args:
      name: how it appears in jaxprs.
    """

    jaxpr_name = "call_jaxpr"

    def bind(self, *args: Any, subfuns: Sequence[Any] = (), **params: Any) -> list[Any]:
        """Apply a function to flat arguments; returns its flat results."""
        if not subfuns:
            return super().bind(*args, **params)
        (fun,) = subfuns
        if context.trace is eval_trace:
            return call_impl(fun, *args)
        jaxpr, consts = stage(fun.call_wrapped, [aval_of(x) for x in args], fun.debug_info)
        closed = ClosedJaxpr(constvars_to_invars(jaxpr))
        return super().bind(*consts, *args, call_jaxpr=closed, **params)

    def evaluate(self, backend, args, params):
        return self.ref(*args, **params)

    def vmap(self, axis, dims, *args, **params):
        info = params["call_jaxpr"].debug_info
        if info is not None:
            params = {"name": info.func_name} | params
        return super().vmap(axis, dims, *args, **params)

    def emit(self, b, *operands, call_jaxpr, **params):
        return b.call(_FUNCTIONS.get(self.name, self.name), call_jaxpr, operands)


def call_impl(fun: Any, *args: Any, **params: Any) -> list[Any]:
    """Evaluate a call: run the function, a `WrappedFun`, on concrete values."""
    return fun.call_wrapped(*args)


# What the functions of calls are called in compiled programs.
_FUNCTIONS = {"call": "core_call", "closed_call": "core_closed_call"}

call_p = CallPrimitive("call")
closed_call_p = CallPrimitive("closed_call")
