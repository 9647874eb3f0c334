"""Reverse mode through loops whose number of steps is only known when they have run.

The jvp of a loop is a loop over pairs of values and tangents, in which the values know nothing of
the tangents.  Linearization splits it in two: the values are computed by a loop that is recorded on
a tape (`while_record`), and the tangents by one that is linear in them (`while_linear`), whose
transpose goes through the steps in reverse order (`while_reverse`).  Nothing of this happens to a
loop that nobody linearizes.

The rules are given to `While` here, since what they are made of is made of loops.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..base import config, loop_errors
from ..core.jaxpr import ClosedJaxpr, jaxpr_as_fun
from ..core.zeros import UndefinedPrimal
from ..ops.reductions import reduce_or
from ..transforms.cache import jaxpr_cache
from ..transforms.linearize import PartialTrace, partial_eval_jaxpr
from ..transforms.simplify import drop_unused
from ..transforms.stage import stage_closed
from .carries import Flags, carry_fixpoint
from .while_linear import while_linear_p
from .while_loop import While, applied, part_of, parted, read_by
from .while_record import while_record_p
from .while_tape import where


def partial_eval(self: While, trace: PartialTrace, args: Sequence[Any], params: Any) -> list[Any]:
    """Compute the values, and write the tangents into the linear program."""
    unknowns = tuple(map(trace.is_unknown, args))
    if config.parity.value:
        return _partial_eval_of_jax(self, trace, args, unknowns, params)
    split = split_loop(args, unknowns, params)
    if split is None:
        return trace.unknown.process(self, args, params)
    if not any(split.unknown_carry):
        return trace.parent.process(self, split.operands, split.loop_params())
    recorded = trace.parent.process(while_record_p, split.operands, split.record_params)
    operands, linear_params = split.linear(recorded)
    pushed = iter(trace.unknown.process(while_linear_p, operands, linear_params))
    values = iter(recorded)
    return [next(pushed) if unknown else next(values) for unknown in split.unknown_carry]


def transpose(self: While, cts: Sequence[Any], *args: Any, **params: Any) -> list[Any]:
    """The transpose of a loop that is linear in a part of its operands."""
    if config.parity.value:
        raise ValueError(loop_errors.no_reverse_mode())
    unknowns = tuple([type(x) is UndefinedPrimal for x in args])
    split = split_loop(args, unknowns, params)
    if split is None:
        raise ValueError(loop_errors.condition_is_linear())
    operands, linear_params = split.linear(
        while_record_p.bind(*split.operands, **split.record_params)
    )
    linear_cts = [ct for ct, unknown in zip(cts, split.unknown_carry) if unknown]
    results = while_linear_p.transpose(linear_cts, *operands, **linear_params)
    found = {id(x): ct for x, ct in zip(operands, results) if type(x) is UndefinedPrimal}
    return [found.get(id(x)) for x in args]


While.partial_eval = partial_eval
While.transpose = transpose


def limits_of(where: str, checkpoints: int | None, max_steps: int | None) -> dict[str, int]:
    """The limits of memory that the user set, as parameters of the loop."""
    limits = {"checkpoints": checkpoints, "max_steps": max_steps}
    given = {name: value for name, value in limits.items() if value is not None}
    for name, value in given.items():
        least = 2 if name == "checkpoints" else 1
        if not isinstance(value, int) or value < least:
            raise ValueError(loop_errors.limit_too_small(where, name, value, least))
    return given


def _partial_eval_of_jax(
    self: While, trace: PartialTrace, args: Sequence[Any], unknowns: Flags, params: dict[str, Any]
) -> list[Any]:
    """What JAX does: the whole loop goes into the linear program, which has no transpose."""
    split = split_loop(args, unknowns, params)
    outs = trace.unknown.process(self, args, params)
    if split is None:
        return outs
    values = iter(trace.parent.process(self, split.operands, split.loop_params()))
    return [out if unknown else next(values) for out, unknown in zip(outs, split.unknown_carry)]


# ---------------------------------------------------------------- splitting a loop


class Split(NamedTuple):
    """A loop, some of whose operands are unknown, in two.

    Attributes:
      operands, record_params: of the loop over what is known.
      unknown_carry: for each part of the carry, whether it depends on what is unknown.
      forward_jaxpr, tangent_jaxpr: a step, as `while_linear` has it.
      consts: the known constants of `forward_jaxpr`.
      unknown_operands: the unknown constants of the body, and the carry's unknown parts.
    """

    operands: list[Any]
    record_params: dict[str, Any]
    unknown_carry: Flags
    forward_jaxpr: ClosedJaxpr
    tangent_jaxpr: ClosedJaxpr
    consts: list[Any]
    unknown_operands: list[Any]

    def loop_params(self) -> dict[str, Any]:
        """The parameters of the loop over what is known if it need not be recorded."""
        return {name: value for name, value in self.record_params.items() if name != "stored"}

    def linear(self, recorded: Sequence[Any]) -> tuple[list[Any], dict[str, Any]]:
        """Operands and parameters of `while_linear`, from the results of `while_record`."""
        count, *tape = recorded[self.unknown_carry.count(False) :]
        return [count, *self.consts, *tape, *self.unknown_operands], dict(
            forward_jaxpr=self.forward_jaxpr,
            tangent_jaxpr=self.tangent_jaxpr,
            num_consts=len(self.consts),
        )


def split_loop(args: Sequence[Any], unknowns: Flags, params: dict[str, Any]) -> Split | None:
    """Split a loop; None if its condition depends on what is unknown."""
    args, unknown, params = _without_lanes(list(args), list(unknowns), params)
    body_jaxpr, cond_jaxpr = params["body_jaxpr"], params["cond_jaxpr"]
    cond_unknown, consts_unknown, carry_unknown = parted(unknown, params)

    def step(carry: Flags) -> tuple[Any, Flags]:
        known, tangent, outs, _ = partial_eval_jaxpr(body_jaxpr, (*consts_unknown, *carry), carry)
        return (known, tangent), outs

    (known, tangent), carry = carry_fixpoint(step, tuple(carry_unknown))
    read_consts, read_carry = read_by(cond_jaxpr, (True,), len(cond_unknown))
    if any(cond_unknown[i] for i in read_consts) or any(carry[i] for i in read_carry):
        return None
    cond_consts, body_consts, init = parted(args, params)
    known_consts, unknown_consts = _by_flags(body_consts, consts_unknown)
    known_init, unknown_init = _by_flags(init, carry)
    consts, stored, forward = _forward_part(known, len(known_consts), len(known_init))
    of_cond = [i for i, flag in enumerate((*cond_unknown, *carry)) if not flag]
    known_cond_consts = _by_flags(cond_consts, cond_unknown)[0]
    record_params = params | dict(
        body_jaxpr=part_of(known, tuple(range(len(known.in_avals))), tuple(range(len(stored)))),
        body_nconsts=len(known_consts),
        cond_jaxpr=part_of(cond_jaxpr, tuple(of_cond), (0,)),
        cond_nconsts=len(known_cond_consts),
        stored=stored,
    )
    return Split(
        [*known_cond_consts, *known_consts, *known_init],
        record_params,
        carry,
        forward,
        tangent,
        [known_consts[i] for i in consts],
        [*unknown_consts, *unknown_init],
    )


def _by_flags(values: Sequence[Any], flags: Sequence[bool]) -> tuple[list[Any], list[Any]]:
    """The values without a flag, and those with one."""
    pairs = list(zip(values, flags))
    return [x for x, flag in pairs if not flag], [x for x, flag in pairs if flag]


@jaxpr_cache
def _forward_part(
    known: ClosedJaxpr, num_consts: int, num_carry: int
) -> tuple[tuple[int, ...], Flags, ClosedJaxpr]:
    """What must be run again of the known part of a step, so that its residuals can be had.

    Args:
      known: (constants, carry) -> (carry, residuals).
      num_consts, num_carry: how many of each there are.

    Returns:
      Which constants that takes, for each part of the carry whether it does, and the program.
    """
    residuals = range(num_carry, len(known.out_avals))
    # What has an effect and no result, such as printing, is not done again.
    eqns = [eqn for eqn in known.jaxpr.eqns if eqn.outvars or not eqn.effects]
    known = ClosedJaxpr(known.jaxpr.replace(eqns=eqns, effects=None), known.consts)

    def step(carry: Flags) -> tuple[list[int], Flags]:
        _, kept = drop_unused(known, (*carry, *[True] * len(residuals)))
        return kept, tuple([flag or num_consts + i in kept for i, flag in enumerate(carry)])

    kept, carry = carry_fixpoint(step, (False,) * num_carry)
    consts = tuple([i for i in kept if i < num_consts])
    parts = tuple([i for i, flag in enumerate(carry) if flag])
    inputs = (*consts, *[num_consts + i for i in parts])
    return consts, carry, part_of(known, inputs, (*parts, *residuals))


# ---------------------------------------------------------------- batches as one loop


def _without_lanes(
    args: list[Any], unknowns: list[bool], params: dict[str, Any]
) -> tuple[list[Any], list[bool], dict[str, Any]]:
    """A loop of several examples, each with its own condition, as a loop with one condition.

    It goes on while any of them does; a step leaves the carry of the others as it is. So the body
    takes the constants of the condition as well.
    """
    if not params["cond_jaxpr"].out_avals[0].shape:
        return args, unknowns, params
    count = params["cond_nconsts"]
    body, cond = _loop_of_lanes(
        params["body_jaxpr"], params["cond_jaxpr"], count, params["body_nconsts"]
    )
    changed = dict(body_jaxpr=body, body_nconsts=count + params["body_nconsts"], cond_jaxpr=cond)
    return args[:count] + args, unknowns[:count] + unknowns, params | changed


@jaxpr_cache
def _loop_of_lanes(
    body: ClosedJaxpr, cond: ClosedJaxpr, cond_nconsts: int, body_nconsts: int
) -> tuple[ClosedJaxpr, ClosedJaxpr]:
    lanes = cond.out_avals[0].ndim

    def step(*args: Any) -> list[Any]:
        consts, rest = args[:cond_nconsts], args[cond_nconsts:]
        carry = rest[body_nconsts:]
        (active,) = applied(cond, [*consts, *carry])
        return where(active, applied(body, rest), carry)

    def going(*args: Any) -> list[Any]:
        return [reduce_or(jaxpr_as_fun(cond)(*args)[0], range(lanes))]

    avals = [*cond.in_avals[:cond_nconsts], *body.in_avals]
    return stage_closed(step, avals), stage_closed(going, cond.in_avals)
