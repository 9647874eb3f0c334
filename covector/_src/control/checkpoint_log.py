"""Messages about what checkpoints save: warnings while `log_checkpoint_residuals` is on."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from ..base import config, source
from ..base.logs import logger
from ..core.jaxpr import Jaxpr, Var


def log_saved(known: Jaxpr, saved: Sequence[Var], inputs: Sequence[Any]) -> None:
    """Log what is kept for the backward pass of a checkpointed function.

    Args:
      known: the program of the forward pass.
      saved: those of its variables that are kept.
      inputs: the types of its inputs that are kept.
    """
    level = logging.WARNING if config.log_checkpoint_residuals.value else logging.DEBUG
    if not (inputs or saved) or not logger.isEnabledFor(level):
        return
    parts = []
    if inputs:
        parts.append("saving inputs with shapes:\n" + _lines([x.str_short() for x in inputs]))
    if saved:
        made_by = {var: eqn for eqn in known.eqns for var in eqn.outvars}
        values = [
            f"{var.aval.str_short()} from output of {made_by[var].primitive} from "
            f"{source.describe(made_by[var].source)}"
            for var in saved
        ]
        parts.append("saving these intermediates:\n" + _lines(values))
    logger.log(level, "remat-decorated function %s", "and ".join(parts))


def _lines(values: Sequence[str]) -> str:
    return "".join(f"  {value}\n" for value in values)
