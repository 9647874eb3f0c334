"""`debug_nans` and `debug_infs`: which op made the first bad value, and from what.

A compiled program that returns a NaN is run again op by op, from its jaxpr, until an op is found
whose output is bad; the error names the primitive, the user's line, and what its operands held.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import config, dtypes, source
from ..base.errors import nonfinite_result
from ..core.jaxpr import ClosedJaxpr, JaxprEqn, Literal
from ..core.primitive import Primitive
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
    host = np.asarray(x)
    if not dtypes.issubdtype(host.dtype, np.inexact):
        return ""
    if host.dtype.isbuiltin != 1:
        host = host.astype(np.float32)
    if config.debug_nans.value and np.isnan(host).any():
        return "nan"
    if config.debug_infs.value and np.isinf(host).any():
        return "inf"
    return ""


def check(jaxpr: ClosedJaxpr, name: str, args: Sequence[Any], outs: Sequence[Any]) -> None:
    """Raise `FloatingPointError` if a program's outputs are bad, naming the op to blame."""
    kinds = [kind for kind in map(bad_kind, outs) if kind]
    if not kinds:
        return
    if any(x.is_deleted() for x in args):
        raise FloatingPointError(
            nonfinite_result(kinds[0], name, "", [])
            + " Its arguments were donated, so that it cannot be run again to find the op."
        )
    if len(jaxpr.eqns) == 1 and not list(_inner(jaxpr.eqns[0])):
        place = jaxpr.eqns[0].source or context.place or source.current_place()
        raise FloatingPointError(
            nonfinite_result(kinds[0], name, source.describe(place), _described(args))
        )
    with current_trace(_SearchTrace()):
        _search(jaxpr, args)
    raise FloatingPointError(
        nonfinite_result(kinds[0], name, "", _described(args))
        + " Run op by op the program gives no bad value: it comes of XLA's rearrangements."
    )


def _inner(eqn: JaxprEqn) -> Any:
    return (p for p in eqn.params.values() if isinstance(p, ClosedJaxpr))


class _SearchTrace(Trace):
    """Evaluation that looks at every result."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(eval_trace)

    def process(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        inner = params.get("jaxpr")
        if primitive.name == "jit" and isinstance(inner, ClosedJaxpr):
            return _search(inner, args)
        with config.debug_nans(False), config.debug_infs(False), current_trace(eval_trace):
            out = eval_trace.process(primitive, args, params)
        for x in out if primitive.multiple_results else [out]:
            if kind := bad_kind(x):
                place = context.place or source.current_place()
                text = nonfinite_result(
                    kind, primitive.name, source.describe(place), _described(args)
                )
                raise FloatingPointError(text)
        return out


def _search(closed: ClosedJaxpr, args: Sequence[Any]) -> list[Any]:
    """Run a jaxpr op by op; its eqns' places say where each came from."""
    env = dict(zip([*closed.jaxpr.constvars, *closed.jaxpr.invars], [*closed.consts, *args]))

    def read(atom: Any) -> Any:
        return atom.val if type(atom) is Literal else env[atom]

    place = context.place
    try:
        for eqn in closed.eqns:
            context.place = eqn.source
            out = context.trace.process(eqn.primitive, [read(a) for a in eqn.invars], eqn.params)
            env.update(zip(eqn.outvars, out if eqn.primitive.multiple_results else [out]))
    finally:
        context.place = place
    return [read(atom) for atom in closed.jaxpr.outvars]


def _described(args: Sequence[Any]) -> list[str]:
    """What the operands hold, in a few words each."""
    return [_describe(np.asarray(x)) for x in args]


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
