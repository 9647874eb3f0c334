"""`reduce_window`: fold up what a window covers, at each of its places, with any function.

Sums, maxima and minima have primitives of their own (`ops/windows.py`); any other function is
staged to a jaxpr of scalars, which becomes the body of XLA's reduction.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..base import dtypes, tree, window_errors
from ..base.shapes import integers
from ..core.avals import ShapedArray, aval_of
from ..core.check import check_applied
from ..core.jaxpr import ClosedJaxpr, Jaxpr, eval_jaxpr
from ..core.primitive import BuiltinPrimitive, Primitive
from ..core.trace import Tracer
from ..core.zeros import Zero
from ..ops import arithmetic
from ..ops.base import Sample, draw
from ..ops.joining import apply_to_each
from ..ops.linear import bring_to, instantiate, scalar
from ..ops.reductions import greatest, least
from ..ops.windows import reduce_window_max_p, reduce_window_min_p, reduce_window_sum_p
from ..ops.windows_family import check_windows, emit_windows, window_params, with_batch
from ..ops.windows_reference import windows_of
from ..ops.windows_shapes import dilated, pads_of_pairs, padtype_to_pads
from ..transforms.cache import jaxpr_cache
from ..transforms.jvp import jvp
from ..transforms.stage import stage
from .reduce import LEAF, elementwise, halved, stage_computation


class ReduceWindow(BuiltinPrimitive):
    """Fold up what a window covers of the operands, all at once, with the jaxpr of a function.

    The second half of the operands are the initial values, scalars that the function leaves every
    element as it is with.
    """

    multiple_results = True

    def abstract_eval(self, *avals, jaxpr, consts, **window):
        xs, inits = halved(avals)
        if [x.dtype for x in xs] != [init.dtype for init in inits]:
            raise TypeError(window_errors.init_dtypes(xs, inits))
        if any(init.shape != () for init in inits):
            raise TypeError(window_errors.init_not_scalar([init.shape for init in inits]))
        check_applied(ClosedJaxpr(jaxpr, consts), (*inits, *inits))
        if any(x.shape != xs[0].shape for x in xs):
            raise TypeError(window_errors.operand_shapes(self.name, [x.shape for x in xs]))
        shape = check_windows(self.name, xs[0].shape, **window)
        return [ShapedArray(shape, x.dtype) for x in xs]

    def ref(self, *args, jaxpr, consts, **window):
        xs, inits = halved(args)
        n, size = xs[0].ndim, math.prod(window["window_dimensions"])
        views = [windows_of(x, init, **window) for x, init in zip(xs, inits)]
        places = views[0].shape[:n]
        columns = [np.moveaxis(view.reshape(*places, size), -1, 0) for view in views]
        accs = [np.broadcast_to(init, places) for init in inits]
        combine = elementwise(ClosedJaxpr(jaxpr, consts), places)
        for elements in zip(*columns):
            accs = combine(*accs, *elements)
        return [np.asarray(acc) for acc in accs]

    def jvp(self, primals, tangents, *, jaxpr, consts, **window):
        # The tangents are folded up beside the primals, by the derivative of the function.
        xs, inits = halved(primals)
        ts, init_ts = halved(tangents)
        if any(type(t) is not Zero for t in init_ts):
            raise NotImplementedError(window_errors.varying_init())
        moving = tuple([aval_of(x).to_tangent_aval().dtype != dtypes.float0 for x in xs])
        moved = [instantiate(t) for t, moves in zip(ts, moving) if moves]
        zeros = [scalar(0, aval_of(t).dtype) for t in moved]
        outs = self.bind(
            *xs,
            *moved,
            *inits,
            *zeros,
            jaxpr=derivative(jaxpr, moving),
            consts=consts,
            **window,
        )
        out_ts = iter(outs[len(xs) :])
        outs = outs[: len(xs)]
        return outs, [
            next(out_ts) if moves else Zero(aval_of(out).to_tangent_aval())
            for out, moves in zip(outs, moving)
        ]

    def vmap(self, axis, dims, *args, jaxpr, consts, **window):
        (xs, inits), (dims_of_xs, dims_of_inits) = halved(args), halved(dims)
        if any(dim is not None for dim in dims_of_inits):
            # XLA's reduction begins with one value, the same for all.
            params = dict(jaxpr=jaxpr, consts=consts, **window)
            outs = apply_to_each(self, axis, dims, args, params)
            return outs, [0] * len(outs)
        xs = [bring_to(x, axis.size, dim, 0) for x, dim in zip(xs, dims_of_xs)]
        outs = self.bind(*xs, *inits, jaxpr=jaxpr, consts=consts, **with_batch(window, 0))
        return outs, [0] * len(outs)

    def emit(self, b, *args, jaxpr, consts, **window):
        xs, inits = halved(args)
        _, scalars = halved(b.avals_in)
        closed = ClosedJaxpr(jaxpr, consts)
        return emit_windows(b, xs, inits, scalars, lambda *xs: b.inline(closed, xs), window)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for dtype in ("float32", "int32"):
            one = np.array(1, dtype)
            times = stage_computation(arithmetic.mul, (aval_of(one),), LEAF)
            for shape, window in [
                ((5,), window_params((2,))),
                ((4, 3), window_params((2, 2), (1, 2), ((1, 0), (0, 1)), (2, 1), (1, 2))),
                ((2, 0), window_params((2, 1))),
            ]:
                params = dict(jaxpr=times.jaxpr, consts=()) | window
                # In reverse mode it has no derivative; tests/ops/test_windows.py looks at tangents.
                yield Sample((draw(rng, shape, dtype), one), params, constant=(0, 1))


@jaxpr_cache
def derivative(jaxpr: Jaxpr, moving: tuple[bool, ...]) -> Jaxpr:
    """The derivative of a function that combines elements: it combines elements with tangents.

        jaxpr      : consts; (x..., y...) -> z...
        derivative : consts; (x..., t..., y..., u...) -> (z..., v...)

    Only the elements that are `moving` have tangents.
    """
    count, n_consts = len(moving), len(jaxpr.constvars)

    def with_tangents(*args: Any) -> list[Any]:
        consts, (left, right) = args[:n_consts], halved(args[n_consts:])
        elements = [*left[:count], *right[:count]]
        given = iter([*left[count:], *right[count:]])
        tangents = [
            next(given) if moves else Zero.from_primal_value(x)
            for x, moves in zip(elements, moving * 2)
        ]
        outs, out_ts = jvp(lambda *xs: eval_jaxpr(jaxpr, consts, *xs), elements, tangents)
        return [*outs, *[instantiate(t) for t, moves in zip(out_ts, moving) if moves]]

    elements = jaxpr.in_avals[:count]
    tangents = [aval.to_tangent_aval() for aval, moves in zip(elements, moving) if moves]
    of_consts = [var.aval for var in jaxpr.constvars]
    staged, _ = stage(with_tangents, [*of_consts, *[*elements, *tangents] * 2])
    return staged.replace(constvars=staged.invars[:n_consts], invars=staged.invars[n_consts:])


reduce_window_p = ReduceWindow("reduce_window")

# The functions that have primitives of their own, each with the initial value for a dtype.
MONOIDS: dict[Any, tuple[Primitive, Callable[[Any], Any]]] = {
    arithmetic.add: (reduce_window_sum_p, lambda dtype: 0),
    arithmetic.max: (reduce_window_max_p, least),
    arithmetic.min: (reduce_window_min_p, greatest),
}


def monoid_primitive(computation: Any, inits: Sequence[Any]) -> Primitive | None:
    """The primitive of a known function with its identity, or None."""
    if len(inits) != 1 or isinstance(inits[0], Tracer) or aval_of(inits[0]).shape != ():
        return None
    try:
        primitive, identity = MONOIDS[computation]
    except (KeyError, TypeError):  # not a known function, or not hashable
        return None
    return primitive if np.equal(inits[0], identity(aval_of(inits[0]).dtype)) else None


def reduce_window(
    operand: Any,
    init_value: Any,
    computation: Callable[[Any, Any], Any],
    window_dimensions: Sequence[int],
    window_strides: Sequence[int] | None = None,
    padding: str | Sequence[tuple[int, int]] = "VALID",
    base_dilation: Sequence[int] | None = None,
    window_dilation: Sequence[int] | None = None,
) -> Any:
    """Fold up what a window covers of arrays, at each of its places, with a function.

    Args:
      operand: an array, or a tree of arrays of one shape, which are reduced together.
      init_value: for each operand a scalar of its dtype, which stands where the padding is, and
        must leave every element as it is in the computation.
      computation: takes two scalars, or two trees of scalars like `operand`, and returns one. It
        must be associative; otherwise the result is not defined.
      window_dimensions: the sizes of the window, one for each dimension.
      window_strides: by how much it moves; None means 1 everywhere.
      padding: pairs `(low, high)`, or `"VALID"`, `"SAME"` or `"SAME_LOWER"`, see
        `padtype_to_pads`.
      base_dilation: the steps between elements of the operand; None means 1.
      window_dilation: the steps between elements of the window; None means 1.

    Returns:
      An array, or a tree of arrays, with an element for each place of the window.

    Raises:
      ValueError: the trees do not fit.
      TypeError: the dtypes or the window do not.

    >>> from covector import lax
    >>> x = np.array([1.0, 5.0, 3.0, 4.0, 2.0])
    >>> lax.reduce_window(x, -np.inf, lax.max, (2,), (1,), "VALID")
    Array([5., 5., 4., 4.], dtype=float32)
    >>> lax.reduce_window(x, 1.0, lax.mul, (3,), (2,))
    Array([15., 24.], dtype=float32)
    """
    xs, treedef = tree.flatten(operand)
    inits, init_treedef = tree.flatten(init_value)
    if treedef != init_treedef:
        raise ValueError(window_errors.trees_differ(treedef, init_treedef))
    if not xs:
        raise ValueError(window_errors.no_operands())
    where = "reduce_window"
    sizes = integers(window_dimensions, where, "window_dimensions")
    strides, base, dilation = [
        (1,) * len(sizes) if values is None else integers(values, where, what)
        for values, what in (
            (window_strides, "window_strides"),
            (base_dilation, "base_dilation"),
            (window_dilation, "window_dilation"),
        )
    ]
    if isinstance(padding, str):
        spans = dilated(sizes, dilation)
        pads: Any = padtype_to_pads(aval_of(xs[0]).shape, spans, strides, padding)
    else:
        pads = pads_of_pairs(padding, where)
    window = window_params(sizes, strides, pads, base, dilation)
    primitive = monoid_primitive(computation, inits)
    if primitive is not None:
        return tree.unflatten(treedef, [primitive.bind(xs[0], **window)])
    avals = tuple(map(aval_of, inits))
    closed = stage_computation(computation, avals, treedef, where)
    outs = reduce_window_p.bind(
        *xs, *inits, jaxpr=closed.jaxpr, consts=tuple(closed.consts), **window
    )
    return tree.unflatten(treedef, outs)
