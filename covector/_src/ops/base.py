"""What the primitive families share: types from shape and dtype rules, and samples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..base import dtypes
from ..core.avals import ShapedArray
from ..core.primitive import BuiltinPrimitive


class Op(BuiltinPrimitive):
    """A primitive with one output array, whose type is given by a shape and a dtype rule.

    Subclasses define `shape(*avals, **params)`; `dtype` is that of the first operand, and the
    output is weakly typed if every operand is, unless they say otherwise.
    """

    def shape(self, *avals: Any, **params: Any) -> tuple[int, ...]:
        raise NotImplementedError(f"{self.name} has no shape rule")

    def dtype(self, *avals: Any, **params: Any) -> Any:
        return avals[0].dtype

    def weak_type(self, *avals: Any, **params: Any) -> bool:
        return all(aval.weak_type for aval in avals)

    def abstract_eval(self, *avals: Any, **params: Any) -> ShapedArray:
        return ShapedArray(
            self.shape(*avals, **params),
            self.dtype(*avals, **params),
            self.weak_type(*avals, **params),
        )

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        """Applications on which the contract tests try every rule."""
        return iter(())


class Sample(NamedTuple):
    """One application of a primitive, for the contract tests.

    Attributes:
      args: NumPy arrays.
      params: the primitive's parameters.
      smooth: whether the function is differentiable at `args`, so that its derivative may be
        compared with finite differences.
      constant: positions of operands in which the primitive has no derivative, such as orders.
    """

    args: tuple[Any, ...]
    params: dict[str, Any]
    smooth: bool = True
    constant: tuple[int, ...] = ()


def draw(
    rng: np.random.Generator,
    shape: tuple[int, ...],
    dtype: Any,
    low: float = -2.0,
    high: float = 2.0,
) -> np.ndarray:
    """A random array for a sample, of any dtype, with values between `low` and `high`."""
    dtype = np.dtype(dtype)
    if dtype == np.bool_:
        return rng.integers(0, 2, shape).astype(bool)
    if dtypes.issubdtype(dtype, np.unsignedinteger):
        low = max(low, 0.0)
    if dtypes.issubdtype(dtype, np.integer):
        return rng.integers(int(np.ceil(low)), int(np.floor(high)) + 1, shape).astype(dtype)
    values = rng.uniform(low, high, shape)
    if dtypes.issubdtype(dtype, np.complexfloating):
        return (values + 1j * rng.uniform(low, high, shape)).astype(dtype)
    return values.astype(dtype)
