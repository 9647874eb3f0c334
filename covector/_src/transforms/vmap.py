"""Vectorization: a function of single examples becomes one of batches.

    vmap : (a -> b)  ->  [a] -> [b]

A `BatchTrace` knows for each value which of its dimensions, if any, is the batch's, and applies the
primitives' vmap rules under its parent trace.  An op none of whose operands is batched is not
vectorized at all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..base.transform_errors import function
from ..core.avals import AbstractValue, ShapedArray, aval_of, with_vma
from ..core.axis import Axis
from ..core.jaxpr import ClosedJaxpr, jaxpr_as_fun
from ..core.leaks import leaves_no_tracers
from ..core.primitive import Primitive
from ..core.trace import Trace, Tracer, context, tracer_type
from ..ops.linear import bring_to
from .cache import jaxpr_cache
from .stage import write_down

# ---------------------------------------------------------------- state


@tracer_type
class BatchTracer(Tracer):
    """One example of a batch: `value` holds all of them along its dimension `dim`."""

    __slots__ = ("aval", "dim", "value")
    _trace: BatchTrace
    aval: AbstractValue

    def __init__(self, trace: BatchTrace, value: Any, dim: int):
        self._trace = trace
        self.value = value
        self.dim = dim
        self.aval = example_aval(aval_of(value), dim)

    def __repr__(self) -> str:
        return f"VmapTracer(aval={self.aval}, batched={aval_of(self.value)})"

    # The same under the names by which JAX's users know them.
    val = property(lambda self: self.value)
    batch_dim = property(lambda self: self.dim)

    def origin(self) -> str:
        if isinstance(self.value, Tracer):
            return self.value.origin()
        return f"in {self._trace.describe()}"


class BatchTrace(Trace):
    """Vectorization of whatever the parent trace does, along one axis.

    Traces that share an axis object take each other's tracers for their own: a function that is
    mapped again within a rule, along the same axis, may have closed over some.
    """

    __slots__ = ("axis", "fun")
    parent: Trace

    def __init__(self, parent: Trace, axis: Axis, fun: Callable[..., Any]):
        super().__init__(parent)
        self.axis = axis
        self.fun = fun

    def describe(self) -> str:
        return f"vmap of the function {function(getattr(self.fun, 'fun', self.fun))}"

    def process(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        values, dims, batched, axis = [], [], False, self.axis
        for arg in args:
            if type(arg) is BatchTracer and arg._trace.axis is axis:
                values.append(arg.value)
                dims.append(arg.dim)
                batched = True
            else:
                values.append(arg)
                dims.append(None)
        name = axis.name
        closed = primitive.stage is None  # else its functions may have closed over tracers of this
        if not batched and closed and (name is None or not primitive.uses_axis(name, params)):
            return self.parent.process(primitive, values, params)
        previous, context.trace = context.trace, self.parent
        try:
            out, out_dim = primitive.vmap(axis, dims, *values, **params)
        finally:
            context.trace = previous
        if primitive.multiple_results:
            return [self.wrap(x, dim) for x, dim in zip(out, out_dim)]
        return self.wrap(out, out_dim)

    def wrap(self, value: Any, dim: int | None) -> Any:
        return value if dim is None else BatchTracer(self, value, dim)

    def unwrap(self, x: Any) -> tuple[Any, int | None]:
        if type(x) is BatchTracer and x._trace.axis is self.axis:
            return x.value, x.dim
        return x, None


def example_aval(aval: AbstractValue, dim: int | None) -> AbstractValue:
    """The aval of one example of a batch."""
    if dim is None or not isinstance(aval, ShapedArray):
        return aval
    return _reshaped(aval, aval.shape[:dim] + aval.shape[dim + 1 :])


def batch_aval(aval: AbstractValue, size: int, dim: int | None) -> AbstractValue:
    """The aval of a batch of `size` examples of the type `aval`, along dimension `dim`."""
    if dim is None or not isinstance(aval, ShapedArray):
        return aval
    return _reshaped(aval, (*aval.shape[:dim], size, *aval.shape[dim:]))


def _reshaped(aval: ShapedArray, shape: tuple[int, ...]) -> ShapedArray:
    plain = ShapedArray(shape, aval.dtype, aval.weak_type)
    return with_vma(plain, aval.vma) if aval.vma else plain


# ---------------------------------------------------------------- entry


@leaves_no_tracers
def vmap(
    fun: Callable[..., Sequence[Any]], axis: Axis, args: Sequence[Any], dims: Sequence[int | None]
) -> tuple[list[Any], list[int | None]]:
    """Run a function of flat single examples on batches.

    Args:
      fun: takes one example of each argument, returns a sequence of values.
      axis: size and name of the batch axis.
      args: the batches, and arguments that are the same for all examples.
      dims: for each argument the batch's dimension, or None.

    Returns:
      The outputs, and for each the batch's dimension, or None where it is the same for all.
    """
    trace = BatchTrace(context.trace, axis, fun)
    axis_env = context.axis_env
    try:
        context.trace = trace
        if axis.name is not None:
            context.axis_env = (*axis_env, (axis.name, axis.size))
        outs = fun(*[trace.wrap(x, dim) for x, dim in zip(args, dims)])
        pairs = [trace.unwrap(out) for out in outs]
    finally:
        context.trace, context.axis_env = trace.parent, axis_env
        trace.alive = False
    return [x for x, _ in pairs], [dim for _, dim in pairs]


@jaxpr_cache
def vmap_jaxpr(
    jaxpr: ClosedJaxpr,
    axis: Axis,
    batched: tuple[bool, ...],
    force_batched: bool | tuple[bool, ...],
) -> tuple[ClosedJaxpr, tuple[bool, ...]]:
    """The jaxpr of the vmap of a jaxpr, with every batch dimension in front.

    Args:
      jaxpr: the program.
      axis: size and name of the batch axis.
      batched: for each input, whether it is a batch.
      force_batched: for each output, whether it must be a batch even if it is the same for all
        examples; one bool means the same for all.

    Returns:
      The program, and for each output whether it is a batch.
    """
    if isinstance(force_batched, bool):
        force_batched = (force_batched,) * len(jaxpr.jaxpr.outvars)
    out_batched: list[bool] = []

    def vmap_of_jaxpr(*args: Any) -> list[Any]:
        dims = [0 if b else None for b in batched]
        outs, out_dims = vmap(jaxpr_as_fun(jaxpr), axis, args, dims)
        out_batched[:] = [forced or dim is not None for dim, forced in zip(out_dims, force_batched)]
        return [
            bring_to(x, axis.size, dim, 0) if keep else x
            for x, dim, keep in zip(outs, out_dims, out_batched)
        ]

    avals = [
        batch_aval(aval, axis.size, 0) if b else aval for aval, b in zip(jaxpr.in_avals, batched)
    ]
    staged = ClosedJaxpr(*write_down(vmap_of_jaxpr, avals, jaxpr.jaxpr.debug_info))
    return staged, tuple(out_batched)


@jaxpr_cache
def vmap_jaxpr_along(
    jaxpr: ClosedJaxpr, axis: Axis, dims: tuple[int | None, ...], out_dims: tuple[int | None, ...]
) -> ClosedJaxpr:
    """The jaxpr of the vmap of a jaxpr, with every batch dimension where the caller wants it.

    Args:
      jaxpr: the program.
      axis: size and name of the batch axis.
      dims: for each input the batch's dimension, or None.
      out_dims: for each output the batch's dimension; None if it is known to be no batch.
    """

    def vmap_of_jaxpr(*args: Any) -> list[Any]:
        outs, found = vmap(jaxpr_as_fun(jaxpr), axis, args, dims)
        return [
            x if wanted is None else bring_to(x, axis.size, dim, wanted)
            for x, dim, wanted in zip(outs, found, out_dims)
        ]

    avals = [batch_aval(aval, axis.size, dim) for aval, dim in zip(jaxpr.in_avals, dims)]
    return ClosedJaxpr(*write_down(vmap_of_jaxpr, avals, jaxpr.jaxpr.debug_info))
