"""Optimization barriers that last until code is generated, on CPUs.

XLA removes the barriers of a program for CPUs after it has merged what is computed twice, and
before it fuses.  Without that pass they last: nothing is fused across them, code is generated for
what is before and behind, and none for the barrier itself.  That is what the planning of
`transforms/materialize.py` needs, and what `checkpoint` means by its own.

Two passes have to be left out for that.  The second moves small loops into functions for which an
older generator of code is used, which does not know barriers.  Nor does the one that writes how a
reduction combines two elements: a program with a barrier there is compiled as one without.
Programs without barriers are compiled as ever.

On a version of XLA where the passes have other names, barriers are removed as before; if it refuses
them, the program is compiled without these options (`compile.py`).
"""

from __future__ import annotations

from ..base import config
from .module import ModuleContext

REMOVES_BARRIERS = "cse_barrier_expander"
MOVES_SMALL_LOOPS = "small-while-loop-hoisting"


def are_kept(platform: str) -> bool:
    """Whether barriers last in programs for a platform, so that it makes sense to place some."""
    return platform == "cpu" and config.materialization.value and not config.parity.value


def keep(module: ModuleContext) -> None:
    """Ask the compiler to keep the barriers of a module, if it has any."""
    if not module.barriers or module.has_barriers_on_elements:
        return
    if are_kept(module.platform):
        module.disabled_passes.add(REMOVES_BARRIERS)
        if module.has_barriers_in_loops:
            module.disabled_passes.add(MOVES_SMALL_LOOPS)
