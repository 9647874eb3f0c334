"""Waiting for arrays, and bringing them to the host."""

from __future__ import annotations

from typing import Any

from ..base import tree
from ..base.dtypes import ExtendedDType
from ..core.trace import Tracer
from ..xla.array import ArrayImpl, wait_for
from ..xla.guards import explicit_get


def block_until_ready(x: Any) -> Any:
    """Wait until all arrays in a tree have been computed.

    Computations run in the background: a function returns before the elements of its results
    exist. Wait before reading a clock.

    Args:
      x: a tree; leaves that are no arrays are left alone.

    Returns:
      `x` itself.

    >>> import covector as cv, covector.numpy as jnp
    >>> print(cv.block_until_ready({"sum": jnp.ones(3).sum(), "name": "ones"})["sum"])
    3.0
    """
    if type(x) is ArrayImpl:
        return x.block_until_ready()
    leaves = tree.leaves(x)
    if wait_for(leaves) < len(leaves):
        for leaf in leaves:
            wait = getattr(leaf, "block_until_ready", None)
            if wait is not None:
                wait()
    return x


def device_get(x: Any) -> Any:
    """Copy all arrays in a tree to the host, as NumPy arrays.

    Args:
      x: a tree; leaves that are no arrays, and traced values, are left as they are.

    Returns:
      A tree of the same structure.

    >>> import covector as cv, covector.numpy as jnp
    >>> cv.device_get({"squares": jnp.arange(3) ** 2, "count": 3})
    {'squares': array([0, 1, 4], dtype=int32), 'count': 3}
    """
    with explicit_get():
        copy_to_host_async(x)
        return tree.map(_to_host, x)


def copy_to_host_async(x: Any) -> Any:
    """Begin copying all arrays in a tree to the host, so that reading them later need not wait.

    Args:
      x: a tree; leaves that are no arrays are left alone.

    Returns:
      `x` itself.

    >>> import covector as cv, covector.numpy as jnp
    >>> x = cv.copy_to_host_async([jnp.arange(3), None])
    >>> x[0].tolist()
    [0, 1, 2]
    """
    for leaf in tree.leaves(x):
        start = getattr(leaf, "copy_to_host_async", None)
        if start is not None:
            start()
    return x


def _to_host(x: Any) -> Any:
    if isinstance(x, Tracer) or not hasattr(x, "__array__"):
        return x
    if isinstance(getattr(x, "dtype", None), ExtendedDType):  # which NumPy lacks
        return x
    return x.__array__()
