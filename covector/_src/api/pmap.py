"""`pmap`: a compiled function mapped over devices, one for each entry of an axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..base import shard_map_errors as errors
from ..base import tree
from ..base.tree_keys import keystr
from ..control.bodies import stage_body
from ..control.shard_map import axes_in_scope, part_aval, shard_map_p
from ..core.avals import aval_of
from ..core.axis import manual_axes
from ..core.trace import Tracer
from ..ops.linear import expand_dims
from ..ops.shaping import squeeze
from ..sharding.mesh import Mesh
from ..sharding.named import NamedSharding
from ..sharding.spec import PartitionSpec
from ..xla.devices import devices as all_devices
from ..xla.devices import is_local, process_count
from .devices import device_put
from .jit import jit
from .local_data import global_of, is_over_processes, local_of
from .wrapping import check_callable, named_after

# The name of the axis of the mesh if the user gives none.
_AXIS = "pmap_axis"


def pmap(
    fun: Callable[..., Any],
    axis_name: Any = None,
    *,
    in_axes: Any = 0,
    out_axes: Any = 0,
    static_broadcasted_argnums: int | Sequence[int] = (),
    devices: Sequence[Any] | None = None,
    backend: str | None = None,
    axis_size: int | None = None,
    donate_argnums: int | Sequence[int] = (),
) -> Callable[..., Any]:
    """Compile a function and map it over devices: each of them has one entry of the mapped axis.

    It is `jit` of a `shard_map` over a mesh of one axis, which is cut into single entries; the
    results lie on the devices, as `shard_map` over such a mesh leaves them. `vmap` maps over axes
    of any size, on one device. Where several processes compute together, each gives entries for its
    own devices, and gets theirs.

    Args:
      fun: a function of trees of arrays.
      axis_name: a name under which collectives such as `lax.psum` address the axis.
      in_axes: which axis of each argument counts the devices: an integer, or a tuple of trees of
        integers, and of None for arguments that all devices share. Of keyword arguments it is the
        first.
      out_axes: along which axis the results are stacked, or None for results that are all equal.
      static_broadcasted_argnums: positions of arguments that are ordinary Python values.
      devices: the devices, of which the first are used; by default those of `backend`.
      backend: the name of a platform.
      axis_size: the size of the axis; needed only if no argument tells it.
      donate_argnums: positions of arguments whose memory may be reused.

    Returns:
      A function of arguments with one more axis where `in_axes` says so.

    Raises:
      ValueError: no argument is mapped, mapped axes differ in size, an array lacks the axis, or
        the axis is larger than the number of devices.
      TypeError: an entry of `in_axes` or `out_axes` is no integer.

    >>> import covector as cv, covector.numpy as jnp
    >>> x = jnp.ones((cv.device_count(), 2))
    >>> y = cv.pmap(lambda x: x / cv.lax.psum(x, "i"), axis_name="i")(x)
    >>> print((y * cv.device_count() == x).all(), y.sharding.spec)
    True P('i',)
    """
    check_callable("pmap", fun)
    for which, axes in (("in_axes", in_axes), ("out_axes", out_axes)):
        _check_axes(which, axes)
    if devices is not None and not len(devices):
        raise ValueError(errors.pmap_without_devices())
    static = _positions(static_broadcasted_argnums)
    name = _AXIS if axis_name is None else axis_name
    plans = _Plans(name, _without(in_axes, static), axis_size, devices, backend)

    def on_devices(*args: Any, **kwargs: Any) -> Any:
        def one(arrays: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            return fun(*_with(arrays, args, static), **kwargs)

        dynamic = _without(args, static), kwargs
        leaves, treedef = tree.flatten(dynamic)
        return _mapped(one, dynamic, plans.of(leaves, treedef), out_axes)

    on_devices.__name__ = on_devices.__qualname__ = getattr(fun, "__name__", "fun")
    compiled = jit(on_devices, static_argnums=static, donate_argnums=_positions(donate_argnums))

    @named_after(fun, "Parallel version of {0}: arguments and results have one more axis.")
    def parallel(*args: Any, **kwargs: Any) -> Any:
        leaves, treedef = tree.flatten((_without(args, static), kwargs))
        plan = plans.of(leaves, treedef, are_local=process_count() > 1)
        placed = [_placed(x, sharding, plan.mesh) for x, sharding in zip(leaves, plan.shardings)]
        arrays, kwargs = tree.unflatten(treedef, placed)
        outs = compiled(*_with(arrays, args, static), **kwargs)
        return tree.map(_of_this_process, outs) if plan.mesh.is_multi_process else outs

    for method in ("lower", "trace", "eval_shape", "clear_cache"):
        setattr(parallel, method, getattr(compiled, method))
    return parallel


class _Plan(NamedTuple):
    """How arguments of some shapes are mapped.

    Attributes:
      mesh: the devices.
      places: for each leaf of the arguments the axis that counts the devices, or None.
      shardings: where each leaf is taken.
    """

    mesh: Mesh
    places: list[int | None]
    shardings: list[NamedSharding]


class _Plans:
    """The plans of a `pmap`, by the structure and the shapes of its arguments.

    Args:
      name: of the axis of the mesh.
      axes: which axis of each argument counts the devices.
      axis_size: the size of the axis, or None.
      devices, backend: what the user says of the devices.
    """

    def __init__(
        self,
        name: Any,
        axes: Any,
        axis_size: int | None,
        devices: Sequence[Any] | None,
        backend: str | None,
    ):
        self._name = name
        self._axes = axes
        self._axis_size = axis_size
        self._devices = devices
        self._backend = backend
        self._made: dict[Any, _Plan] = {}

    def of(self, leaves: Sequence[Any], treedef: Any, are_local: bool = False) -> _Plan:
        """The plan for arguments of these leaves and this structure.

        They may be local: what this process gives, where there are several, for its own devices.
        """
        if manual_axes() and manual_axes()[-1].mesh.size > 1:
            raise ValueError(errors.pmap_within(manual_axes()[-1].mesh))
        key = (treedef, are_local, tuple(map(np.shape, leaves)))
        plan = self._made.get(key)
        if plan is None:
            plan = self._made[key] = self._make(tree.unflatten(treedef, leaves), are_local)
        return plan

    def _make(self, args: tuple[tuple[Any, ...], dict[str, Any]], are_local: bool) -> _Plan:
        places = _axes_of(*args, self._axes)
        size = _size(args, places, None if are_local else self._axis_size)
        available = all_devices(self._backend) if self._devices is None else self._devices
        if are_local:
            mine = [device for device in available if is_local(device)]
            if size != len(mine):
                raise ValueError(errors.pmap_local_size(size, len(mine)))
            size = len(available)
        if size > len(available):
            raise ValueError(errors.pmap_sizes(size, len(available)))
        if len({*available[:size]}) < size:
            raise ValueError(errors.pmap_same_devices(available))
        mesh = Mesh(np.array(available[:size], object), (self._name,))
        shardings = [NamedSharding(mesh, _spec(axis, self._name)) for axis in places]
        return _Plan(mesh, places, shardings)


def _mapped(fun: Callable[..., Any], args: Any, plan: _Plan, out_axes: Any) -> Any:
    """The function of single entries, mapped over the one axis of a mesh.

    Args:
      fun: takes the arguments.
      args: a tuple of trees.
      plan: how they are mapped.
      out_axes: for the result, as a tree: the axis that counts the devices, or None.
    """
    mesh, places = plan.mesh, plan.places
    (name,) = mesh.axis_names
    leaves, in_tree = tree.flatten(args)
    specs = tuple([sharding.spec for sharding in plan.shardings])
    results: list[Any] = []

    def parts(*args: Any) -> list[Any]:
        entries = [
            x if at is None else squeeze(x, (at,)) for x, at in zip(tree.leaves(args), places)
        ]
        outs, out_tree = tree.flatten(fun(*tree.unflatten(in_tree, entries)))
        where = tree.flatten_axes("pmap out_axes", out_tree, out_axes)
        results[:] = [out_tree]
        stacked = []
        for x, at in zip(outs, where):
            rank = aval_of(x).ndim + 1
            at = None if at is None else at % rank
            stacked.append(x if at is None else expand_dims(x, (at,)))
            results.append(_spec(at, name))
        return stacked

    cut = dict(mesh=mesh, newly_manual_axes=frozenset((name,)), check_vma=False)
    avals = [part_aval(aval_of(x), spec, cut) for x, spec in zip(leaves, specs)]
    with axes_in_scope(mesh, (name,), False):
        body = stage_body("pmap", parts, in_tree, avals)
    outs = shard_map_p.bind(
        *body.consts,
        *leaves,
        jaxpr=body.jaxpr,
        in_specs=(PartitionSpec(),) * len(body.consts) + specs,
        out_specs=tuple(results[1:]),
        **cut,
    )
    return tree.unflatten(results[0], outs)


def _placed(x: Any, sharding: NamedSharding, mesh: Mesh) -> Any:
    """An argument where the program takes it; each process gives what its devices take."""
    if isinstance(x, Tracer):
        return x
    if mesh.is_multi_process:
        return global_of(x, mesh, sharding.spec)
    return device_put(x, sharding)


def _of_this_process(x: Any) -> Any:
    """What the devices of this process hold of a result."""
    return local_of(x, x.sharding.mesh, x.sharding.spec) if is_over_processes(x) else x


# ---------------------------------------------------------------- axes and sizes


def _check_axes(which: str, axes: Any) -> None:
    for axis in tree.leaves(axes):
        if not isinstance(axis, int):
            raise TypeError(errors.pmap_only_integers(which, axis))


def _positions(argnums: int | Sequence[int]) -> tuple[int, ...]:
    return (argnums,) if isinstance(argnums, int) else tuple(argnums)


def _without(entries: Any, positions: tuple[int, ...]) -> Any:
    """A tuple without the entries at some positions; what is no tuple stands for all of them."""
    if not isinstance(entries, (tuple, list)):
        return entries
    return tuple(entry for i, entry in enumerate(entries) if i not in positions)


def _with(arrays: Sequence[Any], args: tuple[Any, ...], static: tuple[int, ...]) -> list[Any]:
    """Arguments with the arrays given for those of them that are not static."""
    rest = iter(arrays)
    return [x if i in static else next(rest) for i, x in enumerate(args)]


def _axes_of(args: Any, kwargs: dict[str, Any], axes: Any) -> list[int | None]:
    """The axis that counts the devices, or None, for each leaf of the arguments."""
    places = tree.flatten_axes("pmap in_axes", tree.structure(args), axes)
    places += [0] * len(tree.leaves(kwargs))
    found: list[int | None] = []
    for (path, x), at in zip(tree.leaves_with_path((args, kwargs)), places):
        rank = aval_of(x).ndim
        if at is not None and not -rank <= at < rank:
            if rank == 0:
                raise ValueError(errors.pmap_nothing_mapped())
            raise ValueError(errors.pmap_axis_missing(_shown(path), aval_of(x).shape, at))
        found.append(None if at is None else at % rank)
    return found


def _size(args: Any, places: Sequence[int | None], axis_size: int | None) -> int:
    """The size of the mapped axis, which all arrays that are mapped tell."""
    sizes = [
        (_shown(path), aval_of(x).shape[at])
        for (path, x), at in zip(tree.leaves_with_path(args), places)
        if at is not None
    ]
    if axis_size is not None:
        sizes.append(("axis_size", axis_size))
    if not sizes:
        raise ValueError(errors.pmap_nothing_mapped())
    if len({size for _, size in sizes}) > 1:
        raise ValueError(errors.pmap_sizes_differ(sizes))
    return sizes[0][1]


def _shown(path: Any) -> str:
    """Where a leaf stands in the pair of positional and keyword arguments."""
    return ("args", "kwargs")[path[0].idx] + keystr(path[1:])


def _spec(axis: int | None, name: Any) -> PartitionSpec:
    """The specification of an array of which an axis counts the devices."""
    return PartitionSpec() if axis is None else PartitionSpec(*[None] * axis, name)
