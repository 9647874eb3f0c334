"""Rows of a dozen elements on CPUs: what LLVM makes of choices among them.

At its third level of optimization LLVM writes a loop of up to some twenty turns out in full, if all
turns together are at most 300 instructions; at the second level, 150.  Sums and products of such a
row then become a few vector instructions.  A choice, as `select` and `maximum` compile to, counts
for dearer as single instructions than as vector instructions, so LLVM takes the next loop further
out for the one to vectorize: eight rows at a time, each element gathered by a load of its own.
One product with a selection behind it, on rows of 16, is 72 kB of code instead of 6 kB, takes 0.1 s
longer to compile, and runs no faster.  The gradient of a residual network with 16 channels compiles
in half the time at the second level, and runs in 0.95 of it.

What the third level has in favour of itself is that it moves branches out of loops, such as those
between the parts of a concatenation or a padding: stencils run 1.5 times as long without.  Other
programs hardly differ, by the 50 of `benchmarks.fused`.  So it is the second level for programs
with many choices in short rows and nothing that joins arrays.
"""

from __future__ import annotations

import os
from typing import Any

from ..base import config
from ..core.jaxpr import Jaxpr, JaxprEqn
from ..core.show import jaxprs_in_params
from .module import ModuleContext

EFFORT = "xla_backend_optimization_level"

# Lengths of rows that LLVM writes out at the third level of optimization and not at the second.
SHORT = range(8, 24)
# So many choices are worth it: as many kernels at most, a tenth of a second each.
MANY = 8

_CHOICES = {"clamp", "max", "min", "select_n"}
_JOINTS = {"concatenate", "pad"}


def spare_effort(module: ModuleContext, jaxpr: Jaxpr) -> None:
    """Ask for the second level of optimization, if a program runs no slower and compiles faster."""
    given = EFFORT in os.environ.get("XLA_FLAGS", "") or config.disable_most_optimizations.value
    if module.platform == "cpu" and not given and _choices_in_short_rows(jaxpr, {}) >= MANY:
        module.compile_options.setdefault(EFFORT, 2)


def _choices_in_short_rows(jaxpr: Jaxpr, counts: dict[Jaxpr, float]) -> float:
    """How many there are where calls are written out; -inf if arrays are joined anywhere."""
    known = counts.get(jaxpr)
    if known is None:
        known = counts[jaxpr] = sum(_choices_of(eqn, counts) for eqn in jaxpr.eqns)
    return known


def _choices_of(eqn: JaxprEqn, counts: dict[Jaxpr, float]) -> float:
    name, params = eqn.primitive.name, eqn.params
    if name in _JOINTS:
        return float("-inf")
    if name in _CHOICES or "zero_wins" in params:
        return _is_short(eqn.outvars[0].aval)
    if params:
        return sum(_choices_in_short_rows(inner, counts) for inner in jaxprs_in_params(params))
    return 0


def _is_short(aval: Any) -> bool:
    return aval.ndim > 1 and aval.shape[-1] in SHORT
