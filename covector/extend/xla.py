"""Passes of one's own in XLA's pipeline."""

from .._src.xla.passes import PipelineStage as PipelineStage
from .._src.xla.passes import clear_hlo_module_transformation as clear_hlo_module_transformation
from .._src.xla.passes import (
    register_hlo_module_transformation as register_hlo_module_transformation,
)
