"""The wording of warnings about programs on their way to the compiler."""

from __future__ import annotations

from collections.abc import Sequence


def donations_not_usable(avals: Sequence[str]) -> str:
    return (
        f"[jit] Some donated buffers were not usable: {', '.join(avals)}. No result that is left "
        "has the type of these arguments, so that their memory serves for intermediate values at "
        "most. Leave them out of donate_argnums and donate_argnames."
    )


def large_constants(total: int, count: int, largest: Sequence[str]) -> str:
    return (
        f"[jit] A large amount of constants were captured during lowering: {total / 1e6:.1f} MB "
        f"in {count} arrays, the largest of types {', '.join(largest)}. Pass them as arguments, "
        "so that they are not part of the compiled program; or raise "
        "jax_captured_constants_warn_bytes."
    )
