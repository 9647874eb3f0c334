"""The wording of errors about the arguments and results of transformed functions."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from typing import Any

from .dtypes import name as dtype_name
from .tree_errors import describe, mismatches
from .tree_keys import keystr

# ---------------------------------------------------------------- words


def function(fun: Any) -> str:
    """A function as its user knows it: its name, and where it is defined."""
    code = getattr(inspect.unwrap(fun), "__code__", None)
    name = getattr(fun, "__name__", None) or repr(fun)
    return f"{name} ({code.co_filename}:{code.co_firstlineno})" if code is not None else name


def _shortened(x: Any, limit: int = 80) -> str:
    text = repr(x)
    return text if len(text) <= limit else text[: limit - 3] + "..."


def _difference(first: Any, first_name: str, second: Any, second_name: str) -> str:
    """Where two tree structures part, in words."""
    for path, ours, theirs in mismatches(first, second, prefix=False):
        place = f"At {keystr(path)}" if path else "At the root"
        return f"{place}, {first_name} {describe(ours)}, and {second_name} {describe(theirs)}."
    return f"{first_name} {first}, and {second_name} {second}."


def not_callable(where: str, fun: Any) -> str:
    return (
        f"[{where}] the first argument must be a function, but it is {_shortened(fun)}. "
        f"Expected a callable value, not one of type {type(fun)}."
    )


def static_method(where: str) -> str:
    return (
        f"[{where}] staticmethod arguments are not supported, as they cannot be called while their "
        f"class is made. Write `@staticmethod` above `@{where}`."
    )


def generator_function(where: str, fun: Any) -> str:
    return (
        f"[{where}] Expected a function, got a generator function: {_shortened(fun)}. Return a "
        "list or tuple instead of yielding its items."
    )


def coroutine_function(where: str, fun: Any) -> str:
    return (
        f"[{where}] Expected a function, got a coroutine function: {_shortened(fun)}. Write it "
        "without `async`: operations return before their results are there, so that nothing has to "
        "be awaited."
    )


def reduce_axes_given(where: str) -> str:
    return (
        f"[{where}] reduce_axes is no longer supported. Sum over a named axis in the function "
        "itself, with lax.psum."
    )


# ---------------------------------------------------------------- which arguments


def argnums_not_integers(where: str, argnums: Any) -> str:
    return (
        f"[{where}] argnums must be an integer or a sequence of integers, but it is "
        f"{argnums!r} of type {type(argnums).__name__}."
    )


def argnums_beyond_arguments(where: str, argnums: Any, count: int, fun: Any) -> str:
    positions = (argnums,) if isinstance(argnums, int) else argnums
    needed = max(n + 1 if n >= 0 else -n for n in positions)
    given = "one positional argument" if count == 1 else f"{count} positional arguments"
    return (
        f"[{where}] differentiating with respect to argnums={argnums!r} requires at least "
        f"{needed} positional arguments to be passed by the caller, but got only {count} "
        f"positional arguments: {function(fun)} was called with {given}. Positions count from "
        "0, or from -1 backwards; arguments passed by keyword have none."
    )


def argnums_repeat(where: str, argnums: Any, count: int) -> str:
    return (
        f"[{where}] argnums={argnums!r} names an argument twice in a call with {count} positional "
        "arguments. Give each position once."
    )


# ---------------------------------------------------------------- inputs


def input_not_an_array(where: str, fun: Any, name: str, x: Any) -> str:
    return (
        f"[{where}] the argument {name} of {function(fun)}: {_shortened(x)} of type {type(x)} is "
        "not a valid JAX type, neither an array nor a number. Close over it, or leave it out of "
        "the arguments that are transformed."
    )


def input_not_inexact(where: str, fun: Any, name: str, dtype: Any, allow_int: str) -> str:
    return (
        f"[{where}] {where} requires real- or complex-valued inputs (input dtype that is a "
        f"sub-dtype of np.inexact), but got {dtype_name(dtype)}: the argument {name} of "
        f"{function(fun)}. In integers nothing varies continuously. Convert it to a "
        f"floating-point dtype, or choose other arguments with argnums{allow_int}."
    )


ALLOW_INT = ", or pass allow_int=True to get a derivative of dtype float0"


def input_not_complex(where: str, fun: Any, name: str, dtype: Any) -> str:
    return (
        f"[{where}] {where} with holomorphic=True requires inputs with complex dtype, but got "
        f"{dtype_name(dtype)}: the argument {name} of {function(fun)}. Convert it to a complex "
        "dtype, or leave holomorphic out."
    )


def input_not_real(where: str, fun: Any, name: str, dtype: Any) -> str:
    return (
        f"[{where}] {where} requires real-valued inputs (input dtype that is a sub-dtype of "
        f"np.floating), but got {dtype_name(dtype)}: the argument {name} of {function(fun)}. The "
        "columns of a Jacobian are directions in real space. Pass holomorphic=True if the "
        "function is holomorphic, use jacrev if its results are real, or take single directions "
        "with jvp."
    )


# ---------------------------------------------------------------- outputs


def no_aux_pair(where: str, fun: Any, result: Any) -> str:
    if isinstance(result, (tuple, list)):
        found = f"a {type(result).__name__} of length {len(result)}"
    else:
        found = f"a single {type(result).__name__}"
        if hasattr(result, "aval"):
            found = f"a single array of type {result.aval}"
    return (
        f"[{where}] with has_aux=True, {function(fun)} must return a two-element tuple "
        f"(result, auxiliary objects), but it returned {found}."
    )


def result_not_an_array(where: str, fun: Any, path: str, x: Any, may_have_aux: bool) -> str:
    place = f" at {path}" if path else ""
    lead = "Output from batched function: " if where == "vmap" else ""
    aux = ", or, with has_aux=True, a pair whose second item may hold other objects"
    return (
        f"[{where}] {lead}{function(fun)} returned {_shortened(x)} of type "
        f"{type(x).__name__}{place}, which is not a valid JAX type. Return arrays "
        f"only{aux * may_have_aux}."
    )


def output_not_one_array(where: str, fun: Any, result: Any) -> str:
    if result is None:
        found, advice = "None", "Does it lack a return statement?"
    else:
        kind = type(result).__name__
        found = f"a {kind} ({_shortened(result)})"
        advice = "Return a single array of shape ()."
        if isinstance(result, (tuple, list)) and len(result) == 2:
            advice += " If the second item is not to be differentiated, pass has_aux=True."
    return (
        f"Gradient only defined for scalar-output functions. [{where}] {function(fun)} returned "
        f"{found}. "
        f"{advice}"
    )


def output_not_scalar(where: str, fun: Any, shape: tuple[int, ...]) -> str:
    if all(size == 1 for size in shape):
        advice = "Drop its dimensions with `.squeeze()`"
    else:
        advice = "Reduce it, as with `.sum()` or `.mean()`"
    return (
        f"Gradient only defined for scalar-output functions. [{where}] {function(fun)} returned an "
        f"array of shape {shape}. {advice}, or use jacrev for the derivatives of all its elements."
    )


def output_not_real(where: str, fun: Any, dtype: Any) -> str:
    name = dtype_name(dtype)
    if name.startswith("complex"):
        advice = (
            "Pass holomorphic=True if the function is holomorphic; otherwise take the derivative "
            "of a real part, or use vjp, which takes a complex cotangent."
        )
    else:
        advice = "Its derivative is zero everywhere; convert the result to a floating-point dtype."
    return (
        f"[{where}] {where} requires real-valued outputs (output dtype that is a sub-dtype of "
        f"np.floating), but got {name} from {function(fun)}. {advice}"
    )


def output_not_complex(where: str, fun: Any, dtype: Any) -> str:
    return (
        f"[{where}] {where} with holomorphic=True requires outputs with complex dtype, but got "
        f"{dtype_name(dtype)} from {function(fun)}. A real function of a complex variable "
        "is holomorphic only if it is constant: leave holomorphic out."
    )


# ---------------------------------------------------------------- tangents and cotangents


def primals_and_tangents_not_tuples(primals: Any, tangents: Any) -> str:
    return (
        "[jvp] primal and tangent arguments to jax.jvp must be tuples or lists; found "
        f"{type(primals).__name__} and {type(tangents).__name__}. "
        "They have one item for each argument of the function: for one, write `jvp(f, (x,), (t,))`."
    )


def tangent_structure(where: str, primals: Any, tangents: Any) -> str:
    difference = _difference(primals, "the primals have", tangents, "the tangents")
    return (
        f"[{where}] primal and tangent arguments to jax.{where} must have the same tree structure. "
        f"{difference}"
    )


_LINEARIZED = (
    "linearized function called on tangent values inconsistent with the original primal values: "
)


def tangent_type(where: str, name: str, primal: Any, want: Any, got: Any) -> str:
    shapes_differ = want.shape != got.shape
    lead = _LINEARIZED if where == "linearize" else ""
    if where == "jvp" and shapes_differ:
        lead = "jvp called with different primal and tangent shapes: "
    elif where == "jvp":
        lead = "primal and tangent arguments to jax.jvp do not match: "
    given = (
        f"[{where}] {lead}the argument {name} is of type {primal}, but its tangent is of type {got}"
    )
    if shapes_differ:
        return f"{given}. A tangent has the shape of its primal, here {want.shape}."
    if dtype_name(want.dtype) == "float0":
        return (
            f"{given}. In integers and booleans nothing varies: their tangent has dtype float0, as "
            f"`numpy.zeros({want.shape}, covector.dtypes.float0)`."
        )
    return f"{given}. A tangent has the dtype of its primal, here {dtype_name(want.dtype)}."


def cotangent_structure(where: str, fun_name: str, results: Any, cotangents: Any) -> str:
    difference = _difference(results, f"{fun_name} returned", cotangents, "the cotangents have")
    return (
        f"[{where}] unexpected tree structure: the cotangent tree does not match that of the "
        f"function's results. {difference}"
    )


def cotangent_type(where: str, fun_name: str, path: str, result: Any, want: Any, got: Any) -> str:
    place = f" at {path}" if path else ""
    advice = f"It must be of type {want}"
    if dtype_name(want.dtype) == "float0":
        advice += ", as no result that is an integer or boolean varies"
    return (
        f"[{where}] unexpected JAX type: the cotangent type does not match that of the result "
        f"it is for. The cotangent{place} is {got}, where {fun_name} returned {result}. {advice}."
    )


def cotangents_not_one_tree(where: str, fun_name: str, count: int) -> str:
    name = fun_name.split(" (")[0]
    return (
        f"[{where}] the pullback applied to {name} was called with {count} arguments, but it takes "
        "one: the cotangent of the function's result, in the same containers. Of a function that "
        "returns a tuple it takes a tuple, `pullback((ct0, ct1))`."
    )


def not_linear_dtypes(ins: Iterable[Any], outs: Iterable[Any]) -> str:
    given, made = (", ".join(map(dtype_name, dtypes)) for dtypes in (ins, outs))
    return (
        "[linear_transpose] linear_transpose only supports functions that take and return "
        f"either floating-point and complex numbers, or integers; this one takes {given} and "
        f"returns {made}."
    )


def not_linear(fun_name: str, primitive: Any, place: str) -> str:
    made = f" at {place}" if place else ""
    return (
        f"[linear_transpose] {fun_name} is not linear: it applies `{primitive}`{made} to values "
        "that depend on its argument. Compute that part outside of the function, or use vjp."
    )


def not_the_example(fun: Any, example: Any, count: int, given: Any) -> str:
    return (
        "[closure_convert] The inputs to the closure produced by closure_convert for "
        f"{function(fun)} have the structure of the examples, {example}, and then {count} values "
        f"that it closed over, but was called with {given}."
    )


# ---------------------------------------------------------------- vmap


def axes_not_a_tuple(axes: Any) -> str:
    return (
        "[vmap] vmap in_axes must be an int, None, or a tuple of entries corresponding to the "
        f"positional arguments passed to the function, but got {_shortened(axes)}."
    )


def axes_not_integers(what: str, axes: Any) -> str:
    return (
        f"[vmap] vmap {what} must be an int, None, or a tree of these, but it is "
        f"{_shortened(axes)}."
    )


def axes_count(axes: tuple[Any, ...], count: int, fun: Any) -> str:
    return (
        "[vmap] vmap in_axes must be an int, None, or a tuple of entries corresponding to the "
        f"positional arguments passed to the function, but got len(in_axes)={len(axes)}, "
        f"len(args)={count} for {function(fun)}: in_axes={_shortened(axes)}. Arguments passed by "
        "keyword are mapped over their axis 0."
    )


def axis_beyond_rank(fun: Any, name: str, axis: int, aval: Any) -> str:
    rank = axis + 1 if axis >= 0 else -axis
    return (
        f"[vmap] vmap was requested to map its argument along axis {axis}, which implies that "
        f"its rank should be at least {rank}, but is only {len(aval.shape)} (its shape is "
        f"{aval.shape}): the argument {name} of {function(fun)}. Give it None in in_axes to "
        "pass it whole to every example."
    )


def no_axis_size(fun: Any, args: Any, kwargs: Any, all_none: bool) -> str:
    if all_none:
        return (
            f"[vmap] vmap must have at least one non-None value in in_axes, which maps none of the "
            f"arguments of {function(fun)}. Map one, or pass axis_size."
        )
    return (
        "[vmap] vmap wrapped function must be passed at least one argument containing an array or "
        f"axis_size must be specified, got empty *args={args} and **kwargs={kwargs} for "
        f"{function(fun)}."
    )


def axis_sizes_differ(
    fun: Any, axis_size: int | None, mapped: Sequence[tuple[str, int, Any, int]]
) -> str:
    """`mapped` holds the name, axis, aval and size of each argument that is mapped."""
    of_size: dict[int, list[str]] = {}
    for name, axis, aval, size in mapped:
        of_size.setdefault(size, []).append(f"axis {axis} of {name} of type {aval}")
    facts = []
    if axis_size is not None:
        facts.append(f"the `axis_size` argument was {axis_size}")
    # The usual size comes first; what differs from it is likely the mistake.
    sizes = sorted(of_size.items(), key=lambda item: -len(item[1]))
    several = len(sizes) > 1 and len(sizes[0][1]) > len(sizes[1][1])
    for i, (size, places) in enumerate(sizes):
        first, count = places[0], len(places)
        if count == 1:
            facts.append(f"one axis had size {size}: {first}")
        else:
            many = f"most axes ({count} of them)" if several and i == 0 else f"some axes ({count})"
            facts.append(f"{many} had size {size}, e.g. {first}")
    listed = ";\n".join("  * " + fact for fact in facts)
    return (
        f"[vmap] vmap got inconsistent sizes for array axes to be mapped:\n{listed}\nThey are "
        f"arguments of {function(fun)}. Make them equal, or give None in in_axes to what all "
        "examples share."
    )


def result_is_batched(fun: Any, path: str, axis_name: Any) -> str:
    place = f" {path}" if path else ""
    along = f" with axis_name={axis_name}" if axis_name is not None else ""
    return (
        f"[vmap] vmap has mapped output{place} of {function(fun)}{along}, but out_axes is None: "
        f"the result differs between examples. Give the axis along which to stack it, such as 0, "
        f"at vmap out_axes{path}."
    )


def out_axis_beyond_rank(fun: Any, path: str, axis: int, aval: Any) -> str:
    return (
        f"[vmap] out_axes{path}: axis {axis} is out of bounds, as that result of "
        f"{function(fun)} has the type {aval} for each example: axes of the stacked result go "
        f"from {-aval.ndim - 1} to {aval.ndim}."
    )
