"""Stand-ins for what JAX has and Covector lacks, where libraries name it without using it.

Flax's NNX keeps its variables in plain Python objects unless it is asked for JAX's `hijax` types;
but it derives classes from these as soon as it is imported. The classes here may be derived from
and asked for in `isinstance`; there are no values of them, and to make one is an error that says
so.

Keras and JAX MD import Pallas for what they do on accelerators, Orbax modules for services of many
machines. These modules hold any name that is asked for, and what is called of them is an error.
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


class _Unusable:
    """What stands for a name of a module that is not there, and for all that is below it."""

    def __init__(self, name: str, advice: str):
        self._name = name
        self._advice = advice

    def __getattr__(self, name: str) -> _Unusable:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Unusable(f"{self._name}.{name}", self._advice)

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"[as_jax] Covector has no `{self._name}`. {self._advice}")

    def __or__(self, other: Any) -> Any:
        return Any  # in an annotation

    def __instancecheck__(self, value: object) -> bool:
        return False

    def __repr__(self) -> str:
        return f"<absent {self._name}>"


_NO_KERNELS = "Write the function with `jax.numpy`, which XLA compiles for any device."
_NO_ATTENTION = "Use `jax.nn.dot_product_attention`."
_ONE_MACHINE = "Python functions run where the program does: call them there."
_NO_FILES = "Save what `numpy.asarray` gives, or let Orbax save the arrays."

# Modules, and what to do instead.
_NOT_THERE = {
    "extend.ifrt_programs": _ONE_MACHINE,
    "experimental.pallas": _NO_KERNELS,
    "experimental.pallas.mosaic_gpu": _NO_KERNELS,
    "experimental.pallas.ops": _NO_KERNELS,
    "experimental.pallas.ops.gpu": _NO_KERNELS,
    "experimental.pallas.ops.tpu": _NO_KERNELS,
    "experimental.pallas.ops.tpu.splash_attention": _NO_ATTENTION,
    "experimental.pallas.tpu": _NO_KERNELS,
    "experimental.pallas.triton": _NO_KERNELS,
    "experimental.colocated_python": _ONE_MACHINE,
    "experimental.colocated_python.func": _ONE_MACHINE,
    "experimental.colocated_python.serialization": _ONE_MACHINE,
    "experimental.array_serialization": _NO_FILES,
    "experimental.array_serialization.serialization": _NO_FILES,
}


def _names_of(module: str, advice: str) -> dict[str, Any]:
    """The contents of a module that is not there."""
    return {"__getattr__": _Unusable(module, advice).__getattr__}


ABSENT_MODULES = {
    f"jax.{name}": _names_of(f"jax.{name}", advice) for name, advice in _NOT_THERE.items()
}
