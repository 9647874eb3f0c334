"""Materialization: which intermediate values get memory of their own, so that none is computed
again and again.

The problem.  XLA's compiler for CPUs joins elementwise ops into loops, *fusions*, so that what one
op makes another reads from a register.  It fuses a producer into **each** of its consumers, so a
value that is read in two loops is computed in both, with all that it was fused with.  In
x_1 = f(x_0, x_0'), x_2 = f(x_1, x_1'), ... where x' is x at other indices (a neighbour, a slice, a
transpose), each step doubles the work of the one before.  The compiler weighs one fusion at a time
and never sees the product: gradients of unrolled recurrences, which read each state in the forward
and in the backward part, take seconds instead of microseconds.

How often is a value computed?  Within one loop the compiler keeps what it has computed *at one
index*, so consumers that read v at the index at which they are written themselves share one
computation.  Call an *index source* of v

    an output, or an operand of an op that is not fused: a loop is written for it;
    a consumer of another shape (a slice, a broadcast, a concatenation ...), or one that moves
    elements within the shape (a reversal): it reads v at indices of its own, for each of its own
    computations.

Another consumer of v's shape, or a transpose, which only reorders the index, hands on its own.
So with IU(v) the set of index sources and n(v) the number of computations,

    n(v) = the sum over u in IU(v) of  1 if u is a loop, n(u) if u is a consumer of another shape.

The rule.  Sweeps over the values, calls written out (`inline.py`); each is linear, since sets are
capped at SOURCES elements, and sizes and counts saturate.

0. Some values are in memory anyway: inputs, results of ops that are not fused, and of costly ones
   that the compiler stores itself: those that would be computed twice, or in a loop over copies of
   them, which a first count of IU and n tells, and those of two arrays that are read twice.
1. Forward: the *cone* of v is what one element of it costs, with all that would be computed along:
   its own weight, its operands' cones, and LOAD for each operand that is in memory anyway, unless
   it is smaller than v: copies of what is small stay at hand.
2. Backward: IU and n.  A value that is read at least twice, is computed at least TIMES times (three
   if it is large, since memory traffic then is most of the cost), whose cone is at least COST and
   the LOAD that remains if it is stored, and which is no single number that is soon computed,
   becomes a candidate.  As such it is in memory, and is a source of its own from there on.
3. Forward: a candidate is *pinned* if its cone since the last pinned values is at least as much.
   Others would save too little, since the values that they are computed from are in memory now.

All that the cone of a candidate holds is computed as often as the candidate at least, so that
costly ops in it are stored: where the other ops of a program together cost less than COST, as in
most small programs, there is nothing to store.

Each pinned value passes an `optimization_barrier`, into which nothing is fused, and which costs
nothing where no code is generated for it.  (XLA has a pass that removes barriers before it fuses;
`xla/barriers.py` switches it off for programs that have barriers.)

COST is the measured break-even: storing a value and loading it costs about as much as 16 additions.
The number of barriers hardly depends on it, for in recurrences cones double with each step.  LOAD
matters where cones grow slowly, as the sums of residual networks do, which read another array in
each layer: without it every eighth of them was stored, so that no two layers were alike, and each
had to be compiled by itself.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from ..core.jaxpr import JaxprEqn, Var
from .inline import Values

# A value is worth its memory if an element costs at least this, in additions.
COST = 16
# It must be computed this often; and if it has at least so many bytes, more often.
TIMES, TIMES_IF_LARGE, LARGE = 2, 3, 1 << 18
# And storing it must save so many additions, for it takes a loop: 2 to 4 % of the time of programs
# of numbers alone, and 20 to 30 % of what they take to compile.
GAIN = 128
# The most index sources of a value that are told apart.
SOURCES = 16
# What reading an element from memory costs, in additions.
LOAD = 6
# Where the sizes of cones and the counts of computations saturate.
MOST_SAVED, MOST_TIMES = 4 * COST, 1 << 20
MOST_COST = MOST_SAVED + LOAD

_NONE: frozenset[int] = frozenset()


class Pinned(NamedTuple):
    """A value that gets memory of its own.

    Attributes:
      number: of the value (see `inline.Values`).
      eqn: what computes it.
      variable: what it is bound to there.
      cost: what is saved for an element where it is loaded instead of computed from values in
        memory, in additions; at most MOST_SAVED.
    """

    number: int
    eqn: JaxprEqn
    variable: Var
    cost: int


def choose(values: Values) -> list[Pinned]:
    """The values that are to be stored, in the order in which they are computed."""
    if sum([fusion.again for fusion in values.fusions]) < COST:
        return []
    uses = _uses(values)
    anyway = _computations(values, uses, [0] * len(values)).stored
    found = _computations(values, uses, _cones(values, anyway))
    return _since_the_last(values, found) if found.candidates else []


def times_computed(values: Values, stored: Collection[int] = ()) -> list[int]:
    """How often each value is computed if those numbered `stored` are in memory."""
    cones = [0] * len(values)
    for v in stored:
        cones[v] = MOST_COST
    return _computations(values, _uses(values), cones).times


def work(values: Values, times: list[int]) -> int:
    """What all elements of all values cost, in additions, if they are computed so often."""
    return sum(
        [
            fusion.weight * count * var.aval.size
            for fusion, count, var in zip(values.fusions, times, values.variables)
            if fusion.fused
        ]
    )


def _uses(values: Values) -> list[int]:
    """By how many ops each value is read, or returned, dead ones aside."""
    uses = [0] * len(values)
    for out in values.outputs:
        uses[out] += 1
    fusions, reads = values.fusions, values.reads
    for v in range(len(values) - 1, -1, -1):
        if uses[v] or not fusions[v].fused:
            for r in reads[v]:
                uses[r] += 1
    return uses


def _cones(values: Values, stored: list[bool]) -> list[int]:
    """What an element of each value costs, from values that are in memory anyway."""
    cones, sizes = [0] * len(values), _sizes(values)
    for v, is_stored in enumerate(stored):
        if not is_stored:
            cones[v] = _cone(values, v, stored, cones, sizes)
    return cones


def _cone(values: Values, v: int, stored: list[bool], cones: list[int], sizes: list[int]) -> int:
    """What an element of a value costs, with all that is computed along or loaded."""
    cone, size = values.fusions[v].weight, sizes[v]
    for r in values.reads[v]:
        if not stored[r]:
            cone += cones[r]
        elif sizes[r] >= size:
            cone += LOAD
    return cone if cone < MOST_COST else MOST_COST


def _sizes(values: Values) -> list[int]:
    """How many elements each value has."""
    return [0 if var is None else getattr(var.aval, "size", 0) for var in values.variables]


class _Computations(NamedTuple):
    """How often each value is computed.

    Attributes:
      times: the count.
      stored: which values are in memory without a barrier.
      candidates: which are to be stored; the counts are those with them in memory.
    """

    times: list[int]
    stored: list[bool]
    candidates: set[int]


def _computations(values: Values, uses: list[int], cones: list[int]) -> _Computations:
    """How often each value is computed if those are stored whose cones make it worthwhile."""
    candidates: set[int] = set()
    fusions, variables = values.fusions, values.variables
    # Index sources: v itself for the loop that is written for v, and ~v for v as a consumer of
    # another shape.
    sources = [_NONE] * len(values)
    times = [1] * len(values)
    stored = [not fusion.fused for fusion in fusions]
    for out in values.outputs:
        sources[out] = frozenset((out,))
    for v in range(len(values) - 1, -1, -1):
        fusion, reads = fusions[v], values.reads[v]
        if not reads or not (uses[v] or not fusion.fused):
            continue
        if not fusion.fused:
            for r in reads:
                sources[r] |= {r}
            continue
        own, count = sources[v], 0
        for u in own:
            count += 1 if u >= 0 else times[~u]
        if fusion.stored_if_shared and (count > 1 or _is_stored(values, v, uses[v], own)):
            stored[v] = True
            own, count = frozenset((v,)), 1
        elif uses[v] > 1 and count > 1 and cones[v] >= COST + LOAD and not fusion.repeats:
            if _is_worth_it(variables[v], count, cones[v]):
                candidates.add(v)
                own, count = frozenset((v,)), 1
        if len(own) > SOURCES:
            own, count = frozenset((v,)), min(count, SOURCES)
        times[v] = min(count, MOST_TIMES)
        _hand_on(values, v, own, sources)
    return _Computations(times, stored, candidates)


def _is_worth_it(var: Var, count: int, cone: int) -> bool:
    """Whether a value that is computed so often, at such a cost, is worth memory and a loop."""
    least = TIMES_IF_LARGE if nbytes(var) >= LARGE else TIMES
    return count >= least and (count - 1) * (cone - LOAD) * var.aval.size >= GAIN


def _is_stored(values: Values, v: int, uses: int, own: frozenset[int]) -> bool:
    """Whether the compiler stores a costly value that is computed once.

    It does not fuse one into a loop over copies of it; nor one of two arrays, a quotient mostly,
    that is read twice, though it be in one loop.
    """
    fusions, variables, reads = values.fusions, values.variables, values.reads[v]
    if uses > 1 and len(reads) > 1 and sum([not fusions[r].copies for r in reads]) > 1:
        return True
    size = variables[v].aval.size
    return any(u < 0 and fusions[~u].repeats and variables[~u].aval.size > size for u in own)


def _hand_on(values: Values, v: int, own: frozenset[int], sources: list[frozenset[int]]) -> None:
    """Add the index sources that value `v` is for its operands."""
    variables, fusion = values.variables, values.fusions[v]
    shape = variables[v].aval.shape
    for r in values.reads[v]:
        var = variables[r]
        same = fusion.permutes or (not fusion.moves and var is not None and var.aval.shape == shape)
        added = own if same else frozenset((~v,))
        before = sources[r]
        if not before:
            sources[r] = added
        elif len(before) <= SOURCES:
            sources[r] = before | added


def _since_the_last(values: Values, found: _Computations) -> list[Pinned]:
    """Those candidates that are costly to compute even where the others before are in memory."""
    pinned = []
    cones, sizes, stored = [0] * len(values), _sizes(values), found.stored.copy()
    for v in range(len(values)):
        if not stored[v]:
            cones[v] = _cone(values, v, stored, cones, sizes)
            if cones[v] >= COST + LOAD and v in found.candidates:
                eqn = values.eqns[v]
                assert eqn is not None
                pinned.append(Pinned(v, eqn, values.variables[v], cones[v] - LOAD))
                stored[v] = True
    return pinned


def nbytes(var: Var) -> int:
    """How many bytes an array of numbers takes."""
    return var.aval.size * var.aval.dtype.itemsize
