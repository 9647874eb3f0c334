"""Mutable references: places that hold an array, and whose array is replaced by writing to them.

Arrays are immutable, and programs are functions of arrays; a `Ref` is neither.  There are two kinds
of them, which look the same to a user:

  a box      outside of programs that are being written.  It holds a value: an array, or a tracer
             of the transformation that it was made under, or of one further out.
  a handle   within a program that is being written: it holds a tracer whose type is `AbstractRef`,
             and what is done to it becomes an eqn.

A box that is used within a program from further inside is a constant of that, like an array.
"""

from __future__ import annotations

from typing import Any, NamedTuple
from weakref import WeakValueDictionary

from .avals import AbstractValue, aval_getters
from .trace import Trace, Tracer

_interned: WeakValueDictionary[tuple, AbstractRef] = WeakValueDictionary()


class AbstractRef(AbstractValue):
    """The type of references to arrays of the type `inner_aval`; interned, as all types are."""

    __slots__ = ("inner_aval", "kind", "memory_space")

    inner_aval: Any
    memory_space: Any
    kind: Any

    def __new__(cls, inner_aval: AbstractValue, memory_space: Any = None, kind: Any = None) -> Any:
        key = (inner_aval, memory_space, kind)
        found = _interned.get(key)
        if found is None:
            found = object.__new__(cls)
            found.inner_aval, found.memory_space, found.kind = key
            _interned[key] = found
        return found

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    weak_type = property(lambda self: self.inner_aval.weak_type)  # type: ignore[assignment]
    shape = property(lambda self: self.inner_aval.shape)  # type: ignore[assignment]
    dtype = property(lambda self: self.inner_aval.dtype)
    ndim = property(lambda self: self.inner_aval.ndim)  # type: ignore[assignment]
    size = property(lambda self: self.inner_aval.size)  # type: ignore[assignment]
    sharding = property(lambda self: self.inner_aval.sharding)

    def strip_weak_type(self) -> AbstractRef:
        return AbstractRef(self.inner_aval.strip_weak_type(), self.memory_space, self.kind)

    def to_tangent_aval(self) -> AbstractRef:
        return AbstractRef(self.inner_aval.to_tangent_aval(), self.memory_space, self.kind)

    def str_short(self, short_dtypes: bool = False) -> str:
        return f"Ref{{{self.inner_aval.str_short(short_dtypes)}}}"

    def __repr__(self) -> str:
        return self.str_short()

    def __reduce__(self) -> tuple:
        return AbstractRef, (self.inner_aval, self.memory_space, self.kind)


class Ref:
    """A mutable reference to an array; made by `new_ref`.

    `ref[index]` reads a part of the array, `ref[index] = value` replaces it, and `ref[...]` means
    the whole. A function that is transformed may read and write references that it is given, closes
    over or makes; it must not return them.

    >>> import covector as cv, covector.numpy as jnp
    >>> ref = cv.new_ref(jnp.zeros(3))
    >>> ref[1] = 5.0
    >>> ref[1:] += 1.0
    >>> ref
    Ref([0., 6., 1.], dtype=float32)
    """

    __slots__ = ("__weakref__", "_trace", "_value", "aval")

    # The operators and methods are attached by the NumPy layer.

    def __init__(self, aval: AbstractRef, trace: Trace, value: Any):
        self.aval = aval
        self._trace = trace
        self._value = value

    @property
    def is_handle(self) -> bool:
        """Whether it stands for a reference of a program that is being written."""
        return isinstance(self._value, Tracer) and type(self._value.aval) is AbstractRef

    @property
    def shape(self) -> tuple[int, ...]:
        return self.aval.shape

    @property
    def dtype(self) -> Any:
        return self.aval.dtype

    @property
    def ndim(self) -> int:
        return self.aval.ndim

    @property
    def size(self) -> int:
        return self.aval.size


class Slice(NamedTuple):
    """A slice of a fixed size, made by `ds`; its start may be traced."""

    start: Any
    size: int
    stride: int = 1


aval_getters[Ref] = lambda ref: ref.aval
