"""Values of several processes."""

from .._src.experimental.live_devices import ProcessFailureError as ProcessFailureError
from .._src.experimental.live_devices import live_devices as live_devices
from .._src.experimental.processes import assert_equal as assert_equal
from .._src.experimental.processes import broadcast_one_to_all as broadcast_one_to_all
from .._src.experimental.processes import (
    global_array_to_host_local_array as global_array_to_host_local_array,
)
from .._src.experimental.processes import (
    host_local_array_to_global_array as host_local_array_to_global_array,
)
from .._src.experimental.processes import process_allgather as process_allgather
from .._src.experimental.processes import (
    reached_preemption_sync_point as reached_preemption_sync_point,
)
from .._src.experimental.processes import sync_global_devices as sync_global_devices
from .._src.sharding.spec import PartitionSpec as P

__all__ = [
    "P",
    "ProcessFailureError",
    "assert_equal",
    "broadcast_one_to_all",
    "global_array_to_host_local_array",
    "host_local_array_to_global_array",
    "live_devices",
    "process_allgather",
    "reached_preemption_sync_point",
    "sync_global_devices",
]
