"""Foreign functions: kernels in C++ and other languages as functions of arrays."""

from ._src.api.ffi import ffi_call as ffi_call
from ._src.xla.ffi import build_ffi_lowering_function as build_ffi_lowering_function
from ._src.xla.ffi import ffi_lowering as ffi_lowering
from ._src.xla.ffi import include_dir as include_dir
from ._src.xla.ffi import pycapsule as pycapsule
from ._src.xla.ffi import register_ffi_target as register_ffi_target
from ._src.xla.ffi import (
    register_ffi_target_as_batch_partitionable as register_ffi_target_as_batch_partitionable,
)
from ._src.xla.ffi import register_ffi_type as register_ffi_type
from ._src.xla.ffi import register_ffi_type_id as register_ffi_type_id
