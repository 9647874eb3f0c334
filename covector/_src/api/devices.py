"""Moving arrays between host and devices, and forgetting what was cached."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from ..base import errors, tree
from ..control.bodies import clear_bodies
from ..core.trace import context, eval_trace
from ..ops.transfer import device_put as device_put_array
from ..transforms.cache import clear_jaxpr_caches
from ..xla.array import ArrayImpl
from ..xla.layout import Format, place_of
from .jit import clear_jit_caches


def device_put(
    x: Any,
    device: Any = None,
    *,
    src: Any = None,
    donate: Any = False,
    may_alias: Any = None,
) -> Any:
    """Put a tree of arrays on a device.

    Args:
      x: a tree of arrays, NumPy arrays and Python numbers.
      device: a device, a sharding, a `Format` or the name of a platform, or a tree of them that is
        a prefix of `x`. The results are committed to it: computations with them run there. None
        puts host values on the default device, uncommitted, and leaves arrays where they are.
      src: where the arrays come from; needed only for the transpose of the transfer.
      donate: whether the arrays given may be deleted; or a prefix tree of such answers.
      may_alias: whether a result may share the memory of a read-only NumPy array, which must then
        never change. False asks for a copy also where an array is on its device already. It may
        also be a prefix tree.

    Returns:
      The tree with an array for each leaf.

    >>> import numpy as np, covector as cv
    >>> x = cv.device_put(np.arange(3), cv.devices("cpu")[0])
    >>> x.committed, x.devices()
    (True, {CpuDevice(id=0)})
    """
    leaves, treedef = tree.flatten(x)
    donated = tree.flatten_axes("device_put donate", treedef, donate)
    aliases = tree.flatten_axes("device_put may_alias", treedef, may_alias)
    if any(alias and given for alias, given in zip(aliases, donated)):
        raise ValueError(errors.alias_and_donate())
    targets = tree.flatten_axes("device_put device", treedef, device)
    if any(isinstance(target, Format) for target in targets):
        targets = [place_of(target, np.ndim(x)) for target, x in zip(targets, leaves)]
    sources = tree.flatten_axes("device_put src", treedef, src)
    if context.trace is not eval_trace:
        moved = [device_put_array(*leaf) for leaf in zip(leaves, targets, sources)]
        return treedef.unflatten(moved)
    backend = eval_trace.backend
    put = []
    for old, target, given, alias in zip(leaves, targets, donated, aliases):
        new = backend.device_put(old, target, bool(alias))
        if _share(old, new):
            new = copy.copy(new) if alias is False and not given else new
        elif given and isinstance(old, ArrayImpl):
            old.delete()
        put.append(new)
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
