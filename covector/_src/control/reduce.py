"""`reduce`: fold arrays up over dimensions with a function that the user gives.

The well-known functions have primitives of their own (`ops/reductions.py`); any other is staged to
a jaxpr of scalars, which becomes the body of XLA's reduction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..base import dtypes, reduce_errors, tree
from ..base.shapes import integers, without
from ..core.avals import ShapedArray, aval_of
from ..core.axis import Axis
from ..core.check import check_applied
from ..core.jaxpr import ClosedJaxpr, jaxpr_as_fun
from ..core.primitive import BuiltinPrimitive
from ..core.trace import Tracer
from ..core.zeros import Zero
from ..ops import arithmetic, bitwise
from ..ops.base import Sample, draw
from ..ops.conversion import convert
from ..ops.joining import apply_to_each
from ..ops.linear import bring_to, check_axes
from ..ops.reductions import (
    fold,
    greatest,
    least,
    reduce_and,
    reduce_and_p,
    reduce_max,
    reduce_min,
    reduce_or,
    reduce_prod,
    reduce_sum,
    reduce_xor,
    to_front,
)
from ..transforms.cache import jaxpr_cache
from ..transforms.flatten import FlatFunction
from ..transforms.jvp import jvp
from ..transforms.stage import stage
from ..transforms.vmap import vmap


class Reduce(BuiltinPrimitive):
    """Fold the operands up over `dimensions`, all at once, with the jaxpr of `computation`.

    The second half of the operands are the initial values, scalars that the computation leaves
    every element as it is with.
    """

    multiple_results = True

    def abstract_eval(self, *avals, computation, jaxpr, dimensions):
        xs, inits = halved(avals)
        if any(init.shape != () for init in inits):
            raise ValueError(reduce_errors.init_not_scalar([init.shape for init in inits]))
        if [x.dtype for x in xs] != [init.dtype for init in inits]:
            raise TypeError(reduce_errors.init_dtypes(xs, inits))
        check_applied(jaxpr, (*inits, *inits))
        if any(x.shape != xs[0].shape for x in xs):
            raise ValueError(reduce_errors.operand_shapes([x.shape for x in xs]))
        check_axes(self.name, xs[0], dimensions)
        shape = without(xs[0].shape, dimensions)
        return [
            ShapedArray(shape, x.dtype, x.weak_type and init.weak_type)
            for x, init in zip(xs, inits)
        ]

    def ref(self, *args, computation, jaxpr, dimensions):
        xs, accs = halved(args)
        kept = [dim for dim in range(xs[0].ndim) if dim not in dimensions]
        xs = [np.asarray(to_front(x, dimensions, kept)) for x in xs]
        accs = [np.broadcast_to(acc, x.shape[1:]) for acc, x in zip(accs, xs)]
        combine = elementwise(jaxpr, xs[0].shape[1:])
        for i in range(xs[0].shape[0]):
            accs = combine(*accs, *[x[i] for x in xs])
        return [np.asarray(acc) for acc in accs]

    def jvp(self, primals, tangents, *, computation, jaxpr, dimensions):
        xs, inits = halved(primals)
        ts, init_ts = halved(tangents)
        if any(type(t) is not Zero for t in init_ts):
            raise NotImplementedError(reduce_errors.varying_init())
        kept = [dim for dim in range(aval_of(xs[0]).ndim) if dim not in dimensions]
        xs = [to_front(x, dimensions, kept) for x in xs]
        ts = [t if type(t) is Zero else to_front(t, dimensions, kept) for t in ts]

        def reduced(*xs: Any) -> list[Any]:
            return fold(lambda *xs: elementwise(jaxpr, aval_of(xs[0]).shape)(*xs), xs, inits)

        return jvp(reduced, xs, ts)

    def vmap(self, axis, dims, *args, dimensions, **params):
        (xs, inits), (dims_of_xs, dims_of_inits) = halved(args), halved(dims)
        if any(dim is not None for dim in dims_of_inits):
            # XLA's reduction begins with one value, the same for all.
            outs = apply_to_each(self, axis, dims, args, params | dict(dimensions=dimensions))
            return outs, [0] * len(outs)
        xs = [bring_to(x, axis.size, dim, 0) for x, dim in zip(xs, dims_of_xs)]
        dimensions = tuple([dim + 1 for dim in dimensions])
        outs = self.bind(*xs, *inits, dimensions=dimensions, **params)
        return outs, [0] * len(outs)

    def emit(self, b, *args, computation, jaxpr, dimensions):
        _, inits = halved(b.avals_in)
        region = (tuple(inits) * 2, lambda *elements: b.inline(jaxpr, elements))
        if len(inits) == 1:  # devices cannot put together what each has reduced by any function
            args = b.whole(args[0], b.avals_in[0]), args[1]
        return b.op_with_regions("reduce", args, [region], dimensions=dimensions)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for dtype in ("float32", "int32"):
            one = np.array(1, dtype)
            times = stage_computation(arithmetic.mul, (aval_of(one),), LEAF)
            params = dict(computation=arithmetic.mul, jaxpr=times)
            for shape, dimensions in [((5,), (0,)), ((2, 3, 4), (2, 0)), ((2, 0), (1,))]:
                x = draw(rng, shape, dtype)
                yield Sample((x, one), params | dict(dimensions=dimensions), constant=(1,))


reduce_p = Reduce("reduce")

LEAF = tree.structure(0)  # the structure of a single array


def halved(values: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """The first half of a sequence, and the second."""
    count = len(values) // 2
    return list(values[:count]), list(values[count:])


# ---------------------------------------------------------------- the computation


def elementwise(jaxpr: ClosedJaxpr, shape: Sequence[int]) -> Callable[..., list[Any]]:
    """The function of arrays of `shape` that applies a jaxpr of scalars to each element."""
    fun: Callable[..., Sequence[Any]] = jaxpr_as_fun(jaxpr)
    for size in reversed(shape):
        fun = mapped(fun, Axis(size))
    return fun


def mapped(fun: Callable[..., Sequence[Any]], axis: Axis) -> Callable[..., list[Any]]:
    """A function of examples as one of batches along dimension 0."""

    def batched(*args: Any) -> list[Any]:
        outs, dims = vmap(fun, axis, args, [0] * len(args))
        return [bring_to(out, axis.size, dim, 0) for out, dim in zip(outs, dims)]

    return batched


@jaxpr_cache
def stage_computation(
    computation: Any, avals: tuple[ShapedArray, ...], treedef: Any, where: str = "reduce"
) -> ClosedJaxpr:
    """The jaxpr of a function, given to `where`, that combines two trees of scalars."""
    flat = FlatFunction(computation, tree.structure(((tree.unflatten(treedef, avals),) * 2, {})))
    jaxpr, consts = stage(flat, avals * 2)
    if any(isinstance(const, Tracer) for const in consts):
        captured = next(const for const in consts if isinstance(const, Tracer))
        raise NotImplementedError(reduce_errors.computation_captures(where, captured.aval))
    if flat.out_tree != treedef:
        raise ValueError(reduce_errors.computation_tree(where, treedef, flat.out_tree))
    got = [(aval.shape, aval.dtype) for aval in jaxpr.out_avals]
    if got != [(aval.shape, aval.dtype) for aval in avals]:
        raise TypeError(reduce_errors.computation_result(where, avals, jaxpr.out_avals))
    return ClosedJaxpr(jaxpr, consts)


# The functions that have reductions of their own, each with the initial value for a dtype.
MONOIDS: dict[Any, tuple[Callable[..., Any], Callable[[Any], Any]]] = {
    arithmetic.add: (reduce_sum, lambda dtype: 0),
    arithmetic.mul: (reduce_prod, lambda dtype: 1),
    arithmetic.max: (reduce_max, least),
    arithmetic.min: (reduce_min, greatest),
    bitwise.bitwise_and: (reduce_and, reduce_and_p.identity),
    bitwise.bitwise_or: (reduce_or, lambda dtype: 0),
    bitwise.bitwise_xor: (reduce_xor, lambda dtype: 0),
}


def monoid_reduction(computation: Any, inits: Sequence[Any]) -> Callable[..., Any] | None:
    """The reduction that a known function with its identity makes, or None."""
    if len(inits) != 1 or isinstance(inits[0], Tracer) or aval_of(inits[0]).shape != ():
        return None
    try:
        reduction, identity = MONOIDS[computation]
    except (KeyError, TypeError):  # not a known function, or not hashable
        return None
    return reduction if np.equal(inits[0], identity(aval_of(inits[0]).dtype)) else None


def reduce(
    operands: Any,
    init_values: Any,
    computation: Callable[[Any, Any], Any],
    dimensions: Sequence[int],
    out_sharding: Any = None,
) -> Any:
    """Fold arrays up over dimensions with a function.

    Args:
      operands: an array, or a tree of arrays of one shape, which are reduced together.
      init_values: for each operand a scalar of its dtype. The computation must leave every element
        as it is with these, and must be associative; otherwise the result is not defined.
      computation: takes two scalars, or two trees of scalars like `operands`, and returns one.
      dimensions: distinct dimensions, counted from 0.
      out_sharding: how the result is to be sharded; for sums only.

    Returns:
      An array, or a tree of arrays, without these dimensions.

    Raises:
      ValueError: the trees or shapes do not fit.
      TypeError: the dtypes do not.

    >>> from covector import lax
    >>> x = np.array([[1, 5, 3], [4, 2, 6]])
    >>> lax.reduce(x, 0, lax.add, (0,))
    Array([5, 7, 9], dtype=int32)

    The greatest element of each row, and where it is:

    >>> def later(a, b):
    ...     take = lax.gt(b[0], a[0])
    ...     return lax.select(take, b[0], a[0]), lax.select(take, b[1], a[1])
    >>> lax.reduce((x, lax.broadcasted_iota(int, (2, 3), 1)), (-1, 0), later, (1,))
    (Array([5, 6], dtype=int32), Array([1, 2], dtype=int32))
    """
    xs, treedef = tree.flatten(operands)
    inits, init_treedef = tree.flatten(init_values)
    if treedef != init_treedef:
        raise ValueError(reduce_errors.trees_differ(treedef, init_treedef))
    dimensions = integers(dimensions, "reduce", "dimensions")
    reduction = monoid_reduction(computation, inits)
    if reduction is not None:
        sharding = {} if out_sharding is None else {"out_sharding": out_sharding}
        weak = dtypes.is_weakly_typed(xs[0]) and dtypes.is_weakly_typed(inits[0])
        out = reduction(xs[0], dimensions, **sharding)
        return tree.unflatten(treedef, [convert(out, out.dtype, weak)])
    avals = tuple(map(aval_of, inits))
    outs = reduce_p.bind(
        *xs,
        *inits,
        computation=computation,
        jaxpr=stage_computation(computation, avals, treedef),
        dimensions=dimensions,
    )
    return tree.unflatten(treedef, outs)
