"""`platform_dependent`: call the function that is given for the platform of the program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..base import branch_errors as errors
from ..core.trace import Tracer
from ..ops.platforms import BranchesPlatforms, platform_index_p
from .branches import switch_without_clamp


def platform_dependent(
    *args: Any, default: Callable[..., Any] | None = None, **per_platform: Callable[..., Any]
) -> Any:
    """Call one of several functions, as the platform says that the program is compiled for.

    Which one it is need not be known while a function is traced: the jaxpr holds all of them, the
    compiled program only one.

    Args:
      *args: trees of arrays.
      default: the function for all platforms that none is given for.
      **per_platform: functions of `args` by the names of platforms: `cpu`, `cuda`, `rocm`, `tpu`.
        They return trees of one structure, with arrays of the same shapes and dtypes.

    Returns:
      The result of the function for the platform.

    Raises:
      TypeError: something is no function, or results have not the same structure and types.
      ValueError: a function is given for `gpu`, which is no platform.
      NotImplementedError: when the program is compiled, and there is no function for its platform.

    >>> from covector import lax
    >>> print(lax.platform_dependent(-2.0, cpu=lax.abs, default=lax.neg))
    2.0
    """
    branches, platforms = _branches(per_platform)
    if default is not None:
        if not callable(default):
            name = "the 'default' branch"
            raise TypeError(errors.branch_not_callable("platform_dependent", name, default))
        branches.append(default)
        platforms = (*platforms, None)
    index = platform_index_p.bind(platforms=platforms)
    if not isinstance(index, Tracer):
        return branches[int(index)](*args)
    return switch_without_clamp(index, branches, args, platforms)


def _branches(
    per_platform: dict[str, Callable[..., Any]],
) -> tuple[list[Callable[..., Any]], BranchesPlatforms]:
    """The distinct functions, and for each the platforms that it is for."""
    branches: list[Callable[..., Any]] = []
    platforms: list[tuple[str, ...]] = []
    for platform, branch in per_platform.items():
        if not callable(branch):
            name = f"the '{platform}' branch"
            raise TypeError(errors.branch_not_callable("platform_dependent", name, branch))
        if platform == "gpu":
            raise ValueError(errors.platform_unspecific(platform))
        if branch in branches:
            platforms[branches.index(branch)] += (platform,)
        else:
            branches.append(branch)
            platforms.append((platform,))
    return branches, tuple(platforms)
