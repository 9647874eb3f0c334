"""`sharding_constraint`: an array where a sharding says it is to lie."""

from __future__ import annotations

from typing import Any

from ..base.shard_map_errors import constrained_within
from ..base.sharding_errors import spmd_axis_used
from ..core.avals import aval_of
from ..core.axis import manual_axes
from ..sharding.mesh import EMPTY_MESH, AbstractMesh
from ..sharding.named import NamedSharding
from ..sharding.spec import UNCONSTRAINED, PartitionSpec
from .base import Sample, draw
from .identities import Everywhere


class ShardingConstraint(Everywhere):
    """The operand, spread over devices in a given way.

    Parameters:
      sharding: how it is spread.
      unconstrained_dims: the dimensions that the compiler may cut as it likes.
      layout, context_mesh: shown, for programs that read jaxprs.

    In a program for one device it is the identity.
    """

    def places(self, params):
        return (params["sharding"],)

    def evaluate(self, backend: Any, args: Any, params: dict[str, Any]) -> Any:
        return backend.spread(args[0], params["sharding"])

    def typecheck(self, avals, params):
        # Which axes are mapped over is looked at every time: it is not part of the memoized rule.
        sharding, manual = params["sharding"], {axis.name for axis in manual_axes()}
        if manual and isinstance(sharding, NamedSharding) and manual & {*sharding.spec.names()}:
            raise ValueError(constrained_within(sharding.spec, sorted(manual, key=str)))
        return super().typecheck(avals, params)

    def vmap(self, axis, dims, x, *, sharding, unconstrained_dims, **params):
        (dim,) = dims
        over = axis.spmd_name
        used = sharding.spec.names() if isinstance(sharding, NamedSharding) else ()
        if over is not None and {*over} & {*used}:
            raise ValueError(spmd_axis_used(sharding.spec, over))
        free = {i + (i >= dim) for i in unconstrained_dims} | ({dim} if over is None else set())
        if isinstance(sharding, NamedSharding):
            spec = list(sharding.spec)
            spec += [None] * ((aval_of(x).ndim - 1 if over is None else dim) - len(spec))
            spec.insert(dim, UNCONSTRAINED if over is None else over)
            sharding = sharding.update(spec=sharding.spec.update(spec))
        params |= dict(sharding=sharding, unconstrained_dims=frozenset(free))
        return self.bind(x, **params), dim

    def samples(self, rng):
        sharding = NamedSharding(AbstractMesh((1,), ("x",)), PartitionSpec())
        params = _params_of(sharding, frozenset())
        for shape in [(3,), (2, 3), (0, 2)]:
            for dtype in ("float32", "int32", "complex64"):
                yield Sample((draw(rng, shape, dtype),), params)

    def emit(self, b, x, *, sharding, unconstrained_dims, **params):
        spread = b.module_context.spread
        sharding = sharding if spread is None else over_devices(sharding, spread.mesh)
        if sharding is None:
            return x
        return b.spread(x, b.avals_in[0], sharding, unconstrained_dims)


def over_devices(sharding: Any, mesh: Any) -> Any:
    """A sharding over a mesh without devices as one over a mesh of them; None if that is another.

    Any other sharding as it is.
    """
    if not isinstance(sharding, NamedSharding) or not isinstance(sharding.mesh, AbstractMesh):
        return sharding
    same = mesh is not None and mesh.shape_tuple == sharding.mesh.shape_tuple
    return sharding.update(mesh=mesh) if same else None


sharding_constraint_p = ShardingConstraint("sharding_constraint")


def _params_of(sharding: Any, free: frozenset[int]) -> dict[str, Any]:
    return dict(sharding=sharding, unconstrained_dims=free, layout=None, context_mesh=EMPTY_MESH)


def sharding_constraint(x: Any, sharding: Any) -> Any:
    """An array where a sharding says it is to lie; under the current trace."""
    if isinstance(sharding, NamedSharding) and sharding.mesh.empty:
        return x
    spec = sharding.spec if isinstance(sharding, NamedSharding) else ()
    free = frozenset(i for i, entry in enumerate(spec) if entry is UNCONSTRAINED)
    return sharding_constraint_p.bind(x, **_params_of(sharding, free))
