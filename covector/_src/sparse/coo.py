"""COO, CSR and CSC: the plain formats of sparse matrices, without batches."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from ..base.tree_registry import register_pytree_node_class
from ..core.array import Array
from ..numpy.creation import asarray
from ..numpy.joining import stack
from .bcoo import BCOO, JAXSparse, bcoo_fromdense
from .bcsr import BCSR


class _Matrix(JAXSparse):
    """A matrix as three vectors: data, and two of indices.

    Attributes:
      names: the names of the vectors of indices.
    """

    names: tuple[str, str]

    def __init__(self, args: tuple[Any, Any, Any], *, shape: Sequence[int]):
        self.data, first, second = map(asarray, args)
        self._set(first, second)
        self.shape = tuple(map(index, shape))

    def _set(self, first: Any, second: Any) -> None:
        setattr(self, self.names[0], first)
        setattr(self, self.names[1], second)

    @property
    def nse(self) -> int:
        return self.data.shape[0]

    @classmethod
    def from_bcoo(cls, mat: BCOO) -> Any:
        """The same matrix as a BCOO array."""
        raise NotImplementedError

    def to_bcoo(self) -> BCOO:
        """The matrix as a BCOO array."""
        raise NotImplementedError

    @classmethod
    def fromdense(cls, mat: Any, *, nse: int | None = None, index_dtype: Any = np.int32) -> Any:
        """The elements of a dense matrix that are not zero; see `bcoo_fromdense`."""
        return cls.from_bcoo(bcoo_fromdense(mat, nse=nse, index_dtype=index_dtype))

    def todense(self) -> Array:
        """The matrix with all its zeros."""
        return self.to_bcoo().todense()

    def tree_flatten(self) -> Any:
        buffers = (self.data, *[getattr(self, name) for name in self.names])
        return buffers, (self.shape, self._flags())

    @classmethod
    def tree_unflatten(cls, aux: Any, children: Any) -> Any:
        made = object.__new__(cls)
        made.data, *indices = children
        made._set(*indices)
        made.shape, flags = aux
        vars(made).update(flags)
        return made

    def _flags(self) -> tuple[tuple[str, bool], ...]:
        return ()


@register_pytree_node_class
class COO(_Matrix):
    """A sparse matrix as lists of elements, rows and columns.

    Args:
      args: `(data, row, col)`, of shape `(nse,)` each.
      shape: the shape of the matrix.
      rows_sorted, cols_sorted: whether rows, or columns, are known to rise.

    >>> import covector.numpy as jnp
    >>> from covector.experimental import sparse
    >>> sparse.COO.fromdense(jnp.array([[0.0, 5.0]])) @ jnp.array([1.0, 2.0])
    Array([10.], dtype=float32)
    """

    names = ("row", "col")

    def __init__(
        self,
        args: tuple[Any, Any, Any],
        *,
        shape: Sequence[int],
        rows_sorted: bool = False,
        cols_sorted: bool = False,
    ):
        super().__init__(args, shape=shape)
        self._rows_sorted, self._cols_sorted = rows_sorted, cols_sorted

    def _flags(self) -> tuple[tuple[str, bool], ...]:
        flags = ("_rows_sorted", "_cols_sorted")
        return tuple([(name, getattr(self, name)) for name in flags])

    @classmethod
    def from_bcoo(cls, mat: BCOO) -> COO:
        args = (mat.data, mat.indices[:, 0], mat.indices[:, 1])
        return cls(args, shape=mat.shape, rows_sorted=mat.indices_sorted)

    def to_bcoo(self) -> BCOO:
        return BCOO((self.data, stack([self.row, self.col], -1)), shape=self.shape)

    def _sort_indices(self) -> COO:
        """The same matrix with its elements in the order of rows, and within them of columns."""
        return self if self._rows_sorted else COO.from_bcoo(self.to_bcoo().sort_indices())

    def transpose(self, axes: Sequence[int] | None = None) -> COO:
        """The transposed matrix."""
        return COO(
            (self.data, self.col, self.row),
            shape=self.shape[::-1],
            rows_sorted=self._cols_sorted,
            cols_sorted=self._rows_sorted,
        )


@register_pytree_node_class
class CSR(_Matrix):
    """A sparse matrix of compressed rows.

    Args:
      args: `(data, indices, indptr)`: elements and their columns, of shape `(nse,)`, and where each
        row begins, of shape `(rows + 1,)`.
      shape: the shape of the matrix.
    """

    names = ("indices", "indptr")

    @classmethod
    def from_bcoo(cls, mat: BCOO) -> CSR:
        rows = BCSR.from_bcoo(mat)
        return cls((rows.data, rows.indices, rows.indptr), shape=mat.shape)

    def to_bcoo(self) -> BCOO:
        return BCSR((self.data, self.indices, self.indptr), shape=self.shape).to_bcoo()

    def transpose(self, axes: Sequence[int] | None = None) -> CSC:
        """The transposed matrix, whose columns are compressed."""
        return CSC((self.data, self.indices, self.indptr), shape=self.shape[::-1])


@register_pytree_node_class
class CSC(_Matrix):
    """A sparse matrix of compressed columns.

    Args:
      args: `(data, indices, indptr)`: elements and their rows, of shape `(nse,)`, and where each
        column begins, of shape `(columns + 1,)`.
      shape: the shape of the matrix.
    """

    names = ("indices", "indptr")

    @classmethod
    def from_bcoo(cls, mat: BCOO) -> CSC:
        return CSR.from_bcoo(mat.T).transpose()

    def to_bcoo(self) -> BCOO:
        return self.transpose().to_bcoo().T

    def transpose(self, axes: Sequence[int] | None = None) -> CSR:
        """The transposed matrix, whose rows are compressed."""
        return CSR((self.data, self.indices, self.indptr), shape=self.shape[::-1])


def coo_fromdense(mat: Any, *, nse: int | None = None, index_dtype: Any = np.int32) -> COO:
    """The elements of a dense matrix that are not zero; see `bcoo_fromdense`."""
    return COO.fromdense(mat, nse=nse, index_dtype=index_dtype)


def csr_fromdense(mat: Any, *, nse: int | None = None, index_dtype: Any = np.int32) -> CSR:
    """The elements of a dense matrix that are not zero; see `bcoo_fromdense`."""
    return CSR.fromdense(mat, nse=nse, index_dtype=index_dtype)


def coo_todense(mat: COO) -> Array:
    """The dense matrix."""
    return mat.todense()


def csr_todense(mat: CSR) -> Array:
    """The dense matrix."""
    return mat.todense()


def _product(mat: Any, x: Any, transpose: bool) -> Any:
    mat = mat.to_bcoo()
    return (mat.T if transpose else mat) @ x


def coo_matvec(mat: COO, v: Any, transpose: bool = False) -> Array:
    """The product of a matrix, or its transpose, with a vector."""
    return _product(mat, v, transpose)


def csr_matvec(mat: CSR, v: Any, transpose: bool = False) -> Array:
    """The product of a matrix, or its transpose, with a vector."""
    return _product(mat, v, transpose)


def coo_matmat(mat: COO, B: Any, *, transpose: bool = False) -> Array:
    """The product of a matrix, or its transpose, with a dense one."""
    return _product(mat, B, transpose)


def csr_matmat(mat: CSR, B: Any, *, transpose: bool = False) -> Array:
    """The product of a matrix, or its transpose, with a dense one."""
    return _product(mat, B, transpose)
