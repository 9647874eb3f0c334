"""`pmap`: a compiled function mapped over devices, one for each entry of an axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..base import sharding_errors as errors
from ..base import tree
from ..core.avals import aval_of
from ..xla.devices import device_count
from .jit import jit
from .vectorize import vmap
from .wrapping import check_callable, named_after


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

    Programs run on one device here, so the axis may have size 1 only. `vmap` maps over axes of any
    size, on one device.

    Args:
      fun: a function of trees of arrays.
      axis_name: a name under which collectives such as `lax.psum` address the axis.
      in_axes: which axis of each argument counts the devices: an integer, or a tuple of integers
        and None for arguments that all devices share.
      out_axes: along which axis the results are stacked, or None for results that are all equal.
      static_broadcasted_argnums: positions of arguments that are ordinary Python values.
      devices: the devices; by default those of `backend`.
      backend: the name of a platform.
      axis_size: the size of the axis; needed only if no argument tells it.
      donate_argnums: positions of arguments whose memory may be reused.

    Returns:
      A function of arguments with one more axis where `in_axes` says so.

    Raises:
      ValueError: no argument is mapped, or the axis is larger than the number of devices.
      NotImplementedError: the axis has a size other than 1.

    >>> import covector as cv
    >>> cv.pmap(lambda x: cv.lax.psum(x, "i"), axis_name="i")(cv.numpy.ones((1, 2)))
    Array([[1., 1.]], dtype=float32)
    """
    check_callable("pmap", fun)
    static = _positions(static_broadcasted_argnums)
    donated = _positions(donate_argnums)
    device = devices[0] if devices else None
    axes = _without(in_axes, static)

    def on_devices(*args: Any, **kwargs: Any) -> Any:
        def one(*arrays: Any, **kwargs: Any) -> Any:
            rest = iter(arrays)
            return fun(*(x if i in static else next(rest) for i, x in enumerate(args)), **kwargs)

        return vmap(one, axes, out_axes, axis_name, axis_size)(*_without(args, static), **kwargs)

    compiled = jit(on_devices, static_argnums=static, donate_argnums=donated, device=device)

    @named_after(fun, "Parallel version of {0}: arguments and results have one more axis.")
    def parallel(*args: Any, **kwargs: Any) -> Any:
        size = axis_size or _mapped_size(_without(args, static), kwargs, axes)
        _check_size(size, device_count(backend) if devices is None else len(devices))
        return compiled(*args, **kwargs)

    return parallel


def _positions(argnums: int | Sequence[int]) -> tuple[int, ...]:
    return (argnums,) if isinstance(argnums, int) else tuple(argnums)


def _without(entries: Any, positions: tuple[int, ...]) -> Any:
    """A tuple without the entries at some positions; what is no tuple stands for all of them."""
    if not isinstance(entries, (tuple, list)):
        return entries
    return tuple(entry for i, entry in enumerate(entries) if i not in positions)


def _mapped_size(args: tuple[Any, ...], kwargs: dict[str, Any], axes: Any) -> int:
    """The size of the mapped axis, which the first array that is mapped tells."""
    leaves, args_tree = tree.flatten(args)
    axes_of_args = tree.flatten_axes("pmap in_axes", args_tree, axes)
    for x, axis in [*zip(leaves, axes_of_args), *((x, 0) for x in tree.leaves(kwargs))]:
        if axis is not None and aval_of(x).ndim:
            return aval_of(x).shape[axis]
    raise ValueError(errors.pmap_nothing_mapped())


def _check_size(size: int, available: int) -> None:
    if size > available:
        raise ValueError(errors.pmap_sizes(size, available))
    if size != 1:
        raise NotImplementedError(errors.several_devices("pmap", "the mapped axis", size))
