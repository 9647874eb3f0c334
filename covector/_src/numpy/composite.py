"""Functions of several primitives that run as one compiled program on concrete arrays."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any

from ..base import config
from ..core.avals import aval_of
from ..core.effects import no_effects
from ..core.jaxpr import ClosedJaxpr
from ..core.primitive import BuiltinPrimitive
from ..core.trace import context, eval_trace
from ..core.zeros import UndefinedPrimal
from ..ops.emitted import Emitted
from ..transforms.cache import jaxpr_cache
from ..transforms.jvp import jvp
from ..transforms.simplify import without_places
from ..transforms.stage import JaxprTrace, stage_closed
from ..transforms.transpose import backward_pass
from ..transforms.vmap import vmap


def _inlined() -> bool:
    """Whether composites are only functions, be it that they are to warn each time."""
    return config.disable_jit.value or config.numpy_rank_promotion.value == "warn"


class Composite(BuiltinPrimitive):
    """A function written in primitives, which is itself one to evaluation alone.

    Applied to concrete arrays it is compiled and dispatched once, rather than once for each of its
    primitives.  Under any other trace it is only a function: its primitives are written out, and
    transformations see nothing else.  Where a program is written, they are copied from the
    function's jaxpr, so that the function runs once for each combination of types.

    Args:
      fun: takes arrays by position and hashable parameters by keyword, returns an array, or a list
        of them if `multiple_results`.
    """

    def __init__(self, fun: Callable[..., Any], multiple_results: bool = False):
        super().__init__(fun.__name__.strip("_"))
        self.fun = fun
        self.multiple_results = multiple_results
        update_wrapper(self, fun)

    def __call__(self, *args: Any, **params: Any) -> Any:
        if context.trace is eval_trace and not _inlined():
            return eval_trace.backend.execute(self, args, params)
        return self.written_out(args, params)

    def written_out(self, args: Any, params: dict[str, Any]) -> Any:
        """Apply the primitives of the function."""
        trace = context.trace
        if type(trace) is not JaxprTrace or trace.linear or _inlined():
            return self.fun(*args, **params)
        outs = trace.write_out(self.staged(tuple([aval_of(x) for x in args]), params), args)
        return outs if self.multiple_results else outs[0]

    def typecheck(self, avals: Any, params: dict[str, Any]) -> tuple:
        # Not memoized: what the function does may depend on the configuration.
        outs = self.staged(tuple(avals), params).out_avals
        return (outs if self.multiple_results else outs[0]), no_effects

    def ref(self, *args: Any, **params: Any) -> Any:
        return self.fun(*args, **params)

    def emit(self, b: Any, *operands: Any, **params: Any) -> Any:
        outs = b.inline(self.staged(tuple(b.avals_in), params), operands)
        return outs if self.multiple_results else outs[0]

    def expanded(self, avals: Any, params: dict[str, Any]) -> Any:
        return self.staged(tuple(avals), params)

    def staged(self, avals: Any, params: dict[str, Any]) -> Any:
        """The jaxpr of the function for operands of these types."""
        key = tuple(params.items())
        try:
            hash(key)
        except TypeError:
            return stage_closed(self.flat(self.fun, params), avals)
        return _staged(self, avals, key)

    def flat(self, fun: Callable[..., Any], params: dict[str, Any]) -> Callable[..., Any]:
        """A function with these parameters that returns a list."""

        def flat(*args: Any) -> Any:
            out = fun(*args, **params)
            return out if self.multiple_results else [out]

        return flat


@jaxpr_cache
def _staged(composite: Composite, avals: Any, params: tuple[tuple[str, Any], ...]) -> ClosedJaxpr:
    # One for all callers: its eqns are where the composite is applied, not where it was first.
    return without_places(stage_closed(composite.flat(composite.fun, dict(params)), avals))


class Lowered(Composite):
    """A composite that programs for CPUs compute in another way.

    Where that way pays, it is one eqn in a jaxpr too, since what will be done is not known before
    the program is written for a platform.  All transformations see the primitives.

    Args:
      fun: as of a `Composite`.
      on_cpu: computes the same of the same arguments.
      pays: says of the types of the operands, and of the parameters, whether to use `on_cpu`.
      name: of the primitive.
      multiple_results: as of a `Composite`.
      native: writes the same as the call of one of our own kernels: takes the operands as `Emitted`
        and the parameters, and returns an `Emitted`, or None if no kernel serves.
    """

    def __init__(
        self,
        fun: Callable[..., Any],
        on_cpu: Callable[..., Any],
        pays: Callable[..., bool],
        name: str,
        multiple_results: bool = False,
        native: Callable[..., Emitted | None] | None = None,
    ):
        super().__init__(fun, multiple_results)
        self.name = name
        self.on_cpu = on_cpu
        self.pays = pays
        self.native = native

    def __call__(self, *args: Any, **params: Any) -> Any:
        if context.trace is eval_trace or _inlined():
            return super().__call__(*args, **params)
        if self.pays(*map(aval_of, args), **params):
            return self.bind(*args, **params)
        return self.written_out(args, params)

    def jvp(self, primals: Any, tangents: Any, **params: Any) -> Any:
        outs, out_tangents = jvp(self.flat(self.fun, params), primals, tangents)
        return self._results(outs), self._results(out_tangents)

    def transpose(self, cts: Any, *args: Any, **params: Any) -> Any:
        avals = [x.aval if type(x) is UndefinedPrimal else aval_of(x) for x in args]
        closed = self.staged(tuple(avals), params)
        cts = cts if self.multiple_results else [cts]
        return backward_pass(closed.jaxpr, closed.consts, args, cts)

    def vmap(self, axis: Any, dims: Any, *args: Any, **params: Any) -> Any:
        outs, out_dims = vmap(self.flat(self.fun, params), axis, args, dims)
        return self._results(outs), self._results(out_dims)

    def emit(self, b: Any, *operands: Any, **params: Any) -> Any:
        if b.platform == "cpu" and self.pays(*b.avals_in, **params):
            if self.native is not None:
                arrays = [Emitted(b, x, aval) for x, aval in zip(operands, b.avals_in)]
                found = self.native(*arrays, **params)
                if found is not None:
                    return found.value
            return self._results(
                b.inline(stage_closed(self.flat(self.on_cpu, params), b.avals_in), operands)
            )
        return super().emit(b, *operands, **params)

    def _results(self, outs: Any) -> Any:
        return outs if self.multiple_results else outs[0]


def composite(fun: Callable[..., Any]) -> Composite:
    """Decorator: a `Composite` with one result."""
    return Composite(fun)


def composite_list(fun: Callable[..., Any]) -> Composite:
    """Decorator: a `Composite` whose result is a list."""
    return Composite(fun, multiple_results=True)
