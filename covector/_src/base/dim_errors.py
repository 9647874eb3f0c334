"""Texts of errors of symbolic dimensions: those of covector.export's symbolic shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def scopes_mixed(when: str, first: Any, second: Any, places: Sequence[str] = ("", "")) -> str:
    described = places[0] and f" (from {places[0]})", places[1] and f" ({places[1]})"
    return (
        f"Invalid mixing of symbolic scopes {when}.\nExpected current{described[0]} scope "
        f"{first.scope} of '{first}'\nand found for '{second}'{described[1]} scope "
        f"{second.scope}.\nDimensions are compared within one scope: write all shapes in one "
        "`symbolic_shape` or `symbolic_args_specs`, or pass them the same `scope`."
    )


def inconclusive(comparison: str, scope: object) -> str:
    return (
        f"Symbolic dimension comparison {comparison} is inconclusive: the answer depends on the "
        f"values of the dimension variables.\n{_ADVICE}\nThe scope is {scope}."
    )


_ADVICE = (
    "If it has one answer for all values that you want, say so where the shapes are made, as in "
    'symbolic_shape("a, b", constraints=["a >= b"]); else write the function without the question, '
    "or export it for constant shapes."
)


def not_constant(dim: object) -> str:
    return (
        f"Symbolic dimension '{dim}' was used where a constant is needed, such as in `range`, "
        "`int`, NumPy or an index. Use operations on whole arrays, `jnp.arange`, or `lax.fori_loop`"
        "; or export the function for a constant in its place."
    )


def division_by_zero(divisor: object) -> str:
    return (
        f"Possible division by 0 in division by {divisor}. Add a constraint by which it is "
        f'positive, such as "{divisor} >= 1".'
    )


def not_an_integer(operation: str, value: object) -> str:
    return f"Symbolic dimension {operation} not supported for {value!r}: it needs an integer."


# ---------------------------------------------------------------- constraints


def constraints_not_a_sequence(constraints: object) -> str:
    return (
        "[SymbolicScope] The symbolic constraints should be a sequence of strings, but are "
        f"{constraints!r}. Put the constraint into a list."
    )


def constraint_not_a_string(constraint: object) -> str:
    return (
        f"[SymbolicScope] A constraint must be a string, but one is {constraint!r}. Write "
        '"a >= b", "a <= b" or "a == b".'
    )


def constraint_without_comparison(constraint: str) -> str:
    return (
        "[SymbolicScope] Constraint parsing error: must contain one of '==' or '>=' or '<=', which "
        f"'{constraint}' does not."
    )


def unsatisfiable(constraint: str, is_trivial: bool) -> str:
    kind = "explicit constraint" if is_trivial else "constraint"
    return (
        f"[SymbolicScope] Unsatisfiable {kind}: {constraint}. No values of the variables, which "
        "are 1 at least, satisfy it together with those before it."
    )


def equality_of_several_terms(constraint: str) -> str:
    return (
        f"[SymbolicScope] Invalid equality constraint: {constraint}. The left-hand-side must be of "
        "the form `term * coefficient`: it is what the right-hand side takes the place of."
    )


def equalities_of_one_term(term: str) -> str:
    return (
        "[SymbolicScope] Found multiple equality constraints with the same left-hand-side: "
        f"{term}. Put what they say of it into one."
    )


def scope_and_constraints(where: str) -> str:
    return (
        f"[{where}] Cannot specify both a `scope` and `constraints`. Give the constraints to "
        "`SymbolicScope`."
    )


# ---------------------------------------------------------------- shapes as text


def shape_not_text(where: str, shape: object) -> str:
    return f"[{where}] A symbolic shape is given as a string or None, but this is {shape!r}."


def syntax(shape: str | None, position: int, detail: str, done: str, rest: str) -> str:
    return (
        f"[symbolic_shape] syntax error in symbolic shape {shape!r} in dimension {position}: "
        f"{detail}. Parsed '{done}', remaining '{rest}'. A shape is written as in "
        '"batch, 2*n + 1, floordiv(m, 3), _, ...".'
    )


# ---------------------------------------------------------------- values of variables


def unknown_variable(name: str, constraint: str) -> str:
    return (
        f"[export] Encountered dimension variable '{name}' that is not appearing in the shapes of "
        f"the function arguments, in the constraint {constraint}. Leave the constraint out, or "
        "pass an argument of which it is a dimension."
    )


def unsolvable(names: Sequence[str], specs: str, left: str) -> str:
    return (
        f"[export] Cannot solve for values of dimension variables {{{', '.join(names)}}}. We can "
        f"only solve linear uni-variate constraints. Using the following polymorphic shapes "
        f"specifications: {specs}. Unprocessed specifications: {left}. Pass another argument with "
        "the variable alone as a dimension."
    )


_DO_NOT_MATCH = "Input shapes do not match the polymorphic shapes specification."


def remainder_left(remainder: object, name: str, specs: str, solution: str) -> str:
    return (
        f"{_DO_NOT_MATCH} Division had remainder {remainder} when computing the value of '{name}'. "
        f"Using the following polymorphic shapes specifications: {specs}. Obtained dimension "
        f"variables: {solution}."
    )


def below_one(name: str, specs: str, solution: str) -> str:
    return (
        f"{_DO_NOT_MATCH} Expected value >= 1 for dimension variable '{name}'. Using the following "
        f"polymorphic shapes specifications: {specs}. Obtained dimension variables: {solution}, "
        "which is too small, or not known to be large enough."
    )


def sizes_inconsistent(
    place: str, size: object, want: object, value: object, specs: str, solution: str
) -> str:
    return (
        f"{_DO_NOT_MATCH} Found inconsistency between dimension size {place} (= {size}) and the "
        f"specification '{want}' (= {value}). Using the following polymorphic shapes "
        f"specifications: {specs}. Obtained dimension variables: {solution}."
    )


def constraint_violated(
    constraint: str, diff: object, relation: str, value: object, specs: str, solution: str
) -> str:
    return (
        f"Input shapes do not match the symbolic shape constraint {constraint}. Expected '{diff}' "
        f"to be {relation} to 0, but found {value}. Using the following polymorphic shapes "
        f"specifications: {specs}. Obtained dimension variables: {solution}."
    )


# ---------------------------------------------------------------- lowering


def op_needs_constants(op: str, shapes: Sequence[object]) -> str:
    return (
        f"[export] The operation {op} is needed for the shapes {', '.join(map(str, shapes))}, and "
        "it has no form for symbolic dimensions. Export the function for constant sizes there."
    )
