"""The wording of errors about matrices: their shapes, and what no kernel computes."""

from __future__ import annotations

from collections.abc import Sequence

Shape = Sequence[int]


def rank_too_low(name: str, index: int, rank: int, shape: Shape) -> str:
    return (
        f"Input {index} to {name} must have rank at least {rank}, but got shape={tuple(shape)}. "
        "Matrices lie along the last two dimensions, vectors along the last; those in front count "
        "the batch."
    )


def batch_ranks_differ(name: str, counts: Sequence[int]) -> str:
    return (
        f"All inputs to {name} must have the same number of batch dimensions, but got "
        f"{list(counts)} batch dimensions for the inputs. Broadcast them first, or use `vmap`."
    )


def batch_sizes_differ(name: str, batches: Sequence[Shape]) -> str:
    listed = ", ".join(str(tuple(batch)) for batch in batches)
    return (
        f"All inputs to {name} must have the same batch dimensions, but got {listed}. Broadcast "
        "them first."
    )


def not_square(name: str, shape: Shape) -> str:
    return f"The input to {name} must be a square matrix. Got shape {tuple(shape)}."


def update_shapes(r: Shape, w: Shape) -> str:
    return (
        "[cholesky_update] takes a square matrix and a vector of its size. Got shapes "
        f"{tuple(r)} and {tuple(w)} instead."
    )


def triangular_solve_shapes(a: Shape, b: Shape, left_side: bool) -> str:
    side, what = ("left", "rows") if left_side else ("right", "columns")
    return (
        f"Incompatible shapes for arguments to triangular_solve: {tuple(a)} and {tuple(b)}. With "
        f"the matrix on the {side}, the right-hand side must have as many {what} as it."
    )


def reflectors_wide(shape: Shape) -> str:
    return (
        "The first argument to householder_product must have at least as many rows as columns, "
        f"got shape {tuple(shape)}."
    )


def reflectors_too_many(a: Shape, taus: Shape) -> str:
    return (
        f"[householder_product] {taus[0]} factors in taus are more than the {min(a)} columns of "
        f"reflectors that a matrix of shape {tuple(a)} has room for."
    )


def ormqr_shapes(a: Shape, c: Shape, left: bool) -> str:
    side, what, axis = ("Q @ c", "rows", 0) if left else ("c @ Q", "columns", 1)
    return (
        f"ormqr with left={left} computes {side}, where Q is of size {a[0]} for reflectors of "
        f"shape {tuple(a)}; but c, of shape {tuple(c)}, has {c[axis]} {what}."
    )


def permutation_too_short(size: int, pivots: int) -> str:
    return (
        f"Output permutation size {size} has to exceed the trailing dimension of the pivots. Got "
        f"pivots size {pivots}."
    )


def subset_of_full(subset: object, rank: int) -> str:
    return (
        "full_matrices and subset_by_index cannot both be set, unless the subset is all "
        f"{rank} of them; it is {subset}."
    )


def symmetric_product_shapes(a: Shape, c: Shape) -> str:
    return (
        "[symmetric_product] takes a matrix of shape (m, n) and a square one of shape (m, m). Got "
        f"shapes {tuple(a)} and {tuple(c)}."
    )


def diagonals_differ(shapes: Sequence[Shape]) -> str:
    listed = ", ".join(str(tuple(shape)) for shape in shapes)
    return (
        "tridiagonal_solve requires that all diagonal arguments have the same shape, but got "
        f"{listed}. The lower one begins, and the upper one ends, with an element that is not used."
    )


def diagonals_and_b(d: Shape, b: Shape) -> str:
    return (
        "tridiagonal_solve requires that the leading ndim-1 dimensions of b equal the dimensions "
        f"of the diagonal arguments, but these are {tuple(b)} and {tuple(d)}."
    )


def lu_not_square(shape: Shape) -> str:
    return f"last two dimensions of LU decomposition must be equal, got shape {tuple(shape)}"


def lu_solve_scalar(shape: Shape) -> str:
    return f"b matrix must have rank >= 1, got shape {tuple(shape)}"


def lu_solve_shapes(lu: Shape, b: Shape) -> str:
    return (
        f"[lu_solve] the LU decomposition of shape {tuple(lu)} is that of matrices of size "
        f"{lu[-1]}, which must match the rows of b, whose shape is {tuple(b)}."
    )


def lu_solve_trans(trans: object) -> str:
    return f"'trans' value must be 0, 1, or 2, got {trans}"


def dtype_without_kernel(name: str, dtype: object) -> str:
    return (
        f"Unsupported dtype {dtype} for {name}: its kernel computes in float32, float64, "
        "complex64 and complex128. Convert the operand with `x.astype(...)`."
    )


def choice_not_on_platform(name: str, what: str, value: object, platform: str) -> str:
    return f"[{name}] {what}={value} is not supported on {platform}. Leave it at its default."


def eigenvector_derivatives_off() -> str:
    return (
        "[eig] Derivatives of non-symmetric eigenvectors hold only where all eigenvalues are "
        "distinct, and no eigenvector has two largest components; whether that is so cannot be "
        "checked while tracing. Pass enable_eigvec_derivs=True to lax.linalg.eig if it is; or ask "
        "for the eigenvalues alone, or use eigh for symmetric matrices."
    )


def qdwh_wide(shape: Shape) -> str:
    return (
        "[qdwh] The input matrix of shape M x N must have M >= N, but its shape is "
        f"{tuple(shape)}. Decompose the conjugate transpose."
    )


def empty_tridiagonal(shape: Shape) -> str:
    return (
        "The input to tridiagonal must be a square matrix. Got shape "
        f"{tuple(shape)}, which has no diagonal."
    )


def use_magma_deprecated(value: bool) -> str:
    name = "MAGMA" if value else "LAPACK"
    return (
        f"use_magma is deprecated, please use implementation=EigImplementation.{name} instead of "
        f"use_magma={value}."
    )
