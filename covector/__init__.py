"""Covector: composable transformations of Python+NumPy programs.

Differentiate with `grad`, vectorize with `vmap`, compile with `jit`, in any combination:

>>> import covector as cv
>>> import covector.numpy as jnp
>>> cv.grad(lambda x: jnp.sum(x**2))(jnp.arange(3.0))
Array([0., 2., 4.], dtype=float32)
"""

from __future__ import annotations

import importlib as _importlib

from ._src.api.autodiff import jvp as jvp
from ._src.api.autodiff import linear_transpose as linear_transpose
from ._src.api.autodiff import linearize as linearize
from ._src.api.autodiff import vjp as vjp
from ._src.api.callbacks import pure_callback as pure_callback
from ._src.api.checkpoint import checkpoint as checkpoint
from ._src.api.checkpoint import checkpoint as remat
from ._src.api.checkpoint_policies import checkpoint_policies as checkpoint_policies
from ._src.api.closures import closure_convert as closure_convert
from ._src.api.custom_derivatives import custom_gradient as custom_gradient
from ._src.api.custom_derivatives import custom_jvp as custom_jvp
from ._src.api.custom_derivatives import custom_vjp as custom_vjp
from ._src.api.devices import clear_caches as clear_caches
from ._src.api.devices import device_put as device_put
from ._src.api.environment import print_environment_info as print_environment_info
from ._src.api.event_counter import event_counter as _test_event_counter
from ._src.api.gradients import fwd_and_bwd as fwd_and_bwd
from ._src.api.gradients import grad as grad
from ._src.api.gradients import value_and_grad as value_and_grad
from ._src.api.jacobian import hessian as hessian
from ._src.api.jacobian import jacfwd as jacfwd
from ._src.api.jacobian import jacobian as jacobian
from ._src.api.jacobian import jacrev as jacrev
from ._src.api.jit import jit as jit
from ._src.api.local_data import (
    make_array_from_process_local_data as make_array_from_process_local_data,
)
from ._src.api.meshes import set_mesh as set_mesh
from ._src.api.parts import make_array_from_callback as make_array_from_callback
from ._src.api.parts import (
    make_array_from_single_device_arrays as make_array_from_single_device_arrays,
)
from ._src.api.pmap import pmap as pmap
from ._src.api.retraces import explain_retraces as explain_retraces
from ._src.api.shape_dtype import ShapeDtypeStruct as ShapeDtypeStruct
from ._src.api.shard_map import shard_map as shard_map
from ._src.api.sharding import make_mesh as make_mesh
from ._src.api.sharding import reshard as reshard
from ._src.api.smap import smap as smap
from ._src.api.sync import block_until_ready as block_until_ready
from ._src.api.sync import copy_to_host_async as copy_to_host_async
from ._src.api.sync import device_get as device_get
from ._src.api.tracing import ensure_compile_time_eval as ensure_compile_time_eval
from ._src.api.tracing import eval_shape as eval_shape
from ._src.api.tracing import make_jaxpr as make_jaxpr
from ._src.api.tracing import named_call as named_call
from ._src.api.tracing import named_scope as named_scope
from ._src.api.tracing import typeof as typeof
from ._src.api.vectorize import vmap as vmap
from ._src.base.config import allow_f16_reductions as allow_f16_reductions
from ._src.base.config import array_garbage_collection_guard as array_garbage_collection_guard
from ._src.base.config import check_purity as check_purity
from ._src.base.config import check_tracer_leaks as check_tracer_leaks
from ._src.base.config import checking_leaks as checking_leaks
from ._src.base.config import checking_purity as checking_purity
from ._src.base.config import config as config
from ._src.base.config import debug_infs as debug_infs
from ._src.base.config import debug_key_reuse as debug_key_reuse
from ._src.base.config import debug_nans as debug_nans
from ._src.base.config import default_device as default_device
from ._src.base.config import default_matmul_precision as default_matmul_precision
from ._src.base.config import default_prng_impl as default_prng_impl
from ._src.base.config import disable_jit as disable_jit
from ._src.base.config import enable_checks as enable_checks
from ._src.base.config import enable_custom_prng as enable_custom_prng
from ._src.base.config import enable_x64 as enable_x64
from ._src.base.config import explain_cache_misses as explain_cache_misses
from ._src.base.config import legacy_prng_key as legacy_prng_key
from ._src.base.config import log_compiles as log_compiles
from ._src.base.config import make_user_context as make_user_context
from ._src.base.config import no_execution as no_execution
from ._src.base.config import no_tracing as no_tracing
from ._src.base.config import numpy_dtype_promotion as numpy_dtype_promotion
from ._src.base.config import numpy_rank_promotion as numpy_rank_promotion
from ._src.base.config import softmax_custom_jvp as softmax_custom_jvp
from ._src.base.config import thread_guard as thread_guard
from ._src.base.config import threefry_partitionable as threefry_partitionable
from ._src.base.config import transfer_guard as transfer_guard
from ._src.base.config import transfer_guard_device_to_device as transfer_guard_device_to_device
from ._src.base.config import transfer_guard_device_to_host as transfer_guard_device_to_host
from ._src.base.config import transfer_guard_host_to_device as transfer_guard_host_to_device
from ._src.base.dtypes import float0 as float0
from ._src.base.tracebacks import install_hook as _install_hook
from ._src.base.version import __version__ as __version__
from ._src.base.version import __version_info__ as __version_info__
from ._src.core.array import Array as Array
from ._src.core.refs import Ref as Ref
from ._src.core.trace import install_backend as _install_backend
from ._src.numpy import operators as _operators
from ._src.numpy.refs import ds as ds
from ._src.numpy.refs import empty_ref as empty_ref
from ._src.numpy.refs import free_ref as free_ref
from ._src.numpy.refs import freeze as freeze
from ._src.numpy.refs import new_ref as new_ref
from ._src.reference import reference_mode as reference_mode
from ._src.sharding.named import NamedSharding as NamedSharding
from ._src.sharding.spec import PartitionSpec as P
from ._src.xla.callbacks import effects_barrier as effects_barrier
from ._src.xla.devices import default_backend as default_backend
from ._src.xla.devices import device_count as device_count
from ._src.xla.devices import devices as devices
from ._src.xla.devices import local_device_count as local_device_count
from ._src.xla.devices import local_devices as local_devices
from ._src.xla.devices import process_count as host_count
from ._src.xla.devices import process_count as process_count
from ._src.xla.devices import process_index as host_id
from ._src.xla.devices import process_index as process_index
from ._src.xla.devices import process_indices as host_ids
from ._src.xla.devices import process_indices as process_indices
from ._src.xla.execute import XlaBackend as _XlaBackend
from ._src.xla.live import live_arrays as live_arrays
from ._src.xla.native import Device as Device
from ._src.xla.shard import Shard as Shard

_install_backend(_XlaBackend())
_install_hook()

# Namespaces that load when they are first used.
_LAZY = frozenset(
    {
        *("ad", "api_util", "as_jax", "core", "custom_batching", "custom_derivatives", "debug"),
        *("distributed", "dlpack", "dtypes", "errors", "experimental", "export", "ffi"),
        *("extend", "flatten_util", "image", "interpreters", "lax", "lib", "monitoring", "nn"),
        *("numpy", "ops", "profiler", "random", "ref", "scipy", "sharding", "stages", "test_util"),
        *("testing", "tree", "tree_util", "typing", "version"),
    }
)


def __getattr__(name: str) -> object:
    if name in _LAZY:
        return _importlib.import_module("." + name, __name__)
    raise AttributeError(f"module 'covector' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({name for name in {*globals(), *_LAZY} if name != "annotations"})
