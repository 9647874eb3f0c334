"""The wording of errors of `scipy.linalg`."""

from __future__ import annotations

from collections.abc import Sequence

Shape = Sequence[int]


def not_square(where: str, name: str, shape: Shape) -> str:
    return f"[{where}] Expected {name} to be a (batched) square matrix, got {name}.shape={shape}."


def shapes_differ(where: str, names: str, shapes: Sequence[Shape]) -> str:
    return f"[{where}] expected {names} to be the same shape, got {', '.join(map(str, shapes))}."


def right_hand_side(where: str, a: Shape, b: Shape) -> str:
    return (
        f"[{where}] The matrices have the shape {tuple(a)}, and the right-hand side {tuple(b)}; it "
        "must have as many rows, and batch dimensions that broadcast."
    )


def batch_of_vectors(where: str, call: str) -> str:
    return (
        f"{where}: batched 1D solves with b.ndim > 1 are deprecated, and in the future will be "
        f"treated as a batched 2D solve. Use {call} to avoid this warning."
    )


def trans(value: object) -> str:
    return (
        f"[solve_triangular] Invalid 'trans' value {value}. There are 0 or 'N', 1 or 'T' for the "
        "transpose, 2 or 'C' for the conjugate transpose."
    )


def lu_trans(value: object) -> str:
    return f"[lu_solve] 'trans' value must be 0, 1, or 2, got {value}."


def assume_a(value: object, known: Sequence[str]) -> str:
    return f"[solve] Expected assume_a to be one of {list(known)}; got {value!r}."


def qr_mode(mode: object) -> str:
    return f"[qr] Unsupported QR decomposition mode {mode!r}. There are 'full', 'economic' and 'r'."


def not_a_matrix(where: str, shape: Shape) -> str:
    return f"[{where}] takes a matrix, but the shape of the array is {tuple(shape)}."


def not_implemented(where: str, what: str) -> str:
    return f"[{where}] Only the {what} case of {where} is implemented."


def schur_output(output: object) -> str:
    return f"[schur] Expected 'output' to be either 'real' or 'complex', got output={output!r}."


def expm_dtype(dtype: object) -> str:
    return (
        f"[expm] A.dtype={dtype} is not supported: exponentials are computed in 32 or 64 bits. "
        "Convert the matrix with `A.astype(...)`."
    )


def block_rank(shape: Shape, position: int) -> str:
    return (
        "[block_diag] Arguments must have at most 2 dimensions, but the one at position "
        f"{position} has the shape {tuple(shape)}."
    )


def number_for_vector(where: str, name: str) -> str:
    return f"[{where}] {name} must be at least 1-dimensional, got a scalar."


def too_short(where: str, name: str, least: int, shape: Shape) -> str:
    return (
        f"[{where}] The length of {name} along the last axis must be at least {least}; the shape "
        f"is {tuple(shape)}."
    )


def empty_vector(where: str, shape: Shape) -> str:
    return f"[{where}] len(a) must be at least 1; the shape is {tuple(shape)}."


def no_coefficients(where: str) -> str:
    return f"[{where}] A polynomial needs a nonzero number of coefficients; there is none."


def leslie_lengths(f: Shape, s: Shape) -> str:
    return (
        "[leslie] Incorrect lengths for f and s: f holds one number for each group, and s one for "
        f"each but the last; the shapes are {tuple(f)} and {tuple(s)}."
    )


def positive(where: str, value: int) -> str:
    return f"[{where}] n must be a positive integer, got {value}."


def choice(where: str, name: str, value: object, known: Sequence[object]) -> str:
    return f"[{where}] {name} must be one of {list(known)}, got {value!r}."


def not_a_power(where: str, n: int) -> str:
    return f"[{where}] n must be a positive power of 2, got {n}."


def complex_dtype(where: str, dtype: object) -> str:
    return f"[{where}] dtype must be complex, got {dtype}."


def pascal_kind(where: str, kind: object, known: Sequence[str]) -> str:
    return f"[{where}] Expected kind to be one of {list(known)}, got {kind!r}."


def polar_shape(shape: Shape, side: str) -> str:
    return (
        f"[polar] method='qdwh' takes matrices that are not wider than high for side='right', and "
        f"wider ones for side='left'; got side={side!r} and the shape {tuple(shape)}. Use "
        "method='svd', which takes all."
    )


def sylvester_shapes(a: Shape, b: Shape, c: Shape) -> str:
    return (
        "[solve_sylvester] Incompatible shapes for Sylvester equation: A must be (m, m), B (n, n) "
        f"and C (m, n); got {tuple(a)}, {tuple(b)} and {tuple(c)}."
    )


def product_shape(mode: str, a: Shape, c: Shape, size: int) -> str:
    what = (
        f"rows of c for mode='left' must be {size}"
        if mode == "left"
        else (f"columns of c for mode='right' must be {size}")
    )
    return (
        f"[qr_multiply] Array shapes are not compatible: a has the shape {tuple(a)}, so that the "
        f"{what}, but c has the shape {tuple(c)}."
    )


def select(value: object) -> str:
    return (
        f"[eigh_tridiagonal] select={value!r}; it must be 'a' for all eigenvalues, 'i' for those "
        "of some indices, or 'v' for those in an interval."
    )


def select_range(value: object) -> str:
    return (
        "[eigh_tridiagonal] select_range must be a pair (first, last) with first <= last, got "
        f"{value!r}."
    )


def tridiagonal_shapes(d: Shape, e: Shape) -> str:
    return (
        "[eigh_tridiagonal] d is a vector of n elements and e one of n - 1; their shapes are "
        f"{tuple(d)} and {tuple(e)}."
    )


def tridiagonal_dtypes(d: object, e: object) -> str:
    return (
        "[eigh_tridiagonal] The diagonal d and what is beside it must have the same dtype, "
        f"floating or complex; they have {d} and {e}."
    )
