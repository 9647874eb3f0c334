"""Batching rules of primitives: the tables, and ways to declare the common ones.

The tables are views of the primitives' slot `vmap`; see `tables.py`.  They differ in how much a
rule learns of the axis that is mapped.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.avals import aval_of
from ..core.axis import Axis
from ..core.primitive import Primitive
from ..ops.families import align_batches
from ..ops.linear import bring_to, shift_axes
from .tables import RuleTable

# ---------------------------------------------------------------- the tables


def _size(args: Sequence[Any], dims: Sequence[int | None]) -> int:
    """The size of the batch, of which one of `args` has a dimension."""
    return next(aval_of(x).shape[dim] for x, dim in zip(args, dims) if dim is not None)


# Each rule is called as `rule(args, dims, **params)`: `dims[i]` is the dimension of the operand
# `args[i]` along which the examples lie, or None if it is the same for all of them.  It returns
# the batch of results and its dimension, or lists of them.
primitive_batchers = RuleTable(
    "primitive_batchers",
    "vmap",
    lambda primitive, rule: lambda axis, dims, *args, **params: rule(args, tuple(dims), **params),
    lambda vmap: lambda args, dims, **params: vmap(Axis(_size(args, dims)), dims, *args, **params),
)

# Called as `rule(axis, args, dims, **params)`; the axis has a `size`, a `name` and an `spmd_name`.
fancy_primitive_batchers = RuleTable(
    "fancy_primitive_batchers",
    "vmap",
    lambda primitive, rule: (
        lambda axis, dims, *args, **params: rule(axis, args, tuple(dims), **params)
    ),
    lambda vmap: lambda axis, args, dims, **params: vmap(axis, dims, *args, **params),
)

# Called as `rule(size, name, None, args, dims, **params)`.
axis_primitive_batchers = RuleTable(
    "axis_primitive_batchers",
    "vmap",
    lambda primitive, rule: (
        lambda axis, dims, *args, **params: rule(
            axis.size, axis.name, None, args, tuple(dims), **params
        )
    ),
    lambda vmap: (
        lambda size, name, _, args, dims, **params: vmap(Axis(size, name), dims, *args, **params)
    ),
)


# ---------------------------------------------------------------- declaring rules


def defvectorized(primitive: Primitive) -> None:
    """Declare that a primitive acts on each element alone, and that its operands have one shape.

    A batch is then one more dimension. Operands that have their batch elsewhere, or none, are
    brought to the first operand's.
    """

    def vmap(axis: Axis, dims: Sequence[int | None], *args: Any, **params: Any) -> Any:
        to = next(dim for dim in dims if dim is not None)
        args = tuple([bring_to(x, axis.size, dim, to) for x, dim in zip(args, dims)])
        out = primitive.bind(*args, **params)
        return (out, [to] * len(out)) if primitive.multiple_results else (out, to)

    primitive.vmap = vmap


def defbroadcasting(primitive: Primitive) -> None:
    """Declare that a primitive acts on each element alone, and that its operands broadcast.

    An operand without a batch is given a dimension of size 1 in its place, or none if it is a
    scalar.
    """

    def vmap(axis: Axis, dims: Sequence[int | None], *args: Any, **params: Any) -> Any:
        operands, to = align_batches(dims, args)
        out = primitive.bind(*operands, **params)
        return (out, [to] * len(out)) if primitive.multiple_results else (out, to)

    primitive.vmap = vmap


def defreducer(primitive: Primitive) -> None:
    """Declare that a primitive of one operand reduces it over the dimensions of its parameter
    `axes`."""

    def vmap(
        axis: Axis, dims: Sequence[int | None], x: Any, *, axes: Sequence[int], **params: Any
    ) -> Any:
        assert dims[0] is not None
        axes, dim = shift_axes(axes, dims[0])
        return primitive.bind(x, axes=axes, **params), dim

    primitive.vmap = vmap


# ---------------------------------------------------------------- helpers of rules


def bdim_at_front(x: Any, bdim: int | None, size: int, mesh_axis: Any = None) -> Any:
    """A batch of `size` examples with its dimension in front; `x` may also be no batch."""
    return bring_to(x, size, bdim, 0)


def broadcast(x: Any, sz: int, axis: int, mesh_axis: Any = None) -> Any:
    """`sz` copies of `x` along a new dimension `axis`."""
    return bring_to(x, sz, None, axis)
