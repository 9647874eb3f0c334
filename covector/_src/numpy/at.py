"""`x.at[index]`: arrays that differ from another one in a part.

Arrays are immutable; `x.at[index].set(y)` is the array that `x` would be after `x[index] = y`.
Under `jit` no copy is made where the old array is not used again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..base import numpy_errors
from ..base.errors import ConcretizationTypeError
from ..core.trace import Tracer
from ..ops.gather_dimensions import GatherScatterMode
from ..ops.scattering import PROMISE_IN_BOUNDS
from . import arithmetic, creation, indices
from .indexing import get, getitem
from .updates import Update, applied, updated


class IndexUpdate:
    """`x.at`; its brackets take an index."""

    __slots__ = ("array",)

    def __init__(self, array: Any):
        self.array = array

    def __getitem__(self, index: Any) -> IndexUpdateRef:
        return IndexUpdateRef(self.array, index)

    def __repr__(self) -> str:
        return f"IndexUpdate({self.array!r})"


class IndexUpdateRef:
    """`x.at[index]`: a part of an array, whose methods return the array with that part changed.

    Each method takes, besides the value, which is broadcast to the shape of the part:

      indices_are_sorted, unique_indices: promises about the elements of the index.
      mode: what becomes of indices out of bounds: "drop" (the default) leaves the array unchanged
        there, "clip" moves them to the nearest within bounds, "promise_in_bounds" does not check.
        For `get`, "fill" returns a fill value, and the default is "clip".
    """

    __slots__ = ("array", "index")

    def __init__(self, array: Any, index: Any):
        self.array = array
        self.index = index

    def __repr__(self) -> str:
        return f"IndexUpdateRef({self.array!r}, {self.index!r})"

    def get(
        self,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
        fill_value: Any = None,
        out_sharding: Any = None,
        wrap_negative_indices: bool = True,
    ) -> Any:
        """The part itself, `x[index]`, with a choice of what is read out of bounds.

        >>> import covector.numpy as jnp
        >>> jnp.arange(3).at[5].get(mode="fill", fill_value=-1)
        Array(-1, dtype=int32)
        """
        x = self.array
        promises = indices_are_sorted or unique_indices
        if mode is None and wrap_negative_indices and not promises:
            return getitem(x, self.index)
        mode = None if mode is None else GatherScatterMode.from_any(mode)
        if mode in (None, PROMISE_IN_BOUNDS):
            indices.check_literals(x.aval.shape, self.index, wrap_negative_indices)
        return get(
            x,
            indices.read(x.aval.shape, self.index, wrap_negative_indices),
            wrap_negative_indices,
            mode=mode,
            fill_value=scalar_fill_value(fill_value),
            indices_are_sorted=bool(indices_are_sorted),
            unique_indices=bool(unique_indices),
        )

    def _update(self, mode: Any, is_sorted: bool, unique: bool, wrap: bool) -> Update:
        if mode is None:
            indices.check_literals(self.array.aval.shape, self.index, wrap, reads=False)
        mode = GatherScatterMode.from_any(mode)
        return Update(self.array, self.index, mode, bool(is_sorted), bool(unique), bool(wrap))

    def set(
        self,
        values: Any,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
        out_sharding: Any = None,
        wrap_negative_indices: bool = True,
    ) -> Any:
        """The array with the part replaced.

        >>> import covector.numpy as jnp
        >>> jnp.arange(3).at[1:].set(7)
        Array([0, 7, 7], dtype=int32)
        """
        update = self._update(mode, indices_are_sorted, unique_indices, wrap_negative_indices)
        return updated(update, "set", values)

    def apply(
        self,
        func: Callable[[Any], Any],
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
        out_sharding: Any = None,
        wrap_negative_indices: bool = True,
    ) -> Any:
        """The array with a function applied to the part, elementwise.

        >>> import covector.numpy as jnp
        >>> jnp.arange(3).at[1:].apply(lambda v: -v)
        Array([ 0, -1, -2], dtype=int32)
        """
        update = self._update(mode, indices_are_sorted, unique_indices, wrap_negative_indices)
        return applied(update, func)

    def add(
        self,
        values: Any,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
        out_sharding: Any = None,
        wrap_negative_indices: bool = True,
    ) -> Any:
        """The array with the value added to the part.

        >>> import covector.numpy as jnp
        >>> jnp.arange(3).at[1:].add(7)
        Array([0, 8, 9], dtype=int32)
        """
        update = self._update(mode, indices_are_sorted, unique_indices, wrap_negative_indices)
        return updated(update, "add", values)

    def subtract(
        self,
        values: Any,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
        out_sharding: Any = None,
        wrap_negative_indices: bool = True,
    ) -> Any:
        """The array with the value subtracted from the part.

        >>> import covector.numpy as jnp
        >>> jnp.arange(3).at[1:].subtract(1)
        Array([0, 0, 1], dtype=int32)
        """
        update = self._update(mode, indices_are_sorted, unique_indices, wrap_negative_indices)
        return updated(update, "subtract", values)

    def multiply(
        self,
        values: Any,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
        out_sharding: Any = None,
        wrap_negative_indices: bool = True,
    ) -> Any:
        """The array with the part multiplied by the value.

        >>> import covector.numpy as jnp
        >>> jnp.arange(3).at[1:].multiply(7)
        Array([ 0,  7, 14], dtype=int32)
        """
        update = self._update(mode, indices_are_sorted, unique_indices, wrap_negative_indices)
        return updated(update, "multiply", values)

    def divide(
        self,
        values: Any,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
        out_sharding: Any = None,
        wrap_negative_indices: bool = True,
    ) -> Any:
        """The array with the part divided by the value.

        >>> import covector.numpy as jnp
        >>> jnp.arange(3.0).at[1:].divide(2)
        Array([0. , 0.5, 1. ], dtype=float32)
        """
        ones = IndexUpdateRef(creation.ones_like(self.array), self.index)
        factors = ones.multiply(
            values,
            indices_are_sorted=indices_are_sorted,
            unique_indices=unique_indices,
            mode=mode,
            wrap_negative_indices=wrap_negative_indices,
        )
        return arithmetic.divide(self.array, factors)

    def power(
        self,
        values: Any,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
        out_sharding: Any = None,
        wrap_negative_indices: bool = True,
    ) -> Any:
        """The array with the part raised to the power of the value.

        >>> import covector.numpy as jnp
        >>> jnp.arange(3.0).at[1:].power(2)
        Array([0., 1., 4.], dtype=float32)
        """
        ones = IndexUpdateRef(creation.ones_like(self.array), self.index)
        factors = ones.multiply(
            values,
            indices_are_sorted=indices_are_sorted,
            unique_indices=unique_indices,
            mode=mode,
            wrap_negative_indices=wrap_negative_indices,
        )
        return arithmetic.power(self.array, factors)

    def min(
        self,
        values: Any,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
        out_sharding: Any = None,
        wrap_negative_indices: bool = True,
    ) -> Any:
        """The array with the part bounded above by the value.

        >>> import covector.numpy as jnp
        >>> jnp.arange(3).at[1:].min(1)
        Array([0, 1, 1], dtype=int32)
        """
        update = self._update(mode, indices_are_sorted, unique_indices, wrap_negative_indices)
        return updated(update, "min", values)

    def max(
        self,
        values: Any,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
        out_sharding: Any = None,
        wrap_negative_indices: bool = True,
    ) -> Any:
        """The array with the part bounded below by the value.

        >>> import covector.numpy as jnp
        >>> jnp.arange(3).at[1:].max(2)
        Array([0, 2, 2], dtype=int32)
        """
        update = self._update(mode, indices_are_sorted, unique_indices, wrap_negative_indices)
        return updated(update, "max", values)

    mul = multiply


def scalar_fill_value(value: Any) -> Any:
    """What is read out of bounds, as a Python number; None for the usual."""
    if value is None or isinstance(value, (bool, int, float, complex)):
        return value
    if isinstance(value, Tracer):
        known = value.concrete_value()
        if known is None:
            raise ConcretizationTypeError(
                numpy_errors.traced_argument(
                    "at[...].get", "fill_value", value.aval, value.origin()
                )
            )
        value = known
    if np.ndim(value):
        raise ValueError(numpy_errors.fill_value_not_scalar(np.shape(value)))
    return np.asarray(value).item()
