"""The folder in which compiled programs are kept."""

from ..._src.xla.cache import reset_cache as reset_cache
from ..._src.xla.cache import set_cache_dir as set_cache_dir
