"""How users say where arrays lie, in one form: shardings for flat arguments and results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..base import sharding_errors as errors
from ..base import tree
from ..core.avals import aval_of
from ..core.trace import Tracer
from ..ops.sharding_constraint import sharding_constraint
from ..sharding.base import Sharding
from ..sharding.named import NamedSharding, named
from ..sharding.spec import UNCONSTRAINED, PartitionSpec
from ..xla.array import ArrayImpl
from ..xla.devices import first_device
from ..xla.placement import check_rank, check_shape, devices_of_sharding, placement_by


def given_shardings(
    where: str, entries: Sequence[Any], avals: Sequence[Any]
) -> list[Sharding | None]:
    """The shardings that users gave for arrays of these types, checked; None stays None."""
    found = [None if entry is None else sharding_of(where, entry) for entry in entries]
    for sharding, aval in zip(found, avals):
        if sharding is not None:
            if isinstance(sharding, NamedSharding) and UNCONSTRAINED in sharding.spec:
                raise ValueError(errors.unconstrained(where, sharding))
            check_shape(where, sharding, aval.shape)
    return found


def sharding_of(where: str, entry: Any) -> Sharding:
    """The sharding that a user gave, as one or as a PartitionSpec of the mesh in use."""
    target = named(where, entry)
    if not isinstance(target, Sharding):
        raise ValueError(errors.not_a_sharding(where, entry))
    return target


def one_device_of(where: str, shardings: Any) -> tuple[Any, bool]:
    """The one device that a tree of shardings names, and whether they name no more than that.

    The device is None for the default one, and if none is named.
    """
    entries = tree.leaves(shardings, is_leaf=lambda x: isinstance(x, Sharding))
    for entry in entries:
        if not isinstance(entry, (Sharding, PartitionSpec)):
            raise ValueError(errors.not_a_sharding(where, entry))
    named_devices = {
        device
        for entry in entries
        for device in (isinstance(entry, Sharding) and devices_of_sharding(entry)) or ()
    }
    if len(named_devices) > 1 or any(isinstance(entry, PartitionSpec) for entry in entries):
        return None, False
    (device,) = named_devices or {None}
    return None if device == first_device() else device, True


def constrained(x: Any, sharding: Sharding | None) -> Any:
    """A value of a transformed program, which is to lie as a sharding says, if there is one."""
    return x if sharding is None else sharding_constraint(x, sharding)


def constrained_as(where: str, x: Any, entry: Any) -> Any:
    """An array, or a value of a transformed program, where a user wants it to lie."""
    target, shape = sharding_of(where, entry), aval_of(x).shape
    check_rank(where, target, shape)
    if not isinstance(x, Tracer):
        check_shape(where, target, shape)
    return sharding_constraint(x, target)


def type_and_placement(x: Any) -> tuple[Any, Any]:
    """The type of an argument, and where it lies if that is said: of an array, or a struct."""
    if isinstance(x, ArrayImpl):
        return x.aval, x._placement
    sharding = None if isinstance(x, Tracer) else getattr(x, "sharding", None)
    return aval_of(x), placement_by(sharding) if isinstance(sharding, Sharding) else None
