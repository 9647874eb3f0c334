"""Effects: what an eqn does besides computing its outputs.

A jaxpr's effects are the union of its eqns'.  An eqn without effects may be dropped when nothing
uses its outputs, and moved past any other; an ordered effect keeps its place among its own kind.
"""

from __future__ import annotations

from collections.abc import Hashable


class Effect:
    """The base of every effect; an instance is one kind of effect, and is hashable."""

    __slots__ = ()

    # Whether programs that have the effect keep its eqns in their order.
    ordered = False
    # Whether an eqn may be dropped in spite of it, if nothing uses its outputs.
    droppable = False
    # Whether it may happen where the program's meaning does not ask for it: once more, as where
    # values are computed anew for a backward pass, or in a branch that is not taken, as under vmap.
    repeatable = False


class NamedAxisEffect(Effect):
    """An eqn acts over a named axis: what it computes depends on who maps over that axis."""

    __slots__ = ("name",)
    droppable = True
    repeatable = True

    def __init__(self, name: Hashable):
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NamedAxisEffect) and self.name == other.name

    def __hash__(self) -> int:
        return hash((NamedAxisEffect, self.name))

    def __repr__(self) -> str:
        return f"NamedAxisEffect(name={self.name!r})"


class RefEffect(Effect):
    """An eqn uses a mutable reference, its operand number `input_index`."""

    __slots__ = ("input_index",)

    def __init__(self, input_index: int = 0):
        self.input_index = input_index

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.input_index == other.input_index

    def __hash__(self) -> int:
        return hash((type(self), self.input_index))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.input_index})"


class ReadEffect(RefEffect):
    """An eqn reads a reference."""

    __slots__ = ()


class WriteEffect(RefEffect):
    """An eqn writes to a reference."""

    __slots__ = ()


class AccumEffect(RefEffect):
    """An eqn adds to what a reference holds."""

    __slots__ = ()


class RulesLost(Effect):
    """A function with rules of its own was written out, and its rules were lost by it."""

    __slots__ = ()
    droppable = True
    repeatable = True

    def __repr__(self) -> str:
        return "RulesLost()"


rules_lost = RulesLost()

Effects = frozenset
no_effects: frozenset[Effect] = frozenset()


def ordered_effects(effects: frozenset[Effect]) -> list[Effect]:
    """Those effects whose order programs keep, always in the same order."""
    return sorted([effect for effect in effects if effect.ordered], key=repr)


def unrepeatable(effects: frozenset[Effect]) -> list[Effect]:
    """Those effects that must happen just as often as the program says."""
    return sorted([effect for effect in effects if not effect.repeatable], key=repr)


def must_stay(effects: frozenset[Effect]) -> bool:
    """Whether an eqn with these effects is needed even if nothing uses its outputs."""
    return bool(effects) and not all(effect.droppable for effect in effects)
