"""Messages for those who add primitives of their own."""

from __future__ import annotations

from collections.abc import Sequence


def not_an_operand(name: str, position: int, x: object) -> str:
    return (
        f"[{name}] The operand at position {position} is of type {type(x)}, which is no array. "
        "Operands are arrays, NumPy arrays and numbers; give other values to `bind` by name, as "
        "parameters."
    )


def results_not_as_declared(name: str, multiple_results: bool, out: object) -> str:
    wanted = f"{name}.abstract_eval() method should return a tuple or list of types"
    if multiple_results:
        return f"{wanted}, one a result: `multiple_results` is True, but it returned {out!r}."
    return (
        f"{wanted} only if `multiple_results` is True. It is False, and the rule returned "
        f"{len(out)} types: return one type, or set `multiple_results` to True."  # type: ignore[arg-type]
    )


def wrong_lowering_results(name: str, got: Sequence[object], want: Sequence[object]) -> str:
    return (
        f"[lowering of {name}] The rule returned values of the types "
        f"[{', '.join(map(str, got))}], but the results of the eqn have the types "
        f"[{', '.join(map(str, want))}]. Return one MLIR value for each result, and let the "
        "abstract evaluation rule give the same shapes and dtypes."
    )


def unknown_platform(name: str, platform: str, known: Sequence[str]) -> str:
    return (
        f"[register_lowering] There is no platform {platform!r} for which to lower {name}. "
        f"Platforms are {', '.join(known)}; leave `platform` out for a rule that holds for all."
    )


def not_a_primitive(table: str, key: object) -> str:
    return (
        f"[{table}] The key {key!r} of type {type(key).__name__} is no primitive. Use the "
        "primitive itself, such as `covector.lax.sin_p`."
    )


def wrong_cotangent_count(name: str, got: object, want: int) -> str:
    found = f"{len(got)} cotangents" if isinstance(got, (list, tuple)) else f"{got!r}"
    return (
        f"[transpose of {name}] The rule returned {found} for {want} operands. Return a sequence "
        "with one entry for each operand: the cotangent of a linear one, None for the others."
    )


def no_linear_operand(name: str, which: str) -> str:
    return (
        f"[transpose of {name}] The primitive is linear in each of its two operands, but not in "
        f"both together, and here {which} of them depend on what is transposed."
    )


def no_samples(name: str) -> str:
    return (
        f"[check_primitive] There are no samples of {name}. Give some, as in "
        "`check_primitive(p, samples=[(x, y), ...])`, or give the primitive a method "
        "`samples(rng)` that yields `covector.testing.Sample`s."
    )


def stored_twice(old: object, new: object) -> str:
    return (
        f"[linear_util] A store that holds {old!r} was to be filled with {new!r}: the function ran "
        "again with another result. Wrap it anew for each use."
    )


def not_one_stored(count: int) -> str:
    return f"Of the two stores one must have been filled, but {count} have been."


def nothing_stored() -> str:
    return "[linear_util] The store is empty: the function has not run yet. Call it first."


def fixed_not_hashable(position: int, value: object) -> str:
    return (
        f"[argnums_partial] The fixed argument {position} of type {type(value)} is not hashable: "
        f"{value!r}. Pass require_static_args_hashable=False to allow that."
    )


def donated_and_static(positions: Sequence[int]) -> str:
    return (
        f"[rebase_donate_argnums] donate_argnums and static_argnums cannot intersect, but both "
        f"have {', '.join(map(str, positions))}."
    )
