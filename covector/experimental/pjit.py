"""`jit` under a name that it had before."""

from .._src.experimental.old_names import pjit as pjit
