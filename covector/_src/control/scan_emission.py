"""The loop that XLA runs for a `scan`.

    i, carry, ys = 0, init, zeros
    while i < trips:
        carry, y = body(consts, carry, xs[i])
        ys[i] = y
        i = i + 1

With `unroll`, each turn of the loop takes a block of several steps: it slices the block out of the
inputs, writes out the steps, and stacks what they return.  The steps that are left over follow the
loop, or, in reverse, are the first in the arrays and the last to be taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core.avals import ShapedArray
from ..core.jaxpr import ClosedJaxpr
from ..ops.physical import physical_aval

INDEX = ShapedArray((), np.int32)
CONDITION = ShapedArray((), np.bool_)


class Steps(NamedTuple):
    """What steps of a scan are made of: everything but their operands."""

    b: Any
    jaxpr: ClosedJaxpr
    consts: Sequence[Any]
    num_carry: int
    reverse: bool

    @property
    def carry_avals(self) -> list[Any]:
        start = len(self.consts)
        return self.jaxpr.in_avals[start : start + self.num_carry]

    @property
    def x_avals(self) -> list[Any]:
        """The types of one slice of each input, as arrays of numbers."""
        return list(map(physical_aval, self.jaxpr.in_avals[len(self.consts) + self.num_carry :]))

    @property
    def y_avals(self) -> list[Any]:
        """The types of what one step returns beside the carry, as arrays of numbers."""
        return list(map(physical_aval, self.jaxpr.out_avals[self.num_carry :]))

    def write(self, carry: Sequence[Any], blocks: Sequence[Any], count: int) -> tuple[Any, Any]:
        """Write out steps, one for each slice of some blocks of inputs.

        Returns:
          The carry after them, and blocks of what they return.
        """
        ys: list[Any] = [None] * count
        for i in reversed(range(count)) if self.reverse else range(count):
            xs = [self.element(x, aval, i, count) for x, aval in zip(blocks, self.x_avals)]
            outs = self.step([*self.consts, *carry, *xs], count)
            carry = outs[: self.num_carry]
            ys[i] = [self.unit(y, aval) for y, aval in zip(outs[self.num_carry :], self.y_avals)]
        stacked = [
            self.b.op("concatenate", *parts, out=blocked(aval, count), dimension=0)
            if count > 1
            else parts[0]
            for parts, aval in zip(zip(*ys), self.y_avals)
        ]
        return carry, stacked

    def step(self, operands: Sequence[Any], count: int) -> list[Any]:
        """The body: in place if it stands there once, else as a function."""
        if count == 1:
            return self.b.inline(self.jaxpr, operands, "while", "body")
        return self.b.call("scan_body", self.jaxpr, operands)

    def element(self, block: Any, aval: Any, i: int, count: int) -> Any:
        """Slice number `i` of a block of inputs."""
        if count > 1:
            block = part(self.b, block, aval, i, i + 1)
        return self.b.op("reshape", block, out=aval)

    def unit(self, y: Any, aval: Any) -> Any:
        """What a step returns as a block of length 1."""
        return self.b.op("reshape", y, out=blocked(aval, 1))


def emit_scan(
    b: Any,
    operands: Sequence[Any],
    *,
    jaxpr: ClosedJaxpr,
    length: int,
    reverse: bool,
    num_consts: int,
    num_carry: int,
    unroll: int,
) -> list[Any]:
    """Write a scan.

    Args:
      b: the emitter.
      operands: constants, initial carry, inputs to scan over.
      jaxpr, length, reverse, num_consts, num_carry, unroll: as the primitive has them.

    Returns:
      The last carry, and the stacked outputs.
    """
    consts, rest = operands[:num_consts], operands[num_consts:]
    carry, xs = rest[:num_carry], rest[num_carry:]
    steps = Steps(b, jaxpr, consts, num_carry, reverse)
    trips, left = divmod(length, unroll) if unroll else (0, length)
    if trips == 1:
        trips, left = 0, length
    if not length:
        return [*carry, *[b.full(0, blocked(aval, 0)) for aval in steps.y_avals]]
    ys = []
    if trips:
        carry, ys = emit_loop(steps, carry, xs, length, trips, unroll)
    if left:
        start = 0 if reverse or not trips else length - left
        blocks = [
            part(b, x, aval, start, start + left) if left < length else x
            for x, aval in zip(xs, steps.x_avals)
        ]
        carry, last = steps.write(carry, blocks, left)
        if not trips:
            return [*carry, *last]
        place = Place(b, b.constant(start, np.int32), b.constant(0, np.int32))
        ys = [place.write(y, new, aval, length) for y, new, aval in zip(ys, last, steps.y_avals)]
    return [*carry, *ys]


def emit_loop(
    steps: Steps, carry: Sequence[Any], xs: Sequence[Any], length: int, trips: int, unroll: int
) -> tuple[list[Any], list[Any]]:
    """Write the loop, each of whose turns takes `unroll` steps.

    Returns:
      The carry after it, and arrays of the scan's length with what its steps return.
    """
    b, consts, num_carry = steps.b, steps.consts, steps.num_carry
    num_xs, num_consts = len(xs), len(consts)
    x_avals = [blocked(aval, length) for aval in steps.x_avals]
    y_slices = steps.y_avals
    y_avals = [blocked(aval, length) for aval in y_slices]
    avals = [INDEX, *x_avals, *steps.jaxpr.in_avals[:num_consts], *steps.carry_avals, *y_avals]

    def condition(i: Any, *rest: Any) -> list[Any]:
        return [b.compare("LT", i, b.constant(trips, np.int32), np.int32, out=CONDITION)]

    def turn(i: Any, *values: Any) -> list[Any]:
        xs, values = values[:num_xs], values[num_xs:]
        consts, values = values[:num_consts], values[num_consts:]
        carry, ys = values[:num_carry], values[num_carry:]
        start = start_of_block(b, i, length, unroll, steps.reverse)
        place = Place(b, start, b.constant(0, np.int32))
        blocks = [place.read(x, aval, unroll) for x, aval in zip(xs, steps.x_avals)]
        carry, new = steps._replace(consts=consts).write(carry, blocks, unroll)
        ys = [place.write(y, y_new, aval, length) for y, y_new, aval in zip(ys, new, y_slices)]
        i = b.op("add", i, b.constant(1, np.int32), out=INDEX)
        return [i, *xs, *consts, *carry, *ys]

    initial = [b.constant(0, np.int32), *xs, *consts, *carry]
    initial += [b.full(0, aval) for aval in y_avals]
    regions = [(avals, condition), (avals, turn)]
    outs = b.op_with_regions("while", initial, regions, out=avals)
    results = outs[1 + num_xs + num_consts :]
    return results[:num_carry], results[num_carry:]


def start_of_block(b: Any, i: Any, length: int, unroll: int, reverse: bool) -> Any:
    """Where turn number `i` of the loop begins to read and write."""
    if unroll != 1:
        i = b.op("multiply", i, b.constant(unroll, np.int32), out=INDEX)
    if reverse:
        i = b.op("subtract", b.constant(length - unroll, np.int32), i, out=INDEX)
    return i


# ---------------------------------------------------------------- blocks of the leading dimension


def blocked(aval: Any, count: int) -> Any:
    """The type of a block of `count` arrays of a type."""
    return aval.update(shape=(count, *aval.shape))


class Place(NamedTuple):
    """Where blocks begin in the leading dimension; a value that is computed."""

    b: Any
    start: Any
    zero: Any  # the index in all other dimensions

    def read(self, x: Any, aval: Any, count: int) -> Any:
        """A block of an array."""
        out = blocked(aval, count)
        indices = [self.start, *[self.zero] * aval.ndim]
        return self.b.op("dynamic_slice", x, *indices, out=out, slice_sizes=out.shape)

    def write(self, y: Any, block: Any, aval: Any, length: int) -> Any:
        """An array of `length` slices with a block written over a part of it."""
        indices = [self.start, *[self.zero] * aval.ndim]
        return self.b.op("dynamic_update_slice", y, block, *indices, out=blocked(aval, length))


def part(b: Any, x: Any, aval: Any, start: int, stop: int) -> Any:
    """A block of an array, at a known place."""
    none = (0,) * aval.ndim
    return b.op(
        "slice",
        x,
        out=blocked(aval, stop - start),
        start_indices=(start, *none),
        limit_indices=(stop, *aval.shape),
        strides=(1,) * (1 + aval.ndim),
    )
