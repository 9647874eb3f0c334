"""Stand-ins for what JAX has and Covector lacks, where libraries name it without using it.

Flax's NNX keeps its variables in plain Python objects unless it is asked for JAX's `hijax` types;
but it derives classes from these as soon as it is imported. The classes here may be derived from
and asked for in `isinstance`; there are no values of them, and to make one is an error that says
so.
"""

from __future__ import annotations

from typing import Any, NoReturn

from ..core.avals import AbstractValue
from ..core.zeros import UndefinedPrimal, Zero
from ..ops.linear import instantiate


def _absent(what: str) -> NoReturn:
    raise NotImplementedError(
        f"[as_jax] Covector has no {what}: write the program without them, for Flax's NNX with the "
        "flag `nnx_variable_hijax` off."
    )


class HiPrimitive:
    """A primitive of high-level types; it can be declared, and not be applied."""

    def __init__(self, name: str):
        self.name = name

    def bind(self, *args: Any, **kwargs: Any) -> NoReturn:
        _absent(f"high-level types (`hijax`); {self.name} works on them")


class HiType(AbstractValue):
    """A high-level type; there are no values of such types."""

    def __init__(self, *args: Any, **kwargs: Any):
        _absent("high-level types (`hijax`)")


class MutableHiType(HiType):
    """A high-level type of values that change."""


class _AvalMember:
    """Marks what tracers of a high-level type would take over from the type."""

    def __init__(self, fget: Any):
        self.fget = fget


class EffectTypes:
    """Kinds of effects that loops may have; here each kind says so itself (`core.effects`)."""

    def add_type(self, kind: type) -> None:
        """Would allow one more kind."""


def register_hitype(cls: type, type_of: Any) -> None:
    """Would let values of a class take part in programs; without effect."""


HIJAX = {
    "AbstractValue": AbstractValue,
    "AvalMutableQDD": HiType,
    "AvalQDD": HiType,
    "HiPrimitive": HiPrimitive,
    "HiType": HiType,
    "MutableHiType": MutableHiType,
    "Zero": Zero,
    "aval_method": _AvalMember,
    "aval_property": _AvalMember,
    "control_flow_allowed_effects": EffectTypes(),
    "instantiate_zeros": instantiate,
    "is_undefined_primal": lambda x: isinstance(x, UndefinedPrimal),
    "register_hitype": register_hitype,
}
