"""Arguments of the functions of linear algebra: arrays of floating or complex matrices."""

from __future__ import annotations

from typing import Any

from ...base import numpy_linalg_errors as errors
from ..promotion import as_array, operands, promote_dtypes_inexact


def inexact_arrays(where: str, *args: Any) -> list[Any]:
    """Arguments as arrays of their common dtype, floating or complex."""
    arrays = [as_array(where, x) for x in operands(where, args)]
    return promote_dtypes_inexact(*arrays)


def inexact_array(where: str, x: Any) -> Any:
    """The one argument as an array of floating or complex dtype."""
    return inexact_arrays(where, x)[0]


def square_matrices(where: str, a: Any) -> Any:
    """The one argument as inexact square matrices."""
    a = inexact_array(where, a)
    check_square(where, a.shape)
    return a


def check_square(where: str, shape: tuple[int, ...]) -> None:
    """Raise unless an array holds square matrices."""
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise ValueError(errors.not_square(where, shape))
