"""The rules of all primitives as tables: for each kind of rule a mapping from primitives to rules.

A table stores nothing.  It is a view of one slot of every primitive: setting an entry puts the rule
into the primitive's slot, getting one takes it from there, the rules of Covector's own primitives
included.  Where the slot's calling convention is not that of the table, the two are converted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from typing import Any

from ..base.extension_errors import not_a_primitive
from ..core.primitive import Primitive, all_primitives

Rule = Callable[..., Any]


class RuleTable(MutableMapping[Primitive, Rule]):
    """A view of one slot of every primitive.

    Args:
      name: of the table, for error messages.
      slot: the name of the primitives' method.
      to_slot: makes the method from a primitive and a rule of the table's calling convention.
      from_slot: makes such a rule from a method.
    """

    def __init__(
        self,
        name: str,
        slot: str,
        to_slot: Callable[[Primitive, Rule], Rule],
        from_slot: Callable[[Rule], Rule],
    ):
        self.name = name
        self.slot = slot
        self.to_slot = to_slot
        self.from_slot = from_slot

    def __setitem__(self, primitive: Primitive, rule: Rule) -> None:
        self._check(primitive)
        setattr(primitive, self.slot, _Entered(rule, self.to_slot(primitive, rule), self))

    def __getitem__(self, primitive: Primitive) -> Rule:
        self._check(primitive)
        if not primitive.has_rule(self.slot):
            raise KeyError(primitive)
        method = getattr(primitive, self.slot)
        if type(method) is _Entered and method.table is self:
            return method.rule
        return self.from_slot(method)

    def __delitem__(self, primitive: Primitive) -> None:
        self._check(primitive)
        if self.slot not in vars(primitive):
            raise KeyError(primitive)
        delattr(primitive, self.slot)

    def __contains__(self, primitive: object) -> bool:
        return isinstance(primitive, Primitive) and primitive.has_rule(self.slot)

    def __iter__(self) -> Iterator[Primitive]:
        return iter([primitive for primitive in all_primitives if primitive in self])

    def __len__(self) -> int:
        return sum(primitive in self for primitive in all_primitives)

    def __repr__(self) -> str:
        return f"<{self.name}: the rules of {len(self)} primitives>"

    def _check(self, primitive: object) -> None:
        if not isinstance(primitive, Primitive):
            raise TypeError(not_a_primitive(self.name, primitive))


class _Entered:
    """What stands in a primitive's slot for a rule that was entered into a table."""

    __slots__ = ("method", "rule", "table")

    def __init__(self, rule: Rule, method: Rule, table: RuleTable):
        self.rule = rule
        self.method = method
        self.table = table

    def __call__(self, *args: Any, **params: Any) -> Any:
        return self.method(*args, **params)
