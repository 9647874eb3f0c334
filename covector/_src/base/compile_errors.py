"""The wording of warnings and errors about programs on their way to the compiler."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def donations_not_usable(avals: Sequence[str]) -> str:
    return (
        f"[jit] Some donated buffers were not usable: {', '.join(avals)}. No result that is left "
        "has the type of these arguments, so that their memory serves for intermediate values at "
        "most. Leave them out of donate_argnums and donate_argnames."
    )


def donated_and_read(name: str) -> str:
    return (
        f"[{name}] an array is given for two arguments, of which one is donated: its memory would "
        "be reused while it is still read. Donate none of the two, or pass a copy, `x.copy()`."
    )


def array_too_large(aval: object) -> str:
    return (
        f"[jit] an array of type {aval} has more bytes than a machine has addresses for. Is one of "
        "its sizes wrong?"
    )


def large_constants(total: int, count: int, largest: Sequence[str]) -> str:
    return (
        f"[jit] A large amount of constants were captured during lowering: {total / 1e6:.1f} MB "
        f"in {count} arrays, the largest of types {', '.join(largest)}. Pass them as arguments, "
        "so that they are not part of the compiled program; or raise "
        "jax_captured_constants_warn_bytes."
    )


def options_of_inner_jit(name: str, options: Mapping[str, Any]) -> str:
    return (
        f"[jit] {name} has compiler_options={dict(options)}, but it is called in a function that "
        "is compiled as one program, with options of its own. Give the `compiler_options` to the "
        "outermost `jit`."
    )


def wrong_device_assignment(shape: tuple[int, ...], replicas: int, partitions: int) -> str:
    axis = "num_replicas" if shape[:1] != (replicas,) else "num_partitions"
    return (
        f"[get_compile_options] device_assignment does not match {axis}: its shape is {shape}, and "
        f"{replicas} replicas of {partitions} partitions take ({replicas}, {partitions})."
    )


def backends_started(name: str) -> str:
    return (
        f"[register_backend_factory] Backend {name} comes too late: clients have been made. "
        "Register it before the first array is made, or call `clear_backends()` first."
    )
