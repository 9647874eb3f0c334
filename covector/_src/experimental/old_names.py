"""Functions under the names, and with the arguments, that they had while they were experimental."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..api.constraints import UNSPECIFIED
from ..api.jit import jit
from ..api.shard_map import shard_map as map_over_devices


def pjit(
    fun: Callable[..., Any],
    in_shardings: Any = UNSPECIFIED,
    out_shardings: Any = UNSPECIFIED,
    **options: Any,
) -> Any:
    """`jit`, of which it was the form for several devices.

    Args:
      fun, in_shardings, out_shardings: as for `jit`, by position too.
      **options: the other arguments of `jit`.

    >>> import covector as cv
    >>> from covector.experimental.pjit import pjit
    >>> print(pjit(lambda x, n: x * n, static_argnums=1)(2.0, 3))
    6.0
    """
    return jit(fun, in_shardings=in_shardings, out_shardings=out_shardings, **options)


def shard_map(
    f: Callable[..., Any], mesh: Any, in_specs: Any, out_specs: Any, check_rep: bool = True
) -> Any:
    """`covector.shard_map`, with the arguments that it had before.

    Args:
      f, mesh, in_specs, out_specs: as there, by position too.
      check_rep: what is called `check_vma` there.

    >>> import covector as cv
    >>> from covector.experimental.shard_map import shard_map
    >>> mesh = cv.make_mesh((1,), ("x",))
    >>> print(shard_map(lambda x: 2 * x, mesh, cv.P("x"), cv.P("x"))(cv.numpy.arange(2)))
    [0 2]
    """
    return map_over_devices(
        f, mesh=mesh, in_specs=in_specs, out_specs=out_specs, check_vma=check_rep
    )
