"""How the `emit` rules of linear algebra call LAPACK, and write small programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..base import errors, linalg_errors
from ..core.avals import ShapedArray
from ..ops.complex import is_complex
from ..transforms.stage import stage_closed
from .base import LETTERS

INT32 = np.dtype(np.int32)
BOOL = np.dtype(np.bool_)


def char(letter: str) -> np.uint8:
    """A letter as LAPACK's options are spelled."""
    return np.uint8(ord(letter))


def lapack(
    b: Any,
    name: str,
    operands: Sequence[tuple[Any, ShapedArray]],
    results: Sequence[ShapedArray],
    aliases: Mapping[int, int] | None = None,
    **options: Any,
) -> list[Any]:
    """Call a function of LAPACK for each member of a batch.

    Args:
      b: the emitter.
      name: the function without the letter of the dtype in front.
      operands: MLIR values with their avals.
      results: avals.
      aliases: indices of operands, by result: those that the function overwrites.
      **options: the function's further arguments.
    """
    if b.platform != "cpu":
        raise NotImplementedError(errors.missing_lowering(b.primitive.name, b.platform))
    target = f"lapack_{letter_of(b, operands[0][1].dtype)}{name}_ffi"
    return column_major_call(b, target, operands, results, aliases, **options)


def letter_of(b: Any, dtype: Any) -> str:
    """LAPACK's letter for a dtype."""
    letter = LETTERS.get(np.dtype(dtype).name)
    if letter is None:
        raise NotImplementedError(linalg_errors.dtype_without_kernel(b.primitive.name, dtype))
    return letter


def column_major_call(
    b: Any,
    target: str,
    operands: Sequence[tuple[Any, ShapedArray]],
    results: Sequence[ShapedArray],
    aliases: Mapping[int, int] | None = None,
    **options: Any,
) -> list[Any]:
    """Call a kernel that takes matrices by columns; arrays of lower rank are vectors."""
    rank = max(aval.ndim for _, aval in operands)

    def layout(aval: ShapedArray) -> list[int]:
        order = [*reversed(range(aval.ndim))]
        if aval.ndim == rank:
            order[:2] = reversed(order[:2])
        return order

    return b.custom_call(
        target,
        [(x, layout(aval)) for x, aval in operands],
        [(aval, layout(aval)) for aval in results],
        aliases,
        {"num_batch_dims": str(rank - 2)},
        **options,
    )


def unitary_name(dtype: Any, real: str, complex: str) -> str:
    """LAPACK's name of a function that it has under two names, for real and complex numbers."""
    return complex if is_complex(dtype) else real


# ---------------------------------------------------------------- failures


def info_aval(b: Any) -> ShapedArray:
    """The aval of the codes in which LAPACK says for each member of a batch what went wrong."""
    return ShapedArray(b.primitive.batch_of(b.avals_in), INT32)


def nan_where_failed(
    b: Any, info: Any, results: Sequence[tuple[Any, ShapedArray]], direction: str = "EQ"
) -> list[Any]:
    """Results with NaN for the members of the batch whose code is not `direction` 0."""
    codes = info_aval(b)
    flags = ShapedArray(codes.shape, BOOL)
    ok = b.compare(direction, info, b.full(0, codes), INT32, out=flags)
    kept = []
    for x, aval in results:
        nan = b.full(complex(np.nan, np.nan) if is_complex(aval.dtype) else np.nan, aval)
        shaped = b.op(
            "broadcast_in_dim",
            ok,
            out=ShapedArray(aval.shape, BOOL),
            broadcast_dimensions=tuple(range(flags.ndim)),
        )
        kept.append(b.op("select", shaped, x, nan, out=aval))
    return kept


# ---------------------------------------------------------------- programs


def inline_function(
    b: Any, fun: Callable[..., Sequence[Any]], operands: Sequence[Any], avals: Sequence[Any]
) -> list[Any]:
    """Write the operations of a function of arrays at this place."""
    return b.inline(stage_closed(fun, avals), operands)


def loop(
    b: Any,
    count: int,
    body: Callable[..., Sequence[Any]],
    operands: Sequence[Any],
    avals: Sequence[Any],
) -> list[Any]:
    """Write  for i in range(count): state = body(i, *state)  and return the last state."""
    index = ShapedArray((), INT32)
    step = stage_closed(body, [index, *avals])

    def goes_on(i: Any, *state: Any) -> list[Any]:
        limit = b.constant(count, INT32)
        return [b.compare("LT", i, limit, INT32, out=ShapedArray((), BOOL))]

    def advance(i: Any, *state: Any) -> list[Any]:
        after = b.op("add", i, b.constant(1, INT32), out=index)
        return [after, *b.inline(step, [i, *state])]

    types = [index, *avals]
    start = b.constant(0, INT32)
    regions = [(types, goes_on), (types, advance)]
    return b.op_with_regions("while", [start, *operands], regions, out=types)[1:]
