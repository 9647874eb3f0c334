"""The tape of a loop: from which its carries can be had again, the last one first.

Reverse mode needs the carries of a loop in reverse order, when nobody could know how many there
would be while the loop ran.  A tape has room for a fixed number c of checkpoints, taken while the
loop runs, and for the carries of one segment of b steps.  A segment that begins at a checkpoint is
run again to have its carries; where there is no checkpoint, the steps from the one before are.

Which checkpoints to give up when there is no room is the question.  The tape follows Wang, Moin and
Iaccarino (Minimal repetition dynamic checkpointing algorithm for unsteady adjoint calculation, SIAM
J. Sci. Comput. 31, 2009).  It counts in segments.  A checkpoint is taken at the beginning of each
and has a level, at first 0; the one of step 0 has an infinite level, and stays for good.  The place
for a new one is

  - a free place, if there is one;
  - else that of a checkpoint that has a later one of a higher level: the later one has cost more
    to get, and it is from there that the steps after both are run again;
  - else that of the latest checkpoint, and the new one gets its level plus one.

So the checkpoints stand the closer the later they are, as the reverse sweep needs them: when it
comes to the earlier and longer gaps, it has the places of all later ones to fill these gaps with.
Filling a gap goes by the same rules.  Let r be the number of times that a segment is run again
at most. With r = 1 all c segments have their checkpoint.  To cover more with r, let the first
checkpoint after that of step 0 stand so far away that the gap, with its end freed, can be covered
with r - 1 repetitions and the rest with r: n(c, r) = n(c, r - 1) + n(c - 1, r), which is

    n(c, r) = (c - 1 + r)! / ((c - 1)! r!)

as of Griewank and Walther's revolve, which must be told the number of steps and is optimal.  With
c = b = 64: no step is run again in a loop of up to 64 steps, but its derivative; each at most once
up to 4,096 steps, twice up to 133,120, three times up to 2.9 million, four times up to 49 million.
As n(c, r) grows like 2^(c + r) along c = r, n steps are run again O(n log n) times if c is at least
of order log n; with a fixed c, n^(1 + 1/(c - 1)) times.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core.avals import aval_of
from ..ops.arithmetic import add, sub
from ..ops.bitwise import bitwise_and, bitwise_or
from ..ops.comparison import eq, gt, lt
from ..ops.dynamic_slicing import dynamic_slice_p, dynamic_update_slice_p
from ..ops.linear import broadcast_in_dim, full, reshape
from ..ops.reductions import argmax, reduce_max, reduce_or
from ..ops.select import select
from .while_loop import bind_while

INT = np.dtype(np.int32)  # in which steps are counted: a loop may take 2^31 - 1
HIGHEST = np.int32(2**31 - 1)
ZERO, ONE = np.int32(0), np.int32(1)

# Parts of the state of a loop under a tape: the carry, and whatever goes with it.
State = Any


class Tape(NamedTuple):
    """What is kept of the carries of a loop.

    Attributes:
      filled: the number of steps up to which `recent` holds the carries since the last checkpoint.
      steps: for each place of a checkpoint one more than the step before which it was taken; 0 if
        the place is free.
      levels: the levels of the checkpoints.
      checkpoints: for each part of the carry that is kept, its values at the checkpoints.
      recent: likewise, its values before each step since the last checkpoint.
    """

    filled: Any
    steps: Any
    levels: Any
    checkpoints: list[Any]
    recent: list[Any]


def new_tape(carry: Sequence[Any], checkpoints: int, segment: int) -> Tape:
    """An empty tape for carries like the given one."""
    nothing = full((checkpoints,), 0, INT)

    def rows(x: Any, count: int) -> Any:
        shape = shape_of(x)
        return broadcast_in_dim(x, (count, *shape), range(1, 1 + len(shape)))

    return Tape(
        ZERO,
        nothing,
        nothing,
        [rows(x, checkpoints) for x in carry],
        [rows(x, segment) for x in carry],
    )


def forgetful(tape: Tape, places: int) -> Tape:
    """A tape that knows of its checkpoints the one of step 0 alone, which is in the first place."""
    first = np.zeros(places, INT)
    first[0] = 1
    return tape._replace(filled=ZERO, steps=first, levels=first * HIGHEST)


# ---------------------------------------------------------------- forward


def record(
    tape: Tape,
    step: Any,
    state: State,
    going: Callable[[Any, State], Any],
    advance: Callable[[Any, State], State],
    kept: Callable[[State], Sequence[Any]],
) -> tuple[Any, State, Tape]:
    """Run a loop from a step on, and record it on a tape.

    Args:
      tape: what is recorded of the steps before.
      step: the number of steps before.
      state: the state before this step.
      going: from the number of steps and the state to whether there is another.
      advance: from these two to the next state.
      kept: from the state to those parts of the carry that are recorded.

    Returns:
      The number of steps in all, the last state, and the tape.
    """
    length = np.int32(shape_of(tape.recent[0])[0]) if tape.recent else HIGHEST

    def segment(carry: Any) -> Any:
        start, state, tape = carry
        tape = _with_checkpoint(tape, start, kept(state))

        def step(carry: Any) -> Any:
            i, state, recent = carry
            place = sub(i, start)
            recent = [_put(rows, place, x) for rows, x in zip(recent, kept(state))]
            return add(i, ONE), advance(i, state), recent

        def inside(carry: Any) -> Any:
            i, state, _ = carry
            return bitwise_and(lt(sub(i, start), length), going(i, state))

        end, state, recent = bind_while(inside, step, (start, state, tape.recent))
        return end, state, tape._replace(filled=end, recent=recent)

    return bind_while(lambda carry: going(*carry[:2]), segment, (step, state, tape))


def _with_checkpoint(tape: Tape, step: Any, carry: Sequence[Any]) -> Tape:
    """The tape with the carry before a step, which is the latest of all, as a checkpoint."""
    steps, levels = tape.steps, tape.levels
    count = shape_of(steps)[0]
    latest = argmax(steps, 0, INT)
    latest_level = entry(levels, latest)
    own, others = (broadcast_in_dim(steps, (count, count), (dim,)) for dim in (0, 1))
    own_level, others_level = (broadcast_in_dim(levels, (count, count), (dim,)) for dim in (0, 1))
    outdone = reduce_or(bitwise_and(gt(others, own), gt(others_level, own_level)), (1,))
    spare = bitwise_or(eq(steps, _like(steps, ZERO)), outdone)
    found = reduce_or(spare, (0,))
    place = select(found, argmax(spare, 0, INT), latest)
    level = select(found, ZERO, add(latest_level, ONE))
    level = select(eq(step, ZERO), HIGHEST, level)
    # Where steps are run again, there is a checkpoint before the first of them.
    number = add(step, ONE)
    known = eq(entry(steps, latest), number)
    place, level = select(known, latest, place), select(known, latest_level, level)
    return tape._replace(
        steps=_put(steps, place, number),
        levels=_put(levels, place, level),
        checkpoints=[_put(rows, place, x) for rows, x in zip(tape.checkpoints, carry)],
    )


# ---------------------------------------------------------------- backward


def sweep_back(
    tape: Tape,
    count: Any,
    state: State,
    advance: Callable[[Any, list[Any]], list[Any]],
    pull: Callable[[Any, list[Any], State], State],
) -> State:
    """Apply a function to all carries of a recorded loop, the last one first.

    Args:
      tape: the tape.
      count: the number of steps that the loop took.
      state: what the function is applied to at first.
      advance: from the number of steps before and the kept parts of the carry to the next.
      pull: from these two and the state to the next state.
    """

    def segment(carry: Any) -> Any:
        end, state, tape = carry
        latest = argmax(tape.steps, 0, INT)
        carry = [entry(rows, latest) for rows in tape.checkpoints]
        begin = sub(entry(tape.steps, latest), ONE)
        begin = select(eq(end, tape.filled), end, begin)
        _, _, tape = record(tape, begin, carry, lambda i, _: lt(i, end), advance, lambda x: x)
        latest = argmax(tape.steps, 0, INT)
        start = sub(entry(tape.steps, latest), ONE)

        def step(carry: Any) -> Any:
            i, state = carry
            i = sub(i, ONE)
            place = sub(i, start)
            return i, pull(i, [entry(rows, place) for rows in tape.recent], state)

        _, state = bind_while(lambda carry: gt(carry[0], start), step, (end, state))
        steps = _put(tape.steps, latest, ZERO)
        return start, state, tape._replace(filled=ZERO, steps=steps)

    _, state, _ = bind_while(lambda carry: gt(carry[0], ZERO), segment, (count, state, tape))
    return state


# ---------------------------------------------------------------- rows and lanes


def shape_of(x: Any) -> tuple[int, ...]:
    return aval_of(x).shape


def entry(rows: Any, place: Any) -> Any:
    """The element of an array at a place along its first dimension."""
    _, *shape = shape_of(rows)
    starts = [place, *[ZERO] * len(shape)]
    row = dynamic_slice_p.bind(rows, *starts, slice_sizes=(1, *shape))
    return reshape(row, shape)


def _put(rows: Any, place: Any, x: Any) -> Any:
    """An array with another element at a place along its first dimension."""
    _, *shape = shape_of(rows)
    row = reshape(x, (1, *shape))
    return dynamic_update_slice_p.bind(rows, row, place, *[ZERO] * len(shape))


def _like(x: Any, value: Any) -> Any:
    return broadcast_in_dim(value, shape_of(x), ())


def largest(count: Any) -> Any:
    """The largest number of steps of several examples."""
    return reduce_max(count, tuple(range(len(shape_of(count)))))


def where(active: Any, new: Sequence[Any], old: Sequence[Any]) -> list[Any]:
    """The new values of examples that are active, the old ones of others.

    The dimensions of `active` are the leading ones of each value; without any, all are active.
    """
    lanes = len(shape_of(active))
    if not lanes:
        return list(new)
    return [
        select(broadcast_in_dim(active, shape_of(x), range(lanes)), x, y) for x, y in zip(new, old)
    ]
