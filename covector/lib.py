"""The version of `jaxlib`, which Covector runs on."""

from ._src.xla.native import version as __version__

__all__ = ["__version__"]
