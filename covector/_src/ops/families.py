"""Families of elementwise primitives: what one of them need not say, its family says.

An elementwise op acts on each element alone.  Operands have equal shapes, or broadcast as XLA's do:
an operand of rank 0 meets any shape, and a dimension of size 1 meets any size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..base import dtypes, elementwise_errors, errors
from ..core.avals import ShapedArray, aval_of
from ..core.fusion import CHEAP, EXPENSIVE
from ..core.zeros import UndefinedPrimal, Zero
from .accuracy import Accuracy, accuracy_attribute
from .base import Op, Sample, draw
from .linear import add_any, broadcast_in_dim, constant_like, move_axis, unbroadcast

# ---------------------------------------------------------------- the dtypes that ops accept

FLOATS = (np.floating,)
COMPLEXES = (np.complexfloating,)
INEXACT = (np.floating, np.complexfloating)
INTEGERS = (np.integer,)
BITS = (np.integer, np.bool_)
REALS = (np.integer, np.floating)
NUMBERS = (np.integer, np.floating, np.complexfloating)
ORDERED = (np.integer, np.floating, np.bool_)
ANY = (np.integer, np.floating, np.complexfloating, np.bool_)

# For each abstract dtype, those on which the contract tests sample an op.
_SAMPLED = {
    np.floating: ("float32", "bfloat16"),
    np.complexfloating: ("complex64",),
    np.integer: ("int32", "uint8"),
    np.signedinteger: ("int32", "int8"),
    np.bool_: ("bool",),
    np.float32: ("float32",),
}
_SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan])


def check_accepts(name: str, accepts: Sequence[Any], avals: Sequence[ShapedArray]) -> None:
    """Raise unless every operand has an accepted dtype."""
    for i, aval in enumerate(avals):
        if any(dtypes.issubdtype(aval.dtype, kind) for kind in accepts):
            continue
        if aval.dtype == dtypes.float0:
            raise TypeError(elementwise_errors.float0_not_accepted(name))
        raise TypeError(errors.dtype_not_accepted(name, aval.dtype, accepts, i, len(avals)))


def check_same_dtypes(name: str, avals: Sequence[ShapedArray]) -> None:
    """Raise unless all operands have one dtype."""
    if any(aval.dtype != avals[0].dtype for aval in avals):
        raise TypeError(errors.dtypes_differ(name, [aval.dtype for aval in avals]))


def broadcast_shape(name: str, shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The common shape of elementwise operands."""
    if len(shapes) == 1:
        return shapes[0]
    ranked = [shape for shape in shapes if shape != ()]
    if not ranked:
        return ()
    first = ranked[0]
    if all(shape == first for shape in ranked):
        return first
    if any(len(shape) != len(first) for shape in ranked):
        raise TypeError(errors.ranks_differ(name, shapes))
    out = []
    for sizes in zip(*ranked):
        wide = {size for size in sizes if size != 1}
        if len(wide) > 1:
            raise TypeError(errors.shapes_do_not_broadcast(name, shapes))
        out.append(wide.pop() if wide else 1)
    return tuple(out)


# ---------------------------------------------------------------- elementwise ops of any arity


class Elementwise(Op):
    """An op that acts on each element alone.

    Class attributes:
      accepts: abstract dtypes of the operands.
      hlo: the name of the StableHLO op (`chlo.` in front for one of that dialect).
      numpy: the function of NumPy arrays with the same meaning.
      returns: the result in words.
      example: a call of the public function, and what it shows.
      domain: where the contract tests sample it.
    """

    accepts: tuple[Any, ...] = ANY
    hlo: str = ""
    numpy: Callable[..., Any]
    returns: str = "An array of the shape and dtype of `x`."
    example: tuple[str, str]
    domain: tuple[float, float] = (-2.0, 2.0)
    arity = 1
    fusion = CHEAP

    def shape(self, *avals, **params):
        return broadcast_shape(self.name, [aval.shape for aval in avals])

    def dtype(self, *avals, **params):
        check_accepts(self.name, self.accepts, avals)
        check_same_dtypes(self.name, avals)
        return avals[0].dtype

    def ref(self, *args, **params):
        aval = self.abstract_eval(*map(aval_of, args), **params)
        with np.errstate(all="ignore"):
            return np.asarray(type(self).numpy(*args), aval.dtype)

    def vmap(self, axis, dims, *args, **params):
        args, dim = align_batches(dims, args)
        return self.bind(*args, **params), dim

    def emit(self, b, *args, **params):
        return b.op(self.hlo, *broadcast_operands(b, args))

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for kind in self.accepts:
            for dtype in _SAMPLED.get(kind, ()):
                yield from self.samples_of(rng, np.dtype(dtype))

    def samples_of(self, rng: np.random.Generator, dtype: np.dtype) -> Iterator[Sample]:
        """Samples in one dtype, of several shapes, and for floats at special values."""
        inexact = dtypes.issubdtype(dtype, np.inexact)
        for shapes in _SHAPES[self.arity]:
            args = tuple(draw(rng, shape, dtype, *self.domain) for shape in shapes)
            yield Sample(args, {}, smooth=inexact)
        if dtypes.issubdtype(dtype, np.floating):
            grid = np.meshgrid(*[_SPECIAL] * self.arity, indexing="ij")
            yield Sample(tuple(x.reshape(-1).astype(dtype) for x in grid), {}, smooth=False)


_SHAPES: dict[int, tuple[tuple[tuple[int, ...], ...], ...]] = {
    1: (((),), ((3,),), ((2, 3),), ((0, 2),)),
    2: (
        ((), ()),
        ((2, 3), (2, 3)),
        ((2, 3), ()),
        ((), (3,)),
        ((2, 1), (2, 3)),
        ((2, 1), (1, 3)),
        ((0, 2), (0, 2)),
    ),
}


def broadcast_operands(b: Any, args: Sequence[Any]) -> list[Any]:
    """Operands of an emitted op brought to the shape of its output."""
    shape = b.avals_out[0].shape
    return [
        x if aval.shape == shape else b.broadcast_to(x, aval, shape)
        for x, aval in zip(args, b.avals_in)
    ]


def align_batches(dims: Sequence[int | None], args: Sequence[Any]) -> tuple[list[Any], int]:
    """Operands of an elementwise op with their batch dimensions in one place, and that place.

    Where all batches have one shape, nothing moves.  Otherwise the batch goes to the front, and
    operands of lower rank get dimensions of size 1; a scalar that is no batch stays as it is.
    """
    avals = [aval_of(x) for x in args]
    if len(args) == 1:
        return list(args), dims[0]
    batched = [(aval.shape, dim) for aval, dim in zip(avals, dims) if dim is not None]
    loose = [aval for aval, dim in zip(avals, dims) if dim is None]
    if all(b == batched[0] for b in batched) and all(aval.shape == () for aval in loose):
        return list(args), batched[0][1]
    if all(aval.shape == () for aval in loose) and len({len(shape) for shape, _ in batched}) == 1:
        to = batched[0][1]
        moved = [x if d is None else move_axis(x, d, to) for x, d in zip(args, dims)]
        return moved, to
    rank = max(aval.ndim - (dim is not None) for aval, dim in zip(avals, dims))
    return [_to_front(x, aval, dim, rank) for x, aval, dim in zip(args, avals, dims)], 0


def _to_front(x: Any, aval: Any, dim: int | None, rank: int) -> Any:
    """An operand with its batch in front of `rank` more dimensions, of size 1 where it has none."""
    if dim is None:
        if aval.shape == ():
            return x
        return broadcast_in_dim(x, (1, *aval.shape), tuple(range(1, aval.ndim + 1)))
    x = move_axis(x, dim, 0)
    if aval.ndim - 1 == rank:
        return x
    size = aval.shape[dim]
    return broadcast_in_dim(x, (size,) + (1,) * rank, (0,))


# ---------------------------------------------------------------- ops of one operand


class Unary(Elementwise):
    """An elementwise op of one operand.

    Subclasses that are differentiable define `derivative(t, x, y)`: the tangent of the output,
    from the tangent `t` and the primals of operand and output.  It also gets the parameters.
    """

    accepts = INEXACT

    def jvp(self, primals, tangents, **params):
        (x,), (t,) = primals, tangents
        y = self.bind(x, **params)
        return y, self.derivative(t, x, y, **params)

    def derivative(self, t: Any, x: Any, y: Any, **params: Any) -> Any:
        raise NotImplementedError(errors.missing_jvp(self.name))


class AccurateUnary(Unary):
    """A transcendental function, which may be asked for with an accuracy.

    The parameter `accuracy` is a `Tolerance` or an `AccuracyMode`, and absent where none is wanted.
    """

    fusion = EXPENSIVE

    def emit(self, b, x, accuracy: Accuracy | None = None):
        return b.op(self.hlo, x, **attributes_of(accuracy))


def attributes_of(accuracy: Accuracy | None) -> dict[str, str]:
    """The attributes of a StableHLO op that is asked for with an accuracy."""
    return {} if accuracy is None else {"result_accuracy": accuracy_attribute(accuracy)}


class LinearUnary(Unary):
    """An elementwise op that is linear in its operand."""

    accepts = NUMBERS

    def derivative(self, t, x, y, **params):
        return self.bind(t, **params)

    def transpose(self, ct, x, **params):
        return (self.bind(ct, **params),)


class Step(Elementwise):
    """An elementwise op that is constant between jumps: its derivative is zero."""

    def jvp(self, primals, tangents, **params):
        out = self.bind(*primals, **params)
        return out, Zero(aval_of(out).to_tangent_aval())


# ---------------------------------------------------------------- ops of two operands


class Binary(Elementwise):
    """An elementwise op of two operands.

    Subclasses define `derivative_x(t, x, y, z)` and `derivative_y(t, x, y, z)`: what the tangent t
    of the first or second operand contributes to that of the output z.  They also get the
    parameters.
    """

    accepts = NUMBERS
    arity = 2
    returns = "An array of the common shape and dtype."

    def jvp(self, primals, tangents, **params):
        (x, y), (tx, ty) = primals, tangents
        z = self.bind(x, y, **params)
        total = None
        if type(tx) is not Zero:
            total = accumulate(total, self.derivative_x(tx, x, y, z, **params), z)
        if type(ty) is not Zero:
            total = accumulate(total, self.derivative_y(ty, x, y, z, **params), z)
        return z, Zero(aval_of(z).to_tangent_aval()) if total is None else total

    def derivative_x(self, t: Any, x: Any, y: Any, z: Any, **params: Any) -> Any:
        raise NotImplementedError(errors.missing_jvp(self.name))

    def derivative_y(self, t: Any, x: Any, y: Any, z: Any, **params: Any) -> Any:
        raise NotImplementedError(errors.missing_jvp(self.name))


class LinearBinary(Binary):
    """An elementwise op that is linear in its two operands taken together, such as their sum.

    Subclasses define `derivative_x` and `derivative_y`, for the case that one tangent is zero, and
    `transpose_x(ct)` and `transpose_y(ct)`: the cotangents of the operands in the output's shape.
    """

    def jvp(self, primals, tangents):
        if Zero in map(type, tangents):
            return super().jvp(primals, tangents)
        return self.bind(*primals), self.bind(*tangents)

    def transpose(self, ct, x, y):
        return tuple(
            unbroadcast(rule(ct), v.aval) if type(v) is UndefinedPrimal else None
            for v, rule in ((x, self.transpose_x), (y, self.transpose_y))
        )

    def transpose_x(self, ct: Any) -> Any:
        raise NotImplementedError(errors.missing_transpose(self.name))

    def transpose_y(self, ct: Any) -> Any:
        raise NotImplementedError(errors.missing_transpose(self.name))


def accumulate(total: Any, term: Any, out: Any) -> Any:
    """Add a contribution to the tangent of `out`, broadcasting it to the output's shape."""
    if type(term) is Zero:
        return total
    term = broadcast_like(term, aval_of(out).shape)
    return term if total is None else add_any(total, term)


def broadcast_like(x: Any, shape: tuple[int, ...]) -> Any:
    """An elementwise operand at the full shape of the op's output."""
    given = aval_of(x).shape
    if given == shape:
        return x
    return broadcast_in_dim(x, shape, tuple(range(len(given))))


class StepBinary(Step):
    """An elementwise op of two operands whose derivative is zero."""

    arity = 2
    returns = Binary.returns


class Comparison(StepBinary):
    """An elementwise relation of two operands; its output is boolean.

    Class attributes:
      direction: EQ, NE, LT, LE, GT or GE.
      total_order: whether floats are compared in the order -NaN < -inf < ... < -0 < 0 < ... < NaN,
        in which every float is equal to itself alone.
    """

    accepts = ORDERED
    returns = "A boolean array of the common shape."
    direction: str
    total_order = False

    def dtype(self, *avals, **params):
        super().dtype(*avals)
        return np.dtype(np.bool_)

    def emit(self, b, x, y):
        x, y = broadcast_operands(b, (x, y))
        return b.compare(self.direction, x, y, b.avals_in[0].dtype, total_order=self.total_order)


def filled_like(x: Any, value: Any, shape: tuple[int, ...] | None = None) -> Any:
    """An array of one value, in the dtype and, unless another is given, in the shape of `x`."""
    return broadcast_in_dim(
        constant_like(x, value), aval_of(x).shape if shape is None else shape, ()
    )
