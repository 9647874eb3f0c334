"""Covector under the name of JAX: libraries that were written for JAX run on it as they are.

Call `install` before anything imports `jax`, or start a program or module under it:

    python -m covector.as_jax program.py
"""

from ._src.as_jax.finder import install as install
from ._src.as_jax.run import run_as_main as _run_as_main

if __name__ == "__main__":
    _run_as_main()
