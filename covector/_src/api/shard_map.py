"""`shard_map`: a function of the parts of arrays, mapped over the devices of a mesh."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ..base import sharding_errors as errors
from ..base import tree
from ..base.tree_keys import keystr
from ..core.avals import aval_of
from ..sharding.mesh import AbstractMesh, Mesh, mesh_in_use
from ..sharding.spec import PartitionSpec
from ..xla.placement import check_one_device
from .vectorize import vmap
from .wrapping import named_after


def shard_map(
    f: Callable[..., Any] | None = None,
    /,
    *,
    out_specs: Any,
    in_specs: Any = None,
    mesh: Mesh | AbstractMesh | None = None,
    axis_names: Any = frozenset(),
    check_vma: bool = True,
) -> Any:
    """Map a function over the devices of a mesh; each call sees its device's parts of the arrays.

    Over a mesh of one device, which is what there is here, a part is the whole array, and what
    `shard_map` adds is the axes of the mesh: collectives in `f` may name them.

    Args:
      f: a function of trees of parts of arrays; left out, `shard_map` is a decorator.
      out_specs: a tree of `PartitionSpec`s, which is a prefix of the result: along which
        dimensions the parts are put together.
      in_specs: the same for the tuple of arguments: along which dimensions they are cut.
      mesh: the mesh; by default the one in use.
      axis_names: the axes of the mesh that `f` is mapped over; all of them if it is empty.
      check_vma: whether results of which `out_specs` says that all devices have the same one are
        checked for it. With one device they are.

    Returns:
      A function of whole arrays.

    Raises:
      TypeError: a leaf of `in_specs` or `out_specs` is no PartitionSpec.
      ValueError: one names an axis that the mesh lacks, or has more entries than its array
        dimensions; or there is no mesh.
      NotImplementedError: the mesh has several devices.

    >>> import covector as cv
    >>> mesh = cv.make_mesh((1,), ("x",))
    >>> @cv.shard_map(mesh=mesh, in_specs=cv.P("x"), out_specs=cv.P())
    ... def total(part):
    ...     return cv.lax.psum(part.sum(), "x")
    >>> print(total(cv.numpy.arange(4.0)))
    6.0
    """
    if f is None:
        return partial(
            shard_map,
            out_specs=out_specs,
            in_specs=in_specs,
            mesh=mesh,
            axis_names=axis_names,
            check_vma=check_vma,
        )

    @named_after(f, "{0}, mapped over the devices of a mesh.")
    def mapped(*args: Any) -> Any:
        used = mesh_in_use() if mesh is None else mesh
        if used.empty:
            raise ValueError(errors.shard_map_without_mesh())
        check_one_device("shard_map", used, used.size)
        names = tuple(n for n in used.axis_names if not axis_names or n in axis_names)
        _check_specs("in_specs", in_specs, args, names)
        out = _with_axes(f, names)(*args)
        _check_specs("out_specs", out_specs, out, names)
        return out

    return mapped


def _with_axes(f: Callable[..., Any], names: tuple[Any, ...]) -> Callable[..., Any]:
    """The function where axes of these names, of size 1, are in scope."""
    for name in reversed(names):
        f = _with_axis(f, name)
    return f


def _with_axis(f: Callable[..., Any], name: Any) -> Callable[..., Any]:
    def within(*args: Any) -> Any:
        # Whether a result varies along the axis or not, its one entry is the whole of it.
        stacked = vmap(lambda: f(*args), axis_name=name, axis_size=1)()
        return tree.map(lambda x: x[0], stacked)

    return within


def _check_specs(what: str, specs: Any, values: Any, names: tuple[Any, ...]) -> None:
    """Raise unless `specs` is a prefix tree of specifications that fit the arrays."""
    if specs is None and what == "in_specs":
        return
    for path, spec in tree.leaves_with_path(specs):
        if not isinstance(spec, PartitionSpec):
            raise TypeError(errors.specs_not_specs(what, keystr(path), spec))
        for name in spec.names():
            if name not in names:
                raise ValueError(errors.spec_axis_unknown(what, spec, name, names))
    leaves, treedef = tree.flatten(values)
    for x, spec in zip(leaves, tree.flatten_axes(f"shard_map {what}", treedef, specs)):
        if spec is not None and len(spec) > aval_of(x).ndim:
            raise ValueError(errors.rank_too_low("shard_map", spec, aval_of(x).shape))
