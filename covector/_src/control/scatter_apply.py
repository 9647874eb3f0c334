"""`scatter_apply`: apply a function to elements of an array at places that indices give.

It is a `scatter` whose `update_jaxpr` makes of an element what takes its place; the updates only
have the right shape.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..base import gather_errors
from ..core.avals import ShapedArray, aval_of
from ..core.jaxpr import ClosedJaxpr, Jaxpr
from ..core.trace import Tracer
from ..ops.gather import read_back
from ..ops.gather_dimensions import GatherScatterMode, ScatterDimensionNumbers
from ..ops.linear import full, instantiate
from ..ops.scatter import Scatter, scatter_p
from ..transforms.cache import jaxpr_cache
from ..transforms.jvp import jvp
from ..transforms.stage import stage
from .reduce import elementwise


@jaxpr_cache
def stage_update(fun: Callable[[Any], Any], aval: ShapedArray) -> tuple[Jaxpr, tuple[Any, ...]]:
    """The jaxpr that takes an element and its update, and applies a function to the element."""
    jaxpr, consts = stage(lambda x, update: [fun(x)], (aval, aval))
    captured = next((const for const in consts if isinstance(const, Tracer)), None)
    if captured is not None:
        raise NotImplementedError(gather_errors.apply_captures(captured.aval))
    (out,) = jaxpr.out_avals
    if (out.shape, out.dtype) != (aval.shape, aval.dtype):
        raise TypeError(gather_errors.apply_result(out, aval))
    return jaxpr, tuple(consts)


def scatter_apply(
    operand: Any,
    scatter_indices: Any,
    func: Callable[[Any], Any],
    dimension_numbers: ScatterDimensionNumbers,
    *,
    update_shape: Sequence[int] = (),
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: str | GatherScatterMode | None = None,
) -> Any:
    """An array with a function applied to the elements of windows, at places that indices give.

    Where windows overlap, it is applied several times. `x.at[i].apply(func)` is made of it, and
    easier to use. It has a derivative if the windows are promised not to overlap.

    Args:
      operand: an array.
      scatter_indices: integers; the last dimension holds the coordinates at which a window begins.
      func: takes a scalar and returns one of the same dtype.
      dimension_numbers: how the dimensions belong together.
      update_shape: the shape of an array of all windows, as the updates of `scatter` have it.
      indices_are_sorted: a promise that the indices are sorted.
      unique_indices: a promise that no two windows overlap.
      mode: what becomes of windows out of bounds; by default they are left out.

    Returns:
      An array of the operand's shape and dtype.

    Raises:
      TypeError: dimension numbers and shapes do not fit, or the function returns something else.
      ValueError: the indices are not integers, or there is no such mode.

    >>> import numpy as np
    >>> from covector import lax
    >>> elements = lax.ScatterDimensionNumbers((), (0,), (0,))
    >>> i = np.array([[2], [0], [2]])
    >>> lax.scatter_apply(np.ones(3), i, lambda x: 2 * x, elements, update_shape=(3,))
    Array([2., 1., 4.], dtype=float32)
    """
    dtype = aval_of(operand).dtype
    jaxpr, consts = stage_update(func, ShapedArray((), dtype))
    promises = dict(indices_are_sorted=indices_are_sorted, unique_indices=unique_indices)
    params = scatter_p.params(dimension_numbers, dtype, mode=mode, **promises)
    params |= dict(update_jaxpr=jaxpr, update_consts=consts)
    return scatter_p.bind(operand, scatter_indices, full(update_shape, 0, dtype), **params)


def jvp_of_apply(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
    """The derivative where each element is replaced once, by the function of its value."""
    if not params["unique_indices"]:
        raise NotImplementedError(gather_errors.repeated_apply())
    x, indices, updates = primals
    t = instantiate(tangents[0])
    out = scatter_p.bind(x, indices, updates, **params)
    windows = aval_of(updates).shape
    place = params["dimension_numbers"], windows, params["mode"]
    old, t_old = (read_back(v, indices, *place) for v in (x, t))
    update = ClosedJaxpr(params["update_jaxpr"], params["update_consts"])
    _, (t_new,) = jvp(lambda v: elementwise(update, windows)(v, v), [old], [t_old])
    replace = params | dict(update_jaxpr=None, update_consts=())
    return out, scatter_p.bind(t, indices, instantiate(t_new), **replace)


Scatter.jvp_of_apply = staticmethod(jvp_of_apply)
