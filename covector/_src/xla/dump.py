"""Programs as text files: the flags `dump_ir_to` and `dump_ir_modes`."""

from __future__ import annotations

import itertools
import os
import re
from pathlib import Path
from typing import Any

from ..base import config

_numbers = itertools.count()


def dump(name: str, closed: Any, module: Any) -> None:
    """Write a program into the folder that the user named, if any.

    Args:
      name: of the function.
      closed: its jaxpr.
      module: its StableHLO.
    """
    folder = config.dump_ir_to.value
    if not folder:
        return
    if folder == "sponge":  # the name that test runners give to the folder of their outputs
        folder = os.environ.get("TEST_UNDECLARED_OUTPUTS_DIR", ".")
    modes = config.dump_ir_modes.value.split(",")
    safe = re.sub(r"[^\w.-]", "_", name)
    stem = f"jax_ir{next(_numbers):04d}_jit_{safe}_compile"
    Path(folder).mkdir(parents=True, exist_ok=True)
    if "stablehlo" in modes:
        debug_info = config.include_debug_info_in_dumps.value
        text = module.operation.get_asm(enable_debug_info=debug_info)
        Path(folder, stem + ".mlir").write_text(text)
    if "jaxpr" in modes:
        Path(folder, stem + ".jaxpr.txt").write_text(str(closed))
