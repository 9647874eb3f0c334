"""The tangents of a loop that has been recorded, and its cotangents.

    while_linear  : (count, constants, tape) -> (tangents of constants, of the carry)
                    -o tangents of the carry
    while_reverse : (count, constants, tape, state) -> state

A step of `while_linear` takes the carry a step further by `forward_jaxpr`, which gives residuals as
well, and the tangents by `tangent_jaxpr`, which is linear in them.  Its transpose goes through the
steps in reverse order.  The state of `while_reverse` is then the cotangents of the carry, and the
sums so far of those of the constants; what is done at each step is `sweep_jaxpr`.  That this is
linear in the state plays no role: the jvp of a sweep is another sweep, and so is its vmap.
Linearizing a sweep, as reverse mode of reverse mode does, treats it as the loops that it consists
of, which are then recorded in turn.

`count` is the number of steps that were taken.  Under `vmap` it may differ from example to example;
its dimensions are then the leading ones of carry and state, and of each row of the tape.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core.avals import aval_of
from ..core.axis import Axis
from ..core.jaxpr import ClosedJaxpr
from ..core.trace import context
from ..core.zeros import UndefinedPrimal, Zero
from ..ops.arithmetic import add
from ..ops.comparison import lt
from ..ops.linear import add_any, bring_to, broadcast_in_dim, instantiate, zeros_of_aval
from ..transforms.cache import jaxpr_cache
from ..transforms.jvp import jvp, jvp_jaxpr
from ..transforms.stage import stage_closed
from ..transforms.transpose import transpose_jaxpr
from ..transforms.vmap import vmap_jaxpr, vmap_jaxpr_along
from .carries import Flags, carry_fixpoint, rearranged
from .while_loop import applied, bind_while, part_of
from .while_record import Expansion, flattened, tape_of
from .while_tape import ONE, Tape, entry, forgetful, largest, sweep_back, where

Dims = Sequence[int | None]


class WhileLinear(Expansion):
    """The tangents of a loop that has been recorded, from those of constants and carry."""

    program = "tangent_jaxpr"

    def abstract_eval(self, *avals, tangent_jaxpr, **params):
        return list(tangent_jaxpr.out_avals)

    def expand(self, *args, forward_jaxpr, tangent_jaxpr, num_consts):
        count, consts, tape, linear = parts(args, forward_jaxpr, num_consts)
        tangent_consts, init = split_off(linear, len(tangent_jaxpr.out_avals))
        total = largest(count)

        def step(state: Any) -> Any:
            i, carry, tangents = state
            outs = applied(forward_jaxpr, [*consts, *carry])
            new, residuals = outs[: len(carry)], outs[len(carry) :]
            pushed = applied(tangent_jaxpr, [*residuals, *tangent_consts, *tangents])
            active = active_at(i, count)
            return add(i, ONE), where(active, new, carry), where(active, pushed, tangents)

        begin = (np.int32(0), first_carry(tape), init)
        return bind_while(lambda state: lt(state[0], total), step, begin)[2]

    def partial_eval(self, trace, args, params):
        if any(map(trace.is_unknown, args[: number_of_known(args, params)])):
            return super().partial_eval(trace, args, params)
        return trace.unknown.process(self, args, params)

    def jvp(self, primals, tangents, **params):
        known = number_of_known(primals, params)
        if any(type(t) is not Zero for t in tangents[:known]):
            return jvp(lambda *args: self.expand(*args, **params), primals, tangents)
        linear = map(instantiate, tangents[known:])
        return self.bind(*primals, **params), self.bind(*primals[:known], *linear, **params)

    def transpose(self, cts, *args, forward_jaxpr, tangent_jaxpr, num_consts):
        count, consts, tape, linear = parts(args, forward_jaxpr, num_consts)
        tangent_consts, _ = split_off(linear, len(cts))
        varying = [type(x) is UndefinedPrimal for x in linear]
        wanted = tuple(varying[: len(tangent_consts)])
        sweep, summed = sweep_of(forward_jaxpr, tangent_jaxpr, num_consts, wanted)
        sums = [zeros_of_aval(x.aval) for x, flag in zip(tangent_consts, summed) if flag]
        inputs, carry = range(len(forward_jaxpr.in_avals)), range(len(tape.checkpoints))
        outs = while_reverse_p.bind(
            *[count, *consts, *flattened(tape), *map(instantiate, cts), *sums],
            forward_jaxpr=part_of(forward_jaxpr, tuple(inputs), tuple(carry)),
            sweep_jaxpr=sweep,
            num_consts=num_consts,
        )
        found = iter(outs[len(cts) :])
        ct_consts = [
            next(found) if flag else Zero(tangent_aval(x))
            for x, flag in zip(tangent_consts, summed)
        ]
        results = [*ct_consts, *outs[: len(cts)]]
        known = [None] * (len(args) - len(linear))
        return known + [ct if vary else None for ct, vary in zip(results, varying)]

    def vmap(self, axis, dims, *args, forward_jaxpr, tangent_jaxpr, num_consts):
        loop = mapped_loop(axis, dims, args, forward_jaxpr, num_consts)
        linear = parts(args, forward_jaxpr, num_consts)[3]
        linear_dims = parts(dims, forward_jaxpr, num_consts)[3]
        count = len(tangent_jaxpr.out_avals)
        consts, tangents = split_off(linear, count)
        const_dims, tangent_dims = split_off(linear_dims, count)
        if loop.own_counts:  # what an example contributes to the sums is then its own as well
            consts = [bring_to(x, axis.size, dim, 0) for x, dim in zip(consts, const_dims)]
            const_dims = [0] * len(consts)
        fixed = [*loop.residual_dims, *const_dims]
        mapped, tangents, out_dims = mapped_state(
            axis, tangent_jaxpr, fixed, tangents, tangent_dims, loop
        )
        outs = self.bind(
            *[*loop.operands, *consts, *tangents],
            forward_jaxpr=loop.forward_jaxpr,
            tangent_jaxpr=mapped,
            num_consts=num_consts,
        )
        return outs, out_dims


class WhileReverse(Expansion):
    """What `sweep_jaxpr` makes of a state, applied to all carries of a loop, the last one first."""

    program = "sweep_jaxpr"

    def abstract_eval(self, *avals, sweep_jaxpr, **params):
        return list(sweep_jaxpr.out_avals)

    def expand(self, *args, forward_jaxpr, sweep_jaxpr, num_consts):
        count, consts, tape, state = parts(args, forward_jaxpr, num_consts)

        def advance(i: Any, carry: list[Any]) -> list[Any]:
            return where(active_at(i, count), applied(forward_jaxpr, [*consts, *carry]), carry)

        def pull(i: Any, carry: list[Any], state: list[Any]) -> list[Any]:
            new = applied(sweep_jaxpr, [*consts, *carry, *state])
            return where(active_at(i, count), new, state)

        return sweep_back(tape, largest(count), state, advance, pull)

    def jvp(self, primals, tangents, *, forward_jaxpr, sweep_jaxpr, num_consts):
        _, consts, tape, state = parts(primals, forward_jaxpr, num_consts)
        _, consts_t, tape_t, state_t = parts(tangents, forward_jaxpr, num_consts)
        const_nonzeros = nonzeros_of(consts_t)
        in_rows = map(max, nonzeros_of(tape_t.checkpoints), nonzeros_of(tape_t.recent))
        forward, carry = carry_fixpoint(
            lambda carry: jvp_jaxpr(forward_jaxpr, (*const_nonzeros, *carry), carry),
            tuple(in_rows),
        )
        sweep, nonzeros = carry_fixpoint(
            lambda state: jvp_jaxpr(sweep_jaxpr, (*const_nonzeros, *carry, *state), state),
            nonzeros_of(state_t),
        )
        consts_t, state_t = (
            nonzero_parts(consts_t, const_nonzeros),
            nonzero_parts(state_t, nonzeros),
        )
        both = tape._replace(
            checkpoints=[*tape.checkpoints, *nonzero_parts(tape_t.checkpoints, carry)],
            recent=[*tape.recent, *nonzero_parts(tape_t.recent, carry)],
        )
        groups = [(len(consts), len(consts_t)), (len(carry), sum(carry))]
        outs = self.bind(
            *[primals[0], *consts, *consts_t, *flattened(both), *state, *state_t],
            forward_jaxpr=rearranged(forward, interleaved(groups)),
            sweep_jaxpr=rearranged(sweep, interleaved([*groups, (len(state), len(state_t))])),
            num_consts=len(consts) + len(consts_t),
        )
        out_tangents = iter(outs[len(state) :])
        return outs[: len(state)], [
            next(out_tangents) if nonzero else Zero.from_primal_value(x)
            for x, nonzero in zip(outs, nonzeros)
        ]

    def vmap(self, axis, dims, *args, forward_jaxpr, sweep_jaxpr, num_consts):
        loop = mapped_loop(axis, dims, args, forward_jaxpr, num_consts)
        state = parts(args, forward_jaxpr, num_consts)[3]
        state_dims = parts(dims, forward_jaxpr, num_consts)[3]
        fixed = [*loop.const_dims, *loop.carry_dims]
        mapped, state, out_dims = mapped_state(axis, sweep_jaxpr, fixed, state, state_dims, loop)
        outs = self.bind(
            *[*loop.operands, *state],
            forward_jaxpr=loop.forward_jaxpr,
            sweep_jaxpr=mapped,
            num_consts=num_consts,
        )
        return outs, out_dims


while_linear_p = WhileLinear("while_linear")
while_reverse_p = WhileReverse("while_reverse")


# ---------------------------------------------------------------- operands


def parts(
    operands: Sequence[Any], forward_jaxpr: ClosedJaxpr, num_consts: int
) -> tuple[Any, list[Any], Tape, list[Any]]:
    """The number of steps, the constants, the tape, and the other operands."""
    end_of_consts = 1 + num_consts
    end = end_of_consts + 3 + 2 * (len(forward_jaxpr.in_avals) - num_consts)
    tape = tape_of(operands[end_of_consts:end])
    return operands[0], list(operands[1:end_of_consts]), tape, list(operands[end:])


def number_of_known(operands: Sequence[Any], params: dict[str, Any]) -> int:
    """How many operands stand before those in which `while_linear` is linear."""
    linear = parts(operands, params["forward_jaxpr"], params["num_consts"])[3]
    return len(operands) - len(linear)


def split_off(values: Sequence[Any], count: int) -> tuple[list[Any], list[Any]]:
    """All but the last `count` values, and these."""
    middle = len(values) - count
    return list(values[:middle]), list(values[middle:])


def first_carry(tape: Tape) -> list[Any]:
    """The carry before the first step: its checkpoint has the first place, and keeps it."""
    return [entry(rows, np.int32(0)) for rows in tape.checkpoints]


def active_at(i: Any, count: Any) -> Any:
    """Whether an example takes the step before which i others were."""
    return lt(broadcast_in_dim(i, aval_of(count).shape, ()), count)


def tangent_aval(x: Any) -> Any:
    return x.aval if type(x) is UndefinedPrimal else aval_of(x)


def nonzeros_of(tangents: Sequence[Any]) -> Flags:
    return tuple([type(t) is not Zero for t in tangents])


def nonzero_parts(tangents: Sequence[Any], nonzeros: Sequence[bool]) -> list[Any]:
    """The tangents for which there is a flag; zeros among them as arrays."""
    return [instantiate(t) for t, nonzero in zip(tangents, nonzeros) if nonzero]


def interleaved(groups: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """The order that puts the tangents of each group of inputs behind its values.

    Before, the values of all groups come first, and then the tangents of all.
    """
    order: list[int] = []
    value, tangent = 0, sum(count for count, _ in groups)
    for values, tangents in groups:
        order += [*range(value, value + values), *range(tangent, tangent + tangents)]
        value, tangent = value + values, tangent + tangents
    return tuple(order)


# ---------------------------------------------------------------- programs of one step


@jaxpr_cache
def sweep_of(
    forward: ClosedJaxpr, tangent: ClosedJaxpr, num_consts: int, wanted: Flags
) -> tuple[ClosedJaxpr, Flags]:
    """The program that takes cotangents of the carry back by one step, and adds up others.

        (constants, carry, cts of the carry after the step, sums) -> (cts before the step, sums)

    Args:
      forward, tangent: the programs of the step.
      num_consts: how many inputs of `forward` are constants.
      wanted: for each constant that has tangents, whether its cotangents are to be added up.

    Returns:
      The program, and for each of these constants whether there is a sum.
    """
    count, num_carry = len(tangent.out_avals), len(forward.in_avals) - num_consts
    num_residuals = len(forward.out_avals) - num_carry
    linear = (False,) * num_residuals + (True,) * (len(wanted) + count)
    hazards = None
    while hazards != context.hazards:  # a step may get cotangents from the step behind it
        hazards = context.hazards
        pullback, nonzeros, _ = transpose_jaxpr(
            tangent, linear, (True,) * count, (False,) * len(wanted) + (True,) * count
        )
    summed = tuple([want and nonzero for want, nonzero in zip(wanted, nonzeros)])

    def sweep(*args: Any) -> list[Any]:
        given, state = args[: len(forward.in_avals)], args[len(forward.in_avals) :]
        residuals = applied(forward, given)[num_carry:]
        found = iter(applied(pullback, [*residuals, *state[:count]]))
        cts = [next(found) if nonzero else None for nonzero in nonzeros]
        addends = [ct for ct, flag in zip(cts, summed) if flag]
        return cts[len(wanted) :] + list(map(add_any, state[count:], addends))

    linear_avals = tangent.in_avals[num_residuals:]
    sums = [aval for aval, flag in zip(linear_avals, summed) if flag]
    avals = [*forward.in_avals, *[aval.to_cotangent_aval() for aval in tangent.out_avals], *sums]
    return stage_closed(sweep, avals), summed


# ---------------------------------------------------------------- vmap


class MappedLoop(NamedTuple):
    """A recorded loop over batches.

    Attributes:
      operands: the number of steps, the constants, the tape.
      forward_jaxpr: the program of a step.
      own_counts: whether each example has its own number of steps.
      front: where the batch dimension of carry and state is.
      const_dims, carry_dims, residual_dims: batch dimensions.
    """

    operands: list[Any]
    forward_jaxpr: ClosedJaxpr
    own_counts: bool
    front: int
    const_dims: list[int | None]
    carry_dims: list[int | None]
    residual_dims: list[int | None]


def mapped_loop(
    axis: Axis, dims: Dims, args: Sequence[Any], forward_jaxpr: ClosedJaxpr, num_consts: int
) -> MappedLoop:
    """The parts of a recorded loop that are the same for tangents and cotangents, in batches."""
    count, consts, tape, _ = parts(args, forward_jaxpr, num_consts)
    count_dim, const_dims, tape_dims, _ = parts(dims, forward_jaxpr, num_consts)
    own_counts = count_dim is not None
    front = 0 if own_counts else aval_of(count).ndim
    const_flags = [dim is not None for dim in const_dims]
    num_carry = len(tape.checkpoints)

    def batched(carry: Flags) -> tuple[Flags, Flags]:
        flags = (*carry, *[False] * (len(forward_jaxpr.out_avals) - num_carry))
        _, outs = vmap_jaxpr(forward_jaxpr, axis, (*const_flags, *carry), flags)
        return outs[num_carry:], outs[:num_carry]

    rows_dims = zip(tape_dims.checkpoints, tape_dims.recent)
    start = tuple([own_counts or a is not None or b is not None for a, b in rows_dims])
    residuals, carry = carry_fixpoint(batched, start)
    carry_dims = [front if flag else None for flag in carry]
    residual_dims = [0 if flag else None for flag in residuals]
    in_dims, out_dims = (*const_dims, *carry_dims), (*carry_dims, *residual_dims)
    tape = mapped_tape(axis, tape, tape_dims, carry_dims)
    return MappedLoop(
        [bring_to(count, axis.size, count_dim, 0) if own_counts else count, *consts]
        + flattened(tape),
        vmap_jaxpr_along(forward_jaxpr, axis, in_dims, out_dims),
        *(own_counts, front, const_dims, carry_dims, residual_dims),
    )


def mapped_tape(axis: Axis, tape: Tape, dims: Tape, carry_dims: Dims) -> Tape:
    """A tape of batches."""

    def brought(rows: Any, dim: int | None, to: int | None) -> Any:
        return rows if to is None else bring_to(rows, axis.size, dim, to + 1)

    if any(dim is not None for dim in dims[:3]):
        # The tape of a loop in a branch, where different examples took different branches: they
        # share no schedule, but the first checkpoint.
        tape = forgetful(tape, aval_of(tape.steps).size // axis.size)
    return tape._replace(
        checkpoints=list(map(brought, tape.checkpoints, dims.checkpoints, carry_dims)),
        recent=list(map(brought, tape.recent, dims.recent, carry_dims)),
    )


def mapped_state(
    axis: Axis,
    jaxpr: ClosedJaxpr,
    fixed_dims: Dims,
    state: Sequence[Any],
    dims: Dims,
    loop: MappedLoop,
) -> tuple[ClosedJaxpr, list[Any], list[int | None]]:
    """A program that takes a state a step further, and the state, in batches.

    Args:
      axis: the batch axis.
      jaxpr: takes other values, then the state.
      fixed_dims: the batch dimensions of the other values.
      state: the state at first.
      dims: its batch dimensions.
      loop: the loop.

    Returns:
      The program, the state at first, and its batch dimensions.
    """
    fixed = tuple([dim is not None for dim in fixed_dims])
    _, flags = carry_fixpoint(
        lambda flags: vmap_jaxpr(jaxpr, axis, (*fixed, *flags), flags),
        tuple([loop.own_counts or dim is not None for dim in dims]),
    )
    out_dims = [loop.front if flag else None for flag in flags]
    state = [
        x if to is None else bring_to(x, axis.size, dim, to)
        for x, dim, to in zip(state, dims, out_dims)
    ]
    mapped = vmap_jaxpr_along(jaxpr, axis, (*fixed_dims, *out_dims), tuple(out_dims))
    return mapped, state, out_dims
