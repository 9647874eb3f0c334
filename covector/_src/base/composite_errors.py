"""The wording of errors about `lax.composite`."""

from __future__ import annotations


def no_derivative(name: str) -> str:
    return (
        "JVP rule for composite not implemented. You can use `jax.custom_jvp` to add support. See "
        "https://docs.jax.dev/en/latest/_autosummary/jax.custom_jvp.html. [lax.composite] The "
        f"operation is {name!r}; here the function is `covector.custom_jvp`."
    )


def traced_attribute(name: str) -> str:
    return (
        f"[lax.composite] An attribute of the operation {name!r} is a traced value. Attributes are "
        "part of the program: give what is only known when it runs as a positional argument. "
        "Note: If you are passing jax arrays as attributes, use numpy arrays instead."
    )


def traced_constant(name: str) -> str:
    return (
        "Found a JAX Tracer as a constant in the decomposition for the composite op "
        f"'{name}'. [lax.composite] The decomposition uses a traced value from outside: give it as "
        "a positional argument."
    )
