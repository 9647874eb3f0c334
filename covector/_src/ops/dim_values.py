"""`dim_as_value`: a symbolic size of a dimension as a number of the program."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base.dims import Dim, as_array
from ..base.dtypes import python_scalar_dtype
from ..core.avals import ShapedArray, aval_getters
from .base import Op


class DimAsValue(Op):
    """The size `dim` as a scalar of a dtype; by default a weakly typed integer."""

    def abstract_eval(self, *, dim, dtype=None):
        return ShapedArray((), dtype or python_scalar_dtype(int), dtype is None)

    def vmap(self, axis, dims, *, dim, dtype=None):
        return self.bind(dim=dim, dtype=dtype), None

    def emit(self, b, *, dim, dtype=None):
        return b.constant(dim, b.avals_out[0].dtype)


dim_as_value_p = DimAsValue("dim_as_value")


def _as_array(dim: Dim, dtype: Any = None) -> Any:
    params = {} if dtype is None else {"dtype": np.dtype(dtype)}
    return dim_as_value_p.bind(dim=dim, **params)


as_array.convert = _as_array
aval_getters[Dim] = lambda dim: ShapedArray((), python_scalar_dtype(int), True)
