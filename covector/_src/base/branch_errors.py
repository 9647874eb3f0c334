"""The wording of errors about branches: `cond`, `switch` and `platform_dependent`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .difference_words import listed, parted, type_difference
from .tree_errors import mismatches
from .tree_keys import KeyPath, keystr

# ---------------------------------------------------------------- arguments


def predicate_is_none() -> str:
    return "[cond] cond predicate is None. Give a boolean, or a number, which holds if nonzero."


def predicate_not_scalar(pred: Any, shape: tuple[int, ...] | None) -> str:
    what = f"type {type(pred)}" if shape is None else f"shape {shape}"
    return (
        f"[cond] Pred must be a scalar, got {pred} of {what}. Choose elementwise with `lax.select` "
        "or `covector.numpy.where`, or map `cond` over the predicates with `vmap`."
    )


def predicate_type(pred: object) -> str:
    return (
        f"[cond] Pred type must be either boolean or number, got {pred}. Compare first, as in "
        "`x != 0`."
    )


def index_not_scalar(index: object, shape: tuple[int, ...]) -> str:
    return (
        f"[switch] Branch index must be scalar, got {index} of shape {shape}. Map `switch` over "
        "the indices with `vmap`."
    )


def index_type(index: object, dtype: object = None) -> str:
    found = f"{index}" if dtype is None else f"{index} as {dtype}"
    return (
        f"[switch] Index type must be an integer, got {found}. Give the number of a branch, "
        "counted from 0."
    )


def no_branches() -> str:
    return "[switch] Empty branch sequence: give one function at least."


def branch_not_callable(where: str, name: str, value: object) -> str:
    return (
        f"lax.{where}: {name} should be callable, but is {value!r} of type {type(value)}. Give "
        "functions of the operands, which return trees of arrays of the same types."
    )


def operand_given_twice(where: str, operand: object, operands: tuple[Any, ...]) -> str:
    return (
        f"[{where}] got operand={operand!r} and positional operands {operands!r}. Pass all "
        "operands by position; the keyword is for a single one."
    )


def platform_unspecific(name: str) -> str:
    return (
        f"[platform_dependent] {name!r} stands for several platforms. Use 'cuda' or 'rocm' for "
        "lax.platform_dependent; one function may be given for both."
    )


def no_branch_for_platform(platforms: object, platform: str) -> str:
    return (
        f"MLIR translation rule for primitive 'platform_index(platforms={platforms})' not found "
        f"for platform {platform}. Give a branch for it, or a `default`."
    )


# ---------------------------------------------------------------- results


def result_trees(
    where: str, names: Sequence[str], funs: Sequence[str], trees: Sequence[Any]
) -> str:
    """How the results of two branches differ in structure.

    Args:
      where: the public function.
      names: what it calls the two branches.
      funs: the users' functions, with their places.
      trees: the treedefs of their results.
    """
    found = []
    for path, first, second in mismatches(trees[0], trees[1], prefix=False):
        *texts, why = parted(first, second, names, "pytree leaf")
        one, other = [f"{name} output{_at(path)} is a {text}" for name, text in zip(names, texts)]
        found.append(f"{one} but {other}, so {why}")
    return (
        f"{where} branch outputs must have the same pytree structure, but they differ:\n\n"
        f"{_who(names, funs)}{listed(found)}\n\nReturn the same containers from both."
    )


def result_types(
    where: str,
    names: Sequence[str],
    funs: Sequence[str],
    differing: Sequence[tuple[KeyPath, Any, Any]],
) -> str:
    """How the results of two branches differ in types: for each leaf its path and two avals."""
    the = "The" if len(differing) == 1 else "the"
    found = [
        f"{the} output of {names[0]}{_at(path)} has type {a.str_short()} but the corresponding "
        f"output of {names[1]} has type {b.str_short()}{type_difference(a, b)}"
        for path, a, b in differing
    ]
    shapes_agree = all(a.shape == b.shape for _, a, b in differing)
    advice = (
        "Convert one of them with `.astype`."
        if shapes_agree
        else "Both branches are parts of one program, so their results have one shape and dtype."
    )
    return (
        f"{where} branches must have equal output types but they differ.\n\n"
        f"{_who(names, funs)}{listed(found)}\n\n{advice}"
    )


def _at(path: KeyPath) -> str:
    return f" at path {keystr(path)}" if path else ""


def _who(names: Sequence[str], funs: Sequence[str]) -> str:
    return "".join([f"{name} is {fun}\n" for name, fun in zip(names, funs)]) + "\n"


# ---------------------------------------------------------------- jaxprs from other hands


def not_jaxprs(branches: object) -> str:
    return (
        f"invalid cond param branches of type {type(branches).__name__}, tuple of ClosedJaxpr "
        f"required: {branches}"
    )


def branches_do_not_agree(index: int, what: str, first: object, other: object) -> str:
    return f"cond branches 0 and {index} have mismatching {what} types: {first} vs {other}"


def index_not_int32(aval: object) -> str:
    return f"cond called with index of type {aval} instead of int32"
