"""PJRT clients and default devices."""

from .._src.api.backends import backend_xla_version as backend_xla_version
from .._src.api.backends import backends as backends
from .._src.api.backends import clear_backends as clear_backends
from .._src.api.backends import (
    clear_in_memory_compilation_cache as clear_in_memory_compilation_cache,
)
from .._src.api.backends import get_backend as get_backend
from .._src.api.backends import get_default_device as get_default_device
from .._src.api.backends import register_backend_cache as register_backend_cache
from .._src.api.backends import register_backend_factory as register_backend_factory
from .._src.xla.options import get_compile_options as get_compile_options
