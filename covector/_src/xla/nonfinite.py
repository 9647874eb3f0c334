"""`debug_nans` and `debug_infs`: which op made the first bad value, and from what.

A compiled program that returns a NaN is run again op by op, from its jaxpr, until an op is found
whose output is bad and whose operands are not; the error names the primitive, the user's line, and
what its operands held.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..base import config, dtypes, source
from ..base.nonfinite_errors import (
    DONATED,
    FORGOTTEN,
    FROM_COMPILER,
    FROM_INPUT,
    FROM_LITERAL,
    nonfinite_result,
    nonfinite_unknown,
)
from ..core.avals import aval_of
from ..core.jaxpr import ClosedJaxpr, Literal
from ..core.primitive import Primitive
from ..core.show import jaxprs_in_params
from ..core.trace import Trace, context, current_trace, eval_trace


class _Watch:
    """Whether one of the flags was ever on, in any thread: the cheap half of `is_on`."""

    __slots__ = ("ever_on",)

    def __init__(self) -> None:
        self.ever_on = config.debug_nans.value or config.debug_infs.value
        config.debug_nans.on_change(self.note)
        config.debug_infs.on_change(self.note)

    def note(self, value: Any) -> None:
        self.ever_on = self.ever_on or bool(value)


watch = _Watch()


def is_on() -> bool:
    """Whether results are checked in this thread."""
    return config.debug_nans.value or config.debug_infs.value


def bad_kind(x: Any) -> str:
    """What is bad about an array's elements, in a word; empty if nothing is."""
    if not dtypes.issubdtype(dtypes.dtype_of(x), np.inexact):  # as of integers and random keys
        return ""
    host = np.asarray(x)
    if host.dtype.isbuiltin != 1:
        host = host.astype(np.float32)
    if config.debug_nans.value and np.isnan(host).any():
        return "nan"
    if config.debug_infs.value and np.isinf(host).any():
        return "inf"
    return ""


def check(jaxpr: ClosedJaxpr | None, name: str, args: Sequence[Any], outs: Sequence[Any]) -> None:
    """Raise `FloatingPointError` if a program's outputs are bad, naming the op to blame.

    Args:
      jaxpr: the program before compilation, if it is still there.
      name: of the function.
      args, outs: what the program took and gave.
    """
    kind = next(filter(None, map(bad_kind, outs)), "")
    if not kind:
        return
    if jaxpr is None:
        raise FloatingPointError(nonfinite_unknown(kind, name, FORGOTTEN, _described(args)))
    if any(x.is_deleted() for x in args):
        raise FloatingPointError(nonfinite_unknown(kind, name, DONATED, []))
    with current_trace(_SearchTrace()):
        _search(jaxpr, args)
    if any(map(bad_kind, args)):
        reason = FROM_INPUT
    elif any(map(bad_kind, _constants(jaxpr))):
        reason = FROM_LITERAL
    else:
        reason = FROM_COMPILER
    raise FloatingPointError(nonfinite_unknown(kind, name, reason, _described(args)))


def _constants(closed: ClosedJaxpr) -> Iterator[Any]:
    """The constants and literals of a jaxpr, and of those in its eqns."""
    yield from closed.consts
    for atom in (*closed.jaxpr.outvars, *[x for eqn in closed.eqns for x in eqn.invars]):
        if type(atom) is Literal:
            yield atom.val
    for eqn in closed.eqns:
        inner = eqn.primitive.expanded([x.aval for x in eqn.invars], eqn.params)
        if inner is not None:
            yield from _constants(inner)


class _SearchTrace(Trace):
    """Evaluation that looks at every result."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(eval_trace)

    def process(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        inner = primitive.expanded([aval_of(x) for x in args], params)
        if inner is not None:
            outs = _search(inner, args)
            return outs if primitive.multiple_results else outs[0]
        if _runs_by_steps(primitive, args, params):
            out = primitive.ref(*map(np.asarray, args), **params)
        else:
            with config.debug_nans(False), config.debug_infs(False), current_trace(eval_trace):
                out = eval_trace.process(primitive, args, params)
        kinds = map(bad_kind, out if primitive.multiple_results else [out])
        kind = next(filter(None, kinds), "")
        if kind and not any(bad_kind(x) == kind for x in args):
            place = source.describe(context.place or source.current_place())
            text = nonfinite_result(kind, primitive.name, place, _described(args))
            raise FloatingPointError(text)
        return out


def _runs_by_steps(primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> bool:
    """Whether the rule for NumPy applies jaxprs step by step, as that of a loop does."""
    if not jaxprs_in_params(params) or not primitive.has_rule("ref"):
        return False
    return not any(isinstance(aval_of(x).dtype, dtypes.ExtendedDType) for x in args)


def _search(closed: ClosedJaxpr, args: Sequence[Any]) -> list[Any]:
    """Run a jaxpr op by op; its eqns' places say where each came from."""
    env = dict(zip([*closed.jaxpr.constvars, *closed.jaxpr.invars], [*closed.consts, *args]))

    def read(atom: Any) -> Any:
        return atom.val if type(atom) is Literal else env[atom]

    place = context.place
    try:
        for eqn in closed.eqns:
            context.place = eqn.source or place
            out = context.trace.process(eqn.primitive, [read(a) for a in eqn.invars], eqn.params)
            env.update(zip(eqn.outvars, out if eqn.primitive.multiple_results else [out]))
    finally:
        context.place = place
    return [read(atom) for atom in closed.jaxpr.outvars]


def _described(args: Sequence[Any]) -> list[str]:
    """What the operands hold, in a few words each."""
    return [_describe(np.asarray(x, aval_of(x).dtype)) for x in args]


def _describe(host: np.ndarray) -> str:
    shape = f"{host.dtype}[{','.join(map(str, host.shape))}]"
    if host.size == 0:
        return f"{shape}, empty"
    if host.size == 1:
        return f"{shape} = {host.reshape(-1)[0]}"
    if not dtypes.issubdtype(host.dtype, np.floating):
        return shape
    host = host.astype(np.float64)
    finite = host[np.isfinite(host)]
    counts = [
        f"{count} {word}"
        for count, word in [
            (int(np.isnan(host).sum()), "nan"),
            (int(np.isinf(host).sum()), "inf"),
            (int((host == 0).sum()), "zero"),
        ]
        if count
    ]
    span = f", from {finite.min():.6g} to {finite.max():.6g}" if finite.size else ""
    return f"{shape}{span}" + (f", with {', '.join(counts)}" if counts else "")
