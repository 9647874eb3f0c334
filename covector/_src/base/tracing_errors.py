"""The wording of errors about tracing, about traced values that escape, and about jaxprs."""

from __future__ import annotations

from collections.abc import Collection, Sequence

# ---------------------------------------------------------------- tracing


def result_not_an_array(traced: str, path: str, result: object) -> str:
    place = f" at output component {path}" if path else ""
    return (
        f"[{traced}] the function returned a value of type {type(result)}{place}, which is not a "
        f"valid JAX type: {result!r}. Return arrays and Python numbers, in tuples, lists and dicts."
    )


def not_a_batch_of(aval: object, axis: int, size: int) -> str:
    return (
        f"[mapped_aval] dimension {axis} of {aval} is not of size {size}: it cannot be the "
        "dimension of a batch of so many examples."
    )


def value_not_known(aval: object, origin: str, needed_for: str) -> str:
    made = f" It was made {origin}." if origin else ""
    return (
        f"Abstract tracer value encountered where concrete value is expected: a traced array of "
        f"type {aval}. {needed_for}{made} Make the argument it depends on static "
        "(static_argnums or static_argnames of jit), or keep the choice in the program with "
        "`lax.cond`, `lax.while_loop` or `covector.numpy.where`."
    )


def scope_not_a_string(name: object) -> str:
    return f"[named_scope] the name of a scope must be a string, but it is {name!r}."


def leaked_tracers(transform: str, leaks: Sequence[tuple[object, str, str]]) -> str:
    """`leaks` holds for each traced value its type, its origin, and who holds it."""
    lines = []
    for aval, origin, holder in leaks:
        made = f" made {origin}," if origin else ""
        lines.append(f"  - a value of type {aval},{made} held by {holder or 'an unknown object'}")
    listed = "\n".join(lines)
    return (
        f"[checking_leaks] Leaked tracers: {len(leaks)} traced value(s) outlived "
        f"{transform}, which made them:\n{listed}\n"
        "  A traced value stands for an array only while its function is being transformed. "
        "Return it from the function instead of storing it."
    )


# ---------------------------------------------------------------- jaxprs that are not well typed


def wrong_eqn(index: int, text: str, place: str, fact: str) -> str:
    origin = f" from {place}" if place else ""
    return f"[check_jaxpr] in eqn {index}, `{text}`{origin}: {fact.removeprefix('[check_jaxpr] ')}"


def bound_twice(role: str, name: str) -> str:
    return f"[check_jaxpr] the {role} {name} is bound twice; bind a new variable."


def read_unbound(role: str, name: str) -> str:
    return f"[check_jaxpr] the {role} {name} is read, but no input or earlier eqn binds it."


def dropped_is_read(role: str) -> str:
    return (
        f"[check_jaxpr] the {role} `_` is read; bind the result to a `Var` instead of a `DropVar`."
    )


def not_an_atom(role: str, value: object) -> str:
    return (
        f"[check_jaxpr] the {role} {value!r} is of type {type(value)}; it must be a `Var` or a "
        "`Literal`."
    )


def not_a_literal(value: object, aval: object) -> str:
    return (
        f"[check_jaxpr] the literal {value!r} is no scalar of the type {aval} that it claims to "
        "have; arrays are constants, bound to constvars."
    )


def operands_rejected(reason: str) -> str:
    return f"the rule of its primitive rejects the operands: {reason}"


def wrong_operand_count(expected: int, given: int) -> str:
    return f"its jaxpr takes {expected} operands, but the eqn has {given}."


def wrong_operand_type(index: int, expected: object, given: object) -> str:
    return f"its jaxpr takes {expected} for operand {index}, but the eqn has {given} there."


def wrong_result_count(bound: int, made: int) -> str:
    return f"it binds {bound} variables, but its primitive makes {made} values."


def wrong_result_type(name: str, bound: object, made: object) -> str:
    return f"it binds {name} of type {bound} to a value of type {made}."


def wrong_effects(given: Collection[object], expected: Collection[object]) -> str:
    return f"it has the effects {_listed(given)}, but its primitive gives {_listed(expected)}."


def effects_not_declared(effects: Collection[object], declared: Collection[object]) -> str:
    return f"it has the effects {_listed(effects)}, but the jaxpr declares {_listed(declared)}."


def wrong_const_count(constvars: int, consts: int) -> str:
    return f"[check_jaxpr] the jaxpr has {constvars} constvars, but there are {consts} constants."


def wrong_const_type(index: int, expected: object, given: object) -> str:
    return (
        f"[check_jaxpr] constant {index} is of type {given}, but its constvar is of type "
        f"{expected}."
    )


def _listed(effects: Collection[object]) -> str:
    return "{" + ", ".join(sorted(map(str, effects))) + "}"
