"""The private names of JAX's that much-used libraries import, and what stands for them here.

Each row names who needs it, so that a row can go when its users have gone. What a library would
have to change in the machinery of JAX (its table of handlers of results, its compile function) is
not here: its module is, where the import alone would fail, and the names are missing from it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

from ..api import checkify, extending, utilities
from ..api.checkify_error import Error, JaxException
from ..base import dtypes, source, tracebacks
from ..base.tree_registry import default_registry, flatten_one_level
from ..control.jit import jit_p
from ..core.avals import AbstractValue, ShapedArray
from ..core.effects import AccumEffect, ReadEffect, RefEffect, WriteEffect
from ..core.refs import AbstractRef
from ..core.trace import Trace, Tracer, context, current_trace, eval_trace
from ..core.user_primitive import Primitive
from ..numpy.ravel import ravel_pytree
from ..ops.identities import stop_gradient_p
from ..ops.physical import physical_aval
from ..xla.array import ArrayImpl
from ..xla.callbacks import effects_barrier
from ..xla.mlir import builders, ir
from ..xla.processes import connection
from .absent import ABSENT_MODULES, HIJAX


def trace_state_clean() -> bool:
    """Whether no transformation is under way."""
    return context.trace is eval_trace


def include_frame(frame: FrameType) -> bool:
    """Whether tracebacks show a frame."""
    return not source.is_own_frame(frame)


def infer_argnums_and_argnames(
    signature: inspect.Signature,
    argnums: int | Sequence[int] | None,
    argnames: str | Sequence[str] | None,
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Positions and names of the same parameters, from what is given of the two."""
    by_position = [
        name
        for name, parameter in signature.parameters.items()
        if parameter.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    ]
    names = (argnames,) if isinstance(argnames, str) else argnames
    numbers = (argnums,) if isinstance(argnums, int) else argnums
    if numbers is None:
        numbers = [by_position.index(name) for name in names or () if name in by_position]
    if names is None:
        names = [by_position[number] for number in numbers if number < len(by_position)]
    return tuple(numbers), tuple(names)


def name_classes_of_arrays() -> None:
    """Say of the classes of arrays and tracers that they stand in JAX's modules.

    Autoray asks them to find out which library's functions an array is for.
    """
    ArrayImpl.__module__ = "jax._src.array"
    for cls in (Tracer, *Tracer.__subclasses__()):
        cls.__module__ = "jax._src.core"


class _NodeTypes:
    """The types that are nodes of trees, as a collection that one may ask for a type."""

    def __contains__(self, kind: type) -> bool:
        return default_registry.is_node(kind)


class _GlobalState:
    """How this process is tied to the others: what JAX's object of this name tells."""

    client = property(lambda self: getattr(connection(), "client", None))
    service = property(lambda self: getattr(connection(), "service", None))
    preemption_sync_manager = property(lambda self: getattr(connection(), "preemption", None))
    coordinator_address = property(lambda self: getattr(connection(), "address", None))
    partition_index = property(lambda self: getattr(connection(), "partition_index", None))
    process_id = property(lambda self: getattr(connection(), "process_id", 0))
    num_processes = property(lambda self: getattr(connection(), "num_processes", 1))


class HashablePartial:
    """A function with some of its arguments; two of the same function and arguments are equal."""

    def __init__(self, fun: Callable[..., Any], /, *args: Any, **kwargs: Any):
        self.fun = fun
        self.args = args
        self.kwargs = kwargs

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HashablePartial) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.fun(*self.args, *args, **self.kwargs, **kwargs)

    def _key(self) -> tuple[Any, ...]:
        return self.fun, self.args, frozenset(self.kwargs.items())


PRIVATE_MODULES: dict[str, dict[str, Any]] = {
    "jax._src": {},
    "jax._src.array": {"ArrayImpl": ArrayImpl},
    # Equinox, jaxtyping and Flax leave their own frames out of tracebacks.
    "jax._src.traceback_util": {
        "_exclude_paths": source._excluded,
        "api_boundary": tracebacks.boundary,
        "include_frame": include_frame,
        "register_exclusion": source.register_exclusion,
    },
    # Flax's types of 8 bits; NumPyro and BlackJAX ask whether something is being traced; JAX MD has
    # primitives of its own.
    "jax._src.core": {
        "AbstractValue": AbstractValue,
        "Primitive": Primitive,
        "ShapedArray": ShapedArray,
        "Trace": Trace,
        "TraceTag": extending.TraceTag,
        "Tracer": Tracer,
        "physical_aval": physical_aval,
        "set_current_trace": current_trace,
        "take_current_trace": extending.take_current_trace,
        "trace_state_clean": trace_state_clean,
    },
    # optree's and tinygp's dtypes, too.
    "jax._src.dtypes": {
        "DType": dtypes.np.dtype,
        "ExtendedDType": dtypes.ExtendedDType,
        "TypePromotionError": dtypes.TypePromotionError,
        "canonicalize_dtype": dtypes.canonicalize_dtype,
        "dtype": dtypes.dtype_of,
        "extended": dtypes.extended,
        "finfo": dtypes.finfo,
        "issubdtype": dtypes.issubdtype,
        "result_type": dtypes.result_type,
        "supports_inf": dtypes.supports_inf,
        "to_complex_dtype": dtypes.to_complex_dtype,
    },
    # Lineax gives `stop_gradient` a rule of its own.
    "jax._src.ad_util": {"stop_gradient_p": stop_gradient_p},
    # e3nn-jax.
    "jax._src.api_util": {"infer_argnums_and_argnames": infer_argnums_and_argnames},
    # Flax names these types in annotations.
    "jax._src.checkify": {
        "Error": Error,
        "JaxException": JaxException,
        "Out": Any,
        "checkify": checkify.checkify,
        "user_checks": checkify.user_checks,
    },
    # Chex replaces a function in it to forbid compilation, which finds nothing to replace here.
    "jax._src.compiler": {},
    # Equinox waits for callbacks.
    "jax._src.dispatch": {"wait_for_tokens": effects_barrier},
    # Orbax waits for other processes, and keeps texts for them.
    "jax._src.distributed": {"global_state": _GlobalState()},
    # BlackJAX.
    "jax._src.flatten_util": {"ravel_pytree": ravel_pytree},
    "jax._src.pjit": {"jit_p": jit_p},
    # Flax asks whether a type is a node of trees; Orbax opens one.
    "jax._src.tree_util": {"_registry": _NodeTypes(), "flatten_one_level": flatten_one_level},
    # optree; interpreters of jaxprs as JAX's tutorials write them.
    "jax._src.util": {
        "HashablePartial": HashablePartial,
        "safe_map": utilities.safe_map,
    },
    # Chex asks whether the CPU was started.
    "jax._src.xla_bridge": {"_backends": {}},
    # Flax's NNX names this type.
    "jax._src.state": {},
    "jax._src.state.types": {
        "AbstractRef": AbstractRef,
        "AccumEffect": AccumEffect,
        "ReadEffect": ReadEffect,
        "RefEffect": RefEffect,
        "WriteEffect": WriteEffect,
    },
    # JAX's tutorial on primitives.
    "jax._src.lax": {},
    "jax._src.lib": {},
    "jax._src.lib.mlir": {"ir": ir},
    "jax._src.lib.mlir.dialects": {"__getattr__": builders},
    # The same, of types that Covector has none of; see `absent`.
    "jax.experimental.hijax": HIJAX,
    # Keras, JAX MD, Orbax and Flax, as long as they use nothing of these; see `absent`, too.
    **ABSENT_MODULES,
}

# Private modules all of whose names, as far as anybody asks for them, are those of a public one.
SYNONYMS = {
    "jax._src.api": "jax",
    "jax._src.lax.lax": "jax.lax",
}
