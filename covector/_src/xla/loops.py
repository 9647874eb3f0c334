"""Loops on CPUs: whether a carry that the body both reads and writes is copied in each step.

XLA writes to a carry in place if nothing reads the old values later.  By default it looks only at
whether there are readers, and copies the whole carry if there are; told to look at *where* in the
body they stand, it sees that `b[i]` is read before `b.at[j].add(x)` writes.  A scan of a thousand
steps over a carry of a million floats takes 0.2 ms then, and 100 ms with the copies.

Not so for loops within loops: of a carry of the outer loop that the inner one reads, XLA then takes
the new value for the old one.
"""

from __future__ import annotations

from ..base import config
from .module import ModuleContext

LOOKS_AT_PLACES = "xla_cpu_copy_insertion_use_region_analysis"


def are_rolled_up(platform: str) -> bool:
    """Whether loops that Python unrolled are compiled as loops again (`control/reroll.py`)."""
    return platform == "cpu" and config.roll_loops.value and not config.parity.value


def alias_carries(module: ModuleContext) -> None:
    """Ask the compiler to write to the carries of a module's loops in place, if it has any."""
    allowed = module.platform == "cpu" and config.cpu_alias_loop_carries.value
    if allowed and module.loops and not module.has_nested_loops:
        module.compile_options[LOOKS_AT_PLACES] = True
