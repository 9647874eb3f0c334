"""The wording of errors of `scipy.optimize`."""

from __future__ import annotations

from collections.abc import Sequence


def args_tuple(value: object) -> str:
    return (
        f"[minimize] The argument args of minimize must be a tuple, got {value!r}. Write "
        "`args=(value,)` for a single one."
    )


def unknown_method(method: object, known: Sequence[str]) -> str:
    return f"[minimize] method={method!r} is not known; it must be one of {list(known)}."


def unknown_option(method: str, names: Sequence[str], known: Sequence[str]) -> str:
    return f"[minimize] method={method!r} has no option {', '.join(names)}; it has {list(known)}."


def not_a_vector(shape: Sequence[int]) -> str:
    return (
        f"[minimize] x0 must be a vector, but has the shape {tuple(shape)}. Make a vector of it "
        "with `flatten_util.ravel_pytree`, and undo that within the function."
    )


def not_scalar(shape: Sequence[int]) -> str:
    return f"[minimize] The function must return a number, but its result has shape {tuple(shape)}."
