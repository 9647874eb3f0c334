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
