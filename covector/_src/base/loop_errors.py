"""The wording of errors about `while_loop` and `fori_loop`."""

from __future__ import annotations

from collections.abc import Sequence


def not_callable(where: str, names: Sequence[str]) -> str:
    are = "arguments should be" if len(names) > 1 else "argument should be"
    return f"lax.{where}: {' and '.join(names)} {are} callable."


def condition_is_a_tree(treedef: object) -> str:
    return (
        f"[while_loop] cond_fun must return a boolean scalar, but got pytree {treedef}. "
        "Return one bool that says whether to take another step."
    )


def condition_is_no_bool(avals: Sequence[object]) -> str:
    return (
        "[while_loop] cond_fun must return a boolean scalar, but got output type(s) "
        f"{list(avals)}. Compare, or reduce with `all` or `any`, to get one bool."
    )


def limit_too_small(where: str, name: str, value: object, least: int) -> str:
    return f"[{where}] {name} must be an integer of at least {least}, but got {value!r}."


def no_reverse_mode() -> str:
    return (
        "Reverse-mode differentiation does not work for lax.while_loop or lax.fori_loop with "
        "bounds that are only known at run time while the flag `parity` is on. Turn it off, or use "
        "`scan`, or `fori_loop` with Python integers for bounds."
    )


def condition_is_linear() -> str:
    return (
        "Reverse-mode differentiation does not work for lax.while_loop where the condition depends "
        "on what is transposed: how many steps a linear function takes cannot depend on its "
        "argument. Close over the values that the condition reads."
    )


def bounds_of_two_types(lower: object, upper: object) -> str:
    return (
        "[fori_loop] lower and upper arguments to fori_loop must have equal types, "
        f"got {lower} and {upper}. Convert one of them."
    )


def bounds_not_scalars(lower: object, upper: object) -> str:
    return (
        "[fori_loop] lower and upper arguments to fori_loop must be integers without dimensions, "
        f"but they are of types {lower} and {upper}. Map the loop over several bounds with `vmap`."
    )


def unknown_bounds_unrolled(unroll: object) -> str:
    return (
        "[fori_loop] Can only use `unroll` in `fori_loop` if the loop bounds are statically known, "
        f"but got unroll={unroll!r} and a bound that is traced. Leave `unroll` out."
    )
