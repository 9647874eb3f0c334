"""`python -m covector.as_jax`: run a program that says `import jax` on Covector."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

from .finder import install

_USAGE = "usage: python -m covector.as_jax (program.py | -m module) [arguments]"


def run_as_main() -> None:
    """Run the program that the command line names, as if it had been started alone."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["-m"]:
        arguments = arguments[1:]
        is_module = True
    else:
        is_module = False
    if not arguments:
        raise SystemExit(_USAGE)
    install()
    sys.argv = arguments
    if is_module:
        sys.path.insert(0, "")
        runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)
    else:
        sys.path.insert(0, str(Path(arguments[0]).parent))
        runpy.run_path(arguments[0], run_name="__main__")
