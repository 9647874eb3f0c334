"""Effects: what an eqn does besides computing its outputs.

A jaxpr's effects are the union of its eqns'.  An eqn without effects may be dropped when nothing
uses its outputs, and moved past any other; an ordered effect keeps its place among its own kind.
"""

from __future__ import annotations


class Effect:
    """The base of every effect; an instance is one kind of effect, and is hashable."""

    __slots__ = ()

    # Whether programs that have the effect keep its eqns in their order.
    ordered = False


Effects = frozenset
no_effects: frozenset[Effect] = frozenset()
