"""The wording of errors about solvers that users hand over: custom_linear_solve and custom_root.

The function that returned something wrong is named as the parameter that it was given for.
"""

from __future__ import annotations

from typing import Any


def not_callable(where: str, name: str, fun: Any) -> str:
    return f"[{where}] {name} must be a function, but it is {fun!r}."


def structure_differs(name: str, like: str, found: Any, wanted: Any) -> str:
    return (
        f"{name}() output pytree structure must match {like}, got {found} and {wanted}. Return a "
        f"tree with the containers of {like}."
    )


def shapes_differ(name: str, like: str, found: Any, wanted: Any) -> str:
    return (
        f"{name}() output shapes must match {like}, got {list(found)} and {list(wanted)}. Return "
        f"arrays of the shapes of those in {like}."
    )


def no_aux(name: str, found: Any) -> str:
    return (
        f"{name}() produced a pytree with structure {found}, but a pytree tuple with auxiliary "
        "output was expected because has_aux was set to True. Return a pair: the solution, and "
        "what else is to be returned."
    )


def no_transpose_solve() -> str:
    return (
        "transpose_solve required for backwards mode automatic differentiation of "
        "custom_linear_solve: give a function that solves the transposed equation, or say with "
        "symmetric=True that `solve` does."
    )


def linear_in_matrix() -> str:
    return (
        "[custom_linear_solve] the solution of A x = b is not linear in what `matvec` closes over. "
        "Transpose it with respect to b alone, or use vjp."
    )


def cotangent_of_aux() -> str:
    return (
        "[custom_linear_solve] auxiliary results have no derivative, but a cotangent reached one."
    )
