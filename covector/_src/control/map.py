"""`map`: apply a function to each slice of arrays, one after the other or in batches.

It is a `scan` without a carry, over the slices or over batches of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..base import config, ref_errors, tree
from ..base import scan_errors as errors
from ..base.tracebacks import boundary
from ..core.avals import aval_of
from ..core.axis import Axis
from ..core.jaxpr import ClosedJaxpr, jaxpr_as_fun
from ..ops.joining import concatenate
from ..ops.linear import reshape
from ..ops.slicing import slice
from ..transforms.vmap import example_aval, vmap_jaxpr
from .bodies import Body, operand_avals, stage_body
from .scan import integer, number_of_steps, scan_slices, scan_unstaged, scan_with_refs


@boundary
def map(f: Callable[[Any], Any], xs: Any, *, batch_size: int | None = None) -> Any:
    """Apply a function to each slice of arrays along their first axis, and stack the results.

    Like `np.stack([f(x) for x in xs])`, but as one compiled program, which all transformations
    apply to. Where there is memory enough, `vmap` does the same for all slices at once; batches
    are between the two.

    Args:
      f: from a tree of slices to a tree of arrays.
      xs: a tree of arrays whose first axes have one size.
      batch_size: how many slices to take at once, as under `vmap`; the last batch may be smaller.
        0 means all, None one by one.

    Returns:
      A tree of arrays with the slices' results along the first axis.

    Raises:
      ValueError: the first axes have several sizes, or `batch_size` is negative.

    >>> import covector.numpy as jnp
    >>> from covector import lax
    >>> lax.map(lambda x: x @ x, jnp.arange(6).reshape(3, 2))
    Array([ 1, 13, 41], dtype=int32)
    >>> lax.map(lambda x: x @ x, jnp.arange(6).reshape(3, 2), batch_size=2)
    Array([ 1, 13, 41], dtype=int32)
    """
    if not callable(f):
        raise TypeError(errors.not_callable("map", "f argument", f))
    inputs, xs_tree = tree.flatten(xs)
    avals: list[Any] = operand_avals("map", inputs)
    length = number_of_steps("map", avals)
    if config.disable_jit.value:
        _, ys = scan_unstaged(lambda _, x: (None, f(x)), None, inputs, xs_tree, length, False)
        return ys
    slices = [example_aval(aval, 0) for aval in avals]
    body = stage_body("map", f, tree.treedef_tuple([xs_tree]), slices)
    if body.takes_refs:
        if batch_size is not None:
            raise NotImplementedError(ref_errors.not_with_refs("map with batch_size", "f"))
        outs = scan_with_refs(body.jaxpr, body.consts, [], inputs, length)
    elif batch_size is None:
        outs = scan_slices(body.jaxpr, body.consts, (), inputs, length)
    else:
        outs = map_in_batches(body, inputs, length, size_of_batch(batch_size, length))
    return tree.unflatten(body.out_tree, outs)


def map_in_batches(body: Body, inputs: Sequence[Any], length: int, size: int) -> list[Any]:
    """Scan over batches of slices, then take those that are left."""
    batches = length // size if size else 0
    whole = batches * size
    first, last = [], []
    for x in inputs:
        shape = aval_of(x).shape[1:]
        if batches:
            first.append(reshape(part(x, 0, whole), (batches, size, *shape)))
        if whole < length or not batches:
            last.append(part(x, whole, length))
    outs, rest = [], []
    if first:
        outs = scan_slices(batched(body, size), body.consts, (), first, batches)
    if last:
        rest = jaxpr_as_fun(batched(body, length - whole))(*body.consts, *last)
    if not first:
        return rest
    results = []
    for i, y in enumerate(outs):
        y = reshape(y, (whole, *aval_of(y).shape[2:]))
        results.append(concatenate([y, rest[i]], 0) if last else y)
    return results


def part(x: Any, start: int, stop: int) -> Any:
    """Some slices of an array."""
    shape = aval_of(x).shape
    if (start, stop) == (0, shape[0]):
        return x
    return slice(x, (start, *[0] * len(shape[1:])), (stop, *shape[1:]))


def batched(body: Body, size: int) -> ClosedJaxpr:
    """The function of one slice as one of a batch of slices."""
    consts, count = len(body.consts), len(body.jaxpr.in_avals)
    is_batch = (*[False] * consts, *[True] * (count - consts))
    mapped, _ = vmap_jaxpr(body.jaxpr, Axis(size), is_batch, True)
    return mapped


def size_of_batch(batch_size: Any, length: int) -> int:
    """How many slices a batch has; 0 if there is nothing to divide."""
    size = integer(batch_size, errors.batch_size_not_known(), errors.batch_size_not_an_integer)
    if size < 0:
        raise ValueError(errors.batch_size_negative(size))
    return size if length else 0
