"""`ShapeDtypeStruct`: an array's type as a value, to trace functions without arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import dtypes
from ..base.dims import size_of
from ..core.avals import AbstractValue, ShapedArray, aval_getters, aval_of, is_valid_type


class ShapeDtypeStruct:
    """Shape and dtype of an array that need not exist.

    It may stand for an array wherever only types matter: in `eval_shape`, `jit(f).trace`,
    `jit(f).lower`.

    Args:
      shape: a sequence of integers.
      dtype: a dtype, or what `numpy.dtype` takes.
      sharding: where the array lies, or None.
      weak_type: whether the dtype yields to others in promotion.

    >>> import covector as cv
    >>> cv.ShapeDtypeStruct((2, 3), "float32")
    ShapeDtypeStruct(shape=(2, 3), dtype=float32)
    """

    __slots__ = ("dtype", "shape", "sharding", "weak_type")

    def __init__(
        self,
        shape: Sequence[int],
        dtype: Any,
        *,
        sharding: Any = None,
        weak_type: bool = False,
        **_unused: Any,
    ):
        if dtype is None:
            raise ValueError("[ShapeDtypeStruct] The dtype must be specified: `None` is none.")
        self.shape = tuple(map(size_of, shape))
        self.dtype = dtype if isinstance(dtype, dtypes.ExtendedDType) else np.dtype(dtype)
        self.sharding = sharding
        self.weak_type = weak_type

    @classmethod
    def like(cls, x: Any) -> ShapeDtypeStruct:
        """The struct of an array, a number, a type, or anything with a shape and a dtype."""
        aval = abstractify(x)
        # Of a type, and of an array that may be moved, a sharding says nothing.
        placed = not isinstance(x, AbstractValue) and getattr(x, "committed", True)
        sharding = getattr(x, "sharding", None) if placed else None
        return cls(aval.shape, aval.dtype, sharding=sharding, weak_type=aval.weak_type)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def update(self, **changes: Any) -> ShapeDtypeStruct:
        """The same struct but for the given fields."""
        fields = {name: getattr(self, name) for name in self.__slots__} | changes
        return ShapeDtypeStruct(**fields)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object: the struct has no dimensions")
        return self.shape[0]

    def _key(self) -> tuple[Any, ...]:
        return self.shape, self.dtype, self.sharding, self.weak_type

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ShapeDtypeStruct) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        sharding = f", sharding={self.sharding}" if self.sharding is not None else ""
        weak = ", weak_type=True" if self.weak_type else ""
        return f"ShapeDtypeStruct(shape={self.shape}, dtype={self.dtype.name}{sharding}{weak})"


def abstractify(x: Any) -> Any:
    """The type of an array or a number, of a type, or of anything with a shape and a dtype."""
    if isinstance(x, AbstractValue):
        return x
    if not is_valid_type(x) and hasattr(x, "shape") and hasattr(x, "dtype"):
        return aval_of(ShapeDtypeStruct(x.shape, x.dtype, weak_type=getattr(x, "weak_type", False)))
    return aval_of(x)


aval_getters[ShapedArray] = lambda x: x
aval_getters[ShapeDtypeStruct] = lambda x: ShapedArray(
    x.shape, dtypes.canonicalize_dtype(x.dtype, allow_extended_dtype=True), x.weak_type
)
