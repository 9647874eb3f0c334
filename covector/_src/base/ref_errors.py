"""The wording of errors about mutable references."""

from __future__ import annotations

from collections.abc import Sequence


def ref_returned(traced: str, function: str, aval: object, origin: str) -> str:
    made = f"It {origin}. " if origin else ""
    return (
        f"[{traced}] the function {function} traced for {traced} returned a mutable array "
        f"reference of type {aval}, which no function may do.\n\n{made}Return what it holds: "
        "`freeze(ref)` or `ref[...]`."
    )


def not_a_ref(where: str, value: object) -> str:
    return (
        f"[{where}] The first argument must be a `Ref`, but it is {value!r} of type "
        f"{type(value).__name__}. Make one with `new_ref`."
    )


def not_an_initial_value(value: object) -> str:
    return (
        f"[new_ref] A reference holds one array, but the initial value is {value!r} of type "
        f"{type(value).__name__}. Pass an array or a number, or map `new_ref` over a tree."
    )


def not_an_array(where: str, aval: object) -> str:
    return (
        f"[{where}] An operand is a mutable reference of type {aval}, and not an array. Pass what "
        "it holds: `ref[...]`."
    )


def no_type(value: object) -> str:
    return (
        f"[empty_ref] The type must have a shape and a dtype, but it is {value!r}. Pass a "
        "`ShapeDtypeStruct`."
    )


def freed(aval: object) -> str:
    return f"[Ref] The reference of type {aval} was freed, and holds nothing any more."


def escaped(aval: object) -> str:
    return (
        f"[Ref] A reference of type {aval} was used after the transformation that it was made "
        "under has ended. Make it outside, and pass it as an argument, to use it later."
    )


def wrong_dtype(where: str, ref: object, value: object) -> str:
    return (
        f"[{where}] Invalid dtype for `swap`: a value of dtype {value} cannot be written to a "
        f"reference of dtype {ref}. Convert it: `value.astype({ref})`."
    )


def wrong_shape(where: str, ref: object, part: Sequence[int], value: Sequence[int]) -> str:
    return (
        f"[{where}] Invalid shape for `swap`: a value of shape {tuple(value)} does not broadcast "
        f"to the part of shape {tuple(part)} of a reference of type {ref}. Reshape the value."
    )


def deeper_value(what: str, transformed: str, aval: object) -> str:
    """`what` the value is: `"vmapped"` or `"differentiated"`."""
    unknown = {"vmapped": "an unbatched", "differentiated": "a non-differentiated"}[what]
    return (
        f"[Ref] set/swap operation with {what} value on {unknown} array reference of type {aval}. "
        f"Move the array reference into the arguments of the {transformed} function, or make it "
        "there."
    )


def aliased(where: str, aval: object, names: Sequence[str]) -> str:
    places = " and ".join(names)
    return (
        f"[{where}] only one reference to a mutable array may be passed as an argument to a "
        f"function, but the mutable array reference of type {aval} appeared at both {places}. "
        "Pass it once, and use that argument in both places."
    )


def closed_over_and_passed(where: str, aval: object, name: str) -> str:
    return (
        f"[{where}] a mutable array reference of type {aval} was both closed over and passed as "
        f"the argument {name}. Use the argument only."
    )


def not_in_programs(primitive: str, platform: str) -> str:
    return (
        f"[{primitive}] A mutable reference is used within an operation that is not defined for "
        f"functions with references, in a program for {platform}. Read it before, and write to it "
        "after the operation; jit, scan, while_loop, cond and checkpoint do so by themselves."
    )


def not_with_refs(where: str, name: str) -> str:
    return (
        f"[{where}] {name} takes or closes over a mutable array reference, which {where} does not "
        "support. Pass it the array, `ref[...]`, and write its result to the reference afterwards."
    )


def written_by_condition() -> str:
    return (
        "[while_loop] The condition writes to a mutable reference. Write in the body, and let the "
        "condition only read."
    )


def residual_ref(name: str, aval: object) -> str:
    return (
        f"[custom_vjp] The custom_vjp fwd function {name} returned a mutable array reference of "
        f"type {aval} among its residuals that it was not given. It may return those that are "
        "arguments; of others return what they hold, `freeze(ref)`."
    )


def passed_to_rules(where: str, name: str) -> str:
    return (
        f"[{where}] {name} takes or closes over a mutable array reference, and is called within a "
        "branch or a `while_loop`, where its rules are lost; so nothing can be differentiated in "
        "it. Call it outside, or pass arrays."
    )


def no_destination(value: object) -> str:
    return (
        f"[with_refs] Each argument has a `Ref`, `ad.GradValue()` or `ad.DontWant()` for its "
        f"cotangent, but one has {value!r}."
    )


def slice_beside_array(index: object) -> str:
    return (
        f"[Ref] A slice whose start is traced stands beside arrays or steps in the index {index}. "
        "Read it in two steps: `ref.at[slice][array]`."
    )
