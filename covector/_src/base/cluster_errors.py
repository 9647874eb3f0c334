"""What errors about vectors and codes say."""

from __future__ import annotations

from collections.abc import Sequence

Shape = Sequence[int]


def shapes(obs: Shape, code_book: Shape) -> str:
    return (
        "[vq] obs and code_book must both be matrices with as many columns, or both vectors, but "
        f"their shapes are {tuple(obs)} and {tuple(code_book)}."
    )


def no_codes(shape: Shape) -> str:
    return f"[vq] code_book must have at least one row, but has shape {tuple(shape)}."
