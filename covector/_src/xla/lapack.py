"""LAPACK's functions as custom calls: jaxlib wraps those that SciPy brings.

They are registered when a program first calls one, because that imports SciPy.
"""

from __future__ import annotations

from jaxlib import lapack

from .devices import once
from .native import xla_client

PREFIXES = ("lapack_", "tridiagonal_solve_perturbed")


def load_for(target: str) -> None:
    """See to it that a custom call finds its target, if that is one of LAPACK's."""
    if target.startswith(PREFIXES):
        load()


@once
def load() -> None:
    """Bind LAPACK's functions and register them with XLA."""
    for platform, targets in lapack.registrations().items():
        for name, function, api_version in targets:
            xla_client.register_custom_call_target(
                name, function, platform=platform, api_version=api_version
            )
    for name in lapack.batch_partitionable_targets():
        xla_client.register_custom_call_as_batch_partitionable(name)
    lapack._lapack.initialize()
