"""Sparse arrays from a shape, or at random."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from operator import index
from typing import Any

import numpy as np

from ..base import sparse_errors as errors
from ..numpy.creation import asarray, ones, zeros
from ..numpy.joining import stack
from ..random.keys import split
from ..random.selection import permutation
from ..random.uniform import randint, uniform
from .bcoo import BCOO, JAXSparse, bcoo_sum_duplicates, check_layout, over_batch
from .bcsr import BCSR
from .coo import COO, CSC, CSR

FORMATS: dict[str, Any] = {"bcoo": BCOO, "bcsr": BCSR, "coo": COO, "csr": CSR, "csc": CSC}


def _in_format(mat: BCOO, sparse_format: str) -> Any:
    if sparse_format not in FORMATS:
        raise ValueError(errors.sparse_format(sparse_format))
    return mat if sparse_format == "bcoo" else FORMATS[sparse_format].from_bcoo(mat)


def empty(
    shape: Sequence[int],
    dtype: Any = None,
    index_dtype: Any = "int32",
    sparse_format: str = "bcoo",
    *,
    n_batch: int = 0,
    n_dense: int = 0,
    nse: int = 0,
) -> JAXSparse:
    """A sparse array of zeros.

    Args:
      shape: its shape.
      dtype, index_dtype: the dtypes of elements and indices.
      sparse_format: `"bcoo"`, `"bcsr"`, `"coo"`, `"csr"` or `"csc"`.
      n_batch, n_dense, nse: the layout, and how many elements there is room for.

    >>> from covector.experimental import sparse
    >>> sparse.empty((2, 3))
    BCOO(float32[2, 3], nse=0)
    """
    shape = tuple(map(index, shape))
    n_sparse = check_layout("empty", n_batch, n_dense, len(shape))
    n = n_batch + n_sparse
    batch, sizes, dense = shape[:n_batch], shape[n_batch:n], shape[n:]
    indices = np.broadcast_to(np.array(sizes, np.int64), (*batch, nse, n_sparse))
    mat = BCOO(
        (zeros((*batch, nse, *dense), dtype), asarray(indices, index_dtype)),
        shape=shape,
        indices_sorted=True,
        unique_indices=True,
    )
    return _in_format(mat, sparse_format)


def eye(
    N: int,
    M: int | None = None,
    k: int = 0,
    dtype: Any = None,
    index_dtype: Any = "int32",
    sparse_format: str = "bcoo",
    *,
    n_batch: int = 0,
    n_dense: int = 0,
) -> JAXSparse:
    """A sparse matrix with ones on a diagonal.

    Args:
      N, M: the numbers of rows and columns; a square matrix by default.
      k: which diagonal, counted from the main one upwards.
      dtype, index_dtype: the dtypes of elements and indices.
      sparse_format: as of `empty`.
      n_batch, n_dense: the layout.

    >>> from covector.experimental import sparse
    >>> sparse.eye(2, 3, k=1).todense()
    Array([[0., 1., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    N, M, k = index(N), index(N if M is None else M), index(k)
    check_layout("eye", n_batch, n_dense, 2)
    rows = np.arange(max(0, -k), max(min(N, M - k), max(0, -k)))
    data = ones((len(rows),), dtype)
    indices = asarray(np.stack([rows, rows + k], -1), index_dtype)
    mat = BCOO((data, indices), shape=(N, M), indices_sorted=True, unique_indices=True)
    mat = mat.update_layout(n_batch=n_batch, n_dense=n_dense, on_inefficient=None)
    if n_batch or n_dense == 2:
        # Each row has one element at most, and the whole one dense block.
        mat = bcoo_sum_duplicates(mat, nse=min(len(rows), 1))
    return _in_format(mat, sparse_format)


def random_bcoo(
    key: Any,
    shape: Sequence[int],
    *,
    dtype: Any = float,
    indices_dtype: Any = None,
    nse: float = 0.2,
    n_batch: int = 0,
    n_dense: int = 0,
    unique_indices: bool = True,
    sorted_indices: bool = False,
    generator: Callable[..., Any] = uniform,
    **kwds: Any,
) -> BCOO:
    """A BCOO array with random elements at random places.

    Args:
      key: a random key.
      shape: the shape of the array.
      dtype, indices_dtype: the dtypes of elements and indices.
      nse: how many elements to store, or if less than 1 the part of all.
      n_batch, n_dense: the layout.
      unique_indices: whether indices are to be distinct.
      sorted_indices: whether they are to be sorted.
      generator: makes the elements: `generator(key, shape, dtype, **kwds)`.

    >>> import covector as cv
    >>> from covector.experimental import sparse
    >>> sparse.random_bcoo(cv.random.key(0), (4, 5), nse=6)
    BCOO(float32[4, 5], nse=6)
    """
    shape = tuple(map(index, shape))
    n_sparse = check_layout("random_bcoo", n_batch, n_dense, len(shape))
    n = n_batch + n_sparse
    batch, sizes, dense = shape[:n_batch], shape[n_batch:n], shape[n:]
    total = math.prod(sizes)
    count = math.ceil(nse * total) if 0 < nse < 1 else index(int(nse))
    key_data, key_indices = split(key)
    data = generator(key_data, (*batch, count, *dense), dtype, **kwds)
    keys = split(key_indices, batch) if batch else key_indices

    def places(key: Any) -> Any:
        if unique_indices:
            flat = permutation(key, total)[:count]
        else:
            flat = randint(key, (count,), 0, max(total, 1))
        indices = []
        for n in reversed(sizes):
            indices.append(flat % n)
            flat = flat // n
        found = stack(indices[::-1], -1) if indices else zeros((count, 0), np.int32)
        return found.astype(indices_dtype or np.int32)

    indices = over_batch(places, n_batch, shape, keys)
    mat = BCOO((data, indices), shape=shape, unique_indices=unique_indices)
    return mat.sort_indices() if sorted_indices else mat
