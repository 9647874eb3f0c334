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
from ..sharding.current import in_use
from ..sharding.named import NamedSharding, named
from ..sharding.spec import UNCONSTRAINED, PartitionSpec
from ..xla.array import ArrayImpl
from ..xla.devices import first_device
from ..xla.placement import check_rank, check_shape, devices_of_sharding, placement_by


class _Unspecified:
    """Says that nothing was said of shardings."""

    def __repr__(self) -> str:
        return "UNSPECIFIED"


UNSPECIFIED = _Unspecified()


def given_shardings(
    where: str, entries: Sequence[Any], avals: Sequence[Any]
) -> list[Sharding | None]:
    """The shardings that users gave for arrays of these types, checked; None if they gave none.

    Within `with mesh:`, to give None is to ask for the whole array on each of its devices.
    """
    used = in_use()
    if used.mesh is None and used.entered:
        entries = [PartitionSpec() if entry is None else entry for entry in entries]
    unsaid = (None, UNSPECIFIED)
    found = [None if entry in unsaid else sharding_of(where, entry) for entry in entries]
    for sharding, aval in zip(found, avals):
        if sharding is not None:
            check_shape(where, sharding, aval.shape)
    return found


def sharding_of(where: str, entry: Any) -> Sharding:
    """The sharding that a user gave, as one or as a PartitionSpec of the mesh in use."""
    target = named(where, entry)
    if not isinstance(target, Sharding):
        raise ValueError(errors.not_a_sharding(where, entry))
    return target


def one_device_of(where: str, shardings: Any) -> Any:
    """The device that a tree of shardings names; None if it is the first one, or not the only one.

    Raises:
      ValueError: a leaf is no sharding, or leaves something to the compiler.
    """
    devices = set()
    for entry in tree.leaves(shardings, is_leaf=lambda x: isinstance(x, Sharding)):
        spec = entry.spec if isinstance(entry, NamedSharding) else entry
        if isinstance(spec, PartitionSpec) and UNCONSTRAINED in spec:
            raise ValueError(errors.unconstrained(where, entry))
        if isinstance(entry, Sharding):
            devices |= {*(devices_of_sharding(entry) or ())}
        elif not isinstance(entry, (PartitionSpec, _Unspecified)):
            raise ValueError(errors.not_a_sharding(where, entry))
    return devices.pop() if len(devices) == 1 and devices != {first_device()} else None


def names_devices(shardings: Any) -> bool:
    """Whether a tree of shardings names a device."""
    leaves = tree.leaves(shardings, is_leaf=lambda x: isinstance(x, Sharding))
    return any(isinstance(x, Sharding) and devices_of_sharding(x) for x in leaves)


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
    if isinstance(sharding, PartitionSpec):
        sharding = named("ShapeDtypeStruct", sharding)
    return aval_of(x), placement_by(sharding) if isinstance(sharding, Sharding) else None
