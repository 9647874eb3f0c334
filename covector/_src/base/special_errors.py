"""What errors about special functions say."""

from __future__ import annotations

from typing import Any


def complex_operand(where: str, dtype: Any) -> str:
    if where == "sici":
        return f"Argument `x` to sici must be real-valued. Got dtype {dtype}. Give its real part."
    return (
        f"{where} does not support complex-valued inputs, but an argument has dtype {dtype}. Give "
        "real numbers."
    )


def not_floating(where: str, dtype: Any) -> str:
    return (
        f"[{where}] x.dtype={dtype} is not supported. Give an array of floats: `x.astype(float)`."
    )


def exact_factorial() -> str:
    return (
        "factorial with exact=True gives integers of any size, which arrays do not hold. Leave it "
        "out, or use `math.factorial`."
    )


def order_dtype(where: str, dtype: Any) -> str:
    return (
        f"Argument `n` to {where} must be of integer type. Got dtype {dtype}. Convert it: "
        "`n.astype(int)`."
    )


def negative_order(n: int) -> str:
    return f"[bernoulli] n must be a non-negative integer, but got {n}. It counts numbers."


def series_order(order: Any) -> tuple[type[Exception], str] | None:
    """The error of this argument of `log_ndtr`, if it has one."""
    if not isinstance(order, int):
        return TypeError, f"[log_ndtr] series_order must be a Python integer, but got {order!r}."
    if order < 0:
        return ValueError, f"[log_ndtr] series_order must be non-negative, but got {order}."
    if order > 30:
        return ValueError, f"[log_ndtr] series_order must be <= 30, but got {order}."
    return None


def harmonics_derivatives(diff_n: int) -> str:
    return (
        f"The 'diff_n' argument to sph_harm_y is not supported, but is {diff_n}. Differentiate in "
        "the angles: `jvp` or `grad`."
    )


def harmonics_integers(name: str, dtype: Any) -> str:
    return (
        f"[sph_harm_y] `{name}` must have integer type, but has dtype {dtype}. Convert it: "
        f"`{name}.astype(int)`."
    )
