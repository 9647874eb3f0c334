"""Moving arrays between host and devices, and forgetting what was cached."""

from __future__ import annotations

import copy
from typing import Any

from ..base import errors, tree
from ..control.bodies import clear_bodies
from ..core.trace import context, eval_trace
from ..ops.transfer import device_put as device_put_array
from ..transforms.cache import clear_jaxpr_caches
from ..xla.array import ArrayImpl
from .jit import clear_jit_caches


def device_put(
    x: Any,
    device: Any = None,
    *,
    src: Any = None,
    donate: bool = False,
    may_alias: bool | None = None,
) -> Any:
    """Put a tree of arrays on a device.

    Args:
      x: a tree of arrays, NumPy arrays and Python numbers.
      device: a device, a sharding or the name of a platform, or a tree of them that is a prefix
        of `x`. The results are committed to it: computations with them run there. None puts host
        values on the default device, uncommitted, and leaves arrays where they are.
      src: where the arrays come from; needed only for the transpose of the transfer.
      donate: whether the arrays given may be deleted.
      may_alias: whether a result may share the memory of a read-only NumPy array, which must then
        never change. False asks for a copy also where an array is on its device already.

    Returns:
      The tree with an array for each leaf.

    >>> import numpy as np, covector as cv
    >>> x = cv.device_put(np.arange(3), cv.devices("cpu")[0])
    >>> x.committed, x.devices()
    (True, {CpuDevice(id=0)})
    """
    if may_alias and donate:
        raise ValueError(errors.alias_and_donate())
    leaves, treedef = tree.flatten(x)
    targets = tree.flatten_axes("device_put device", treedef, device)
    sources = tree.flatten_axes("device_put src", treedef, src)
    if context.trace is not eval_trace:
        moved = [device_put_array(*leaf) for leaf in zip(leaves, targets, sources)]
        return treedef.unflatten(moved)
    backend = eval_trace.backend
    put = [
        backend.device_put(leaf, target, bool(may_alias)) for leaf, target in zip(leaves, targets)
    ]
    if may_alias is False and not donate:
        put = [copy.copy(new) if _share(old, new) else new for old, new in zip(leaves, put)]
    if donate:
        for old, new in zip(leaves, put):
            if isinstance(old, ArrayImpl) and old._buffer is not new._buffer:
                old.delete()
    return treedef.unflatten(put)


def _share(old: Any, new: ArrayImpl) -> bool:
    return isinstance(old, ArrayImpl) and old._buffer is new._buffer


def clear_caches() -> None:
    """Forget everything traced, transformed and compiled; the next calls start anew.

    Programs kept on disk stay there.
    """
    clear_jit_caches()
    clear_jaxpr_caches()
    clear_bodies()
    eval_trace.backend.clear()
