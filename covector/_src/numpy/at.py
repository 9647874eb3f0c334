"""`x.at[index]`: arrays that differ from another one in a part.

Arrays are immutable; `x.at[index].set(y)` is the array that `x` would be after `x[index] = y`.
Under `jit` no copy is made where the old array is not used again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..base import dtypes, numpy_errors
from ..base.warn import warn
from ..core.trace import context, eval_trace
from ..ops.dynamic_slicing import dynamic_slice_p, dynamic_update_slice_p
from ..ops.linear import constant_like as like
from ..ops.linear import full, reshape
from ..ops.select import select_n_p
from ..ops.shaping import broadcast_to as broadcast_operand
from ..ops.shaping import rev_p
from ..ops.slicing import pad_p
from . import arithmetic, selection
from .composite import composite
from .creation import filled
from .dispatch import SCALARS, literal
from .indexing import (
    Plan,
    finish,
    getitem,
    in_bounds,
    misses,
    parse,
    prepare,
    start_operands,
    take,
)
from .promotion import convert, dtype_of, number, operand, own, shape_of
from .selection import select_where

_MODES = ("promise_in_bounds", "clip", "drop", "fill", None)


# ---------------------------------------------------------------- writing a part


def _write(x: Any, part: Any, plan: Plan, starts: list[Any]) -> Any:
    """`x` with the part of a plan, in the shape in which it was cut out, replaced."""
    if plan.sizes == shape_of(x):
        return part
    if all(step == 1 for step in plan.steps):
        return dynamic_update_slice_p.bind(x, part, *starts)
    if None in plan.starts:
        raise NotImplementedError(numpy_errors.strided_and_traced())
    # Spread the part out to where its elements belong, and choose it there.
    config = tuple(
        [
            (start, size - start - ((n - 1) * step + 1 if n else 0), step - 1)
            for start, n, step, size in zip(plan.starts, plan.sizes, plan.steps, shape_of(x))
        ]
    )
    spread = pad_p.bind(part, like(x, 0), padding_config=config)
    true = full(plan.sizes, True, np.dtype(bool))
    here = pad_p.bind(true, number(False, np.dtype(bool)), padding_config=config)
    return select_n_p.bind(here, x, spread)


def _read(x: Any, plan: Plan, starts: list[Any]) -> Any:
    """The part of a plan, whose starts are computed already."""
    if None in plan.starts:
        return finish(dynamic_slice_p.bind(x, *starts, slice_sizes=plan.sizes), plan)
    return take(x, plan, ())


def _as_cut(value: Any, plan: Plan) -> Any:
    """A value in the shape of `x[index]` as it lies in `x`: dimensions put back, order restored."""
    value = reshape(value, plan.sizes)
    return rev_p.bind(value, dimensions=plan.reversed) if plan.reversed else value


@composite
def _updated(x: Any, value: Any, *operands: Any, plan: Plan, kind: str, drops: bool) -> Any:
    """`x` with a part replaced by what `kind` makes of it and of a value.

    The value is converted to the dtype of `x` and broadcast to the shape of the part.

    With `drops`, a part out of bounds is left as it is: the nearest part within bounds, which the
    primitives take instead, is written back unchanged.
    """
    value = convert(value, dtype_of(x))
    new = value = broadcast_operand(value, plan.shape(), f"at[...].{kind}")
    starts = start_operands(shape_of(x), plan, operands)
    within = in_bounds(shape_of(x), plan, starts) if drops else None
    if kind != "set" or within is not None:
        old = _read(x, plan, starts)
        if kind != "set":
            new = _COMBINED[kind](old, value)
        if within is not None:
            new = select_where(within, new, old)
    return _write(x, _as_cut(convert(new, dtype_of(x)), plan), plan, starts)


_COMBINED: dict[str, Callable[[Any, Any], Any]] = {
    "add": arithmetic.add,
    "subtract": arithmetic.subtract,
    "multiply": arithmetic.multiply,
    "divide": arithmetic.divide,
    "power": arithmetic.power,
    "min": selection.minimum,
    "max": selection.maximum,
}


# ---------------------------------------------------------------- x.at[index]


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
        mode = _mode(mode)
        if mode != "fill":
            return getitem(self.array, self.index)
        x = self.array
        plan, operands = parse(x.aval.shape, self.index)
        fill = _fill_value(dtype_of(x), fill_value)
        if misses(x.aval.shape, plan):
            return filled(plan.shape(), fill, dtype_of(x))
        part = getitem(x, self.index)
        within = in_bounds(x.aval.shape, plan, start_operands(x.aval.shape, plan, operands))
        return part if within is None else select_where(within, part, like(x, fill))

    def _update(self, kind: str, value: Any, mode: Any) -> Any:
        x = self.array
        value = _value_for(x, operand(f"at[...].{kind}", value))
        drops = _mode(mode) not in ("clip", "promise_in_bounds")
        prepared = prepare(x.aval.shape, self.index)
        if prepared is None:
            plan, operands = parse(x.aval.shape, self.index)
            if drops and misses(x.aval.shape, plan):
                return x
            return _updated(x, value, *operands, plan=plan, kind=kind, drops=drops)
        if drops and prepared.misses:
            return x
        if context.trace is eval_trace:
            starts = prepared.starts
            return _updated(x, value, *starts, plan=prepared.plan, kind=kind, drops=False)
        return _updated(x, value, plan=prepared.static, kind=kind, drops=False)

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
        return self._update("set", values, mode)

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
        return self._update("set", func(getitem(self.array, self.index)), mode)

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
        return self._update("add", values, mode)

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
        return self._update("subtract", values, mode)

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
        return self._update("multiply", values, mode)

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
        return self._update("divide", values, mode)

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
        return self._update("power", values, mode)

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
        return self._update("min", values, mode)

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
        return self._update("max", values, mode)

    mul = multiply


def _mode(mode: Any) -> Any:
    """The name of a mode, which may also be given as a member of `lax.GatherScatterMode`."""
    name = mode if mode is None or isinstance(mode, str) else mode.name.lower()
    name = {"fill_or_drop": "fill"}.get(name, name)
    if name not in _MODES:
        raise ValueError(numpy_errors.unknown_mode(mode))
    return name


def _value_for(x: Any, value: Any) -> Any:
    """A value to be written into `x`; it is warned of if its dtype says more than that of `x`."""
    if own[type(value)]:
        if value.aval.dtype == x.aval.dtype:
            return value
    elif type(value) in SCALARS:
        constant = literal(x.aval, type(value), value)
        if constant is not None:
            return constant
    if not dtypes.safe_to_cast(value, x):
        warn(numpy_errors.unsafe_update(dtype_of(value), dtype_of(x)), FutureWarning)
    return value


def _fill_value(dtype: Any, given: Any) -> Any:
    """What is read out of bounds: NaN, or the extreme number of an integer dtype."""
    if given is not None:
        return given
    if dtypes.issubdtype(dtype, np.inexact):
        return np.nan
    if dtypes.issubdtype(dtype, np.signedinteger):
        return dtypes.iinfo(dtype).min
    if dtypes.issubdtype(dtype, np.unsignedinteger):
        return dtypes.iinfo(dtype).max
    return True
