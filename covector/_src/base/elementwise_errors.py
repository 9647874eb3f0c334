"""The wording of errors of elementwise operations; see `errors.py`."""

from __future__ import annotations

from collections.abc import Sequence

# ---------------------------------------------------------------- dtypes


def float0_not_accepted(name: str) -> str:
    return (
        f"{name} does not accept dtype float0: float0s do not support any operations by design, "
        "as they have no values. It is the dtype of the derivatives of integers and booleans: "
        "differentiate with respect to floats instead, or make zeros of the dtype you need "
        "with `zeros_like(x, dtype=...)`."
    )


def narrow_integer_not_accepted(name: str, dtype: object) -> str:
    return (
        f"{name} does not accept dtype {dtype}: integers below 8 bits take part in little but "
        "arithmetic. Convert to int8 or wider first."
    )


def pow_dtypes(x: object, y: object) -> str:
    return (
        f"[lax.pow] The base is of dtype {x} and the exponent of dtype {y}. The base must be of a "
        "float or complex dtype, and the exponent of the same one or of an integer dtype."
    )


def negative_power_of_integers(x: object, y: int) -> str:
    return (
        f"[lax.integer_pow] An array of type {x} cannot be raised to the power {y}, which is not "
        "an integer. Convert the array to a float dtype first."
    )


def select_without_cases() -> str:
    return "[lax.select_n] There is no case to select from. Give at least one."


def select_cases_differ(shapes: Sequence[tuple[int, ...]]) -> str:
    listed = ", ".join(map(str, shapes))
    return (
        f"[lax.select_n] The cases must be of one shape, got {listed}. Broadcast them first, or "
        "use covector.numpy.where, which broadcasts."
    )


def select_which_shape(which: tuple[int, ...], case: tuple[int, ...]) -> str:
    return (
        f"[lax.select_n] `which` has shape {which}, and the cases have shape {case}. It must be "
        "a scalar or have the shape of the cases."
    )


def select_which_dtype(dtype: object, count: int) -> str:
    if count > 2:
        return (
            f"[lax.select_n] A boolean `which` selects between 2 cases, but {count} are given. "
            "Select with integers instead."
        )
    return f"[lax.select_n] `which` must be of a boolean or integer dtype, got {dtype}."


def clamp_shapes(bound: str, shape: tuple[int, ...], operand: tuple[int, ...]) -> str:
    return (
        f"[lax.clamp] `{bound}` has shape {shape}, and `x` has shape {operand}. A bound must be a "
        "scalar or have the shape of `x`. covector.numpy.clip broadcasts."
    )


def full_of_non_scalar(shape: tuple[int, ...]) -> str:
    return (
        f"[lax.full] `fill_value` must be a scalar, got an array of shape {shape}. To repeat an "
        "array use lax.broadcast_in_dim or covector.numpy.broadcast_to."
    )


def bitcast_of_bool_or_complex(old: object, new: object) -> str:
    return (
        f"[lax.bitcast_convert_type] Bits cannot be reinterpreted from dtype {old} to {new}: "
        "booleans and complex numbers have no bits of their own here. Convert them first, or "
        "take complex numbers apart with lax.real and lax.imag."
    )


def bitcast_shape(shape: tuple[int, ...], old: object, new: object, count: int) -> str:
    return (
        f"[lax.bitcast_convert_type] An array of shape {shape} and dtype {old} cannot be read as "
        f"dtype {new}: an element is made of {count} of the array's, so that its last dimension "
        f"must be of size {count}. Reshape it first."
    )


def imaginary_part_lost(old: object, new: object) -> str:
    return (
        f"[lax.convert_element_type] Converting dtype {old} to {new} discards imaginary parts. "
        "Take the real part explicitly, with `lax.real(x)`, if that is what you want."
    )


def precision_out_of_range(what: str, value: int, least: int) -> str:
    return f"[lax.reduce_precision] `{what}` must be at least {least}, got {value}."


# ---------------------------------------------------------------- derivatives


def order_is_not_continuous(name: str, argument: str) -> str:
    return (
        f"[lax.{name}] The derivative with respect to the order `{argument}` is not defined: only "
        "whole orders are. Differentiate with respect to the other argument, or hold the order "
        f"constant with `lax.stop_gradient({argument})`."
    )


def no_conversion(old: object, new: object) -> str:
    return (
        f"Cannot convert_element_type from {old} to {new}: elements of an extended dtype are no "
        "numbers. Of random keys, `random.key_data` gives the integers that they are made of."
    )


def no_derivative(name: str, argument: str) -> str:
    return (
        f"[lax.{name}] Differentiation rule for '{name}' not implemented with respect to "
        f"`{argument}`. Hold that argument constant with `lax.stop_gradient({argument})`."
    )


def no_second_derivative(name: str, argument: str) -> str:
    return (
        f"[lax.{name}] Differentiation rule for '{name}' not implemented: {name} is a derivative "
        f"itself, and there is no formula for its own with respect to `{argument}`. Hold that "
        f"argument constant with `lax.stop_gradient({argument})`."
    )


def betainc_parameters() -> str:
    return (
        "[lax.betainc] Betainc gradient with respect to a and b not supported: differentiate with "
        "respect to x, or hold the parameters constant with `lax.stop_gradient`."
    )


# ---------------------------------------------------------------- tokens


def not_tokens(avals: object) -> str:
    return (
        f"[after_all] Arguments to after_all must be tokens, but are {avals}. Tokens come from "
        "`lax.create_token`."
    )
