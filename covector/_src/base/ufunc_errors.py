"""The wording of errors of `numpy.vectorize` and of the methods of ufuncs."""

from __future__ import annotations

from collections.abc import Sequence

Shape = Sequence[int]

# ---------------------------------------------------------------- vectorize


def not_a_signature(signature: object) -> str:
    return (
        f"[vectorize] {signature!r} is not a valid gufunc signature. Write the core dimensions of "
        "each argument and result by name, as in '(n,m),(m)->(n)'; '()' is a scalar."
    )


def excluded_type(excluded: object) -> str:
    return (
        "[vectorize] jax.numpy.vectorize can only exclude arguments by position or name, integers "
        f"or strings, but excluded={excluded!r}."
    )


def excluded_negative(excluded: object) -> str:
    return (
        f"[vectorize] excluded={excluded!r} contains negative numbers. Count positions from the "
        "first argument, which is 0."
    )


def argument_count(expected: int, given: int, context: str) -> str:
    return (
        f"[vectorize] wrong number of positional arguments: there are {given}, but the signature "
        f"has {expected}; {context}."
    )


def none_with_core_dims(positions: set[int], signature: object) -> str:
    return (
        f"[vectorize] Cannot pass None at locations {positions} with {signature=}: only for a "
        "scalar, '()', may None stand. Exclude the argument."
    )


def too_few_dims(shape: Shape, core: tuple[str, ...], context: str) -> str:
    return (
        f"[vectorize] An input with shape {tuple(shape)} does not have enough dimensions for its "
        f"core dimensions {core}; {context}."
    )


def core_size(name: str, known: int, size: int, context: str) -> str:
    return (
        f"[vectorize] There is an inconsistent size for core dimension {name!r}: it is {known} in "
        f"one place and {size} in another; {context}."
    )


def loop_shapes(shapes: Sequence[Shape], context: str) -> str:
    listed = ", ".join(str(tuple(shape)) for shape in shapes)
    return (
        f"[vectorize] The dimensions in front of the core dimensions, {listed}, do not broadcast "
        f"against each other; {context}."
    )


def result_not_tuple(count: int, result: object, context: str) -> str:
    return (
        f"[vectorize] The output must be a tuple of {count} arrays, but the function returned one "
        f"{type(result).__name__}; {context}."
    )


def result_count(expected: int, found: int, context: str) -> str:
    return (
        f"[vectorize] wrong number of output arguments: the function returned {found}, but the "
        f"signature has {expected}; {context}."
    )


def result_shape(shape: Shape, core: tuple[str, ...], context: str) -> str:
    return (
        f"[vectorize] The output shape {tuple(shape)} does not match its core dimensions {core}; "
        f"{context}."
    )


# ---------------------------------------------------------------- methods of ufuncs


def not_binary(method: str, name: str, nin: int, nout: int) -> str:
    return (
        f"[{name}.{method}] Only ufuncs of two arguments with one result have `{method}`; "
        f"{name} has {nin} and {nout}."
    )


def at_in_place(name: str) -> str:
    return (
        f"[{name}.at] Arrays are immutable. Give inplace=False and use the result: "
        f"`x = jnp.{name}.at(x, ..., inplace=False)`."
    )


def at_operands(name: str, nin: int, given: int) -> str:
    return f"[{name}.at] {name} takes {nin} arguments, but {given} were given to be applied."


def mask_needs_initial(name: str) -> str:
    return (
        f"[{name}.reduce] Where no element takes part there is no result, since {name} has no "
        "identity: with `where`, give `initial` too."
    )


def mask_not_boolean(name: str, dtype: object) -> str:
    return (
        f"[{name}.reduce] The argument `where` must be of booleans, got {dtype}. Write a "
        "comparison, such as `mask != 0`."
    )


def nothing_to_reduce(name: str, shape: Shape) -> str:
    return (
        f"[{name}.reduce] In an array of shape {tuple(shape)} there is no element along the axis, "
        f"and {name} has no identity. Give `initial`."
    )


def one_axis_needed(name: str, method: str, axis: object) -> str:
    return f"[{name}.{method}] The axis must be one integer, got {axis!r}."


def reduceat_shapes(name: str, shape: Shape, indices: Shape) -> str:
    return (
        f"[{name}.reduceat] The array needs a dimension, and the indices must be a vector; their "
        f"shapes are {tuple(shape)} and {tuple(indices)}."
    )
