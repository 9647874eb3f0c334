"""The wording of errors of the iterative solvers in `scipy.sparse.linalg`."""

from __future__ import annotations

from typing import Any


def not_an_operator(where: str, name: str, value: object) -> str:
    return (
        f"[{where}] {name}: a linear operator must be either a function or ndarray, or have "
        f"`@`; got {value!r}."
    )


def not_square(where: str, name: str, shape: Any) -> str:
    return f"[{where}] {name} must be a square matrix, but its shape is {tuple(shape)}."


def trees_differ(where: str, x0: Any, b: Any) -> str:
    return f"[{where}] x0 and b must have matching tree structure; they have {x0} and {b}."


def shapes_differ(where: str, x0: Any, b: Any) -> str:
    return f"[{where}] x0 and b must have matching shapes; they have {x0} and {b}."


def solve_method(value: object) -> str:
    return f"[gmres] solve_method={value!r}; it must be 'batched' or 'incremental'."
