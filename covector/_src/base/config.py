"""The configuration: every flag of Covector, what it does, and which values it takes.

`covector.config` reads and sets them by name; many are context managers in the public namespace:

>>> config.jax_numpy_rank_promotion
'allow'
>>> with numpy_rank_promotion("raise"):
...     config.jax_numpy_rank_promotion
'raise'

Each flag also takes its first value from the environment, as `COVECTOR_<NAME>` or `JAX_<NAME>`.
How flags work, and what the trace key is, stands in `flags.py`.
"""

from __future__ import annotations

import functools
from typing import Any

from .flag_kinds import (
    Anything,
    Boolean,
    Choice,
    DeviceOrPlatform,
    Integer,
    Kind,
    Real,
    Text,
    TextOrDict,
)
from .flags import Config, Cover, Flag, GroupFlag, TraceKey, trace_key

config = Config()
update = config.update
read = config.read

__all__ = ["Config", "Cover", "Flag", "TraceKey", "config", "read", "trace_key", "update"]


def _flag(name: str, default: Any, kind: Kind, description: str, **options: Any) -> Flag:
    return config.add(Flag("jax_" + name, default, kind, description, **options))


def _switch(name: str, default: bool, description: str, **options: Any) -> Flag:
    return _flag(name, default, Boolean(), description, covering=True, **options)


parity = config.add(
    Flag(
        "jax_parity",
        False,
        Boolean(),
        "Whether everything behaves as in JAX, also where Covector differs from it on purpose.",
        affects_tracing=True,
        covering=True,
    )
)

# ---------------------------------------------------------------- dtypes and shapes

enable_x64 = _switch(
    "enable_x64",
    False,
    "Whether 64-bit dtypes exist. If not, a request for one gives its 32-bit counterpart.",
    affects_tracing=True,
)
explicit_x64_dtypes = _flag(
    "explicit_x64_dtypes",
    "warn",
    Choice("warn", "error", "allow"),
    "What a 64-bit dtype written out by the user means while `enable_x64` is off.",
    affects_tracing=True,
)
numpy_dtype_promotion = _flag(
    "numpy_dtype_promotion",
    "standard",
    Choice("standard", "strict"),
    "Whether arrays of different dtypes are promoted to a common one, or refused ('strict').",
    affects_tracing=True,
)
numpy_rank_promotion = _flag(
    "numpy_rank_promotion",
    "allow",
    Choice("allow", "warn", "raise"),
    "What happens when an operation broadcasts arrays of different rank.",
    affects_tracing=True,
)
allow_f16_reductions = _switch(
    "allow_f16_reductions",
    True,
    "Whether sums may be accumulated in float16 and bfloat16; an error if not.",
    affects_tracing=True,
)
default_matmul_precision = _flag(
    "default_matmul_precision",
    None,
    Choice(
        *("default", "high", "highest", "bfloat16", "tensorfloat32", "float32"),
        *("ANY_F8_ANY_F8_F32", "ANY_F8_ANY_F8_F32_FAST_ACCUM", "ANY_F8_ANY_F8_ANY"),
        *("ANY_F8_ANY_F8_ANY_FAST_ACCUM", "F16_F16_F16", "F16_F16_F32", "BF16_BF16_BF16"),
        *("BF16_BF16_F32", "BF16_BF16_F32_X3", "BF16_BF16_F32_X6", "BF16_BF16_F32_X9"),
        *("TF32_TF32_F32", "TF32_TF32_F32_X3", "F32_F32_F32", "F64_F64_F64"),
        optional=True,
    ),
    "The precision, or the algorithm, of matrix products and convolutions that name none.",
    affects_tracing=True,
)
softmax_custom_jvp = _switch(
    "softmax_custom_jvp",
    False,
    "Whether softmax has a derivative rule of its own, which needs less memory.",
    affects_tracing=True,
)

# ---------------------------------------------------------------- random numbers

default_prng_impl = _flag(
    "default_prng_impl",
    "threefry2x32",
    Choice("threefry2x32", "threefry4x32", "rbg", "unsafe_rbg", "philox2x32", "philox4x32"),
    "The generator behind keys that are made without naming one.",
)
enable_custom_prng = _switch(
    "enable_custom_prng",
    False,
    "Whether `random.PRNGKey` gives typed keys, as `random.key` does.",
)
legacy_prng_key = _flag(
    "legacy_prng_key",
    "allow",
    Choice("allow", "warn", "error"),
    "What happens when a raw uint32 array is passed as a random key.",
)
threefry_partitionable = _switch(
    "threefry_partitionable",
    True,
    "Whether threefry bits are a function of each element's index alone, so that devices can "
    "make their own parts. Off and on give different streams.",
    affects_tracing=True,
)
threefry_gpu_kernel_lowering = _switch(
    "threefry_gpu_kernel_lowering",
    False,
    "Whether threefry runs as a ready kernel on a GPU: compiles faster, may use more memory.",
    affects_tracing=True,
)
random_seed_offset = _flag(
    "random_seed_offset", 0, Integer(), "A number added to every seed.", affects_tracing=True
)
high_dynamic_range_gumbel = _switch(
    "high_dynamic_range_gumbel",
    False,
    "Whether Gumbel noise takes two draws, so that rare events get their due probability.",
    affects_tracing=True,
)
debug_key_reuse = _switch(
    "debug_key_reuse",
    False,
    "Whether using a typed random key twice is an error.",
    affects_tracing=True,
)

# ---------------------------------------------------------------- checks while debugging


class _DisableJit(Flag):
    """The flag `disable_jit`, whose argument goes by another name."""

    __slots__ = ()

    def __call__(self, disable: bool = True) -> Cover:
        return super().__call__(disable)


disable_jit = config.add(
    _DisableJit(
        "jax_disable_jit",
        False,
        Boolean(),
        "Whether functions under `jit` run as plain Python, operation by operation.",
        affects_tracing=True,
    )
)
debug_nans = _switch("debug_nans", False, "Whether a NaN in a result is an error.")
debug_infs = _switch("debug_infs", False, "Whether an infinity in a result is an error.")
enable_checks = _switch(
    "enable_checks", False, "Whether jaxprs are verified after every transformation. Slow."
)
check_tracer_leaks = _switch(
    "check_tracer_leaks",
    False,
    "Whether a tracer that outlives its trace is an error at the end of the trace.",
)
checking_leaks = functools.partial(check_tracer_leaks, True)
check_purity = _switch(
    "check_purity",
    False,
    "Whether side effects of a traced function are an error. Runs each function twice.",
    affects_tracing=True,
)
checking_purity = functools.partial(check_purity, True)
no_tracing = _switch("no_tracing", False, "Whether tracing a function for `jit` is an error.")
no_execution = _switch(
    "no_execution", False, "Whether running a computation is an error.", affects_tracing=True
)
check_static_indices = _switch(
    "check_static_indices",
    False,
    "Whether constant indices that are promised to be in bounds are checked.",
    affects_tracing=True,
)
mutable_array_checks = _switch(
    "mutable_array_checks",
    True,
    "Whether aliasing of mutable arrays is an error.",
    affects_tracing=True,
)
thread_guard = _switch(
    "thread_guard",
    False,
    "Whether a multi-process operation from another thread than the one that set this is an error.",
)


def _error_checking(name: str, event: str) -> Flag:
    description = f"Whether {event} is recorded as an error or ignored."
    return _flag(name, "ignore", Choice("ignore", "raise"), description, affects_tracing=True)


error_checking_behavior_nan = _error_checking("error_checking_behavior_nan", "a NaN")
error_checking_behavior_divide = _error_checking(
    "error_checking_behavior_divide", "a division by zero"
)
error_checking_behavior_oob = _error_checking(
    "error_checking_behavior_oob", "an index out of bounds"
)

# ---------------------------------------------------------------- messages and logs

traceback_filtering = _flag(
    "traceback_filtering",
    "auto",
    Choice("off", "tracebackhide", "remove_frames", "quiet_remove_frames", "auto"),
    "How Covector's own frames are kept out of tracebacks.",
)
log_compiles = _switch(
    "log_compiles", False, "Whether each trace and compilation is logged as a warning."
)
explain_cache_misses = _switch(
    "explain_cache_misses", False, "Whether each retracing is logged together with its reason."
)
log_checkpoint_residuals = _switch(
    "log_checkpoint_residuals",
    False,
    "Whether the residuals that `checkpoint` keeps are logged.",
)
distributed_debug = _switch(
    "distributed_debug", False, "Whether multi-process computations log what helps to debug them."
)
logging_level = _flag(
    "logging_level",
    "NOTSET",
    Choice("NOTSET", "DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL", optional=True),
    "The level of Covector's loggers; None leaves them alone.",
)
debug_log_modules = _flag(
    "debug_log_modules",
    "",
    Text(),
    "Names of modules, separated by commas, whose debug messages are shown.",
)
pprint_use_color = _switch(
    "pprint_use_color", True, "Whether jaxprs are printed in colour on a terminal."
)
captured_constants_warn_bytes = _flag(
    "captured_constants_warn_bytes",
    2_000_000_000,
    Integer(least=-1),
    "How many bytes of constants a program may capture without a warning; -1 never warns.",
)
hlo_source_file_canonicalization_regex = _flag(
    "hlo_source_file_canonicalization_regex",
    None,
    Text(optional=True),
    "A pattern whose matches are cut out of the file names in compiled programs.",
    affects_tracing=True,
)
dump_ir_to = _flag("dump_ir_to", "", Text(), "A folder that receives the text of each program.")
dump_ir_modes = _flag(
    "dump_ir_modes", "stablehlo", Text(), "What goes there: 'stablehlo', 'jaxpr', or both."
)
include_debug_info_in_dumps = _switch(
    "include_debug_info_in_dumps", True, "Whether those texts name source lines."
)

# ---------------------------------------------------------------- devices

platforms = _flag(
    "platforms",
    None,
    Text(optional=True),
    "The platforms to start, separated by commas; the first is the default one.",
)
platform_name = _flag("platform_name", "", Text(), "The default platform; `platforms` is newer.")
num_cpu_devices = _flag(
    "num_cpu_devices",
    -1,
    Integer(least=-1),
    "How many devices the CPU is presented as; -1 asks XLA_FLAGS, else it is one.",
)
default_device = _flag(
    "default_device",
    None,
    DeviceOrPlatform(),
    "Where computations run whose operands are not committed to a device.",
    affects_tracing=True,
)
cuda_visible_devices = _flag(
    "cuda_visible_devices", "all", Text(), "Ids of the CUDA GPUs to use, separated by commas."
)
rocm_visible_devices = _flag(
    "rocm_visible_devices", "all", Text(), "Ids of the ROCm GPUs to use, separated by commas."
)
pjrt_client_create_options = _flag(
    "pjrt_client_create_options", None, TextOrDict(), "Further options for starting a platform."
)
cpu_enable_async_dispatch = _switch(
    "cpu_enable_async_dispatch", True, "Whether a call returns before the CPU has computed."
)
cpu_keep_freed_memory = _switch(
    "cpu_keep_freed_memory",
    True,
    "Whether the memory of freed arrays stays with the process, so that the next ones need no new "
    "pages: faster by far for arrays above 32 MiB. It sets the C library's allocator for the whole "
    "process when the CPU is first used (of glibc; others have no such settings): what other "
    "libraries free stays too, and the process never shrinks. To leave the allocator as it is, set "
    "the flag to False before that.",
)
cpu_collectives_implementation = _flag(
    "cpu_collectives_implementation",
    "gloo",
    Choice("gloo", "mpi", "megascale", optional=True),
    "What carries collectives between the CPUs of several processes.",
)
cpu_get_local_topology_timeout_minutes = _flag(
    "cpu_get_local_topology_timeout_minutes",
    2,
    Integer(least=0),
    "How long the start of several processes' CPUs may take for one of them.",
)
cpu_get_global_topology_timeout_minutes = _flag(
    "cpu_get_global_topology_timeout_minutes",
    5,
    Integer(least=0),
    "How long it may take until each of several processes knows the CPUs of all.",
)
enable_preemption_service = _switch(
    "enable_preemption_service",
    True,
    "Whether several processes agree on a last step when one of them gets SIGTERM, which then ends "
    "none of them; see `multihost_utils.reached_preemption_sync_point`.",
)
enable_recoverability = _switch(
    "enable_recoverability",
    False,
    "Whether the other ones of several processes go on when one has failed.",
)
check_proxy_envs = _flag(
    "check_proxy_envs",
    True,
    Boolean(),
    "Whether `distributed.initialize` warns of proxies that the environment names.",
)
use_shardy_partitioner = _switch(
    "use_shardy_partitioner",
    True,
    "Whether Shardy rather than GSPMD partitions programs over devices.",
    affects_tracing=True,
)
auto_pcast = _switch(
    "auto_pcast",
    True,
    "Whether operations inside `shard_map` cast operands to vary over the same axes.",
    affects_tracing=True,
)
remove_size_one_mesh_axis_from_type = _switch(
    "remove_size_one_mesh_axis_from_type",
    False,
    "Whether mesh axes of size 1 are left out of an array's type.",
    affects_tracing=True,
)

_GUARDS = Choice("allow", "log", "disallow", "log_explicit", "disallow_explicit", optional=True)


def _guard(direction: str) -> Flag:
    name = "transfer_guard_" + direction
    words = direction.replace("_", " ")
    return _flag(name, None, _GUARDS, f"What happens at transfers {words}; None allows them.")


transfer_guard_host_to_device = _guard("host_to_device")
transfer_guard_device_to_device = _guard("device_to_device")
transfer_guard_device_to_host = _guard("device_to_host")
transfer_guard = GroupFlag(
    "jax_transfer_guard", None, _GUARDS, "What happens at transfers in all three directions."
)
transfer_guard.members = (
    transfer_guard_host_to_device,
    transfer_guard_device_to_device,
    transfer_guard_device_to_host,
)
config.add(transfer_guard)
array_garbage_collection_guard = _flag(
    "array_garbage_collection_guard",
    None,
    Choice("allow", "log", "fatal", optional=True),
    "What happens when an array in a reference cycle waits for the garbage collector.",
)

# ---------------------------------------------------------------- compilation

_LEVELS = ("UNKNOWN", "O0", "O1", "O2", "O3")

optimization_level = _flag(
    "optimization_level",
    "UNKNOWN",
    Choice(*_LEVELS),
    "How hard the compiler works for speed.",
    affects_compilation=True,
)
memory_fitting_level = _flag(
    "memory_fitting_level",
    "O2",
    Choice(*_LEVELS),
    "How hard the compiler works to make a program fit into memory.",
    affects_compilation=True,
)
exec_time_optimization_effort = _flag(
    "exec_time_optimization_effort",
    0.0,
    Real(-1.0, 1.0),
    "The compiler's effort for speed, where the level does not say it.",
    affects_compilation=True,
)
memory_fitting_effort = _flag(
    "memory_fitting_effort",
    0.0,
    Real(-1.0, 1.0),
    "The compiler's effort for memory, where the level does not say it.",
    affects_compilation=True,
)
disable_most_optimizations = _switch(
    "disable_most_optimizations",
    False,
    "Whether the compiler skips its costly passes: compiles faster, runs slower.",
    affects_compilation=True,
)
materialization = _switch(
    "materialization",
    True,
    "Whether values that the compiler for CPUs would compute many times over are stored instead.",
    affects_compilation=True,
)
roll_loops = _switch(
    "roll_loops",
    True,
    "Whether long loops over small values that Python unrolled are compiled as loops, on CPUs.",
    affects_compilation=True,
)
compiler_enable_remat_pass = _switch(
    "compiler_enable_remat_pass",
    True,
    "Whether the compiler may compute values twice to save memory.",
    affects_compilation=True,
)
compile_progress = _switch(
    "compile_progress",
    True,
    "Whether compilations that take more than five seconds say so on an interactive terminal.",
)
cpu_alias_loop_carries = _switch(
    "cpu_alias_loop_carries",
    True,
    "Whether the compiler looks at where in a loop's body a carry is read, to write to it in place "
    "after that; without, a body that reads and writes a carry copies it each time. Of CPUs alone.",
    affects_compilation=True,
)
native_kernels = _switch(
    "native_kernels",
    True,
    "Whether programs for CPUs sort, count and add up many elements, draw random bits and do long "
    "Fourier transforms with Covector's own compiled functions, where these are installed. Other "
    "processes can read such programs only if they have Covector, too.",
    affects_compilation=True,
)
export_calling_convention_version = _flag(
    "export_calling_convention_version",
    10,
    Integer(least=1),
    "The calling convention of exported programs.",
)

# ---------------------------------------------------------------- the compilation cache on disk

enable_compilation_cache = _switch(
    "enable_compilation_cache", True, "Whether compiled programs are kept on disk."
)
compilation_cache_dir = _flag(
    "compilation_cache_dir",
    None,
    Text(optional=True),
    "The folder that keeps them; None means the user's cache folder.",
)
compilation_cache_max_size = _flag(
    "compilation_cache_max_size",
    1 << 30,
    Integer(least=-1),
    "How many bytes that folder may hold, the least recently used being dropped; 0 keeps "
    "nothing, -1 sets no limit.",
)
persistent_cache_min_compile_time_secs = _flag(
    "persistent_cache_min_compile_time_secs",
    0.0,
    Real(0.0),
    "How long a compilation must take to be worth keeping.",
)
persistent_cache_min_entry_size_bytes = _flag(
    "persistent_cache_min_entry_size_bytes",
    0,
    Integer(least=-1),
    "How large a compiled program must be to be worth keeping; -1 keeps any.",
)
compilation_cache_include_metadata_in_key = _switch(
    "compilation_cache_include_metadata_in_key",
    False,
    "Whether programs that differ only in source lines are kept apart.",
)
raise_persistent_cache_errors = _switch(
    "raise_persistent_cache_errors",
    False,
    "Whether trouble with the folder is an error; a warning if not.",
)

# ---------------------------------------------------------------- flags of JAX's without effect

# They choose between parts of JAX's machinery, or are for hardware and services that it knows.
config.accept_without_effect(
    [
        *("check_vma", "eager_constant_folding", "mock_num_gpu_processes"),
        *("jax2tf_associative_scan_reductions", "jax2tf_default_native_serialization"),
        *("jax_backend_target", "jax_bcoo_cusparse_lowering"),
        *("jax_captured_constants_report_frames", "jax_compilation_cache_check_contents"),
        *("jax_compilation_cache_expect_pgle", "jax_compiler_detailed_logging_min_ops"),
        *("jax_cross_host_transfer_socket_address", "jax_cross_host_transfer_timeout_seconds"),
        *("jax_cross_host_transfer_transfer_size", "jax_cross_host_transport_addresses"),
        *("jax_custom_vjp3", "jax_debug_leaked_clients_on_clear_backends"),
        *("jax_disable_bwd_checks", "jax_disable_vmap_shmap_error"),
        *("jax_disallow_mesh_context_manager", "jax_embedded_constants_max_bytes"),
        *("jax_enable_pgle", "jax_experimental_unsafe_xla_runtime_errors"),
        *("jax_export_ignore_forward_compatibility", "jax_force_dcn_cross_host_transfers"),
        *("jax_include_full_tracebacks_in_locations", "jax_mock_gpu_topology"),
        *("jax_mosaic_allow_hlo", "jax_oneapi_visible_devices"),
        *("jax_pallas_enable_debug_checks", "jax_pallas_poison_buffers"),
        *("jax_pallas_use_mosaic_gpu", "jax_pallas_verbose_errors"),
        *("jax_persistent_cache_enable_xla_caches", "jax_pgle_aggregation_percentile"),
        *("jax_pgle_profiling_runs", "jax_ragged_dot_use_gpu_pallas_triton_lowering"),
        *("jax_ragged_dot_use_ragged_dot_instruction", "jax_refs_to_pins", "jax_remat3"),
        *("jax_remove_custom_partitioning_ptr_from_cache_key", "jax_scan3"),
        *("jax_send_traceback_to_runtime", "jax_serialization_version"),
        *("jax_share_binary_between_hosts", "jax_share_binary_between_hosts_timeout_ms"),
        *("jax_sort_devices_by_process_index", "jax_source_url_schema"),
        *("jax_traceback_in_locations_limit", "jax_tracer_error_num_traceback_frames"),
        *("jax_use_direct_linearize", "jax_use_emit_pipeline_primitive", "jax_use_magma"),
        *("jax_use_simplified_jaxpr_constants", "jax_xla_backend", "jax_xla_profile_version"),
    ]
)

# ---------------------------------------------------------------- contexts of users


def make_user_context(default_value: Any = None) -> Flag:
    """A new context to which all caches of traced functions are sensitive.

    Args:
      default_value: a hashable value that holds where no context is entered.

    Returns:
      A flag: `context.value` reads it, and `with context(value):` sets it for a while; a function
      under `jit` is traced anew for each value.

    >>> verbosity = make_user_context(0)
    >>> with verbosity(2):
    ...     verbosity.value
    2
    >>> verbosity.value
    0
    """
    return Flag(
        "user_context", default_value, Anything(), "A user's context.", affects_tracing=True
    )


# The attributes for the compiler that what is traced now carries, as scopes (`core.scopes`).
compiler_attributes = make_user_context(())
