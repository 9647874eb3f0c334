"""The text of arrays: `Array([0., 2., 4.], dtype=float32)`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import dtypes

_PREFIX = "Array("


def text_of(x: Any) -> str:
    """The text of an array as NumPy would write it, with the dtype and whether it is weak.

    The dtype stands on a line of its own where the last line has no room for it.
    """
    aval = x.aval
    if isinstance(aval.dtype, dtypes.ExtendedDType) and x._is_whole_here:
        return f"Array({aval.shape}, dtype={aval.dtype}) overlaying:\n{x.to_numpy()}"
    width = np.get_printoptions()["linewidth"]
    if aval.size == 0:
        elements = f"[], shape={aval.shape}"
    elif x.is_deleted():
        elements = f"<deleted>, shape={aval.shape}"
    elif not x._is_whole_here:
        elements = f"shape={aval.shape}"
    else:
        elements = np.array2string(
            np.asarray(x), max_line_width=width, prefix=_PREFIX, suffix=",", separator=", "
        )
    kind = f"dtype={dtypes.name(aval.dtype)}{', weak_type=True' if aval.weak_type else ''})"
    last_line = len(elements) - (elements.rfind("\n") + 1)
    fits = last_line + len(kind) + 3 <= width
    gap = " " if fits else " " * len(_PREFIX)
    return f"{_PREFIX}{elements},{gap}{kind}"


array_repr, array_str = np.array_repr, np.array_str
set_printoptions = np.set_printoptions
get_printoptions = np.get_printoptions
printoptions = np.printoptions
