"""What errors about trees made into vectors say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def wrong_dtype(dtype: Any, expected: Any, leaves: Sequence[Any]) -> str:
    listed = ", ".join(map(str, leaves))
    return (
        f"[unravel] The vector has dtype {dtype}, but expected dtype {expected}, to which the "
        f"leaves' dtypes ({listed}) were promoted. Convert the vector first."
    )


def wrong_shape(shape: Sequence[int], length: int) -> str:
    return (
        f"[unravel] The tree was made into a vector of shape ({length},), but is to be made from "
        f"an array of shape {tuple(shape)}. For a batch of vectors use `vmap(unravel)`."
    )
