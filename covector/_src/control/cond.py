"""`cond`: one of several jaxprs, chosen by a number while the program runs.

Each rule applies a transformation to every branch.  The results must have one type, so what one
branch gives and another does not is filled in: tangents and cotangents with zeros, residuals with
values that nobody reads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ..base import branch_errors, dtypes
from ..base.callback_errors import per_example
from ..base.errors import JaxprTypeError
from ..core.avals import AbstractValue, aval_of
from ..core.axis import Axis
from ..core.check import check_applied, same_type
from ..core.effects import Effects, no_effects, unrepeatable
from ..core.fusion import BOUNDARY
from ..core.jaxpr import ClosedJaxpr, JaxprEqn, eval_jaxpr, jaxpr_as_fun
from ..core.primitive import BuiltinPrimitive
from ..core.zeros import UndefinedPrimal, Zero
from ..ops.arithmetic import add_p, neg_p
from ..ops.base import Sample, draw
from ..ops.comparison import eq_p
from ..ops.creation import empty_of_aval
from ..ops.identities import stop_gradient
from ..ops.linear import bring_to, broadcast_in_dim, constant_like
from ..ops.platforms import branch_for, platform_index_p
from ..ops.select import select_n_p
from ..transforms.cache import jaxpr_cache
from ..transforms.jvp import jvp_jaxpr
from ..transforms.linearize import PartialTrace, partial_eval_jaxpr
from ..transforms.simplify import drop_unused, prune
from ..transforms.stage import stage_closed, vary_jaxpr
from ..transforms.transpose import transpose_jaxpr
from ..transforms.vmap import vmap_jaxpr
from .bodies import with_more_inputs

Branches = tuple[ClosedJaxpr, ...]


class Cond(BuiltinPrimitive):
    """The jaxpr of `branches` with the number `index`, applied to the operands.

    `branches_platforms` is a parameter of choices by platform only: it says which platforms each
    branch is for, and `index` is the `platform_index` of it.
    """

    multiple_results = True
    fusion = BOUNDARY._replace(bodies=("branches",))

    def check_operands(self, avals, params):
        branches = params["branches"]
        if type(branches) is not tuple or any(type(x) is not ClosedJaxpr for x in branches):
            raise JaxprTypeError(branch_errors.not_jaxprs(branches))
        for i, branch in enumerate(branches[1:], start=1):
            for what in ("in_avals", "out_avals"):
                first, other = getattr(branches[0], what), getattr(branch, what)
                if len(first) != len(other) or not all(map(same_type, first, other)):
                    kind = "input" if what == "in_avals" else "output"
                    raise JaxprTypeError(branch_errors.branches_do_not_agree(i, kind, first, other))

    def effectful_abstract_eval(self, index, *avals, branches, **params):
        if index.dtype != np.int32:
            raise JaxprTypeError(branch_errors.index_not_int32(index))
        check_applied(branches[0], avals)
        return list(branches[0].out_avals), joined_effects(branches)

    def retype(self, params, vmas):
        # Where devices choose other branches, they get other results, and what one device makes of
        # an operand is not what all make of it.
        index, *rest = vmas
        operands = tuple([vma | index for vma in rest])
        branches = [vary_jaxpr(branch, operands) for branch in params["branches"]]
        results = [[aval.vma for aval in branch.out_avals] for branch in branches]
        common = tuple([index.union(*each) for each in zip(*results)])
        branches = tuple([vary_jaxpr(branch, operands, common) for branch in branches])
        return params | dict(branches=branches), [index, *operands]

    def evaluate(self, backend, args, params):
        return backend.execute_body(params["branches"][0], self, args, params)

    def ref(self, index, *args, branches, **params):
        chosen = branches[int(np.clip(index, 0, len(branches) - 1))]
        return eval_jaxpr(chosen.jaxpr, chosen.consts, *args)

    def jvp(self, primals, tangents, *, branches, **params):
        tangents = tangents[1:]
        nonzeros = tuple(type(t) is not Zero for t in tangents)
        out_nonzeros = any_of(jvp_jaxpr(branch, nonzeros, False)[1] for branch in branches)
        both = tuple([jvp_jaxpr(branch, nonzeros, out_nonzeros)[0] for branch in branches])
        given = [t for t in tangents if type(t) is not Zero]
        outs = self.bind(*primals, *given, branches=both, **params)
        count = len(out_nonzeros)
        out_tangents = iter(outs[count:])
        return outs[:count], [
            next(out_tangents) if nonzero else Zero(aval_of(out).to_tangent_aval())
            for out, nonzero in zip(outs, out_nonzeros)
        ]

    def partial_eval(self, trace: PartialTrace, args, params):
        unknowns = tuple(map(trace.is_unknown, args))
        if unknowns[0]:
            return trace.unknown.process(self, args, params)
        known, unknown, out_unknowns = split_branches(*parted(params["branches"]), unknowns[1:])
        known_args = [x for x, u in zip(args, unknowns) if not u]
        outs = trace.parent.process(self, known_args, params | dict(branches=known))
        count = out_unknowns.count(False)
        known_outs, residuals = iter(outs[:count]), outs[count:]
        unknown_args = [x for x, u in zip(args, unknowns) if u]
        unknown_outs = iter(
            trace.unknown.process(
                self, [args[0], *residuals, *unknown_args], params | dict(branches=unknown)
            )
        )
        return [next(unknown_outs) if u else next(known_outs) for u in out_unknowns]

    def prune(self, eqn: JaxprEqn, used: tuple[bool, ...]) -> JaxprEqn:
        branches = eqn.params["branches"]
        smaller, kept = prune_branches(*parted(branches), used)
        if smaller == branches:
            return eqn
        index, *operands = eqn.invars
        return eqn.replace(
            invars=[index, *[operands[i] for i in kept]],
            outvars=[var for var, wanted in zip(eqn.outvars, used) if wanted],
            params=eqn.params | dict(branches=smaller),
        )

    def transpose(self, cts, index, *args, branches, **params):
        linear = tuple(type(x) is UndefinedPrimal for x in args)
        nonzero_cts = tuple(type(ct) is not Zero for ct in cts)
        nonzeros = any_of(transpose_jaxpr(branch, linear, nonzero_cts)[1] for branch in branches)
        transposed = tuple(
            [transpose_jaxpr(branch, linear, nonzero_cts, nonzeros)[0] for branch in branches]
        )
        operands = [x for x, lin in zip(args, linear) if not lin]
        operands += [ct for ct in cts if type(ct) is not Zero]
        outs = iter(self.bind(index, *operands, branches=transposed, **params))
        nonzero = iter(nonzeros)
        return [None] + [
            None if not lin else next(outs) if next(nonzero) else Zero(x.aval.to_cotangent_aval())
            for x, lin in zip(args, linear)
        ]

    def vmap(self, axis, dims, index, *args, branches, **params):
        if dims[0] is not None and "branches_platforms" in params:
            # All examples of a batch run on one platform.
            index = platform_index_p.bind(platforms=params["branches_platforms"])
        elif dims[0] is not None:
            outs = select_branches(axis, dims, (index, *args), branches)
            return outs, [0] * len(outs)
        dims = dims[1:]
        batched = tuple(dim is not None for dim in dims)
        args = [x if dim is None else bring_to(x, axis.size, dim, 0) for x, dim in zip(args, dims)]
        out_batched = any_of(vmap_jaxpr(branch, axis, batched, False)[1] for branch in branches)
        mapped = tuple([vmap_jaxpr(branch, axis, batched, out_batched)[0] for branch in branches])
        outs = self.bind(index, *args, branches=mapped, **params)
        return outs, [0 if b else None for b in out_batched]

    def emit(self, b, index, *operands, branches, branches_platforms=None):
        if branches_platforms is not None:
            return b.inline(branches[branch_for(b.platform, branches_platforms)], operands)
        regions = [
            ((), lambda i=i, branch=branch: b.inline(branch, operands, "cond", f"branch_{i}_fun"))
            for i, branch in enumerate(branches)
        ]
        return b.op_with_regions("case", [index], regions)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        # Linear in the operands, so that there is a transpose.
        funs = (
            lambda x, y: [neg_p.bind(x), y],
            lambda x, y: [y, x],
            lambda x, y: [add_p.bind(x, y), neg_p.bind(neg_p.bind(y))],
        )
        for shape in ((), (2, 3), (0, 2)):
            x, y = draw(rng, shape, np.float32), draw(rng, shape, np.float32)
            branches = tuple([stage_closed(fun, [aval_of(x), aval_of(y)]) for fun in funs])
            for index in range(len(funs)):
                yield Sample((np.int32(index), x, y), dict(branches=branches), constant=(0,))


cond_p = Cond("cond")


def parted(branches: Branches) -> tuple[ClosedJaxpr, Branches]:
    """The first of the branches, by which results are memoized, and the others."""
    return branches[0], branches[1:]


def any_of(masks: Iterable[Sequence[bool]]) -> tuple[bool, ...]:
    """For each place, whether one of the masks is true there."""
    return tuple(map(any, zip(*masks)))


def joined_effects(branches: Branches) -> Effects:
    """The effects that one of the branches has."""
    return no_effects.union(*[branch.effects for branch in branches])


# ---------------------------------------------------------------- batches of choices


def select_branches(
    axis: Axis, dims: Sequence[int | None], args: Sequence[Any], branches: Branches
) -> list[Any]:
    """Choose for each example of a batch on its own: apply all branches, and select of the results.

    Derivatives of a branch that is not chosen may be NaN or infinite, and multiplied by the zeros
    that the selection gives them they still would be.  Hence no derivative is taken with respect
    to operands for which a branch is not chosen.
    """
    for effect in unrepeatable(joined_effects(branches)):
        raise NotImplementedError(per_example(effect, "vmap-of-cond"))
    index, *operands = [bring_to(x, axis.size, dim, 0) for x, dim in zip(args, dims)]
    all_outs = []
    for i, branch in enumerate(branches):
        flags = (True,) * len(operands), (True,) * len(branch.out_avals)
        mapped, _ = vmap_jaxpr(branch, axis, *flags)
        chosen = eq_p.bind(index, constant_like(index, i))
        constants = [_select(chosen, stop_gradient(x), x) for x in operands]
        all_outs.append(jaxpr_as_fun(mapped)(*constants))
    return [_select(index, *outs) for outs in zip(*all_outs)]


def _select(which: Any, *cases: Any) -> Any:
    """For each example of a batch the case that a vector says."""
    aval: Any = aval_of(cases[0])
    if aval.dtype == dtypes.float0:
        return cases[0]
    if aval.ndim > 1:
        which = broadcast_in_dim(which, aval.shape, (0,))
    return select_n_p.bind(which, *cases)


# ---------------------------------------------------------------- residuals and unused results


@jaxpr_cache
def split_branches(
    first: ClosedJaxpr, others: Branches, unknowns: tuple[bool, ...]
) -> tuple[Branches, Branches, tuple[bool, ...]]:
    """Split each branch into what can be computed from its known inputs, and the rest.

    Args:
      first, others: the branches.
      unknowns: for each input, whether it is unknown.

    Returns:
      The known branches, which end with the residuals of all; the rest, which begins with them;
      and for each output whether it is unknown: in one branch at least.
    """
    branches = (first, *others)
    out_unknowns = any_of(partial_eval_jaxpr(branch, unknowns, False)[2] for branch in branches)
    parts = [partial_eval_jaxpr(branch, unknowns, out_unknowns) for branch in branches]
    avals, positions = shared_places([residuals for *_, residuals in parts])
    count = out_unknowns.count(False)
    known = [with_residuals(part[0], count, where, avals) for part, where in zip(parts, positions)]
    rest = [with_more_inputs(part[1], where, avals) for part, where in zip(parts, positions)]
    return tuple(known), tuple(rest), out_unknowns


def shared_places(
    residuals: Sequence[Sequence[AbstractValue]],
) -> tuple[tuple[AbstractValue, ...], list[tuple[int, ...]]]:
    """Places for the residuals of all branches, of which branches share those of equal types.

    Returns:
      The types of the places, and for each branch where its residuals are.

    >>> shared_places([["x"], ["y"], ["x", "x"]])
    (('x', 'y', 'x'), [(0,), (1,), (0, 2)])
    """
    places: dict[tuple[AbstractValue, int], int] = {}
    positions = []
    for avals in residuals:
        seen: Counter[AbstractValue] = Counter()
        where = []
        for aval in avals:
            seen[aval] += 1
            where.append(places.setdefault((aval, seen[aval]), len(places)))
        positions.append(tuple(where))
    return tuple([aval for aval, _ in places]), positions


@jaxpr_cache
def with_residuals(
    jaxpr: ClosedJaxpr, count: int, positions: tuple[int, ...], avals: tuple[AbstractValue, ...]
) -> ClosedJaxpr:
    """A known branch with a value for every residual of any branch behind its `count` results."""
    live = ClosedJaxpr(*prune(jaxpr.jaxpr, jaxpr.consts))

    def fun(*args: Any) -> list[Any]:
        outs = jaxpr_as_fun(live)(*args)
        residuals = list(map(empty_of_aval, avals))
        for position, residual in zip(positions, outs[count:]):
            residuals[position] = residual
        return outs[:count] + residuals

    return stage_closed(fun, jaxpr.in_avals, jaxpr.jaxpr.debug_info)


@jaxpr_cache
def prune_branches(
    first: ClosedJaxpr, others: Branches, used: tuple[bool, ...]
) -> tuple[Branches, list[int]]:
    """Drop outputs that are not `used`, then what nothing uses, and inputs that no branch needs.

    Returns:
      The smaller branches, and the indices of their inputs.
    """
    branches = (first, *others)
    parts = [drop_unused(branch, used) for branch in branches]
    kept = sorted(set().union(*[own for _, own in parts]))
    smaller = []
    for branch, (part, own) in zip(branches, parts):
        if own != kept:
            invars = [branch.jaxpr.invars[i] for i in kept]
            part = part.replace(jaxpr=part.jaxpr.replace(invars=invars))
        smaller.append(part)
    return tuple(smaller), kept
