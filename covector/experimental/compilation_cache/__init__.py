"""Compiled programs that are kept on disk."""

from . import compilation_cache as compilation_cache
