"""Abstract values: what tracing knows of a value before it exists.

A `ShapedArray` is *interned*: two avals of the same shape, dtype and weak type are one object.
Equality is therefore identity, hashing costs nothing, and a tuple of avals is a cheap key for the
caches of shape rules, compiled ops and jitted functions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import numpy as np

from ..base import config, dtypes
from ..base.dims import size_of
from ..base.errors import masked_array, not_a_valid_array_type, unsupported_dtype
from ..sharding.named import NamedSharding, unspecified


class AbstractValue:
    """What is known of a value at tracing time; each kind of value has a subclass.

    The fields below are those of arrays, and of nothing else. Nearly all code deals with arrays
    alone, and takes them for granted.
    """

    __slots__ = ("__weakref__",)

    # Within `shard_map`: the axes of the mesh along which the devices hold different values.
    vma: frozenset[Any] = frozenset()

    shape: tuple[int, ...]
    dtype: Any
    weak_type: bool
    ndim: int
    size: int

    def to_tangent_aval(self) -> AbstractValue:
        raise NotImplementedError(f"{type(self).__name__} has no tangent space")

    def to_cotangent_aval(self) -> AbstractValue:
        return self.to_tangent_aval()

    def str_short(self, short_dtypes: bool = False) -> str:
        return str(self)

    def strip_weak_type(self) -> AbstractValue:
        return self


class AbstractToken(AbstractValue):
    """The type of the tokens that order side effects."""

    __slots__ = ()
    weak_type = False

    def to_tangent_aval(self) -> AbstractValue:
        return self

    def str_short(self, short_dtypes: bool = False) -> str:
        return "Tok"

    def __repr__(self) -> str:
        return "AbstractToken()"


abstract_token = AbstractToken()


class Token:
    """A value without content that orders side effects: what needs it runs after what made it."""

    __slots__ = ("_buf",)

    def __init__(self, buf: Any):
        self._buf = buf

    def block_until_ready(self) -> None:
        """Wait until what made the token has run."""
        self._buf.block_until_ready()


_interned: WeakValueDictionary[tuple, ShapedArray] = WeakValueDictionary()


class ManualAxisType(NamedTuple):
    """What a type tells of the axes of a mesh whose devices a function is written for, one by one.

    Attributes:
      varying: the axes along which devices may hold different values.
      unreduced, reduced: the axes along which a sum is still to be taken, or was; there are none.
    """

    varying: frozenset[Any] = frozenset()
    unreduced: frozenset[Any] = frozenset()
    reduced: frozenset[Any] = frozenset()


class ShapedArray(AbstractValue):
    """An array known by its shape, its dtype, and whether that dtype is weak.

    Args:
      shape: a sequence of non-negative integers.
      dtype: a NumPy dtype (or what `numpy.dtype` takes), or an extended dtype such as a key's.
      weak_type: whether the dtype came from a Python scalar and so yields to others.
      vma: the axes of a mesh along which devices hold different arrays; with any, the aval is a
        `VaryingArray`.
    """

    __slots__ = ("_tangent", "dtype", "ndim", "shape", "size", "weak_type")

    _tangent: ShapedArray | None

    def __new__(
        cls, shape: Iterable[int], dtype: Any, weak_type: bool = False, **others: Any
    ) -> ShapedArray:
        if others and others.get("vma"):
            return with_vma(ShapedArray(shape, dtype, weak_type), others["vma"])
        # bool hashes as int and True == 1, hence `weak_type` is normalized before it enters a key.
        key = (tuple(shape), dtype, True if weak_type else False)
        try:
            found = _interned.get(key)
        except TypeError:  # an unhashable dimension or dtype
            found = None
        if found is not None:
            return found
        return _intern(key)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def update(self, **changes: Any) -> ShapedArray:
        """The same aval but for the given fields."""
        fields = {"shape": self.shape, "dtype": self.dtype, "weak_type": self.weak_type} | changes
        return ShapedArray(**fields)

    def strip_weak_type(self) -> ShapedArray:
        return self.update(weak_type=False) if self.weak_type else self

    @property
    def sharding(self) -> NamedSharding:
        """How such arrays are spread over devices, of which a type says nothing."""
        return unspecified(self.ndim)

    @property
    def manual_axis_type(self) -> ManualAxisType:
        """How the values vary between devices, within `shard_map`."""
        return ManualAxisType(self.vma)

    mat = manual_axis_type

    def to_tangent_aval(self) -> ShapedArray:
        if self._tangent is None:
            dtype = dtypes.primal_tangent_dtype(self.dtype)
            self._tangent = (
                self if dtype == self.dtype else self.update(dtype=dtype, weak_type=False)
            )
        return self._tangent

    def str_short(self, short_dtypes: bool = False) -> str:
        dtype = dtypes.short_name(self.dtype) if short_dtypes else dtypes.name(self.dtype)
        return f"{dtype}[{','.join(map(str, self.shape))}]"

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object: the array has no dimensions")
        return self.shape[0]

    def __str__(self) -> str:
        return ("~" if self.weak_type else "") + self.str_short()

    def __repr__(self) -> str:
        weak = ", weak_type=True" if self.weak_type else ""
        return f"ShapedArray({self.str_short()}{weak})"

    def __reduce__(self) -> tuple:
        return ShapedArray, (self.shape, self.dtype, self.weak_type)


def _intern(key: tuple) -> ShapedArray:
    """Make the aval of `key`, or find the one that differs only in how its key was spelled."""
    shape = tuple(map(size_of, key[0]))
    dtype = key[1] if isinstance(key[1], dtypes.ExtendedDType) else np.dtype(key[1])
    key = (shape, dtype, key[2])
    found = _interned.get(key)
    if found is not None:
        return found
    aval = object.__new__(ShapedArray)
    aval.shape, aval.dtype, aval.weak_type = key
    aval.ndim = len(shape)
    aval.size = math.prod(shape)
    aval._tangent = None
    return _interned.setdefault(key, aval)


class VaryingArray(ShapedArray):
    """The array that a device holds within `shard_map`, where others may hold different ones.

    Its `vma`, for "varying manual axes", are the axes of the mesh along which they may differ. It
    is interned as well, and equals no plain `ShapedArray`, which all devices have the same of.
    """

    __slots__ = ("plain", "vma")

    plain: ShapedArray

    def __new__(cls, *args: Any, **kwargs: Any) -> ShapedArray:
        return ShapedArray(*args, **kwargs)

    def update(self, **changes: Any) -> ShapedArray:
        vma = changes.pop("vma", self.vma)
        return with_vma(self.plain.update(**changes), vma)

    def str_short(self, short_dtypes: bool = False) -> str:
        names = sorted(map(str, self.vma))
        shown = names[0] if len(names) == 1 else f"({','.join(names)})"
        return f"{self.plain.str_short(short_dtypes)}{{V:{shown}}}"

    def __reduce__(self) -> tuple:
        return with_vma, (self.plain, self.vma)


_varying: WeakValueDictionary[tuple, VaryingArray] = WeakValueDictionary()


def with_vma(aval: Any, vma: Iterable[Any]) -> Any:
    """The type of arrays that vary along the axes `vma` of a mesh, and no others."""
    vma = frozenset(vma)
    plain = without_vma(aval)
    if not vma or not isinstance(plain, ShapedArray):
        return plain
    found = _varying.get((plain, vma))
    if found is not None:
        return found
    made = object.__new__(VaryingArray)
    for name in ("shape", "dtype", "weak_type", "ndim", "size"):
        setattr(made, name, getattr(plain, name))
    made.plain, made.vma, made._tangent = plain, vma, None
    return _varying.setdefault((plain, vma), made)


def without_vma(aval: Any) -> Any:
    """The same type of arrays, of which nothing is said about other devices."""
    return aval.plain if type(aval) is VaryingArray else aval


# How to find the aval of a value, by the value's type.  Arrays and tracers register themselves.
aval_getters: dict[type, Callable[[Any], AbstractValue]] = {}


def aval_of(x: Any) -> AbstractValue:
    """The aval of a concrete value or tracer."""
    getter = aval_getters.get(type(x))
    if getter is not None:
        return getter(x)
    return _aval_of_unregistered(x)


def _aval_of_unregistered(x: Any) -> AbstractValue:
    for base in type(x).__mro__[1:]:
        if base in aval_getters and base is not object:
            return aval_getters[base](x)
    if hasattr(type(x), "__jax_array__"):
        return aval_of(x.__jax_array__())
    raise TypeError(not_a_valid_array_type(x))


def is_valid_type(x: Any) -> bool:
    """Whether `x` may be an argument of a primitive."""
    return any(base in aval_getters for base in type(x).__mro__[:-1])


def _scalar_aval(kind: type) -> Callable[[Any], AbstractValue]:
    avals: dict[Any, ShapedArray] = {}

    def getter(x: Any) -> AbstractValue:
        x64 = config.enable_x64.value
        aval = avals.get(x64)
        if aval is None:
            weak = kind is not bool
            aval = avals[x64] = ShapedArray((), dtypes.python_scalar_dtype(kind), weak)
        return aval

    return getter


# The avals of NumPy arrays by (shape, dtype, x64): a strong cache in front of the interning.
_numpy_avals: dict[Any, ShapedArray] = {}
_NUMPY_AVALS_LIMIT = 4096


def _numpy_aval(x: Any) -> AbstractValue:
    key = (x.shape, x.dtype, config.enable_x64.value)
    aval = _numpy_avals.get(key)
    if aval is None:
        if not dtypes.is_supported(x.dtype):
            raise TypeError(unsupported_dtype("arrays", x.dtype))
        if len(_numpy_avals) >= _NUMPY_AVALS_LIMIT:
            _numpy_avals.clear()
        aval = ShapedArray(x.shape, dtypes.canonicalize_dtype(x.dtype))
        _numpy_avals[key] = aval
    return aval


def _no_masked_aval(x: Any) -> AbstractValue:
    raise ValueError(masked_array())


for _kind in (bool, int, float, complex):
    aval_getters[_kind] = _scalar_aval(_kind)
aval_getters[np.ndarray] = _numpy_aval
aval_getters[np.ma.MaskedArray] = _no_masked_aval
aval_getters[Token] = lambda x: abstract_token
for _scalar in (*dtypes.SCALAR_TYPES, np.integer, np.floating, np.complexfloating):
    aval_getters[_scalar] = _numpy_aval


def raise_to_shaped(x: Any) -> AbstractValue:
    """An aval from an aval or from a value, for callers that may hold either."""
    return x if isinstance(x, AbstractValue) else aval_of(x)
