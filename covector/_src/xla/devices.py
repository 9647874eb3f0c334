"""Clients and devices: one PJRT client per platform, made when it is first needed."""

from __future__ import annotations

from functools import cache
from typing import Any

from ..base import config
from .native import _jax, xla_client


class DeviceSharding(_jax.SingleDeviceSharding):
    """An array that lies whole on one device, as jaxlib's C++ wants to hear of it."""

    @property
    def memory_kind(self) -> str | None:
        return self._memory_kind

    def _to_xla_hlo_sharding(self, ndim: int) -> Any:
        return xla_client.HloSharding.replicate()


@cache
def cpu_client() -> Any:
    """The client of the host's processor."""
    count = config.read("num_cpu_devices")
    return xla_client.make_cpu_client(num_devices=count if count and count > 0 else None)


def default_client() -> Any:
    return cpu_client()


@cache
def _first_device() -> Any:
    return default_client().local_devices()[0]


def default_device() -> Any:
    """The device on which arrays land unless they are told otherwise."""
    return config.read("default_device") or _first_device()


@cache
def sharding_on(device: Any) -> DeviceSharding:
    """The sharding of arrays that lie on `device`."""
    return DeviceSharding(device)


@cache
def device_list(device: Any) -> Any:
    return _jax.DeviceList((device,))
