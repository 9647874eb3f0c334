"""How special functions are made: operands, their precision, derivatives, compilation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...base import dtypes
from ...base import special_errors as errors
from ...core.zeros import Zero
from ...linalg.derived import with_derivative
from ...numpy.composite import Composite
from ...numpy.promotion import convert, dtype_of, operands, own, promote_inexact, promote_shapes
from ...numpy.promotion import promote_dtypes_inexact as in_common_dtype
from ...ops.identities import stage

Slopes = Callable[..., Sequence[Any]]


def _arrays(where: str, args: Sequence[Any]) -> list[Any]:
    """Operands as arrays or tracers, that formulas may ask for their dtypes and ranks."""
    return [x if own[type(x)] else stage(x) for x in operands(where, args)]


def reals(where: str, *args: Any) -> Sequence[Any]:
    """The arguments of the public function `where`: of one floating dtype and one rank."""
    given = promote_inexact(where, *_arrays(where, args))
    dtype = dtype_of(given[0])
    if dtype.kind == "c":
        raise ValueError(errors.complex_operand(where, dtype))
    return given


def inexacts(where: str, *args: Any) -> Sequence[Any]:
    """The arguments of the public function `where`: of one dtype, floating or complex."""
    return promote_shapes(where, *in_common_dtype(*_arrays(where, args)))


def floats(where: str, x: Any) -> Any:
    """The one argument of the public function `where`, which takes no integers."""
    (x,) = operands(where, [x])
    if not dtypes.issubdtype(dtype_of(x), np.floating):
        raise TypeError(errors.not_floating(where, dtype_of(x)))
    return x


def is_double(x: Any) -> bool:
    """Whether numbers have 64 bits, or complex ones 128."""
    return dtype_of(x).name in ("float64", "complex128")


def _applied(t: Any, slopes: Sequence[Any]) -> Any:
    """The tangent of a result from those of the arguments, of which some are not known zeros."""
    moving = [slope * tangent for slope, tangent in zip(slopes, t) if type(tangent) is not Zero]
    total = moving[0]
    for part in moving[1:]:
        total = total + part
    return total


def derived_from(fun: Callable[..., list[Any]], slopes: Slopes) -> Callable[..., list[Any]]:
    """A function with the slopes of its results in its arguments."""

    def rule(primals: Sequence[Any], tangents: Sequence[Any], **static: Any) -> Any:
        outs = derived(*primals, **static)
        rows = slopes(*primals, *outs, **static)
        rows = [[row] for row in rows] if len(outs) > 1 else [rows]
        return outs, [_applied(tangents, row) for row in rows]

    derived = with_derivative(rule, symbolic_zeros=True)(fun)
    return derived


def elementwise(slopes: Slopes | None = None) -> Callable[..., Callable[..., Any]]:
    """Decorator of formulas in arrays of one floating dtype, which get at least 32 bits.

    Args:
      slopes: takes the arguments, the results and the keyword arguments; returns the derivative of
        the one result in each argument, or that of each result in the one argument. Without it the
        formula's steps are differentiated.

    Returns:
      A decorator; what it returns is compiled as one program, and has results of the arguments'
      dtype. The formula returns an array, or a list of several.
    """

    def decorate(formula: Callable[..., Any]) -> Callable[..., Any]:
        def listed(*args: Any, **static: Any) -> list[Any]:
            outs = formula(*args, **static)
            return outs if type(outs) is list else [outs]

        listed.__name__ = formula.__name__
        fun = listed if slopes is None else derived_from(listed, slopes)

        def program(*args: Any, **static: Any) -> list[Any]:
            dtype = dtype_of(args[0])
            if dtype.itemsize > 2:
                return fun(*args, **static)
            wide = [convert(x, np.dtype(np.float32)) for x in args]
            return [convert(out, dtype) for out in fun(*wide, **static)]

        program.__name__ = formula.__name__
        compiled = Composite(program, multiple_results=True)

        def call(*args: Any, **static: Any) -> Any:
            outs = compiled(*args, **static)
            return outs[0] if len(outs) == 1 else tuple(outs)

        return call

    return decorate


def polynomial(x: Any, coefficients: Sequence[float]) -> Any:
    """The sum of c_k x^k, by Horner's rule."""
    *others, total = coefficients
    for c in reversed(others):
        total = total * x + c
    return total
