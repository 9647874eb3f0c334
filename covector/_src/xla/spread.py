"""Programs for several devices: which these are, and how arguments and results lie on them.

A program runs on one device unless something speaks of several: an argument that lies on them, a
sharding that `jit` was given, or an eqn that names a mesh.  All that speak of devices must mean the
same ones in the same order.  If nothing does, it runs on those of the mesh that `set_mesh` chose.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..base import sharding_errors as errors
from ..core.avals import ShapedArray
from ..core.jaxpr import ClosedJaxpr, Jaxpr
from ..core.show import jaxprs_in_params
from ..sharding.base import Sharding
from ..sharding.current import in_use
from ..sharding.mesh import AbstractMesh, Mesh
from ..sharding.named import NamedSharding
from ..sharding.spec import PartitionSpec
from ..transforms.cache import jaxpr_cache
from .gspmd import GSPMDSharding, named_over
from .placement import Placement, devices_of_sharding, placement_by


class Spread:
    """How a program is spread over devices. Equal ones serve as one key of caches.

    Of one device there is one only where a mesh is spoken of, in whose words results are told.

    Attributes:
      devices: the devices, in the order in which the program numbers them.
      mesh: a mesh of them, in whose words the compiler's choices are told; or None.
      ins: a sharding for each argument.
      outs: a sharding for each result, or None where the compiler may choose.
    """

    __slots__ = ("_hash", "devices", "ins", "mesh", "outs")

    def __init__(
        self,
        devices: tuple[Any, ...],
        mesh: Mesh | None,
        ins: tuple[Sharding, ...],
        outs: tuple[Sharding | None, ...],
    ):
        self.devices = devices
        self.mesh = mesh
        self.ins = ins
        self.outs = outs
        self._hash = hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        return self.devices, self.mesh, self.ins, self.outs

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Spread) and self._key() == other._key()

    @property
    def is_over_many(self) -> bool:
        """Whether there are several devices."""
        return len(self.devices) > 1

    @property
    def device(self) -> Any:
        """The first device."""
        return self.devices[0]

    @property
    def in_placements(self) -> list[Placement | None]:
        """Where the program takes its arguments."""
        return list(map(placement_by, self.ins))

    @property
    def whole(self) -> Sharding:
        """The sharding by which each device holds the whole of an array."""
        if self.mesh is None:
            return GSPMDSharding.get_replicated(self.devices)
        return NamedSharding(self.mesh, PartitionSpec())

    def chosen(self, hlo: Any, ndim: int, in_ndims: Sequence[int] = ()) -> Sharding:
        """A sharding that the compiler has chosen for an array of rank `ndim`.

        It is told in the words in which an argument's is, of these ranks, if one lies in this way.
        """
        text = str(hlo)
        for sharding, rank in zip(self.ins, in_ndims):
            if rank == ndim and str(sharding._to_xla_hlo_sharding(rank)) == text:
                return sharding
        found = None if self.mesh is None else named_over(self.mesh, hlo, ndim)
        return GSPMDSharding(self.devices, hlo) if found is None else found


def spread_of(
    where: str,
    jaxpr: ClosedJaxpr,
    args: Sequence[tuple[ShapedArray, Placement | None]],
    in_shardings: Sequence[Sharding | None] = (),
    out_shardings: Sequence[Sharding | None] = (),
) -> Spread | None:
    """How a program is spread over devices; None if nothing speaks of several, or of a mesh.

    Args:
      where: the name of the program.
      jaxpr: the program.
      args: the type and the placement of each argument.
      in_shardings: the sharding that each argument is to have, or None.
      out_shardings: the sharding that each result is to have, or None.

    Raises:
      ValueError: what speaks of devices means different ones; or an argument is committed to
        another sharding than it is to have.
    """
    given = list(in_shardings) or [None] * len(args)
    outs = tuple(out_shardings) or _stated(jaxpr.jaxpr)
    inside = _spoken_of(jaxpr)
    committed = [p for _, p in args if p is not None and p.committed]
    used = in_use().mesh
    shardings = [s for s in (*(p.sharding for p in committed), *given, *outs) if s is not None]
    if not (inside or used or shardings):
        return None
    if used and not (inside or committed):
        inside = {tuple(used.devices.flat): used}
    claims = [*_claims(args, given, outs), *(("a mesh inside", d) for d in inside)]
    if not claims:
        return None
    devices = claims[0][1]
    if any(other != devices for _, other in claims):
        if all(len(other) == 1 for _, other in claims):
            return None
        raise ValueError(errors.incompatible_devices(where, claims))
    spread = _over(where, devices, args, given, outs, inside)
    return spread if spread.is_over_many or spread.mesh is not None else None


def _claims(
    args: Sequence[tuple[ShapedArray, Placement | None]],
    given: Sequence[Sharding | None],
    outs: Sequence[Sharding | None],
) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """What arguments and shardings say about the devices: who says it, and which.

    An argument that lies whole on one device, and is to lie whole on each, says nothing.
    """
    for i, ((aval, placement), wanted) in enumerate(zip(args, given)):
        stays = placement is not None and placement.committed
        if stays and (placement.is_spread or wanted is None or not wanted.is_fully_replicated):
            yield f"argument {i} of type {aval}", placement.devices
    for what, shardings in (("in_shardings", given), ("out_shardings", outs)):
        for sharding in shardings:
            devices = None if sharding is None else devices_of_sharding(sharding)
            if devices is not None:
                yield what, devices


def _over(
    where: str,
    devices: tuple[Any, ...],
    args: Sequence[tuple[ShapedArray, Placement | None]],
    given: Sequence[Sharding | None],
    outs: tuple[Sharding | None, ...],
    inside: dict[tuple[Any, ...], Mesh | None],
) -> Spread:
    """How a program is spread over these devices."""
    placed = [None if p is None else p.sharding for _, p in args]
    for i, (sharding, before, (aval, _)) in enumerate(zip(given, placed, args)):
        if sharding is not None and before is not None:
            if not sharding.is_equivalent_to(before, aval.ndim):
                raise ValueError(errors.other_sharding(where, i, aval, before, sharding))
    spoken = (*placed, *given, *outs)
    meshes = [s.mesh for s in spoken if isinstance(s, NamedSharding) and isinstance(s.mesh, Mesh)]
    mesh = meshes[0] if meshes else inside.get(devices)
    whole = Spread(devices, mesh, (), ()).whole
    ins = tuple(wanted or before or whole for wanted, before in zip(given, placed))
    return Spread(devices, mesh, ins, outs)


def _stated(jaxpr: Jaxpr) -> tuple[Sharding | None, ...]:
    """How the results are spread of which the eqns that make them say so."""
    made: dict[int, Sharding | None] = {}
    for eqn in jaxpr.eqns:
        shardings = eqn.primitive.result_shardings(eqn.params)
        if shardings is not None:
            made.update(zip(map(id, eqn.outvars), shardings))
    return tuple([made.get(id(atom)) for atom in jaxpr.outvars])


@jaxpr_cache
def _spoken_of(jaxpr: ClosedJaxpr) -> dict[tuple[Any, ...], Mesh | None]:
    """The devices that eqns of a program speak of, each with a mesh of them."""
    found: dict[tuple[Any, ...], Mesh | None] = {}
    for x in _places_in(jaxpr.jaxpr, set()):
        mesh = x if isinstance(x, Mesh) else getattr(x, "mesh", None)
        if isinstance(mesh, AbstractMesh):
            continue
        devices = tuple(x.devices.flat) if isinstance(x, Mesh) else devices_of_sharding(x)
        if devices is not None and len(devices) > 1:
            found[devices] = found.get(devices) or mesh
    return found


def _places_in(jaxpr: Jaxpr, seen: set[int]) -> Iterator[Any]:
    """The meshes and shardings of which the eqns of a jaxpr speak."""
    if id(jaxpr) in seen:
        return
    seen.add(id(jaxpr))
    for eqn in jaxpr.eqns:
        yield from eqn.primitive.places(eqn.params)
        for inner in jaxprs_in_params(eqn.params):
            yield from _places_in(getattr(inner, "jaxpr", inner), seen)
