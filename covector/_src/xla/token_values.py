"""Tokens as arguments, constants and results of compiled programs.

To XLA a token orders what happens within one program, and none enters or leaves it.  A program
waits for the tokens that it is given before it starts, makes its own ones inside, and what it
returns for them is there when it has run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.avals import Token, abstract_token
from ..core.jaxpr import ClosedJaxpr, eval_jaxpr
from ..ops.linear import full
from ..ops.tokens import create_token
from ..transforms.cache import jaxpr_cache
from ..transforms.stage import stage_closed


def has_tokens(closed: ClosedJaxpr) -> bool:
    """Whether an argument, constant or result of a program is a token."""
    avals = [*closed.in_avals, *closed.out_avals]
    return any(aval is abstract_token for aval in avals) or any(
        type(const) is Token for const in closed.consts
    )


@jaxpr_cache
def without_tokens(closed: ClosedJaxpr) -> ClosedJaxpr:
    """The program of the arrays alone; its last output, an empty array, stands for all tokens."""
    in_avals, out_avals = closed.in_avals, closed.out_avals

    def of_arrays(*arrays: Any) -> list[Any]:
        given = iter(arrays)
        args = [create_token() if aval is abstract_token else next(given) for aval in in_avals]
        consts = [create_token() if type(c) is Token else c for c in closed.consts]
        outs = eval_jaxpr(closed.jaxpr, consts, *args)
        arrays_out = [x for x, aval in zip(outs, out_avals) if aval is not abstract_token]
        return [*arrays_out, full((0,), False, np.dtype(np.bool_))]

    avals = [aval for aval in in_avals if aval is not abstract_token]
    return stage_closed(of_arrays, avals, closed.jaxpr.debug_info)


def without_token_arguments(
    args: Sequence[Any], flags: Sequence[bool]
) -> tuple[list[Any], tuple[bool, ...]]:
    """The arguments that are arrays, each with its flag, once the tokens among them are there."""
    for x in args:
        if type(x) is Token:
            x.block_until_ready()
    kept = [(x, flag) for x, flag in zip(args, flags) if type(x) is not Token]
    return [x for x, _ in kept], tuple([flag for _, flag in kept])


def with_tokens(closed: ClosedJaxpr, outs: Sequence[Any]) -> list[Any]:
    """The results of a program, from those of the one without tokens."""
    *arrays, last = outs
    rest = iter(arrays)
    return [Token(last) if aval is abstract_token else next(rest) for aval in closed.out_avals]
