"""`while_record`: a loop that keeps some of its carries, for reverse mode to come back to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.avals import ShapedArray, aval_of
from ..core.effects import no_effects
from ..core.fusion import APPLYING
from ..core.jaxpr import ClosedJaxpr
from ..core.primitive import BuiltinPrimitive
from ..core.show import jaxprs_in_params
from ..core.zeros import UndefinedPrimal, Zero
from ..ops.arithmetic import add
from ..ops.conversion import convert
from ..ops.linear import full
from ..ops.reductions import reduce_or
from ..transforms.cache import jaxpr_cache
from ..transforms.linearize import PartialTrace
from ..transforms.stage import stage_closed
from ..transforms.transpose import backward_pass
from .while_loop import applied, parted, while_p, with_batches, with_tangents
from .while_tape import INT, Tape, new_tape, record, where

# How many checkpoints a tape has where the user does not say.
CHECKPOINTS = 64


class Expansion(BuiltinPrimitive):
    """A primitive that is a program of others, `expand(*args, **params)`.

    It is a primitive so that transformations can make of it what is better than what they make of
    the program.
    """

    multiple_results = True
    fusion = APPLYING
    program: str  # the parameter that holds a jaxpr

    def expand(self, *args: Any, **params: Any) -> list[Any]:
        raise NotImplementedError

    def effectful_abstract_eval(self, *avals, **params):
        effects = no_effects.union(*[jaxpr.effects for jaxpr in jaxprs_in_params(params)])
        return self.abstract_eval(*avals, **params), effects

    def expanded(self, avals, params):
        return _staged(params[self.program], self, tuple(avals), tuple(params.items()))

    def ref(self, *args, **params):
        return self.expand(*args, **params)

    def partial_eval(self, trace: PartialTrace, args, params):
        return self.expand(*args, **params)

    def transpose(self, cts, *args, **params):
        avals = [x.aval if type(x) is UndefinedPrimal else aval_of(x) for x in args]
        closed = self.expanded(avals, params)
        return backward_pass(closed.jaxpr, closed.consts, args, cts)

    def emit(self, b, *operands, **params):
        return b.inline(self.expanded(b.avals_in, params), operands)


@jaxpr_cache
def _staged(
    jaxpr: ClosedJaxpr, primitive: Expansion, avals: tuple[Any, ...], params: tuple[Any, ...]
) -> ClosedJaxpr:
    return stage_closed(lambda *args: primitive.expand(*args, **dict(params)), avals)


# ---------------------------------------------------------------- the loop over values


class WhileRecord(Expansion):
    """A `while` that is recorded, as far as `stored` says for each part of the carry.

    Its other parameters are those of `while`.
    """

    program = "body_jaxpr"

    def abstract_eval(self, *avals, body_jaxpr, cond_jaxpr, stored, **params):
        checkpoints, segment = sizes(params)
        lanes = cond_jaxpr.out_avals[0].shape
        kept = [aval for aval, wanted in zip(body_jaxpr.out_avals, stored) if wanted]
        places = ShapedArray((checkpoints,), INT)
        rows = [
            ShapedArray((size, *x.shape), x.dtype) for size in (checkpoints, segment) for x in kept
        ]
        tape = [ShapedArray((), INT), places, places, *rows]
        return [*body_jaxpr.out_avals, ShapedArray(lanes, INT), *tape]

    def expand(self, *args, body_jaxpr, cond_jaxpr, stored, **params):
        cond_consts, body_consts, init = parted(args, params)
        lanes = cond_jaxpr.out_avals[0].shape

        def active(carry: list[Any]) -> Any:
            return applied(cond_jaxpr, [*cond_consts, *carry])[0]

        def going(_: Any, state: Any) -> Any:
            pred = active(state[0])
            return reduce_or(pred, range(len(lanes))) if lanes else pred

        def advance(_: Any, state: Any) -> Any:
            carry, count = state
            new = applied(body_jaxpr, [*body_consts, *carry])
            if not lanes:
                return new, count
            pred = active(carry)
            return where(pred, new, carry), add(count, convert(pred, INT))

        def kept(state: Any) -> list[Any]:
            return [x for x, wanted in zip(state[0], stored) if wanted]

        state = (init, full(lanes, 0, INT) if lanes else None)
        tape = new_tape(kept(state), *sizes(params))
        end, (carry, count), tape = record(tape, np.int32(0), state, going, advance, kept)
        return [*carry, count if lanes else end, *flattened(tape)]

    def jvp(self, primals, tangents, *, stored, **params):
        operands, params, nonzeros = with_tangents(primals, tangents, params)
        both = [wanted for wanted, nonzero in zip(stored, nonzeros) if nonzero]
        outs = iter(self.bind(*operands, stored=(*stored, *both), **params))
        kept = [nonzero for nonzero, wanted in zip(nonzeros, stored) if wanted]
        values: list[Any] = []
        out_tangents: list[Any] = []
        for flags in (nonzeros, (False,) * 4, kept, kept):
            values += [next(outs) for _ in flags]
            found = [next(outs) if nonzero else None for nonzero in flags]
            new = values[len(values) - len(flags) :]
            out_tangents += [
                Zero.from_primal_value(x) if t is None else t for x, t in zip(new, found)
            ]
        return values, out_tangents

    def prune(self, eqn, used):
        count = len(eqn.params["stored"])
        if any(used[count:]):
            return eqn
        params = {name: value for name, value in eqn.params.items() if name != "stored"}
        loop = eqn.replace(primitive=while_p, outvars=eqn.outvars[:count], params=params)
        return while_p.prune(loop, used[:count])

    def vmap(self, axis, dims, *args, stored, **params):
        operands, params, carry_dims, going = with_batches(axis, dims, args, params)
        outs = self.bind(*operands, stored=stored, **params)
        kept = [dim for dim, wanted in zip(carry_dims, stored) if wanted]
        rows = [None if dim is None else dim + 1 for dim in kept]
        return outs, [*carry_dims, 0 if going else None, None, None, None, *rows, *rows]


while_record_p = WhileRecord("while_record")


def sizes(params: dict[str, Any]) -> tuple[int, int]:
    """How many checkpoints a tape has, and of how many steps it holds the carries."""
    checkpoints = params.get("checkpoints", CHECKPOINTS)
    return checkpoints, params.get("max_steps", checkpoints)


def flattened(tape: Tape) -> list[Any]:
    return [tape.filled, tape.steps, tape.levels, *tape.checkpoints, *tape.recent]


def tape_of(values: Sequence[Any]) -> Tape:
    """A tape from its flat values, or from what belongs to each of them."""
    middle = 3 + (len(values) - 3) // 2
    return Tape(*values[:3], list(values[3:middle]), list(values[middle:]))
