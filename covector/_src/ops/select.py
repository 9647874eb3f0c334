"""Choosing elements: by a predicate or an index (`select_n`), and by bounds (`clamp`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..base import dtypes, elementwise_errors
from ..core.array import Array
from ..core.avals import aval_of
from ..core.fusion import CHEAP
from ..core.zeros import UndefinedPrimal, Zero
from .base import Op, Sample, draw
from .bitwise import and_p
from .comparison import eq_p, gt_p, lt_p
from .families import (
    ANY,
    accumulate,
    broadcast_like,
    check_accepts,
    check_same_dtypes,
    filled_like,
)
from .linear import bring_to, broadcast_in_dim, constant_like, instantiate
from .physical import physical_aval


class SelectN(Op):
    """Elementwise the case that `which` numbers; a boolean `which` selects the second if true.

    `which` is a scalar or has the shape of the cases.
    """

    masks_cotangents = True
    fusion = CHEAP

    def shape(self, which, *cases):
        if not cases:
            raise TypeError(elementwise_errors.select_without_cases())
        shapes = [case.shape for case in cases]
        if any(shape != shapes[0] for shape in shapes):
            raise TypeError(elementwise_errors.select_cases_differ(shapes))
        if which.shape not in ((), shapes[0]):
            raise TypeError(elementwise_errors.select_which_shape(which.shape, shapes[0]))
        return shapes[0]

    def dtype(self, which, *cases):
        check_same_dtypes("select", cases)
        boolean = which.dtype == np.bool_
        if not boolean and not dtypes.issubdtype(which.dtype, np.integer):
            raise TypeError(elementwise_errors.select_which_dtype(which.dtype, 1))
        if boolean and len(cases) > 2:
            raise TypeError(elementwise_errors.select_which_dtype(which.dtype, len(cases)))
        return cases[0].dtype

    def weak_type(self, which, *cases):
        return all(case.weak_type for case in cases)

    def ref(self, which, *cases):
        index = np.clip(np.asarray(which, int), 0, len(cases) - 1)
        out = np.array(cases[0])
        for i, case in enumerate(cases[1:], start=1):
            out = np.where(index == i, case, out)
        return out.astype(np.asarray(cases[0]).dtype)

    def jvp(self, primals, tangents):
        which, *_ = primals
        out = self.bind(*primals)
        tangents = tangents[1:]
        if all(type(t) is Zero for t in tangents):
            return out, Zero(aval_of(out).to_tangent_aval())
        return out, self.bind(which, *map(instantiate, tangents))

    def transpose(self, ct, which, *cases):
        zeros = filled_like(ct, 0)
        boolean = aval_of(which).dtype == np.bool_

        def cotangent(i):
            if boolean:
                return self.bind(which, *((ct, zeros) if i == 0 else (zeros, ct)))
            return self.bind(eq_p.bind(which, constant_like(which, i)), zeros, ct)

        return None, *[
            cotangent(i) if type(case) is UndefinedPrimal else None for i, case in enumerate(cases)
        ]

    def vmap(self, axis, dims, which, *cases):
        which_dim, *case_dims = dims
        to = next((dim for dim in case_dims if dim is not None), None)
        if to is None:
            to = which_dim if aval_of(which).ndim > aval_of(cases[0]).ndim else 0
        cases = [bring_to(case, axis.size, dim, to) for case, dim in zip(cases, case_dims)]
        which = batch_beside(axis, which, which_dim, aval_of(cases[0]).shape, to)
        return self.bind(which, *cases), to

    def emit(self, b, which, *cases):
        (out,) = b.avals_out
        aval = b.avals_in[0]
        if aval.shape and physical_aval(out).shape != out.shape:
            # Each element is made of several numbers, which are selected together.
            dims = tuple(range(out.ndim))
            aval = aval.update(shape=physical_aval(out).shape)
            which = b.op("broadcast_in_dim", which, out=aval, broadcast_dimensions=dims)
        if aval.dtype == np.bool_:
            return cases[0] if len(cases) == 1 else b.op("select", which, cases[1], cases[0])
        predicate = aval.update(dtype=np.bool_)

        def choose(first, cases):
            """One of the cases, whose numbers begin at `first`, found by halving their number."""
            if len(cases) == 1:
                return cases[0]
            half = len(cases) // 2
            middle = b.full(first + half, aval)
            below = b.compare("LT", which, middle, aval.dtype, out=predicate)
            return b.op(
                "select", below, choose(first, cases[:half]), choose(first + half, cases[half:])
            )

        return choose(0, cases)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for dtype in (np.float32, np.complex64, np.int32, np.bool_):
            smooth = dtypes.issubdtype(dtype, np.inexact)
            for shape in ((), (3,), (2, 3), (0, 2)):
                for which_shape in {(), shape}:
                    cases = [draw(rng, shape, dtype) for _ in range(3)]
                    which = draw(rng, which_shape, np.bool_)
                    yield Sample((which, *cases[:2]), {}, smooth=smooth)
                    which = draw(rng, which_shape, np.int32, 0, 2)
                    yield Sample((which, *cases), {}, smooth=smooth)


def batch_beside(axis: Any, x: Any, dim: int | None, shape: tuple[int, ...], to: int) -> Any:
    """An operand that is a scalar or has the shape of another, made to go with a batch of those.

    Args:
      axis: the batch axis.
      x: the operand, or batch of operands.
      dim: its batch dimension, or None.
      shape: the shape of the other operand's batch.
      to: where the batch dimension of `shape` is.
    """
    if aval_of(x).ndim > (dim is not None):
        return bring_to(x, axis.size, dim, to)
    return x if dim is None else broadcast_in_dim(x, shape, (to,))


select_n_p = SelectN("select_n")


def select_n(which: Any, *cases: Any) -> Array:
    """For each element the one of several arrays that an index says.

    Args:
      which: integers from 0 up to the number of cases; or booleans, which select the first of two
        cases where they are false and the second where they are true. An array of the shape of
        the cases, or a scalar. What an index out of range selects is not defined.
      *cases: arrays of one shape and dtype; at least one.

    Returns:
      An array of the shape and dtype of the cases.

    Raises:
      ValueError: there is no case.
      TypeError: dtypes or shapes do not match.

    >>> import numpy as np
    >>> from covector import lax
    >>> lax.select_n(np.array([1, 0, 2]), np.arange(3), np.arange(3, 6), np.arange(6, 9))
    Array([3, 1, 8], dtype=int32)
    """
    if not cases:
        raise ValueError(elementwise_errors.select_without_cases())
    return select_n_p.bind(which, *cases)


def select(pred: Any, on_true: Any, on_false: Any) -> Array:
    """Elements of one array where a predicate holds, and of another where it does not.

    Args:
      pred: booleans, an array of the shape of the others, or a scalar.
      on_true, on_false: arrays of one shape and dtype.

    Returns:
      An array of the shape and dtype of `on_true`.

    Raises:
      TypeError: dtypes or shapes do not match.

    >>> import numpy as np
    >>> from covector import lax
    >>> lax.select(np.array([True, False]), np.array([1, 2]), np.array([3, 4]))
    Array([1, 4], dtype=int32)
    """
    return select_n_p.bind(pred, on_false, on_true)


# ---------------------------------------------------------------- clamp


class Clamp(Op):
    """Elementwise min(max(x, lower), upper); a bound is a scalar or has the shape of x."""

    fusion = CHEAP

    def shape(self, lower, x, upper):
        for name, bound in (("min", lower), ("max", upper)):
            if bound.shape not in ((), x.shape):
                raise TypeError(elementwise_errors.clamp_shapes(name, bound.shape, x.shape))
        return x.shape

    def dtype(self, lower, x, upper):
        check_accepts("clamp", ANY, (lower, x, upper))
        check_same_dtypes("clamp", (lower, x, upper))
        return x.dtype

    def ref(self, lower, x, upper):
        return np.minimum(np.maximum(x, lower), upper)

    def jvp(self, primals, tangents):
        # The tangent is that of the operand which is the result; at a bound, it is nobody's.
        lower, x, upper = primals
        out = self.bind(*primals)
        at_lower, inside, at_upper = tangents
        total: Any = None
        if type(at_lower) is not Zero:
            total = _where(and_p.bind(gt_p.bind(lower, x), lt_p.bind(lower, upper)), at_lower, out)
        if type(inside) is not Zero:
            between = and_p.bind(gt_p.bind(x, lower), lt_p.bind(x, upper))
            total = accumulate(total, _where(between, inside, out), out)
        if type(at_upper) is not Zero:
            total = accumulate(total, _where(lt_p.bind(upper, x), at_upper, out), out)
        return out, Zero(aval_of(out).to_tangent_aval()) if total is None else total

    def vmap(self, axis, dims, lower, x, upper):
        to = 0 if dims[1] is None else dims[1]
        x = bring_to(x, axis.size, dims[1], to)
        shape = aval_of(x).shape
        lower = batch_beside(axis, lower, dims[0], shape, to)
        upper = batch_beside(axis, upper, dims[2], shape, to)
        return self.bind(lower, x, upper), to

    def emit(self, b, lower, x, upper):
        return b.op("clamp", lower, x, upper)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for dtype in ("float32", "bfloat16", "int32", "uint8", "bool"):
            smooth = dtypes.issubdtype(np.dtype(dtype), np.inexact)
            for shape in ((), (3,), (2, 3), (0, 2)):
                for bounds in {(), shape}:
                    lower = draw(rng, bounds, dtype, -1, 0)
                    upper = draw(rng, bounds, dtype, 1, 2)
                    x = draw(rng, shape, dtype, -3, 3)
                    yield Sample((lower, x, upper), {}, smooth=smooth)


def _where(condition: Any, tangent: Any, out: Any) -> Any:
    """A tangent where a condition holds, both broadcast to the shape of `out`; zero elsewhere."""
    tangent = broadcast_like(tangent, aval_of(out).shape)
    return select_n_p.bind(condition, filled_like(tangent, 0), tangent)


clamp_p = Clamp("clamp")


def clamp(min: Any, x: Any, max: Any) -> Array:
    """Elementwise x, raised to a lower bound where it is below, lowered to an upper one if above.

    Args:
      min: the lower bound: a scalar, or an array of the shape of `x`.
      x: an array of numbers or booleans.
      max: the upper bound; where it is below `min`, it prevails.

    Returns:
      An array of the shape and dtype of `x`.

    Raises:
      TypeError: dtypes or shapes do not match.

    >>> import numpy as np
    >>> from covector import lax
    >>> lax.clamp(0, np.array([-3, 4, 12]), 9)
    Array([0, 4, 9], dtype=int32)
    """
    return clamp_p.bind(min, x, max)
