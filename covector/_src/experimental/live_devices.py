"""Going on when some of the processes have failed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..base import process_errors as errors
from ..xla.devices import process_index
from ..xla.processes import connection


class ProcessFailureError(Exception):
    """Processes have failed while others computed with their devices.

    Attributes:
      failed_devices: the set of the devices of those processes.
    """

    def __init__(self, failed_devices: set[Any]):
        self.failed_devices = failed_devices
        super().__init__(errors.devices_failed(failed_devices))


class _LiveDevices:
    """Which of some devices belong to processes that are there, as all of these agree.

    Attributes:
      known: those of the last time that the processes agreed on, each with a number that its
        process has from its start to its end.
    """

    def __init__(self) -> None:
        self.known: dict[Any, int] | None = None

    @contextmanager
    def __call__(self, devices: Sequence[Any]) -> Iterator[list[Any]]:
        """Compute with those devices whose processes are there.

        The processes agree on which these are, waiting for each other, before and after what is
        computed within; it holds for all of them, or for none.

        Args:
          devices: some devices, of which this process has one.

        Raises:
          ProcessFailureError: processes have failed meanwhile.
          RuntimeError: the process is alone.
          ValueError: none of the devices belongs to this process.
        """
        joined = connection()
        if joined is None:
            raise RuntimeError(errors.not_joined("live_devices"))
        if not devices:
            raise ValueError(errors.no_devices_to_watch())
        before = self.known
        if before is None:
            before = _live(joined.client, devices)
        failure: Exception | None = None
        try:
            yield sorted(before, key=lambda device: device.id)
        except Exception as error:
            failure = error
        self.known = after = _live(joined.client, devices)
        failed = {device for device in before if after.get(device) != before[device]}
        if failed:
            raise ProcessFailureError(failed) from failure
        if failure is not None:
            raise failure


def _live(client: Any, devices: Sequence[Any]) -> dict[Any, int]:
    """Those of the devices whose processes are there, each with the number of that life."""
    processes = {device.process_index for device in devices}
    if process_index() not in processes:
        raise ValueError(errors.none_of_the_devices_here(devices))
    lives = client.get_live_nodes(sorted(processes))
    return {d: lives[d.process_index] for d in devices if d.process_index in lives}


live_devices = _LiveDevices()
