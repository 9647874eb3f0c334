"""XLA's options for compiling one program.

They come from flags, from what writing the program found that it needs, and from the user's own
`compiler_options`; where several speak of the same option, the last of these counts.  The passes
that each of them switches off are all switched off.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from ..base import config
from ..base.compile_errors import wrong_device_assignment
from ..base.flags import Flag
from .native import xla_client

# The numbers by which XLA knows its levels of effort.
_LEVELS = {"UNKNOWN": 0, "O0": 9, "O1": 19, "O2": 29, "O3": 39}

# Options that are fields of the build rather than overrides of XLA's flags, with our flags for
# them. Newer versions of XLA lack the efforts, for which the levels stand.
_BUILD_FIELDS: dict[str, Flag] = {
    "optimization_level": config.optimization_level,
    "memory_fitting_level": config.memory_fitting_level,
    "exec_time_optimization_effort": config.exec_time_optimization_effort,
    "memory_fitting_effort": config.memory_fitting_effort,
}


# The option that lists passes by name.  XLA takes it as one text, with commas between the names.
_DISABLED_PASSES = "xla_disable_hlo_passes"


def compile_options(
    devices: Sequence[Any],
    compiler_options: Mapping[str, Any] | None,
    needed: Mapping[str, Any] | None = None,
    disabled_passes: Iterable[str] = (),
    chooses_results: Sequence[bool] = (),
    generator_options: Iterable[str] = (),
) -> Any:
    """XLA's options for a program.

    Args:
      devices: where it runs; XLA divides it between several.
      compiler_options: the user's options of XLA by name, or fields of the build.
      needed: the options that this program needs, in the same form.
      disabled_passes: names of the passes that must not run on this program.
      chooses_results: of a program for several devices, for each result whether XLA chooses how it
        is spread.
      generator_options: names of what the generator of code is to do; unknown ones do nothing.
    """
    given = {**(needed or {}), **(compiler_options or {})}
    options = xla_client.CompileOptions()
    build = options.executable_build_options
    options.num_replicas = build.num_replicas = 1
    options.num_partitions = build.num_partitions = len(devices)
    ids = np.array([[device.id for device in devices]])
    build.device_assignment = xla_client.DeviceAssignment.create(ids)
    if len(devices) > 1:
        build.use_spmd_partitioning = build.use_shardy_partitioner = True
        build.allow_spmd_sharding_propagation_to_output = list(chooses_results)
    _apply(options, given, disabled_passes)
    names = tuple(sorted(generator_options))
    return _with_generator_options(options, names) if names else options


def _apply(options: Any, given: dict[str, Any], disabled_passes: Iterable[str]) -> None:
    """Write what flags and the given options say into jaxlib's object."""
    build = options.executable_build_options
    for name, flag in _BUILD_FIELDS.items():
        value = given.pop(name, flag.value)
        if hasattr(build, name) and value != flag.default:
            setattr(build, name, _LEVELS.get(value, value))
    passes = [*disabled_passes, *str(given.pop(_DISABLED_PASSES, "")).split(",")]
    _set_debug_options(build.debug_options, passes)
    overrides = [
        (key, value if isinstance(value, (bool, int, float, str)) else str(value))
        for key, value in given.items()
    ]
    if overrides:
        options.env_option_overrides = overrides


def get_compile_options(
    num_replicas: int,
    num_partitions: int,
    device_assignment: Any = None,
    env_options_overrides: Mapping[str, Any] | None = None,
    fdo_profile: bytes | None = None,
    detailed_logging: bool = True,
    backend: Any = None,
) -> Any:
    """jaxlib's `CompileOptions`, as flags say, for those who call the compiler themselves.

    Args:
      num_replicas: how many copies of the program there are.
      num_partitions: into how many parts each is divided.
      device_assignment: an array of devices, or their numbers, of shape (replicas, partitions);
        with one partition, (replicas,) will do.
      env_options_overrides: options of XLA by name.
      fdo_profile: a profile by which XLA optimizes.
      detailed_logging: whether XLA may say much about it.
      backend: the client; all take the same options.

    Raises:
      ValueError: `device_assignment` has another shape.

    >>> from covector.extend.backend import get_compile_options
    >>> get_compile_options(1, 2).num_partitions
    2
    """
    options = xla_client.CompileOptions()
    build = options.executable_build_options
    options.num_replicas, options.num_partitions = num_replicas, num_partitions
    build.use_spmd_partitioning = build.use_shardy_partitioner = True
    if device_assignment is not None:
        options.device_assignment = _assignment(num_replicas, num_partitions, device_assignment)
    if fdo_profile is not None:
        build.fdo_profile = fdo_profile
    build.debug_options.xla_detailed_logging = detailed_logging
    _apply(options, dict(env_options_overrides or {}), ())
    return options


def create_compile_options(
    computation: Any,
    tuple_args: bool,
    allow_prop_to_inputs: Sequence[bool],
    allow_prop_to_outputs: Sequence[bool],
    backend: Any,
    np_dev: np.ndarray,
    compiler_options: Mapping[str, Any],
) -> Any:
    """jaxlib's `CompileOptions` for a program that is divided between devices.

    Args:
      computation: the module; all take the same options.
      tuple_args: whether the program takes its arguments as one tuple.
      allow_prop_to_inputs, allow_prop_to_outputs: for each argument and result, whether the
        compiler chooses how it is spread.
      backend: the client.
      np_dev: an array of the devices.
      compiler_options: options of XLA by name, and `fdo_profile`.
    """
    given = dict(compiler_options)
    profile = given.pop("fdo_profile", None)
    places = np_dev.reshape(1, np_dev.size)
    options = get_compile_options(1, np_dev.size, places, given, profile, backend=backend)
    options.parameter_is_tupled_arguments = tuple_args
    build = options.executable_build_options
    build.allow_spmd_sharding_propagation_to_parameters = list(allow_prop_to_inputs)
    build.allow_spmd_sharding_propagation_to_output = list(allow_prop_to_outputs)
    return options


def _assignment(num_replicas: int, num_partitions: int, devices: Any) -> Any:
    """jaxlib's object for which device runs which part of which copy."""
    places = np.array(devices)
    if places.ndim == 1 and num_partitions == 1:
        places = places[:, None]
    if places.shape != (num_replicas, num_partitions):
        raise ValueError(wrong_device_assignment(places.shape, num_replicas, num_partitions))
    if places.dtype == object:
        places = np.array([[device.id for device in row] for row in places])
    return xla_client.DeviceAssignment.create(places)


# Numbers of the fields of XLA's messages by which the generator's options are reached.
_BUILD_OPTIONS, _DEBUG_OPTIONS, _GENERATOR_OPTIONS, _KEY = 3, 3, 500, 1


def _with_generator_options(options: Any, names: tuple[str, ...]) -> Any:
    """The options, and those of the generator of code, which are switched on by being named.

    They are entries of a map, which neither Python nor overrides reach. But messages that are
    written one after another are read as one, in which the later ones have added to the first.
    """
    return xla_client.CompileOptions.ParseFromString(
        options.SerializeAsString() + _generator_options(names)
    )


@cache
def _generator_options(names: tuple[str, ...]) -> bytes:
    entries = [_field(_GENERATOR_OPTIONS, _field(_KEY, name.encode())) for name in names]
    return _field(_BUILD_OPTIONS, _field(_DEBUG_OPTIONS, b"".join(entries)))


def _field(number: int, content: bytes) -> bytes:
    """A field of a message of protocol buffers that holds text or another message."""
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(number: int) -> bytes:
    """An integer in groups of seven bits, the lowest first, all but the last of them marked."""
    groups = []
    while number >= 128:
        groups.append(number & 127 | 128)
        number >>= 7
    return bytes([*groups, number])


def _set_debug_options(debug: Any, disabled_passes: Iterable[str]) -> None:
    """What flags say about single passes, and which passes are off."""
    if config.disable_most_optimizations.value:
        debug.xla_backend_optimization_level = 0
        debug.xla_llvm_disable_expensive_passes = True
    passes = {*debug.xla_disable_hlo_passes.split(","), *disabled_passes} - {""}
    if not config.compiler_enable_remat_pass.value:
        passes.add("rematerialization")
    if passes:  # sorted, since the options are part of the name under which programs are kept
        debug.xla_disable_hlo_passes = ",".join(sorted(passes))
