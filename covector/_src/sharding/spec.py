"""`PartitionSpec`: which axes of a mesh divide each dimension of an array."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..base import sharding_errors as errors


class _Unconstrained:
    """Says of a dimension that the compiler may divide it as it likes."""

    def __repr__(self) -> str:
        return "UNCONSTRAINED"

    def __reduce__(self) -> str:
        return "UNCONSTRAINED"


UNCONSTRAINED = _Unconstrained()


def _canonical(entry: Any) -> Any:
    """An entry in its simplest form: one name by itself, no name as None."""
    if isinstance(entry, (tuple, list)):
        if any(isinstance(name, (tuple, list)) for name in entry):
            raise ValueError(errors.nested_names(entry))
        return None if not entry else entry[0] if len(entry) == 1 else tuple(entry)
    return entry


class PartitionSpec:
    """For each dimension of an array the names of the axes of a mesh that divide it.

    Args:
      *partitions: for each dimension a name, a tuple of names, None for a dimension that stays
        whole, or `PartitionSpec.UNCONSTRAINED`. Dimensions that are left out stay whole.
      unreduced: axes over which the parts have still to be added.
      reduced: axes over which they have been.

    It is a leaf of trees, and equals another of the same entries.

    >>> from covector.sharding import PartitionSpec as P
    >>> P("x", None), P(("x", "y"))
    (P('x', None), P(('x', 'y'),))
    """

    __slots__ = ("_partitions", "reduced", "unreduced")

    UNCONSTRAINED = UNCONSTRAINED

    def __init__(self, *partitions: Any, unreduced: Any = frozenset(), reduced: Any = frozenset()):
        self._partitions = tuple(map(_canonical, partitions))
        self.unreduced = frozenset(unreduced)
        self.reduced = frozenset(reduced)

    @property
    def partitions(self) -> tuple[Any, ...]:
        """The entries."""
        return self._partitions

    def names(self) -> list[Any]:
        """The axes in the order in which they stand in the entries."""
        return [name for i in range(len(self)) for name in self.axes_of(i)]

    def axes_of(self, dimension: int) -> tuple[Any, ...]:
        """The axes that divide a dimension, the one that varies slowest first."""
        entry = self._partitions[dimension] if dimension < len(self) else None
        if entry is None or entry is UNCONSTRAINED:
            return ()
        return entry if isinstance(entry, tuple) else (entry,)

    def update(
        self, partitions: Any = None, unreduced: Any = None, reduced: Any = None
    ) -> PartitionSpec:
        """The same specification but for what is given."""
        return PartitionSpec(
            *(self._partitions if partitions is None else partitions),
            unreduced=self.unreduced if unreduced is None else unreduced,
            reduced=self.reduced if reduced is None else reduced,
        )

    def index(self, entry: Any) -> int:
        """The dimension that has this entry."""
        return self._partitions.index(_canonical(entry))

    def count(self, entry: Any) -> int:
        """How many dimensions have this entry."""
        return self._partitions.count(_canonical(entry))

    def __len__(self) -> int:
        return len(self._partitions)

    def __getitem__(self, index: Any) -> Any:
        return self._partitions[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._partitions)

    def __add__(self, other: Any) -> PartitionSpec:
        if isinstance(other, PartitionSpec):
            return PartitionSpec(
                *self,
                *other,
                unreduced=self.unreduced | other.unreduced,
                reduced=self.reduced | other.reduced,
            )
        return self.update((*self, *other)) if isinstance(other, tuple) else NotImplemented

    def __radd__(self, other: Any) -> PartitionSpec:
        return self.update((*other, *self)) if isinstance(other, tuple) else NotImplemented

    def _key(self) -> tuple[Any, ...]:
        return self._partitions, self.unreduced, self.reduced

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PartitionSpec) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        shown = [repr(entry) for entry in self._partitions]
        for name in ("unreduced", "reduced"):
            if axes := getattr(self, name):
                shown.append(f"{name}={set(axes)!r}")
        # As in the text of a tuple, a comma follows an entry that stands alone.
        comma = "," if len(shown) == len(self) == 1 else ""
        return f"P({', '.join(shown)}{comma})"
