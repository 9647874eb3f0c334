"""The wording of errors about arrays, and traced values, that are asked for a Python value."""

from __future__ import annotations

from typing import Any

FOR_BOOL = "as a condition: in `if`, `while`, `and`, `or`, `not`, `assert` or `bool()`"
FOR_INDEX = "as a Python integer: as an index, a size, or in `range`"
FOR_FORMAT = "as a number in a text, with a format as in `{x:.2f}`"


def for_number(kind: str) -> str:
    return f"as a Python number, by `{kind}()`"


def for_method(name: str) -> str:
    return f"as a Python value, by the method `{name}`"


_INSTEAD = {
    FOR_BOOL: (
        "choose between values with `jnp.where`, between computations with `lax.cond` or "
        "`lax.while_loop`"
    ),
    FOR_INDEX: "index arrays instead of lists, and loop with `lax.fori_loop`",
    FOR_FORMAT: "let `debug.print` write the text when the number is known",
}


_CONCRETE = "Abstract tracer value encountered where concrete value is expected"

_LEAD = {
    FOR_BOOL: "Attempted boolean conversion of a traced array",
    FOR_INDEX: "The __index__() method was called on traced array",
}


def value_unknown(aval: Any, needed_for: str, origin: str) -> str:
    name = needed_for.partition("`")[2].partition("`")[0].removesuffix("()")
    if needed_for == for_method(name):
        lead = f"{_CONCRETE}. The {name}() method was called on traced array"
        instead = "return the array, and call the method outside"
    else:
        lead = _LEAD.get(needed_for, f"{_CONCRETE}: a traced array")
        instead = _INSTEAD.get(needed_for, f"convert its dtype: try using `x.astype({name})`")
    return (
        f"{lead} with shape {aval.str_short()}. It was used {needed_for}. {origin}\n"
        f"  Either make the argument static (static_argnums or static_argnames of jit), or "
        f"{instead}."
    )


def no_numpy_array(aval: object, origin: str) -> str:
    return (
        "The numpy.ndarray conversion method __array__() was called on a traced array of type "
        f"{aval}, but NumPy cannot take part in a transformation. {origin}\n"
        "  Either use the function of `covector.numpy` instead of that of `numpy`, or, under jit, "
        "make the argument static (static_argnums or static_argnames)."
    )


def ambiguous_truth(aval: Any) -> str:
    if not aval.size:
        return (
            f"The truth value of an empty array is ambiguous. This one is of type {aval}: ask for "
            "`x.size > 0` to see whether it has elements."
        )
    return (
        f"The truth value of an array with more than one element is ambiguous. This one is of type "
        f"{aval}: use `x.any()` or `x.all()`."
    )


def not_a_scalar(kind: str, aval: object) -> str:
    return (
        f"Only scalar arrays can be converted to Python scalars; `{kind}()` got one of type "
        f"{aval}. Use `x.item()` for the one element of an array, `x.tolist()` for all."
    )


def not_an_index(aval: object) -> str:
    return (
        f"Only integer scalar arrays can be converted to a scalar index, but this one is of type "
        f"{aval}."
    )


def no_length() -> str:
    return "len() of unsized object: the array has no dimensions."


def not_iterable() -> str:
    return "iteration over a 0-d array: it has no dimensions. Use `x.item()` for its number."


def immutable() -> str:
    return (
        "Arrays are immutable and do not support in-place item assignment. Instead of "
        "`x[index] = y` write `x = x.at[index].set(y)`."
    )


def no_deletion() -> str:
    return (
        "Arrays are immutable and do not support the deletion of elements. Instead of `del x[i]` "
        "write `x = jnp.delete(x, i)`."
    )


def no_sharding(aval: object) -> str:
    return (
        f"A traced array, here of type {aval}, lies on no device and has no attribute `sharding`. "
        "What is known of it, `covector.typeof(x)` tells."
    )


def no_flat() -> str:
    return "Arrays have no property `flat`; use `x.ravel()` for the elements in one dimension."


def unsupported_operands(symbol: str, left: str, right: str) -> str:
    return (
        f"unsupported operand type(s) for {symbol}: {left!r} and {right!r}. Make an array of the "
        "latter first: `jnp.array(...)`."
    )


def pow_with_modulus() -> str:
    return "pow() with three arguments is not supported for arrays. Use `x ** y % z`."


def no_truth(dtype: object) -> str:
    return (
        f"key array cannot be converted to boolean: an array of dtype {dtype} is neither true nor "
        "false. Compare it with another one: `x == y`."
    )
