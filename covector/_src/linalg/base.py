"""What the primitives of linear algebra share: types, batches, references.

A matrix lies along the last two dimensions of an operand, a vector along the last; the dimensions
in front are those of a batch, and the same for all operands.  So vmap is one rule for all: bring
the batches to the front.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import linalg_errors
from ..base.linalg_errors import dtype_without_kernel
from ..core.avals import ShapedArray, aval_of
from ..core.primitive import BuiltinPrimitive
from ..ops.families import INEXACT, check_accepts, check_same_dtypes
from ..ops.linear import bring_to

Shape = tuple[int, ...]

# The dtypes that LAPACK computes in, with its letters for them.
LETTERS = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}


class MatrixOp(BuiltinPrimitive):
    """An operation on matrices and vectors, and on batches of them.

    Subclasses define, for operands that are no batches, `shapes(*shapes, **params)` and
    `matrix_ref(*arrays, **params)`, both of which return a list with an entry for each result.

    Class attributes:
      ranks: the rank of each operand.
      accepts: abstract dtypes of the operands.
      by_lapack: whether only the dtypes of LAPACK can be computed with.
    """

    ranks: tuple[int, ...] = (2,)
    accepts: tuple[Any, ...] = INEXACT
    by_lapack = True

    def shapes(self, *shapes: Shape, **params: Any) -> list[Shape]:
        raise NotImplementedError(f"{self.name} has no shape rule")

    def dtypes(self, *dtypes: Any, **params: Any) -> list[Any]:
        """The dtypes of the results, or of the first ones; of the others that of operand 0."""
        return []

    def check_dtypes(self, avals: Sequence[ShapedArray]) -> None:
        check_accepts(self.name, self.accepts, avals)
        check_same_dtypes(self.name, avals)

    def abstract_eval(self, *avals, **params):
        self.check_dtypes(avals)
        batch = self.batch_of(avals)
        own = [aval.shape[len(batch) :] for aval in avals]
        shapes = self.shapes(*own, **params)
        kinds = self.dtypes(*[aval.dtype for aval in avals], **params)
        kinds = [*kinds, *[avals[0].dtype] * (len(shapes) - len(kinds))]
        weak = all(aval.weak_type for aval in avals)
        outs = [ShapedArray((*batch, *s), dtype, weak) for s, dtype in zip(shapes, kinds)]
        return outs if self.multiple_results else outs[0]

    def batch_of(self, avals: Sequence[ShapedArray]) -> Shape:
        """The batch dimensions of the operands; raise if they have not the same."""
        for i, (rank, aval) in enumerate(zip(self.ranks, avals)):
            if aval.ndim < rank:
                raise TypeError(linalg_errors.rank_too_low(self.name, i, rank, aval.shape))
        batches = [aval.shape[: aval.ndim - rank] for rank, aval in zip(self.ranks, avals)]
        if len(set(map(len, batches))) > 1:
            raise TypeError(linalg_errors.batch_ranks_differ(self.name, [*map(len, batches)]))
        if len(set(batches)) > 1:
            raise TypeError(linalg_errors.batch_sizes_differ(self.name, batches))
        return batches[0]

    def ref(self, *args, **params):
        avals = [aval_of(x) for x in args]
        if self.by_lapack and np.dtype(avals[0].dtype).name not in LETTERS:
            raise NotImplementedError(dtype_without_kernel(self.name, avals[0].dtype))
        out = self.abstract_eval(*avals, **params)
        outs = out if self.multiple_results else [out]
        arrays = [np.zeros(aval.shape, aval.dtype) for aval in outs]
        with np.errstate(all="ignore"):
            for index in np.ndindex(*self.batch_of(avals)):
                results = self.matrix_ref(*[np.asarray(x)[index] for x in args], **params)
                for array, result in zip(arrays, results):
                    array[index] = result
        return arrays if self.multiple_results else arrays[0]

    def matrix_ref(self, *args: Any, **params: Any) -> Sequence[Any]:
        raise NotImplementedError(f"{self.name} has no reference rule")

    def vmap(self, axis, dims, *args, **params):
        args = [bring_to(x, axis.size, dim, 0) for x, dim in zip(args, dims)]
        out = self.bind(*args, **params)
        return (out, [0] * len(out)) if self.multiple_results else (out, 0)


def check_square(name: str, shape: Shape) -> None:
    """Raise unless a matrix is square."""
    if shape[0] != shape[1]:
        raise ValueError(linalg_errors.not_square(name, shape))
