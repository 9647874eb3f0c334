"""The atoms of a jaxpr: variables, and scalars written in place."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from .avals import AbstractValue


class Var:
    """A variable: one binding of a value of the type `aval`.  Variables are equal if identical."""

    __slots__ = ("__weakref__", "aval")

    def __init__(self, aval: AbstractValue):
        self.aval = aval

    def __repr__(self) -> str:
        return f"Var(id={id(self)}):{self.aval.str_short()}"


class DropVar(Var):
    """The place of an output that nothing uses; printed `_`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "_"


@final
class Literal:
    """A scalar constant written in place."""

    __slots__ = ("aval", "val")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, val: Any, aval: AbstractValue):
        self.val = val
        self.aval = aval

    @property
    def text(self) -> str:
        """The value as a Python number is written."""
        return str(np.asarray(self.val).item())

    def __repr__(self) -> str:
        return f"Literal({self.val})"


Atom = Var | Literal
