"""What errors about programs of several processes say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

# ---------------------------------------------------------------- joining the others


def started_before() -> str:
    return (
        "[distributed.initialize] The devices of this process are in use already, so that it "
        "cannot join others. Call `distributed.initialize` before the first array is made, and "
        "before `devices()` and its kin are asked."
    )


def joined_before(process_id: int, num_processes: int, address: str) -> str:
    return (
        f"[distributed.initialize] This is process {process_id} of {num_processes} already, with "
        f"the coordinator at {address}: distributed.initialize should only be called once, or "
        "again after `distributed.shutdown`."
    )


def not_known(missing: Sequence[str], looked_for: Sequence[str]) -> str:
    names = " and ".join(missing)
    jobs = ", ".join(looked_for)
    return (
        f"[distributed.initialize] {names} should be defined: not given, and not found in the "
        f"environment, where no job of {jobs} was found either. Pass them, as in "
        "`initialize('host:port', num_processes=2, process_id=0)`."
    )


def not_a_method(method: str, known: Sequence[str]) -> str:
    return (
        f"[distributed.initialize] cluster_detection_method={method!r} is not known; there are "
        f"{', '.join(map(repr, known))} and 'deactivate'."
    )


def not_such_a_job(method: str) -> str:
    return (
        f"[distributed.initialize] cluster_detection_method={method!r}, but this process runs in "
        "no such job. Start it in one, or pass coordinator_address, num_processes and process_id."
    )


def not_told_by_job(job: str, missing: Sequence[str], advice: str) -> str:
    return (
        f"[distributed.initialize] {job} does not tell its processes {' and '.join(missing)}. "
        f"{advice}"
    )


def not_understood(variable: str, text: str, wanted: str) -> str:
    return (
        f"[distributed.initialize] The environment variable {variable} is {text!r}, in which there "
        f"is no {wanted}. Pass coordinator_address, num_processes and process_id."
    )


def not_an_address(address: str) -> str:
    return (
        f"[distributed.initialize] coordinator_address must have the form 'host:port', not "
        f"{address!r}."
    )


def not_an_integer(name: str, value: Any) -> str:
    return f"[distributed.initialize] {name} must be an int, not {value!r} of type {type(value)}."


def no_such_process(process_id: int, num_processes: int) -> str:
    return (
        "[distributed.initialize] process_id and num_processes must be such that 0 <= process_id < "
        f"num_processes, but they are {process_id} and {num_processes}."
    )


def not_reached(process_id: int, address: str, seconds: int, error: Exception) -> str:
    return (
        f"[distributed.initialize] Process {process_id} found no coordinator at {address}, or not "
        f"all of the others came there, within {seconds} s. Look whether process 0 runs, whether "
        "its host can be reached under this name, and whether all processes were given the same "
        f"address and num_processes. The runtime said: {error}"
    )


def proxies(names: Sequence[str]) -> str:
    listed = ", ".join(names)
    return (
        f"[distributed.initialize] The environment names proxies, {listed}, through "
        "which the coordinator may not be found. If the call waits in vain, unset them."
    )


def slice_index_is_old() -> str:
    return "[distributed.initialize] slice_index is the old name of partition_index; pass that."


def not_joined(where: str) -> str:
    return (
        f"[{where}] This process computes alone. Call `distributed.initialize` in each of the "
        "processes that are to compute together."
    )


def preemption_is_off() -> str:
    return (
        "[reached_preemption_sync_point] Nobody listens for the end of the job: the flag "
        "`jax_enable_preemption_service` was off when `distributed.initialize` was called. Switch "
        "it on before."
    )


# ---------------------------------------------------------------- arrays over processes


def elements_elsewhere(aval: Any, sharding: Any) -> str:
    return (
        f"Only a part of the elements is in this process: the array of type {aval} lies by "
        f"{sharding}, over non-addressable devices, those of other processes, too. Look at the "
        "parts that are here, `x.addressable_shards`; or let all processes call "
        "`experimental.multihost_utils.process_allgather(x, tiled=True)`."
    )


def differs(what: str, aval: Any, which: Sequence[int]) -> str:
    return (
        f"[device_put] The {what} passed to device_put is not the same on each process: it is "
        f"{aval}, and the value differs between this process and {_numbered(which)}. Each process "
        "must pass the same; of parts that each has, `make_array_from_process_local_data` makes "
        "an array."
    )


def _numbered(which: Sequence[int]) -> str:
    numbers = ", ".join(map(str, which))
    return f"process {numbers}" if len(which) == 1 else f"the processes {numbers}"


def to_remote_sharding(aval: Any, sharding: Any) -> str:
    return (
        "[device_put] device_put's second argument must be a device of this process, or a sharding "
        f"over such devices, but it is {sharding}, and the array of type {aval} is committed to "
        "other devices: a committed array does not go there, since this platform does not support "
        "cross-host device transfers. Make the array of parts by "
        "`make_array_from_single_device_arrays`."
    )


def to_other_devices(aval: Any, before: Sequence[Any], after: Sequence[Any]) -> str:
    return (
        "[device_put] For a cross-host reshard input and target sharding should have the same set "
        f"of devices: the array of type {aval} lies on {[d.id for d in before]} and is to lie on "
        f"{[d.id for d in after]}, in other processes too. Gather it by `experimental."
        "multihost_utils.process_allgather` first, or use one mesh."
    )


def to_one_device(aval: Any, devices: Sequence[Any]) -> str:
    return (
        "[device_put] What is put on one device must be a fully addressable array or lie on one "
        f"device, but the array of type {aval} lies on {list(devices)}, of which other processes "
        "have some. Gather it by `experimental.multihost_utils.process_allgather` first."
    )


def no_collectives(name: str, kind: str | None) -> str:
    return (
        f"[{name}] The program is for the CPUs of several processes, and nothing carries values "
        f"between these: the flag `jax_cpu_collectives_implementation` is {kind!r}. Set it to "
        "'gloo' before the first array is made."
    )


# ---------------------------------------------------------------- parts of arrays


def no_dtype(where: str, shape: Any) -> str:
    return (
        f"[{where}] This process holds no part of the array of shape {tuple(shape)}, so that "
        "nothing tells its dtype. If the Array has no addressable shards, `dtype` must be provided."
    )


def global_shape_with_holes(shape: Any) -> str:
    return (
        f"[make_array_from_process_local_data] global_shape={shape} has dimensions of None, which "
        "is not supported. Give the whole shape, or None for the smallest that the data fits."
    )


def shape_not_told(local: Any, sharding: Any, dimension: int) -> str:
    return (
        f"[make_array_from_process_local_data] {sharding} cuts dimension {dimension} in another "
        f"way for each process, so that data of shape {tuple(local)} does not tell the shape of "
        "the whole. Give global_shape."
    )


def local_size(dimension: int, local: Any, mine: int, whole: Any) -> str:
    return (
        "[make_array_from_process_local_data] In each dimension the data must have the size of the "
        f"whole array, or of what this process holds of it. The data has shape {tuple(local)}, the "
        f"array {tuple(whole)}, and in dimension {dimension} this process holds {mine}."
    )


def not_stackable(aval: Any) -> str:
    return (
        "[process_allgather] Gathering an array that is not fully addressable only supports "
        f"tiled=True: each process holds parts of the one array of type {aval}, of which a stack "
        "makes no sense."
    )


def values_differ(message: str, mine: Any, which: Sequence[int]) -> str:
    return (
        f"{message or '[assert_equal] The values must be equal'}. This process and "
        f"{_numbered(which)} do not have the same; this one has {mine}."
    )


def at_another_place(name: str, which: Sequence[int]) -> str:
    return (
        f"[sync_global_devices] This process waits at {name!r}, but {_numbered(which)} at a place "
        "of another name. All processes must come to the same places in the same order."
    )


# ---------------------------------------------------------------- processes that fail


def other_failed(process_id: int, failed: int, failure: str) -> str:
    return (
        f"[distributed] Process {failed} has ended by an error: {failure}. Process {process_id} "
        "ends too, since it may be waiting for that one; the flag `jax_enable_recoverability` "
        "keeps it."
    )


def no_devices_to_watch() -> str:
    return "[live_devices] There are no devices to look after; give `devices()`, or some of them."


def none_of_the_devices_here(devices: Sequence[Any]) -> str:
    return (
        f"[live_devices] None of the devices {list(devices)} belongs to this process, and only "
        "those take part to whom one belongs."
    )


def devices_failed(devices: set[Any]) -> str:
    return (
        f"[live_devices] The processes of the devices {sorted(d.id for d in devices)} have failed; "
        "what was computed within has to be thrown away. Go on with those that are left."
    )
