"""`shard_map`: a function of the parts of arrays, mapped over the devices of a mesh."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ..base import shard_map_errors as errors
from ..base import tree
from ..base.tracebacks import boundary
from ..base.tree_keys import keystr
from ..control.bodies import Body, operand_avals, stage_body
from ..control.shard_map import axes_in_scope, part_aval, shard_map_p, with_out_specs
from ..core.axis import manual_axes
from ..core.trace import Tracer
from ..sharding.mesh import AbstractMesh, Mesh, mesh_in_use
from ..sharding.named import NamedSharding
from ..sharding.spec import PartitionSpec
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

    The function runs on all devices at once, and there addresses the axes of the mesh by name:
    collectives such as `lax.psum` act along them. It is traced once, for the shapes of a part. The
    result can be differentiated, batched and compiled like any other function.

    Args:
      f: a function of trees of parts of arrays; left out, `shard_map` is a decorator.
      out_specs: a tree of `PartitionSpec`s, which is a prefix of the result: along which axes of
        the mesh the parts of each dimension are put together. Along an axis that is left out, all
        devices must have the same result.
      in_specs: the same for the tuple of arguments: along which axes each dimension is cut. An axis
        that is left out gives all devices along it the same part. Where there is None instead of a
        specification, `f` gets the argument as it is, which need not be an array. By default
        arguments are cut as they lie on the mesh, if they do.
      mesh: the mesh; by default the one in use. An `AbstractMesh` stands for the one on which the
        arguments lie.
      axis_names: the axes of the mesh that `f` is mapped over; all of them if it is empty. Along
        the others the compiler spreads the work, as outside.
      check_vma: whether types tell along which axes values vary (they are printed so:
        `f32[2]{V:x}`), and results of which `out_specs` says that they do not are checked for it.
        In a derivative that `f` itself takes, the cotangents of values that do not vary are then
        added up over the devices. Without, nothing is checked, and they are not.

    Returns:
      A function of whole arrays.

    Raises:
      TypeError: a leaf of `in_specs` or `out_specs` is no PartitionSpec.
      ValueError: one names an axis that the mesh lacks, or has more entries than its array
        dimensions, or cuts a dimension into unequal parts; a result varies along an axis along
        which `out_specs` says that it does not; or there is no mesh.

    >>> import covector as cv
    >>> mesh = cv.make_mesh((cv.device_count(),), ("x",))
    >>> @cv.shard_map(mesh=mesh, in_specs=cv.P("x"), out_specs=cv.P())
    ... def total(part):
    ...     return cv.lax.psum(part.sum(), "x")
    >>> print(total(cv.numpy.arange(16.0)))
    120.0
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
    @boundary
    def mapped(*args: Any) -> Any:
        leaves = tree.leaves(args)
        used = mesh_of(mesh, leaves)
        manual = manual_of(used, axis_names)
        specs = _in_specs(in_specs, args, leaves, used, manual)
        return map_parts(f, args, specs, lambda _: out_specs, used, manual, check_vma)

    return mapped


def map_parts(
    f: Callable[..., Any],
    args: tuple[Any, ...],
    specs: Sequence[PartitionSpec | None],
    out_specs_of: Callable[[Any], Any],
    mesh: Mesh | AbstractMesh,
    manual: frozenset[Any],
    check_vma: bool,
) -> Any:
    """Map a function over axes of a mesh.

    Args:
      f: the function.
      args: its arguments, trees of whole arrays.
      specs: the specification of each leaf of them, or None for leaves that `f` gets as they are.
      out_specs_of: from the types of what `f` returns to the specifications of the result.
      mesh, manual: the mesh, and the axes of it.
      check_vma: whether types tell which values vary.
    """
    where = errors.applied_to(f)
    leaves, in_tree = tree.flatten(args)
    arrays = [x for x, spec in zip(leaves, specs) if spec is not None]
    given = [spec for spec in specs if spec is not None]
    paths = [f"args{keystr(path)}" for path, _ in tree.leaves_with_path(args)]
    paths = [path for path, spec in zip(paths, specs) if spec is not None]
    if len(arrays) < len(leaves):
        f, in_tree = _of_arrays(f, in_tree, leaves, specs)
    cut = dict(mesh=mesh, newly_manual_axes=manual, check_vma=check_vma)
    avals = operand_avals("shard_map", arrays)
    parts = [_part(where, *each, cut) for each in zip(paths, avals, given)]
    with axes_in_scope(mesh, manual, check_vma):
        body = stage_body("shard_map", f, in_tree, parts)
        out_specs = _out_specs(where, out_specs_of, body, cut)
        jaxpr = with_out_specs(body.jaxpr, out_specs, cut)
    outs = shard_map_p.bind(
        *body.consts,
        *arrays,
        jaxpr=jaxpr,
        in_specs=(PartitionSpec(),) * len(body.consts) + tuple(given),
        out_specs=out_specs,
        **cut,
    )
    return tree.unflatten(body.out_tree, outs)


def _of_arrays(
    f: Callable[..., Any], in_tree: Any, leaves: Sequence[Any], specs: Sequence[Any]
) -> tuple[Callable[..., Any], Any]:
    """The function of those leaves of its arguments that are cut, and their structure."""

    def fun(*arrays: Any) -> Any:
        rest = iter(arrays)
        given = [x if spec is None else next(rest) for x, spec in zip(leaves, specs)]
        return f(*tree.unflatten(in_tree, given))

    return fun, tree.structure(tuple(x for x, s in zip(range(len(specs)), specs) if s is not None))


# ---------------------------------------------------------------- meshes


def mesh_of(mesh: Mesh | AbstractMesh | None, leaves: Sequence[Any]) -> Mesh | AbstractMesh:
    """The mesh that a function is mapped over.

    Args:
      mesh: what the user gave.
      leaves: of the arguments, which may lie on the mesh that an abstract one stands for.
    """
    around = manual_axes()
    in_use = around[-1].mesh if around else mesh_in_use()
    mesh = in_use if mesh is None else mesh
    if isinstance(mesh, AbstractMesh):
        lie_on = [getattr(getattr(x, "sharding", None), "mesh", None) for x in leaves]
        for found in (in_use, *lie_on):
            if isinstance(found, Mesh) and found.shape_tuple == mesh.shape_tuple:
                mesh = found
    elif around and mesh != in_use:
        raise ValueError(errors.other_mesh(in_use, mesh))
    if mesh.empty:
        raise ValueError(errors.without_mesh())
    if isinstance(mesh, AbstractMesh) and not any(isinstance(x, Tracer) for x in leaves):
        raise ValueError(errors.mesh_without_devices(mesh))
    return mesh


def manual_of(mesh: Mesh | AbstractMesh, axis_names: Any) -> frozenset[Any]:
    """The axes that a function is mapped over."""
    names = {axis_names} if isinstance(axis_names, str) else {*axis_names}
    if not names <= {*mesh.axis_names}:
        raise ValueError(errors.not_in_mesh(names - {*mesh.axis_names}, mesh.axis_names))
    mapped = {axis.name for axis in manual_axes()}
    if names & mapped:
        raise ValueError(errors.mapped_already([n for n in mesh.axis_names if n in names & mapped]))
    manual = frozenset(names or {*mesh.axis_names} - mapped)
    if not manual:
        raise ValueError(errors.mapped_already(mesh.axis_names))
    return manual


# ---------------------------------------------------------------- specifications


def _check_specs(what: str, specs: Any, manual: frozenset[Any], mesh: Any) -> None:
    """Raise unless `specs` is a tree of specifications of axes that are mapped over."""
    for path, spec in tree.leaves_with_path(specs):
        if not isinstance(spec, PartitionSpec):
            raise TypeError(errors.specs_not_specs(what, keystr(path), spec))
        for name in spec.names():
            if name not in manual:
                names = [n for n in mesh.axis_names if n in manual]
                raise ValueError(errors.spec_axis_unknown(what, spec, name, names))


def _in_specs(
    specs: Any, args: Any, leaves: Sequence[Any], mesh: Any, manual: frozenset[Any]
) -> list[PartitionSpec | None]:
    """The specification of each leaf of the arguments."""
    if specs is None:
        return [as_it_lies(x, mesh, manual) for x in leaves]
    if isinstance(specs, list):
        specs = tuple(specs)
    _check_specs("in_specs", specs, manual, mesh)
    return tree.flatten_axes("shard_map in_specs", tree.structure(args), specs)


def as_it_lies(x: Any, mesh: Any, manual: frozenset[Any]) -> PartitionSpec:
    """How an array is spread over the mesh, as far as axes go that are mapped over."""
    sharding = getattr(x, "sharding", None)
    if not isinstance(sharding, NamedSharding) or sharding.mesh != mesh:
        return PartitionSpec()
    spec = sharding.spec
    axes = [tuple([n for n in spec.axes_of(i) if n in manual]) for i in range(len(spec))]
    return PartitionSpec(*axes)


def _part(where: str, path: str, aval: Any, spec: PartitionSpec, cut: dict[str, Any]) -> Any:
    """The type of a device's part of an argument."""
    if len(spec) > getattr(aval, "ndim", 0):
        raise ValueError(errors.rank_too_low(where, "in_specs", path, spec, aval))
    sizes = cut["mesh"].shape
    for i in range(len(spec)):
        parts = math.prod([sizes[name] for name in spec.axes_of(i)])
        if aval.shape[i] % parts:
            raise ValueError(errors.not_divisible(where, path, spec, aval, i, parts))
    return part_aval(aval, spec, cut)


def _out_specs(
    where: str, specs_of: Callable[[Any], Any], body: Body, cut: dict[str, Any]
) -> tuple[PartitionSpec, ...]:
    """The specification of each leaf of the result."""
    mesh, manual = cut["mesh"], cut["newly_manual_axes"]
    result = tree.unflatten(body.out_tree, body.out_avals)
    specs = specs_of(result)
    _check_specs("out_specs", specs, manual, mesh)
    flat = tree.flatten_axes("shard_map out_specs", body.out_tree, specs)
    flat = [PartitionSpec() if spec is None else spec for spec in flat]
    wrong = []
    for (path, aval), spec in zip(tree.leaves_with_path(result), flat):
        name = f"result{keystr(path)}"
        if len(spec) > getattr(aval, "ndim", 0):
            raise ValueError(errors.rank_too_low(where, "out_specs", name, spec, aval))
        varies = (aval.vma & manual) - {*spec.names()}
        if varies:
            wrong.append((name, spec, aval, [n for n in mesh.axis_names if n in varies]))
    if wrong:
        raise ValueError(errors.not_replicated(where, wrong))
    return tuple(flat)
