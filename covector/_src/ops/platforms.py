"""`platform_index`: which of several lists of platforms the program is compiled for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import branch_errors
from ..core.avals import ShapedArray
from .base import Op

# For each branch the platforms that it is for; None stands for all that no other branch is for.
BranchesPlatforms = tuple[tuple[str, ...] | None, ...]


class PlatformIndex(Op):
    """The position, in `platforms`, of the entry with the platform that the program runs on."""

    def abstract_eval(self, *, platforms):
        return ShapedArray((), np.int32)

    def vmap(self, axis, dims, *, platforms):
        return self.bind(platforms=platforms), None

    def emit(self, b, *, platforms):
        return b.constant(branch_for(b.platform, platforms), np.int32)


platform_index_p = PlatformIndex("platform_index")


def branch_for(platform: str, platforms: Sequence[Any]) -> int:
    """The position of the branch for a platform."""
    for i, names in enumerate(platforms):
        if names is None or platform in names:
            return i
    raise NotImplementedError(branch_errors.no_branch_for_platform(platforms, platform))
