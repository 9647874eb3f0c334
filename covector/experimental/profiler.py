"""What profiles say of single instructions."""

from .._src.xla.profiler import (
    get_profiled_instructions_proto as get_profiled_instructions_proto,
)
