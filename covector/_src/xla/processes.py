"""This process among those that compute together.

One of them, process 0, runs a service.  All are clients of it: through it they find each other's
devices, keep texts under keys, wait for one another, and hear when one of them is gone.  The
clients of the platforms are told of the connection when they start, after which it is too late.
"""

from __future__ import annotations

import atexit
import ipaddress
from typing import Any, NamedTuple

from ..base import config
from ..base.errors import JaxRuntimeError
from ..base.process_errors import no_collectives, not_reached
from .native import _jax, xla_client


class Connection(NamedTuple):
    """What ties this process to the others.

    Attributes:
      process_id: the number of this process.
      num_processes: how many there are.
      address: of the service.
      client: jaxlib's client of the service.
      service: jaxlib's service, in process 0; else None.
      preemption: what learns that the job is to end; None if nobody is to.
      partition_index: the number of the group of processes whose devices are well connected.
    """

    process_id: int
    num_processes: int
    address: str
    client: Any
    service: Any
    preemption: Any
    partition_index: int | None


_connections: list[Connection] = []


def connection() -> Connection | None:
    """The connection to the other processes, if there is one."""
    return _connections[-1] if _connections else None


def connect(
    address: str,
    num_processes: int,
    process_id: int,
    bind_address: str,
    initialization_timeout: int,
    heartbeat_timeout: int,
    shutdown_timeout: int,
    partition_index: int | None,
) -> None:
    """Join the other processes; process 0 starts the service, at `bind_address`.

    Raises:
      JaxRuntimeError: there was no service, or not all others came, before the time was over.
    """
    service = None
    try:
        if process_id == 0:
            service = _jax.get_distributed_runtime_service(
                bind_address,
                num_processes,
                heartbeat_timeout=heartbeat_timeout,
                shutdown_timeout=shutdown_timeout,
                recoverable=config.enable_recoverability.value,
            )
        client = _jax.get_distributed_runtime_client(
            address,
            process_id,
            init_timeout=initialization_timeout,
            shutdown_timeout=shutdown_timeout,
            heartbeat_timeout=heartbeat_timeout,
            use_compression=True,
        )
        client.connect()
    except xla_client.XlaRuntimeError as error:
        text = not_reached(process_id, address, initialization_timeout, error)
        raise JaxRuntimeError(text) from error
    preemption = None
    if config.enable_preemption_service.value:
        preemption = _jax.create_preemption_sync_manager()
        preemption.initialize(client)
    _connections.append(
        Connection(
            *(process_id, num_processes, address, client, service, preemption, partition_index)
        )
    )


def disconnect() -> None:
    """Leave the other processes, when all are ready to; nothing happens if there are none."""
    if not _connections:
        return
    left = _connections.pop()
    if left.preemption is not None:  # it speaks through the client
        left.preemption.shutdown()
    try:
        left.client.shutdown()
    finally:
        if left.service is not None:
            left.service.shutdown()


# ---------------------------------------------------------------- the clients of platforms


def cpu_options() -> dict[str, Any]:
    """What the client of the CPUs has to know of the other processes."""
    joined = connection()
    if joined is None:
        return {}
    return {
        "distributed_client": joined.client,
        "node_id": joined.process_id,
        "num_nodes": joined.num_processes,
        "collectives": _collectives(joined),
        "get_local_topology_timeout_minutes": config.cpu_get_local_topology_timeout_minutes.value,
        "get_global_topology_timeout_minutes": (
            config.cpu_get_global_topology_timeout_minutes.value
        ),
    }


def _collectives(joined: Connection) -> Any:
    """What carries values between the CPUs of the processes."""
    kind = config.cpu_collectives_implementation.value
    if kind == "gloo":
        # If they meet at an address that means this very machine, all of them are on it.
        host = "127.0.0.1" if is_this_machine(joined.address) else None
        return _jax.make_gloo_tcp_collectives(distributed_client=joined.client, hostname=host)
    if kind == "mpi":
        collectives = _jax.make_mpi_collectives()
        collectives.Init()
        atexit.register(collectives.Finalize)
        return collectives
    return None


def check_collectives(name: str) -> None:
    """Raise unless something carries values between CPUs; the runtime would end the process."""
    kind = config.cpu_collectives_implementation.value
    if kind not in ("gloo", "mpi"):
        raise RuntimeError(no_collectives(name, kind))


def is_this_machine(address: str) -> bool:
    """Whether an address, `host:port`, means the machine on which it is used, whichever it is."""
    host = address.rpartition(":")[0].strip("[]")
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def plugin_options() -> dict[str, Any]:
    """What the client of an accelerator has to know of the other processes."""
    joined = connection()
    if joined is None:
        return {}
    options = {"node_id": joined.process_id, "num_nodes": joined.num_processes}
    if joined.partition_index is not None:
        options["partition_index"] = joined.partition_index
    return options
