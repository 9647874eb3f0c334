"""The flag `debug_key_reuse`: compiled programs that refuse keys which were used before.

Each array of keys remembers which of its elements are spent; a program looks before it runs, and
notes what it has used after.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import config, key_reuse_errors
from ..base.errors import KeyReuseError
from ..core.jaxpr import ClosedJaxpr
from ..xla.array import ArrayImpl
from ..xla.compile import Executable, special_kinds
from ..xla.placement import Placement
from .key_flow import KeyFlow, all_of, holds_keys, key_flow


class KeyCheckingExecutable(Executable):
    """A compiled program that refuses random keys which were used before."""

    __slots__ = ("_captured", "_flow", "_title")

    def __init__(self, name: str, loaded: Any, jaxpr: ClosedJaxpr, *args: Any):
        super().__init__(name, loaded, jaxpr, *args)
        eqns = jaxpr.jaxpr.eqns
        is_op = len(eqns) == 1 and eqns[0].primitive.name == name
        self._title = name if is_op else "jit-compiled function"
        self._flow = key_flow(jaxpr)
        self._captured = jaxpr.consts
        self.only_launches = False

    def run(
        self, arrays: Sequence[ArrayImpl], placement: Placement | None = None
    ) -> list[ArrayImpl]:
        keys = [*arrays, *self._captured]
        check_unspent(self._flow, self._title, keys)
        outs = super().run(arrays, placement)
        mark_spent(self._flow, keys, outs)
        return outs


def watch_keys() -> None:
    """Let programs that are compiled while the flag is on check their keys."""
    special_kinds.append((config.debug_key_reuse, KeyCheckingExecutable))


def check_unspent(flow: KeyFlow, name: str, arrays: Sequence[Any]) -> None:
    """Raise if a program would use up keys that are spent already."""
    for i, elements in flow.spends.items():
        if np.any(getattr(arrays[i], "_spent", False) & elements):
            raise KeyReuseError(key_reuse_errors.spent_before(name, i))


def mark_spent(flow: KeyFlow, arrays: Sequence[Any], outs: Sequence[Any]) -> None:
    """Remember which keys a program has used up."""
    for i, elements in flow.spends.items():
        arrays[i]._spent = getattr(arrays[i], "_spent", False) | elements
    for i, out in enumerate(outs):
        if not holds_keys(out.aval):
            continue
        if i in flow.hands_on:
            before = getattr(arrays[flow.hands_on[i]], "_spent", np.False_)
            same = before.shape == out.aval.shape
            out._spent = before if same else np.full(out.aval.shape, before.any())
        elif i not in flow.fresh:
            out._spent = all_of(out.aval)
