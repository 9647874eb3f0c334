"""Values of several processes."""

from .._src.experimental.processes import assert_equal as assert_equal
from .._src.experimental.processes import broadcast_one_to_all as broadcast_one_to_all
from .._src.experimental.processes import process_allgather as process_allgather
from .._src.experimental.processes import (
    reached_preemption_sync_point as reached_preemption_sync_point,
)
from .._src.experimental.processes import sync_global_devices as sync_global_devices
