"""The wording of errors of sparse arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Shape = Sequence[int]


class SparseEfficiencyError(ValueError):
    """An operation on a sparse array would need memory as a dense one does."""


class SparseEfficiencyWarning(UserWarning):
    """An operation on a sparse array needs memory as a dense one does."""


class CuSparseEfficiencyWarning(SparseEfficiencyWarning):
    """A sparse array is not in the form that a library for GPUs takes."""


def dimensions(where: str, n_batch: int, n_dense: int, ndim: int) -> str:
    return (
        f"[{where}] n_batch={n_batch} and n_dense={n_dense} must not be negative, nor together "
        f"exceed the {ndim} dimensions."
    )


def buffers(data: Shape, indices: Shape, shape: Shape) -> str:
    return (
        f"[BCOO] Data of the shape {tuple(data)} and indices of the shape {tuple(indices)} do not "
        f"make an array of the shape {tuple(shape)}: indices are (*batch, nse, n_sparse), and data "
        "(*batch, nse, *dense), where batch dimensions may be 1."
    )


def csr_buffers(data: Shape, indices: Shape, indptr: Shape, shape: Shape) -> str:
    return (
        f"[BCSR] Data, indices and indptr of the shapes {tuple(data)}, {tuple(indices)} and "
        f"{tuple(indptr)} do not make an array of the shape {tuple(shape)}: they are (*batch, nse, "
        "*dense), (*batch, nse) and (*batch, rows + 1)."
    )


def traced_nse(where: str) -> str:
    return (
        f"[{where}] The number of stored elements must be known when a function is traced. Give "
        "it: `nse=...`."
    )


def permutation(permutation: Shape, n_batch: int, n_sparse: int, n_dense: int) -> str:
    return (
        f"[bcoo_transpose] permutation={tuple(permutation)} mixes the {n_batch} batch, {n_sparse} "
        f"sparse and {n_dense} dense dimensions, which must stay in their groups. Change the "
        "layout with `update_layout` before."
    )


def layout(where: str, what: str) -> str:
    return f"[{where}] {what}; change the layout with `update_layout` before."


def not_implemented(where: str, what: str) -> str:
    return f"[{where}] {what} is not implemented for sparse arrays. Make it dense with `todense()`."


def no_rule(name: str) -> str:
    return (
        f"[sparsify] There is no rule for the primitive {name} of sparse arrays. Make the array "
        "dense with `sparse.todense(x)` before it."
    )


def shapes(where: str, *args: Any) -> str:
    return f"[{where}] The shapes {', '.join(map(str, args))} do not fit."


def inefficient(n_batch: int, n_dense: int) -> str:
    return (
        f"[bcoo_update_layout] With n_batch={n_batch} and n_dense={n_dense} more elements would be "
        "stored than the array now has. Pass on_inefficient=None or 'warn' to do it all the same."
    )


def sparse_format(value: object) -> str:
    return f"[sparse] sparse_format={value!r} is not known; it is one of bcoo, bcsr, coo, csr, csc."


def batch_axis(axis: object, n_batch: int) -> str:
    return (
        f"[vmap] A BCOO array with n_batch={n_batch} is mapped along one of its batch dimensions, "
        f"not {axis}. Change the layout with `update_layout` before."
    )


def search_directions(n: int, k: int) -> str:
    return (
        f"[lobpcg_standard] For a matrix of {n} rows there are {k} columns of X; there must be "
        "search dim > 0 and search dim * 5 < matrix dim."
    )


def search_dtype(found: object, dtype: object) -> str:
    return f"[lobpcg_standard] A, X must have same dtypes, which are {found} and {dtype}; cast one."


def search_shape(n: int, found: Shape) -> str:
    return (
        f"[lobpcg_standard] A must be ({n}, {n}) like the rows of X; from ({n}, 1) it makes "
        f"{tuple(found)}."
    )


def mixed_groups(shape: Shape, new_sizes: Shape, n_batch: int, n_dense: int) -> str:
    return (
        f"[bcoo_reshape] From {tuple(shape)} to {tuple(new_sizes)} elements would move between the "
        f"groups of n_batch={n_batch} and n_dense={n_dense} dimensions and the sparse ones; it "
        "cannot mix batch and sparse dimensions. Change the layout with `update_layout` before."
    )


def free_batch(n_batch: int) -> str:
    return (
        f"[bcoo_dot_general] Of the {n_batch} batch dimensions of rhs some are not the product's, "
        "and would come behind sparse ones of lhs: it cannot have unused batch dims on rhs with "
        "unused sparse dims on lhs. Change the layout with `update_layout` before."
    )
