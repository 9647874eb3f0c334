"""`while`: repeat a step for as long as a condition holds.

The carry goes through the loop; what the two functions close over stays the same in all steps and
stands in front of it among the operands:

    while : (constants of the condition, constants of the body, carry) -> carry

Under `vmap` a condition may come out differently for each example.  It is then an array of bools,
whose dimensions are the leading ones of every part of the carry: the loop goes on while one of
them is true, and an example for which it is false keeps its carry.

Forward mode is a loop of the same length over pairs of values and tangents.  Reverse mode stands in
`while_reverse.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..base import loop_errors, ref_errors, tree
from ..base.callback_errors import per_example
from ..core.avals import AbstractValue, ShapedArray, aval_of, without_vma
from ..core.axis import Axis
from ..core.check import check_applied
from ..core.effects import ordered_effects, unrepeatable
from ..core.fusion import BOUNDARY
from ..core.jaxpr import ClosedJaxpr, Var, eval_jaxpr
from ..core.primitive import BuiltinPrimitive
from ..core.zeros import Zero
from ..ops.linear import bring_to, instantiate
from ..ops.physical import physical_aval
from ..transforms.cache import jaxpr_cache
from ..transforms.jvp import jvp_jaxpr
from ..transforms.simplify import drop_unused, prune
from ..transforms.stage import vary_jaxpr
from ..transforms.vmap import vmap_jaxpr, vmap_jaxpr_along
from .bodies import Body, stage_body, with_more_inputs
from .carries import Flags, carry_fixpoint, rearranged, settle_carry
from .discharge import discharge, read, write, written_inputs


class While(BuiltinPrimitive):
    """Apply `body_jaxpr` to the carry for as long as `cond_jaxpr` says so.

    Its parameters are those jaxprs, how many leading inputs of each are constants, and, where the
    user set them, limits of the memory that reverse mode takes.
    """

    multiple_results = True
    fusion = BOUNDARY._replace(bodies=("body_jaxpr",), loops=True)

    def check_operands(self, avals, params):
        cond_consts, body_consts, carry = parted(avals, params)
        check_applied(params["cond_jaxpr"], [*cond_consts, *carry])
        check_applied(params["body_jaxpr"], [*body_consts, *carry])

    def effectful_abstract_eval(self, *avals, body_jaxpr, cond_jaxpr, **params):
        return list(body_jaxpr.out_avals), cond_jaxpr.effects | body_jaxpr.effects

    def retype(self, params, vmas):
        cond_consts, body_consts, init = parted(vmas, params)

        def rule(carry: Any) -> tuple[Any, Any]:
            cond = vary_jaxpr(params["cond_jaxpr"], (*cond_consts, *carry))
            # Where devices go on for longer than others, they get other results.
            (going,) = [aval.vma for aval in cond.out_avals]
            body = vary_jaxpr(params["body_jaxpr"], (*body_consts, *carry), tuple(carry))
            return (cond, body), [aval.vma | going for aval in body.out_avals]

        (cond, body), carry = carry_fixpoint(rule, tuple(init))
        params = params | dict(cond_jaxpr=cond, body_jaxpr=body)
        return params, [*cond_consts, *body_consts, *carry]

    def evaluate(self, backend, args, params):
        return backend.execute_body(params["body_jaxpr"], self, args, params)

    def ref(self, *args, body_jaxpr, cond_jaxpr, **params):
        cond_consts, body_consts, carry = parted(args, params)
        while True:
            going = np.asarray(applied(cond_jaxpr, [*cond_consts, *carry])[0])
            if not going.any():
                return carry
            new = applied(body_jaxpr, [*body_consts, *carry])
            carry = [_where(going, np.asarray(x), np.asarray(y)) for x, y in zip(new, carry)]

    def jvp(self, primals, tangents, **params):
        operands, params, nonzeros = with_tangents(primals, tangents, params)
        outs = self.bind(*operands, **params)
        values, out_tangents = outs[: len(nonzeros)], iter(outs[len(nonzeros) :])
        return values, [
            next(out_tangents) if nonzero else Zero.from_primal_value(x)
            for x, nonzero in zip(values, nonzeros)
        ]

    def prune(self, eqn, used):
        params = eqn.params
        cond_nconsts, body_nconsts = params["cond_nconsts"], params["body_nconsts"]
        cond_consts, read = read_by(params["cond_jaxpr"], (True,), cond_nconsts)
        wanted = tuple([flag or i in read for i, flag in enumerate(used)])
        needed = needed_carry(params["body_jaxpr"], body_nconsts, wanted)
        if all(needed):
            return eqn
        body_consts, _ = read_by(params["body_jaxpr"], needed, body_nconsts)
        carry = tuple([i for i, flag in enumerate(needed) if flag])
        cond_kept = (*cond_consts, *[cond_nconsts + i for i in carry])
        body_kept = (*body_consts, *[body_nconsts + i for i in carry])
        kept = [*cond_consts, *[cond_nconsts + i for i in body_kept]]
        smaller = dict(
            body_jaxpr=part_of(params["body_jaxpr"], body_kept, carry),
            body_nconsts=len(body_consts),
            cond_jaxpr=part_of(params["cond_jaxpr"], cond_kept, (0,)),
            cond_nconsts=len(cond_consts),
        )
        return eqn.replace(
            invars=[eqn.invars[i] for i in kept],
            outvars=[eqn.outvars[i] for i in carry],
            params=params | smaller,
        )

    def vmap(self, axis, dims, *args, **params):
        operands, params, carry_dims, _ = with_batches(axis, dims, args, params)
        return self.bind(*operands, **params), carry_dims

    def emit(self, b, *operands, body_jaxpr, cond_jaxpr, **params):
        lanes = cond_jaxpr.out_avals[0]

        def condition(operands: Sequence[Any], place: str) -> Any:
            cond_consts, _, carry = parted(operands, params)
            return b.inline(cond_jaxpr, [*cond_consts, *carry], "while", place)[0]

        def going(pred: Any) -> list[Any]:
            whole = b.replace(avals_out=(ShapedArray((), np.bool_),))
            return [whole.reduce("or", pred, False, range(lanes.ndim)) if lanes.shape else pred]

        def step(operands: Sequence[Any], pred: Any) -> list[Any]:
            cond_consts, body_consts, carry = parted(operands, params)
            new = b.inline(body_jaxpr, [*body_consts, *carry], "while", "body")
            if lanes.shape:
                pred = condition(operands, "body_pred") if pred is None else pred
                new = [
                    _emit_select(b, pred, lanes, x, y, aval)
                    for x, y, aval in zip(new, carry, body_jaxpr.out_avals)
                ]
            return [*cond_consts, *body_consts, *new]

        def step_and_condition(pred: Any, *operands: Any) -> list[Any]:
            new = step(operands, pred)
            return [condition(new, "cond"), *new]

        avals = list(b.avals_in)
        if not ordered_effects(cond_jaxpr.effects):
            regions = [
                (avals, lambda *operands: going(condition(operands, "cond"))),
                (avals, lambda *operands: step(operands, None)),
            ]
            return parted(b.op_with_regions("while", operands, regions, out=avals), params)[2]
        # The condition of StableHLO's loop returns no token: the value of this one goes through the
        # loop, computed before it and at the end of each step.
        avals.insert(0, lanes)
        regions = [(avals, lambda pred, *_: going(pred)), (avals, step_and_condition)]
        initial = [condition(operands, "cond"), *operands]
        return parted(b.op_with_regions("while", initial, regions, out=avals)[1:], params)[2]


while_p = While("while")


# ---------------------------------------------------------------- parts of the rules


def parted(operands: Sequence[Any], params: dict[str, Any]) -> tuple[list[Any], ...]:
    """The constants of the condition, those of the body, and the carry."""
    first = params["cond_nconsts"]
    second = first + params["body_nconsts"]
    return list(operands[:first]), list(operands[first:second]), list(operands[second:])


def applied(jaxpr: ClosedJaxpr, operands: Sequence[Any]) -> list[Any]:
    """The results of a jaxpr under the current trace."""
    return eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, *operands)


@jaxpr_cache
def part_of(jaxpr: ClosedJaxpr, inputs: tuple[int, ...], outputs: tuple[int, ...]) -> ClosedJaxpr:
    """The program that computes some outputs, in that order, from inputs that are enough for it."""
    body = jaxpr.jaxpr
    body, consts = prune(body.replace(outvars=[body.outvars[i] for i in outputs]), jaxpr.consts)
    return ClosedJaxpr(body.replace(invars=[body.invars[i] for i in inputs]), consts)


def with_tangents(
    primals: Sequence[Any], tangents: Sequence[Any], params: dict[str, Any]
) -> tuple[list[Any], dict[str, Any], Flags]:
    """The loop over values and tangents.

    Returns:
      Its operands and parameters, and which parts of the carry have a tangent; these stand at the
      end of its carry.
    """
    _, consts, carry = parted([type(t) is not Zero for t in tangents], params)
    body_jaxpr, cond_jaxpr = params["body_jaxpr"], params["cond_jaxpr"]
    body, nonzeros = carry_fixpoint(
        lambda carry: jvp_jaxpr(body_jaxpr, (*consts, *carry), carry), tuple(carry)
    )
    cond_consts, body_consts, init = parted(primals, params)
    _, body_tangents, init_tangents = parted(tangents, params)
    body_tangents = [t for t, nonzero in zip(body_tangents, consts) if nonzero]
    init_tangents = [instantiate(t) for t, nonzero in zip(init_tangents, nonzeros) if nonzero]
    order = swapped(len(consts), len(init), len(body_tangents), len(init_tangents))
    operands = [*cond_consts, *body_consts, *body_tangents, *init, *init_tangents]
    changed = dict(
        body_jaxpr=rearranged(body, order),
        body_nconsts=len(consts) + len(body_tangents),
        cond_jaxpr=with_trailing_inputs(cond_jaxpr, tuple(map(aval_of, init_tangents))),
    )
    return operands, params | changed, nonzeros


def with_batches(
    axis: Axis, dims: Sequence[int | None], args: Sequence[Any], params: dict[str, Any]
) -> tuple[list[Any], dict[str, Any], list[int | None], bool]:
    """The loop over batches.

    Returns:
      Its operands and parameters, the batch dimensions of the carry, and whether the condition is
      a batch.
    """
    body_jaxpr, cond_jaxpr = params["body_jaxpr"], params["cond_jaxpr"]
    cond_dims, body_dims, init_dims = parted(dims, params)
    conds, consts, carry = parted([dim is not None for dim in dims], params)
    _, carry = carry_fixpoint(
        lambda carry: vmap_jaxpr(body_jaxpr, axis, (*consts, *carry), carry), tuple(carry)
    )
    _, (going,) = vmap_jaxpr(cond_jaxpr, axis, (*conds, *carry), False)
    if going:
        for effect in unrepeatable(body_jaxpr.effects | cond_jaxpr.effects):
            raise NotImplementedError(per_example(effect, "while_loop with batched predicate"))
    # The dimensions of the condition come first in all parts of the carry.
    front = 0 if going else len(cond_jaxpr.out_avals[0].shape)
    carry_dims = [front if going or batched else None for batched in carry]
    cond_consts, body_consts, init = parted(args, params)
    init = [
        x if to is None else bring_to(x, axis.size, dim, to)
        for x, dim, to in zip(init, init_dims, carry_dims)
    ]
    body_dims, cond_dims = (*body_dims, *carry_dims), (*cond_dims, *carry_dims)
    changed = dict(
        body_jaxpr=vmap_jaxpr_along(body_jaxpr, axis, body_dims, tuple(carry_dims)),
        cond_jaxpr=vmap_jaxpr_along(cond_jaxpr, axis, cond_dims, (0 if going else None,)),
    )
    return [*cond_consts, *body_consts, *init], params | changed, carry_dims, going


@jaxpr_cache
def with_trailing_inputs(jaxpr: ClosedJaxpr, avals: tuple[AbstractValue, ...]) -> ClosedJaxpr:
    """A jaxpr with more inputs at its end, which it ignores."""
    invars = [*jaxpr.jaxpr.invars, *[Var(aval) for aval in avals]]
    return jaxpr.replace(jaxpr=jaxpr.jaxpr.replace(invars=invars))


def swapped(first: int, second: int, third: int, fourth: int) -> tuple[int, ...]:
    """The order that puts the third of four groups in front of the second."""
    order = list(range(first + second + third + fourth))
    middle = first + second
    return (*order[:first], *order[middle:][:third], *order[first:middle], *order[middle + third :])


def read_by(jaxpr: ClosedJaxpr, outputs: Flags, nconsts: int) -> tuple[list[int], set[int]]:
    """Which constants some outputs of a part of a loop need, and which parts of the carry."""
    _, kept = drop_unused(jaxpr, outputs)
    return [i for i in kept if i < nconsts], {i - nconsts for i in kept if i >= nconsts}


def needed_carry(body: ClosedJaxpr, nconsts: int, wanted: Flags) -> Flags:
    """The parts of the carry on which those that are wanted come to depend, step by step."""

    def step(wanted: Flags) -> tuple[None, Flags]:
        _, read = read_by(body, wanted, nconsts)
        return None, tuple([flag or i in read for i, flag in enumerate(wanted)])

    return carry_fixpoint(step, wanted)[1]


def _emit_select(b: Any, pred: Any, lanes: Any, x: Any, y: Any, aval: Any) -> Any:
    """x where the condition is true, else y; its dimensions are the leading ones of both."""
    whole = ShapedArray(physical_aval(aval).shape, np.bool_)
    dims = tuple(range(lanes.ndim))
    if whole is not lanes:
        pred = b.op("broadcast_in_dim", pred, out=whole, broadcast_dimensions=dims)
    return b.op("select", pred, x, y, out=aval)


def _where(going: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.where(going.reshape(going.shape + (1,) * (x.ndim - going.ndim)), x, y)


# ---------------------------------------------------------------- loops over functions


def bind_while(
    cond_fun: Callable[..., Any], body_fun: Callable[..., Any], init_val: Any, **limits: int
) -> Any:
    """A loop over functions of trees, as `while_loop` describes it; always one operation.

    What the functions close over may be traced.
    """
    conds: list[Body] = []
    in_tree = tree.structure((init_val,))

    def stage(avals: tuple[AbstractValue, ...]) -> Body:
        conds.append(stage_body("while_cond", cond_fun, in_tree, avals))
        _check_condition(conds[-1])
        return stage_body("while_body", body_fun, in_tree, avals)

    body, init = settle_carry(
        "while_loop body", body_fun, init_val, stage, lambda body: (body.out_tree, body.out_avals)
    )
    cond = conds[-1]
    apply = _bind_with_refs if cond.takes_refs or body.takes_refs else _bind
    outs = apply(cond, body, init, limits)
    return tree.unflatten(body.out_tree, outs)


def _check_condition(cond: Body) -> None:
    """Raise unless what a condition returns is one bool."""
    avals = cond.out_avals
    if cond.out_tree != tree.structure(0):
        raise TypeError(loop_errors.condition_is_a_tree(cond.out_tree))
    if without_vma(avals[0].strip_weak_type()) is not ShapedArray((), np.bool_):
        raise TypeError(loop_errors.condition_is_no_bool(avals))


def _bind_with_refs(cond: Body, body: Body, init: list[Any], limits: dict[str, int]) -> list[Any]:
    """`_bind` with references among the constants: what is written to is a part of the carry."""
    if written_inputs(cond.jaxpr):
        raise NotImplementedError(ref_errors.written_by_condition())
    count = len(body.consts)
    written = written_inputs(body.jaxpr)
    refs = [body.consts[i] for i in written]
    kept = [i for i in range(count) if i not in written]
    rest = range(count, count + len(init))
    last = range(len(init), len(init) + len(refs))
    body_jaxpr = rearranged(
        discharge(body.jaxpr, written).jaxpr,
        (*kept, *written, *rest),
        (*last, *range(len(init))),
    )
    # The condition reads those from the carry that it has among its own constants.
    place = {id(ref): i for i, ref in enumerate(refs)}
    own = [i for i, x in enumerate(cond.consts) if id(x) not in place]
    shared = [i for i, x in enumerate(cond.consts) if id(x) in place]
    after = range(len(cond.consts), len(cond.consts) + len(init))
    cond_jaxpr = rearranged(discharge(cond.jaxpr, ()).jaxpr, (*shared, *own, *after))
    cond_jaxpr = with_more_inputs(
        cond_jaxpr,
        tuple([place[id(cond.consts[i])] for i in shared]),
        tuple([ref.aval.inner_aval for ref in refs]),
    )
    first, second = len(refs), len(refs) + len(own)
    order = (*range(first, second), *range(first), *range(second, second + len(init)))
    values = [read(cond.consts[i]) for i in own], [read(body.consts[i]) for i in kept]
    outs = _bind(
        Body(rearranged(cond_jaxpr, order), values[0], cond.out_tree),
        Body(body_jaxpr, values[1], body.out_tree),
        [*map(read, refs), *init],
        limits,
    )
    for ref, value in zip(refs, outs):
        write(ref, value)
    return outs[len(refs) :]


def _bind(cond: Body, body: Body, init: list[Any], limits: dict[str, int]) -> list[Any]:
    """Apply the operation; what no step changes becomes a constant of the body.

    That is worth it where the loop is vectorized: what is the same for all examples stays so, even
    if the condition is not.
    """
    nconsts, count = len(body.consts), len(init)
    outvars = body.jaxpr.jaxpr.outvars
    _, read = read_by(cond.jaxpr, (True,), len(cond.consts))
    fixed = [
        i
        for i, var in enumerate(body.jaxpr.jaxpr.invars[nconsts:])
        if i not in read and outvars[i] is var
    ]
    varying = [i for i in range(count) if i not in fixed]
    cond_jaxpr, body_jaxpr = cond.jaxpr, body.jaxpr
    if fixed:
        skipped = [nconsts + i for i in fixed]
        carried = [nconsts + i for i in varying]
        body_jaxpr = part_of(body_jaxpr, (*skipped, *range(nconsts), *carried), tuple(varying))
        own = range(len(cond.consts))
        cond_jaxpr = part_of(cond_jaxpr, (*own, *[len(own) + i for i in varying]), (0,))
    outs = while_p.bind(
        *cond.consts,
        *[init[i] for i in fixed],
        *body.consts,
        *[init[i] for i in varying],
        body_jaxpr=body_jaxpr,
        body_nconsts=len(fixed) + nconsts,
        cond_jaxpr=cond_jaxpr,
        cond_nconsts=len(cond.consts),
        **limits,
    )
    found = dict(zip(varying, outs))
    return [found.get(i, x) for i, x in enumerate(init)]
