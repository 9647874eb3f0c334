"""Random sparse arrays of all layouts for tests, and comparisons with dense ones."""

from __future__ import annotations

import itertools
import math
import unittest
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from operator import index
from typing import Any, NamedTuple

import numpy as np

from ..api.jacobian import jacfwd, jacrev
from ..api.jit import jit
from ..api.vectorize import vmap
from ..base import sparse_errors as errors
from ..base import tree
from ..numpy.creation import asarray
from ..numpy.joining import stack
from .bcoo import BCOO, check_layout
from .bcsr import BCSR
from .sparsify import is_sparse as is_sparse
from .sparsify import sparsify, todense

# How far a product of matrices may be from the dense one.
MATMUL_TOL = {
    np.float32: 1e-5,
    np.float64: 1e-10,
    np.complex64: 1e-5,
    np.complex128: 1e-10,
}


class BatchedDotGeneralProperties(NamedTuple):
    """A product to test: shapes, the layout of the first array, and dimension numbers."""

    lhs_shape: tuple[int, ...]
    rhs_shape: tuple[int, ...]
    n_batch: int
    n_dense: int
    dimension_numbers: Any


class SparseLayout(NamedTuple):
    """How many dimensions are batch, dense and sparse ones."""

    n_batch: int
    n_dense: int
    n_sparse: int


def iter_subsets(s: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    """All subsets of a sequence, smaller ones first."""
    for size in range(len(s) + 1):
        yield from itertools.combinations(s, size)


def iter_sparse_layouts(shape: Sequence[int], min_n_batch: int = 0) -> Iterator[SparseLayout]:
    """All layouts of BCOO arrays of a shape."""
    ndim = len(shape)
    for n_batch, n_sparse in itertools.product(range(min_n_batch, ndim + 1), range(ndim, -1, -1)):
        if n_batch + n_sparse <= ndim:
            yield SparseLayout(n_batch, ndim - n_batch - n_sparse, n_sparse)


def iter_bcsr_layouts(shape: Sequence[int], min_n_batch: int = 0) -> Iterator[SparseLayout]:
    """All layouts of BCSR arrays of a shape."""
    return (x for x in iter_sparse_layouts(shape, min_n_batch) if x.n_sparse == 2)


# ---------------------------------------------------------------- random arrays


def _normal(rng: np.random.RandomState) -> Callable[..., np.ndarray]:
    """Numbers about as large as 3, of any dtype."""

    def draw(shape: Sequence[int], dtype: Any) -> np.ndarray:
        dtype = np.dtype(dtype)
        x = 3 * rng.standard_normal(shape)
        if np.issubdtype(dtype, np.complexfloating):
            x = x + 3j * rng.standard_normal(shape)
        if np.issubdtype(dtype, np.unsignedinteger):
            x = abs(x)
        return np.asarray(x > 0 if dtype.kind == "b" else x).astype(dtype)

    return draw


def _count(nse: float, size: int) -> int:
    return math.ceil(nse * size) if 0 <= nse < 1 else index(int(nse))


def rand_sparse(
    rng: np.random.RandomState,
    nse: float = 0.5,
    post: Callable[..., Any] = lambda x: x,
    rand_method: Callable[..., Any] = _normal,
) -> Callable[..., Any]:
    """A maker of dense arrays with many zeros.

    Args:
      rng: a random state.
      nse: how many elements are not zero, or if less than 1 the part of all.
      post: is applied to the array.
      rand_method: makes the elements: `rand_method(rng)(shape, dtype)`.

    >>> from covector.experimental.sparse import test_util
    >>> make = test_util.rand_sparse(np.random.RandomState(0), nse=2)
    >>> int(np.count_nonzero(make((3, 4), "float32")))
    2
    """

    def make(shape: Sequence[int], dtype: Any, nse: float = nse) -> Any:
        x = np.array(rand_method(rng)(shape, dtype))
        zeros = x.size - min(x.size, int(nse * x.size if 0 <= nse < 1 else nse))
        x.flat[rng.choice(x.size, zeros, replace=False) if x.size else []] = 0
        return post(x)

    return make


def rand_bcoo(
    rng: np.random.RandomState,
    rand_method: Callable[..., Any] = _normal,
    nse: float = 0.5,
    n_batch: int = 0,
    n_dense: int = 0,
) -> Callable[..., BCOO]:
    """A maker of BCOO arrays of a shape and a dtype, at random places, some of them the same.

    Args:
      rng, rand_method: as of `rand_sparse`.
      nse: how many elements are stored, or if less than 1 the part of all.
      n_batch, n_dense: the layout.

    >>> from covector.experimental.sparse import test_util
    >>> test_util.rand_bcoo(np.random.RandomState(0), n_batch=1)((2, 3, 4), "float32")
    BCOO(float32[2, 3, 4], nse=6, n_batch=1)
    """

    def make(
        shape: Sequence[int],
        dtype: Any,
        nse: float = nse,
        n_batch: int = n_batch,
        n_dense: int = n_dense,
    ) -> BCOO:
        n = n_batch + check_layout("rand_bcoo", n_batch, n_dense, len(shape))
        batch, sizes, dense = shape[:n_batch], shape[n_batch:n], shape[n:]
        count = _count(nse, math.prod(sizes))
        data = rand_method(rng)((*batch, count, *dense), dtype)
        places = [rng.randint(0, max(n, 1), (*batch, count)) for n in sizes]
        indices = np.zeros((*batch, count, len(sizes)), np.int32)
        for axis, place in enumerate(places):
            indices[..., axis] = place
        return BCOO((asarray(data), asarray(indices)), shape=shape)

    return make


def rand_bcsr(
    rng: np.random.RandomState,
    rand_method: Callable[..., Any] = _normal,
    nse: float = 0.5,
    n_batch: int = 0,
    n_dense: int = 0,
) -> Callable[..., BCSR]:
    """A maker of BCSR arrays of a shape and a dtype; see `rand_bcoo`."""

    def make(
        shape: Sequence[int],
        dtype: Any,
        nse: float = nse,
        n_batch: int = n_batch,
        n_dense: int = n_dense,
    ) -> BCSR:
        if check_layout("rand_bcsr", n_batch, n_dense, len(shape)) != 2:
            raise ValueError(errors.layout("rand_bcsr", "n_sparse must be 2"))
        batch, (rows, columns) = shape[:n_batch], shape[n_batch : n_batch + 2]
        count = _count(nse, rows * columns)
        data = rand_method(rng)((*batch, count, *shape[n_batch + 2 :]), dtype)
        indices = rng.randint(0, max(columns, 1), (*batch, count)).astype(np.int32)
        ends = np.sort(rng.randint(0, count + 1, (*batch, rows)), axis=-1).astype(np.int32)
        indptr = np.concatenate([np.zeros((*batch, 1), np.int32), ends], -1)
        return BCSR((asarray(data), asarray(indices), asarray(indptr)), shape=shape)

    return make


# ---------------------------------------------------------------- comparisons


def _dense(x: Any) -> Any:
    return tree.map(todense, x, is_leaf=is_sparse)


class SparseTestCase(unittest.TestCase):
    """A test case with comparisons of sparse arrays."""

    def rng(self) -> np.random.RandomState:
        """A random state, the same each time."""
        return np.random.RandomState(0)

    def assertAllClose(
        self,
        actual: Any,
        desired: Any,
        *,
        check_dtypes: bool = True,
        atol: float | None = None,
        rtol: float | None = None,
        canonicalize_dtypes: bool = True,
        err_msg: str = "",
    ) -> None:
        """Fail unless two trees of arrays are nearly the same."""
        pairs = zip(tree.leaves(actual), tree.leaves(desired), strict=True)
        for x, y in pairs:
            x, y = (asarray(v) if canonicalize_dtypes else np.asarray(v) for v in (x, y))
            if check_dtypes:
                self.assertEqual(x.dtype, y.dtype, msg=err_msg)
            tolerances = dict(atol=atol or 1e-6, rtol=rtol or 1e-6)
            np.testing.assert_allclose(x, y, err_msg=err_msg, **tolerances)

    def assertSparseArraysEquivalent(self, x: Any, y: Any, **options: Any) -> None:
        """Fail unless two trees of sparse arrays store nearly the same."""
        self.assertEqual(tree.structure(x), tree.structure(y))
        self.assertAllClose(tree.leaves(x), tree.leaves(y), **options)

    def _CheckAgainstDense(
        self,
        dense_op: Callable[..., Any],
        sparse_op: Callable[..., Any],
        args_maker: Callable[[], Sequence[Any]],
        check_jit: bool = True,
        check_dtypes: bool = True,
        tol: float | None = None,
        atol: float | None = None,
        rtol: float | None = None,
        canonicalize_dtypes: bool = True,
    ) -> None:
        """Fail unless a function of sparse arrays gives what one of dense arrays does."""
        args = args_maker()
        bounds = dict(atol=atol or tol, rtol=rtol or tol)
        found = sparse_op(*args)
        options = dict(check_dtypes=check_dtypes, canonicalize_dtypes=canonicalize_dtypes)
        self.assertAllClose(dense_op(*_dense(args)), _dense(found), **options, **bounds)
        if check_jit:
            self.assertSparseArraysEquivalent(found, jit(sparse_op)(*args), **bounds)

    def _CheckGradsSparse(
        self,
        dense_fun: Callable[..., Any],
        sparse_fun: Callable[..., Any],
        args_maker: Callable[[], Sequence[Any]],
        *,
        argnums: Sequence[int] | None = None,
        modes: Sequence[str] = ("fwd", "rev"),
        atol: float | None = None,
        rtol: float | None = None,
    ) -> None:
        """Fail unless the derivatives by data are those of the dense function."""
        args = args_maker()
        leaves, structure = tree.flatten(args)
        sizes = [len(tree.leaves(x)) for x in args]
        starts = [sum(sizes[:i]) for i in range(len(sizes))]
        by = [starts[i] for i in (range(len(args)) if argnums is None else argnums)]

        def of_dense(*leaves: Any) -> Any:
            return dense_fun(*_dense(tree.unflatten(structure, leaves)))

        def of_sparse(*leaves: Any) -> Any:
            return _dense(sparse_fun(*tree.unflatten(structure, leaves)))

        for mode in modes:
            derivative = {"fwd": jacfwd, "rev": jacrev}[mode]
            expected, found = (derivative(f, argnums=by)(*leaves) for f in (of_dense, of_sparse))
            self.assertAllClose(expected, found, atol=atol, rtol=rtol)

    def _random_bdims(self, *counts: int) -> list[int]:
        """For each array with so many batch dimensions a place for a new one."""
        return [int(self.rng().randint(0, n + 1)) for n in counts]

    def _CheckBatchingSparse(
        self,
        dense_fun: Callable[..., Any],
        sparse_fun: Callable[..., Any],
        args_maker: Callable[[], Sequence[Any]],
        *,
        batch_size: int = 3,
        bdims: Sequence[int | None] | None = None,
        check_jit: bool = False,
        **options: Any,
    ) -> None:
        """Fail unless `vmap` of a function of sparse arrays gives what that of dense ones does."""
        if bdims is None:
            counts = [x.n_batch if is_sparse(x) else np.ndim(x) for x in args_maker()]
            bdims = self._random_bdims(*counts)

        def batch() -> list[Any]:
            columns = zip(*[args_maker() for _ in range(batch_size)])
            return [
                xs[0] if axis is None else sparsify(partial(stack, axis=axis))(list(xs))
                for xs, axis in zip(columns, bdims)
            ]

        mapped = [vmap(fun, tuple(bdims)) for fun in (dense_fun, sparse_fun)]
        self._CheckAgainstDense(*mapped, batch, check_jit, **options)
