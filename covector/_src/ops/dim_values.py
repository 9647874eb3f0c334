"""`dim_as_value`: a symbolic size of a dimension as a number of the program."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base.dims import Dim, as_array
from ..base.dtypes import python_scalar_dtype
from ..core.avals import ShapedArray
from .base import Op


class DimAsValue(Op):
    """The size `dim`, as an integer scalar."""

    def abstract_eval(self, *, dim):
        return ShapedArray((), python_scalar_dtype(int), True)

    def vmap(self, axis, dims, *, dim):
        return self.bind(dim=dim), None

    def emit(self, b, *, dim):
        return b.convert(b.size(dim), ShapedArray((), np.int32), b.avals_out[0].dtype)


dim_as_value_p = DimAsValue("dim_as_value")


def _as_array(dim: Dim) -> Any:
    return dim_as_value_p.bind(dim=dim)


as_array.convert = _as_array
