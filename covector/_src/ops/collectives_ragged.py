"""`ragged_all_to_all`: examples of a mapped axis send each other slices of different lengths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import axis_errors as errors
from ..base import dtypes
from ..core.avals import ShapedArray, aval_of
from ..core.axis import Axis
from ..core.zeros import UndefinedPrimal, Zero
from .arithmetic import add_p, mul_p, sub_p
from .bitwise import and_p
from .collectives_base import Collective, as_groups, as_tuple, merge_dims, rows
from .collectives_gather import all_to_all
from .comparison import ge_p, lt_p
from .conversion import convert
from .creation import iota
from .families import filled_like
from .linear import (
    bring_to,
    broadcast_in_dim,
    constant_like,
    expand_dims,
    instantiate,
    move_axis,
    reshape,
    transpose,
    zeros_of_aval,
)
from .reductions import argmax_p, reduce_or_p
from .replicas import gathered, place_along_all, replica_groups
from .select import select_n_p

_INT = np.dtype(np.int32)
_NAMES = ("input_offsets", "send_sizes", "output_offsets", "recv_sizes")


class RaggedAllToAll(Collective):
    """The array `output` with slices written over it that all examples send to this one.

    The operands are the data to be sent, `output`, and four vectors of equal length: where the
    slices to be sent begin, how long they are, where they are written, and how long those are that
    are received.  Equally many slices go to each example, in the order of the axis.
    """

    where = "ragged_all_to_all"

    def shape(self, operand, output, *vectors, **params):
        for name, vector in zip(_NAMES, vectors):
            if not dtypes.issubdtype(vector.dtype, np.integer):
                raise ValueError(errors.ragged_not_integers(name, vector.dtype))
            if vector.ndim != 1 or not vector.size:
                raise ValueError(errors.ragged_not_a_vector(name, vector.shape))
        return output.shape

    def dtype(self, operand, output, *vectors, **params):
        return output.dtype

    def weak_type(self, *avals, **params):
        return False

    def jvp(self, primals, tangents, **params):
        vectors = primals[2:]
        out = self.bind(*primals, **params)
        if all(type(t) is Zero for t in tangents[:2]):
            return out, Zero(aval_of(out).to_tangent_aval())
        return out, self.bind(*map(instantiate, tangents[:2]), *vectors, **params)

    def transpose(self, ct, operand, output, *vectors, axis_name, axis_index_groups):
        # The cotangents of the slices go back where they came from. Those of `output` are zero
        # where slices were written over it.
        input_offsets, send_sizes, output_offsets, recv_sizes = vectors
        back, source = [
            all_to_all(x, axis_name, 0, 0, axis_index_groups=axis_index_groups, tiled=True)
            for x in (output_offsets, input_offsets)
        ]
        params = dict(axis_name=axis_name, axis_index_groups=axis_index_groups)
        ct_operand = ct_output = None
        if type(operand) is UndefinedPrimal:
            zeros = zeros_of_aval(operand.aval.update(dtype=aval_of(ct).dtype))
            ct_operand = self.bind(ct, zeros, back, recv_sizes, source, send_sizes, **params)
        if type(output) is UndefinedPrimal:
            length = output.aval.shape[0]
            written = reduce_or_p.bind(inside(length, back, recv_sizes), axes=(1,))
            written = broadcast_in_dim(written, aval_of(ct).shape, (0,))
            ct_output = select_n_p.bind(written, ct, filled_like(ct, 0))
        return ct_operand, ct_output, None, None, None, None

    def vmap(self, axis, dims, operand, output, *vectors, axis_name, axis_index_groups):
        args = [bring_to(x, axis.size, dim, 0) for x, dim in zip((operand, output, *vectors), dims)]
        if axis.name is None or axis.name not in axis_name:
            return self._beside(axis, *args, axis_name=axis_name, groups=axis_index_groups), 0
        if axis_index_groups is not None:
            raise NotImplementedError(errors.ragged_groups())
        if len(axis_name) > 1:
            raise NotImplementedError(errors.several_axes(self.where, axis_name, axis.name))
        return exchange_slices(*args), 0

    def emit(self, b, *operands, axis_name, axis_index_groups):
        # All get all, and each keeps its own row of what is exchanged.
        if axis_index_groups is not None:
            raise NotImplementedError(errors.ragged_groups())
        groups = replica_groups(b, self.where, axis_name)
        wide = [aval.update(shape=(groups.shape[1], *aval.shape)) for aval in b.avals_in]
        everything = [gathered(b, x, a, groups, 0) for x, a in zip(operands, b.avals_in)]
        place = ShapedArray((1,), _INT)
        mine = b.op("reshape", place_along_all(b, self.where, axis_name), out=place)

        def exchange(mine: Any, *everything: Any) -> list[Any]:
            return [reshape(rows(exchange_slices(*everything), mine), b.avals_out[0].shape)]

        return b.replace(avals_in=[place, *wide]).written(exchange, [mine, *everything])[0]

    def _beside(
        self, axis: Axis, operand: Any, output: Any, *vectors: Any, axis_name: Any, groups: Any
    ) -> Any:
        """The op for a batch along another axis: as one, of arrays that hold all examples."""
        size = axis.size
        lengths = [aval_of(x).shape[1] for x in (operand, output)]
        placed = []
        for name, vector in zip(_NAMES, vectors):
            vector = move_axis(vector, 0, 1)
            if name.endswith("offsets"):
                own = iota(aval_of(vector).dtype, size)
                length = lengths[name == "output_offsets"]
                first = mul_p.bind(own, constant_like(own, length))
                vector = add_p.bind(vector, expand_dims(first, (0,)))
            placed.append(merge_dims(vector, 0))
        out = self.bind(
            merge_dims(operand, 0),
            merge_dims(output, 0),
            *placed,
            axis_name=axis_name,
            axis_index_groups=groups,
        )
        return reshape(out, aval_of(output).shape)


ragged_all_to_all_p = RaggedAllToAll("ragged_all_to_all")


def inside(length: int, starts: Any, sizes: Any) -> Any:
    """For each position below a length, and each slice, whether the position is in the slice.

    The result has the dimensions of `starts`, with that of the positions before the last one.
    """
    shape = aval_of(starts).shape
    wide = (*shape[:-1], length, shape[-1])
    dims = (*range(len(shape) - 1), len(shape))
    starts, sizes = [broadcast_in_dim(convert(x, _INT), wide, dims) for x in (starts, sizes)]
    position = broadcast_in_dim(iota(_INT, length), wide, (len(shape) - 1,))
    behind = sub_p.bind(position, starts)
    return and_p.bind(ge_p.bind(behind, constant_like(behind, 0)), lt_p.bind(behind, sizes))


def exchange_slices(
    operand: Any, output: Any, starts: Any, sizes: Any, targets: Any, recv_sizes: Any
) -> Any:
    """The op on all examples at once, which lie along dimension 0 of each argument."""
    count, length = aval_of(operand).shape[:2]
    written = aval_of(output).shape[1]
    # For each receiver, the slices that are for it: those of the first sender, of the second ...
    starts, sizes, targets = [_by_receiver(x, count) for x in (starts, sizes, targets)]
    hits = inside(written, targets, sizes)
    which = argmax_p.bind(hits, axes=(2,), index_dtype=_INT)
    # Row r of the result is row r + offset of the operands of all senders, one after another.
    slices = aval_of(starts).shape[1]
    sender = np.arange(slices, dtype=np.int32) // (slices // count) * length
    offsets = add_p.bind(
        sub_p.bind(starts, targets), broadcast_in_dim(sender, (count, slices), (1,))
    )
    source = add_p.bind(
        _entries(offsets, which), broadcast_in_dim(iota(_INT, written), (count, written), (1,))
    )
    received = rows(merge_dims(operand, 0), reshape(source, (count * written,)))
    received = reshape(received, aval_of(output).shape)
    hit = reduce_or_p.bind(hits, axes=(2,))
    return select_n_p.bind(broadcast_in_dim(hit, aval_of(output).shape, (0, 1)), output, received)


def _by_receiver(x: Any, count: int) -> Any:
    """Numbers of slices by their sender, as those by their receiver: sender by sender."""
    slices = aval_of(x).shape[1]
    x = reshape(convert(x, _INT), (count, count, slices // count))
    return reshape(transpose(x, (1, 0, 2)), (count, slices))


def _entries(x: Any, which: Any) -> Any:
    """For each row of a matrix, its entries with these numbers."""
    count, columns = aval_of(x).shape
    wanted = aval_of(which).shape[1]
    first = broadcast_in_dim(np.arange(count, dtype=np.int32) * columns, aval_of(which).shape, (0,))
    flat = reshape(add_p.bind(which, first), (count * wanted,))
    return reshape(rows(reshape(x, (count * columns,)), flat), (count, wanted))


def ragged_all_to_all(
    operand: Any,
    output: Any,
    input_offsets: Any,
    send_sizes: Any,
    output_offsets: Any,
    recv_sizes: Any,
    *,
    axis_name: Any,
    axis_index_groups: Sequence[Sequence[int]] | None = None,
) -> Any:
    """Send slices of an array to the other examples of a mapped axis, and write those received.

    The K slices are along dimension 0. Of them, the first K / n go to the first of the n examples,
    and so on. Those received must not overlap.

    Args:
      operand: the data to be sent, an array of shape (N, ...).
      output: an array of shape (M, ...), over which what is received is written.
      input_offsets: K integers, where the slices begin in `operand`.
      send_sizes: K integers, how long they are.
      output_offsets: K integers, where they are to begin in the results of those who receive them.
      recv_sizes: K integers, how long the slices are that this example receives: `send_sizes`, as
        `all_to_all` would exchange them.
      axis_name: the name of the axis.
      axis_index_groups: lists of the indices of the axis, to exchange within each group.

    Returns:
      An array of the shape of `output`.

    Raises:
      NameError: there is no axis of that name in scope.
      ValueError: the offsets and sizes are not vectors of integers.

    >>> import covector as cv, covector.numpy as jnp
    >>> from covector import lax
    >>> def send(x, sizes, targets, received):
    ...     starts = jnp.array([0, 1])
    ...     return lax.ragged_all_to_all(
    ...         x, jnp.zeros(4, int), starts, sizes, targets, received, axis_name="i"
    ...     )
    >>> x = jnp.array([[1, 2, 2], [3, 4, 0]])
    >>> sizes, targets, received = jnp.array([[[1, 2], [1, 1]], [[0, 0], [1, 2]], [[1, 1], [2, 1]]])
    >>> print(cv.vmap(send, axis_name="i")(x, sizes, targets, received))
    [[1 3 0 0]
     [2 2 4 0]]
    """
    return ragged_all_to_all_p.bind(
        operand,
        output,
        input_offsets,
        send_sizes,
        output_offsets,
        recv_sizes,
        axis_name=as_tuple(axis_name),
        axis_index_groups=as_groups("ragged_all_to_all", axis_index_groups),
    )
