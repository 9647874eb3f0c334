"""Many small functions compiled as one program.

XLA takes nearly as long for a program of one op as for one of twenty, so that the tests of a
primitive ask for all their results at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

import covector as cv
from covector._src.core.avals import aval_of
from covector._src.core.jaxpr import ClosedJaxpr, eval_jaxpr
from covector._src.testing.checks import Case
from covector._src.transforms.stage import stage_closed


class Program(NamedTuple):
    """A function with its arguments, and what it stands for in a failure's message."""

    what: str
    case: Case
    fun: Callable[..., Sequence[Any]]
    args: Sequence[Any]


def run_on_numpy(programs: Sequence[Program]) -> list[Any]:
    """For each program its results, op by op on NumPy, or the exception that it raised."""
    with cv.reference_mode():
        return [_attempt(lambda p=p: list(p.fun(*p.args))) for p in programs]


def run_on_xla(programs: Sequence[Program]) -> list[Any]:
    """For each program its results on XLA, all compiled as one, or the exception that it raised."""
    staged = [
        _attempt(lambda p=p: stage_closed(p.fun, list(map(aval_of, p.args)))) for p in programs
    ]
    good = [i for i, x in enumerate(staged) if isinstance(x, ClosedJaxpr)]
    results = list(staged)
    found = _run_all([staged[i] for i in good], [programs[i].args for i in good])
    for i, value in zip(good, found):
        results[i] = value
    return results


def _attempt(compute: Callable[[], Any]) -> Any:
    try:
        return compute()
    except Exception as error:
        return error


def _run_all(jaxprs: Sequence[ClosedJaxpr], args: Sequence[Sequence[Any]]) -> list[Any]:
    """The results of jaxprs, compiled as one; one by one if that fails."""
    if not jaxprs:
        return []
    try:
        return _run_as_one(jaxprs, args)
    except Exception as error:
        if len(jaxprs) == 1:
            return [error]
        return [_run_all([jaxpr], [xs])[0] for jaxpr, xs in zip(jaxprs, args)]


def _run_as_one(jaxprs: Sequence[ClosedJaxpr], args: Sequence[Sequence[Any]]) -> list[Any]:
    # Constants become inputs too: XLA would fold what is computed from them instead of compiling.
    inputs: dict[int, Any] = {}
    for jaxpr, xs in zip(jaxprs, args):
        for x in (*jaxpr.consts, *xs):
            inputs.setdefault(id(x), x)

    def together(*values: Any) -> list[list[Any]]:
        given = dict(zip(inputs, values))
        return [
            eval_jaxpr(j.jaxpr, [given[id(c)] for c in j.consts], *[given[id(x)] for x in xs])
            for j, xs in zip(jaxprs, args)
        ]

    return cv.jit(together)(*map(np.asarray, inputs.values()))
