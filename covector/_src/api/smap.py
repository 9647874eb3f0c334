"""`smap`: `shard_map` over one axis of a mesh, with numbers of dimensions for specifications."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ..base import shard_map_errors as errors
from ..base import tree
from ..base.tracebacks import boundary
from ..core.avals import aval_of
from ..sharding.spec import PartitionSpec
from .shard_map import as_it_lies, manual_of, map_parts, mesh_of
from .wrapping import named_after


class Infer:
    """Says of the dimensions to be cut that they are those along which arguments are spread."""

    def __repr__(self) -> str:
        return "Infer"


INFER = Infer()


def smap(
    f: Callable[..., Any] | None = None, /, *, in_axes: Any = INFER, out_axes: Any, axis_name: Any
) -> Any:
    """Map a function over one axis of the mesh in use.

    Each device along the axis gets its part of the arguments and returns a part of the result.
    `shard_map` is the same for several axes at once.

    Args:
      f: a function of trees of parts of arrays; left out, `smap` is a decorator.
      in_axes: which dimension of each argument is cut: an integer, or None for arguments of which
        all devices get the whole, or a tuple of trees of these. By default, the dimensions along
        which arguments are spread over the axis.
      out_axes: along which dimension the parts of the result are put together, or None for results
        of which all devices return the same.
      axis_name: the axis of the mesh.

    Returns:
      A function of whole arrays.

    Raises:
      TypeError: an entry of `in_axes` or `out_axes` is no integer.
      ValueError: no mesh is in use, or it lacks the axis; or as for `shard_map`.

    >>> import covector as cv
    >>> @cv.smap(in_axes=0, out_axes=None, axis_name="x")
    ... def total(part):
    ...     return cv.lax.psum(part.sum(), "x")
    >>> with cv.set_mesh(cv.make_mesh((cv.device_count(),), ("x",))):
    ...     print(total(cv.numpy.arange(16.0)))
    120.0
    """
    if f is None:
        return partial(smap, in_axes=in_axes, out_axes=out_axes, axis_name=axis_name)
    for which, axes in (("in_axes", in_axes), ("out_axes", out_axes)):
        for axis in tree.leaves(axes):
            if not isinstance(axis, int) and axis is not INFER:
                raise TypeError(errors.smap_only_integers(which, axis))

    @named_after(f, "{0}, mapped over an axis of the mesh in use.")
    @boundary
    def mapped(*args: Any) -> Any:
        leaves = tree.leaves(args)
        mesh = mesh_of(None, leaves)
        manual = manual_of(mesh, (axis_name,))
        if in_axes is INFER:
            specs = [as_it_lies(x, mesh, manual) for x in leaves]
        else:
            axes = tree.flatten_axes("smap in_axes", tree.structure(args), in_axes)
            specs = [_spec(axis, aval_of(x), axis_name) for x, axis in zip(leaves, axes)]

        def out_specs(result: Any) -> Any:
            avals, out_tree = tree.flatten(result)
            axes = tree.flatten_axes("smap out_axes", out_tree, out_axes)
            return tree.unflatten(
                out_tree, [_spec(axis, aval, axis_name) for aval, axis in zip(avals, axes)]
            )

        return map_parts(f, args, specs, out_specs, mesh, manual, True)

    return mapped


def _spec(axis: int | None, aval: Any, name: Any) -> PartitionSpec:
    """The specification that cuts one dimension."""
    if axis is None:
        return PartitionSpec()
    if not -aval.ndim <= axis < aval.ndim:
        raise ValueError(errors.smap_axis_missing(axis, aval))
    return PartitionSpec(*[None] * (axis % aval.ndim), name)
