"""`initialize` and `shutdown`: how a process joins others, and leaves them."""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Sequence
from typing import Any

from ..base import config
from ..base import process_errors as errors
from ..base.logs import logger
from ..base.warn import warn
from ..xla.callbacks import effects_barrier
from ..xla.devices import any_started
from ..xla.processes import connect, connection, disconnect, is_this_machine
from ..xla.turns import wait_for_all
from .clusters import JOBS, Job, coordinator_of, job_here
from .failures import Listener, tell

Seconds = int
DeviceNumbers = int | Sequence[int] | None

# What hears of the failures of others, while this process has joined them.
_listeners: list[Listener] = []


def initialize(
    coordinator_address: str | None = None,
    num_processes: int | None = None,
    process_id: int | None = None,
    local_device_ids: DeviceNumbers = None,
    cluster_detection_method: str | None = None,
    initialization_timeout: Seconds = 300,
    heartbeat_timeout_seconds: Seconds = 100,
    shutdown_timeout_seconds: Seconds = 300,
    coordinator_bind_address: str | None = None,
    slice_index: int | None = None,
    partition_index: int | None = None,
) -> None:
    """Join other processes, which all call this; their devices then serve one program together.

    It returns when all of them have come. What is not given is looked up in the environment: first
    in `JAX_COORDINATOR_ADDRESS`, `JAX_NUM_PROCESSES`, `JAX_PROCESS_ID`, `JAX_LOCAL_DEVICE_IDS`,
    then in what SLURM, Open MPI and Kubernetes tell the processes of a job. Call it before
    anything else: it is too late when devices are in use.

    Args:
      coordinator_address: `"host:port"`, where the process of number 0 is found by the others.
      num_processes: how many processes there are.
      process_id: the number of this one, from 0 on.
      local_device_ids: the numbers of the GPUs that this process uses; all if None, but one for
        each process in jobs of SLURM and Open MPI.
      cluster_detection_method: the kind of job to look for: `"slurm"`, `"ompi"`, `"k8s"`, or
        `"mpi4py"`, which must be asked for; `"deactivate"` for none.
      initialization_timeout: how many seconds to wait for the others.
      heartbeat_timeout_seconds: after how many seconds of silence a process counts as dead; the
        others then end, too.
      shutdown_timeout_seconds: how many seconds a process that ends waits for the others to.
      coordinator_bind_address: where process 0 listens; by default on the port of
        `coordinator_address`, on all of its network addresses, or on that one alone if it means
        this very machine.
      slice_index: the old name of `partition_index`.
      partition_index: the number of the group of processes whose devices are well connected; given
        in all processes or in none.

    Raises:
      RuntimeError: devices are in use already, or this process has joined others; or they did not
        come in time.
      ValueError: something is not known, or makes no sense.

    >>> import covector as cv
    >>> cv.distributed.is_initialized()
    False
    """
    if any_started():
        raise RuntimeError(errors.started_before())
    joined = connection()
    if joined is not None:
        text = errors.joined_before(joined.process_id, joined.num_processes, joined.address)
        raise RuntimeError(text)
    if partition_index is None and slice_index is not None:
        warn(errors.slice_index_is_old(), DeprecationWarning)
        partition_index = slice_index
    job = job_here(cluster_detection_method)
    address, count, number = _who(coordinator_address, num_processes, process_id, job)
    _use_gpus(_ids(local_device_ids, job))
    if config.check_proxy_envs.value:
        proxies = sorted(name for name in os.environ if "_proxy" in name.lower())
        if proxies:
            logger.warning(errors.proxies(proxies))
    bind_address = coordinator_bind_address or _from_environment("COORDINATOR_BIND_ADDRESS")
    connect(
        *(address, count, number, bind_address or _listening_at(address)),
        initialization_timeout=initialization_timeout,
        heartbeat_timeout=heartbeat_timeout_seconds,
        shutdown_timeout=shutdown_timeout_seconds,
        partition_index=_partition(partition_index),
    )
    joined = connection()
    if joined is not None and not config.enable_recoverability.value:
        _listeners.append(Listener(joined))


def is_initialized() -> bool:
    """Whether this process has joined others."""
    return connection() is not None


def shutdown() -> None:
    """Leave the other processes, which all call this; it happens by itself when Python ends.

    It waits until the programs under way have ended, and until the others leave, too. Nothing
    happens if there are none.
    """
    if is_initialized():
        wait_for_all()
        _stop_listening()
        disconnect()


def _stop_listening() -> None:
    while _listeners:
        _listeners.pop().stop()


@atexit.register
def _leave() -> None:
    """Leave the others at the end; if it is an error that ends this process, tell them.

    Then it goes without waiting for them, since they may be waiting for it.
    """
    joined = connection()
    if joined is None:
        return
    failure = getattr(sys, "last_value", None)
    if failure is not None:
        _stop_listening()
        tell(joined, failure)
        return
    try:
        effects_barrier()
        shutdown()
    except Exception as error:
        logger.warning("[distributed.shutdown] %s", error)


# ---------------------------------------------------------------- what is not given


def _from_environment(name: str) -> str | None:
    return os.environ.get(f"COVECTOR_{name}") or os.environ.get(f"JAX_{name}")


def _number_from_environment(name: str) -> int | None:
    text = _from_environment(name)
    if text is None:
        return None
    try:
        return int(text)
    except ValueError:
        raise ValueError(errors.not_understood(f"JAX_{name}", text, "number")) from None


def _who(
    address: str | None, count: int | None, number: int | None, job: Job | None
) -> tuple[str, int, int]:
    """Where the coordinator is, how many processes there are, and which one this is."""
    address = address or _from_environment("COORDINATOR_ADDRESS")
    count = _number_from_environment("NUM_PROCESSES") if count is None else count
    number = _number_from_environment("PROCESS_ID") if number is None else number
    if job is not None:
        count = job.num_processes() if count is None else count
        number = job.process_id() if number is None else number
        address = address or coordinator_of(job, _from_environment("COORDINATOR_PORT"))
    given = {"coordinator_address": address, "num_processes": count, "process_id": number}
    missing = [name for name, value in given.items() if value is None]
    if address is None or count is None or number is None:
        looked_for = [kind.title for kind in JOBS if not kind.must_be_asked_for]
        raise ValueError(errors.not_known(missing, looked_for))
    for name, value in (("process_id", number), ("num_processes", count)):
        if not isinstance(value, int):
            raise TypeError(errors.not_an_integer(name, value))
    if not 0 <= number < count:
        raise ValueError(errors.no_such_process(number, count))
    if not address.rpartition(":")[2].isdigit():
        raise ValueError(errors.not_an_address(address))
    return address, count, number


def _listening_at(address: str) -> str:
    """Where process 0 listens by default."""
    return address if is_this_machine(address) else "[::]:" + address.rpartition(":")[2]


def _partition(index: int | None) -> int | None:
    if index is not None:
        return index
    found = _number_from_environment("PARTITION_INDEX")
    return _number_from_environment("SLICE_INDEX") if found is None else found


def _ids(given: DeviceNumbers, job: Job | None) -> Sequence[int] | None:
    """The numbers of the GPUs that this process is to use; None for all."""
    if isinstance(given, int):
        return [given]
    if given is not None:
        return given
    text = _from_environment("LOCAL_DEVICE_IDS")
    if text:
        return [int(number) for number in text.split(",")]
    place: Any = None if job is None else job.local_process_id()
    return None if place is None else [place]


def _use_gpus(ids: Sequence[int] | None) -> None:
    if ids:
        visible = ",".join(map(str, ids))
        logger.info("[distributed.initialize] using the devices %s", visible)
        config.update("jax_cuda_visible_devices", visible)
        config.update("jax_rocm_visible_devices", visible)
