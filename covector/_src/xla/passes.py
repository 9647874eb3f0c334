"""Passes of one's own in XLA's pipeline: functions that rewrite programs as they are compiled."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Callable, Sequence

from jaxlib import _xla

from ..base.pass_errors import not_a_stage
from . import cache
from .devices import client, platforms


class PipelineStage(enum.Enum):
    """When a pass runs: before or after XLA has put the operations of a program in order."""

    PRE_SCHEDULER = 0
    POST_SCHEDULER = 1


# How many passes there are of each name and stage on each platform.
_registered: Counter[tuple[str, str, PipelineStage]] = Counter()


def register_hlo_module_transformation(
    callback: Callable[[bytes], bytes | None],
    *,
    name: str,
    stage: PipelineStage = PipelineStage.PRE_SCHEDULER,
    platforms: Sequence[str] | str | None = None,
) -> None:
    """Let a function rewrite every program that XLA compiles from now on.

    What was compiled before stays as it is. While there are passes on a platform, its programs are
    not kept on disk: a file does not know what a function would have done.

    Args:
      callback: takes a serialized `HloModuleProto` and returns another one, or None to leave it.
        Those of a stage run in the order in which they were registered.
      name: of the pass.
      stage: when it runs.
      platforms: the platform, or the platforms, on which it runs; by default all that are here.

    Raises:
      TypeError: `stage` is no `PipelineStage`.

    >>> import covector as cv
    >>> from covector.extend import xla
    >>> sizes = []
    >>> xla.register_hlo_module_transformation(lambda hlo: sizes.append(len(hlo)), name="measure")
    >>> cv.jit(lambda x: x * 3 + 0.125)(1.0)
    Array(3.125, dtype=float32, weak_type=True)
    >>> xla.clear_hlo_module_transformation("measure"), len(sizes)
    (True, 1)
    """
    if not isinstance(stage, PipelineStage):
        raise TypeError(not_a_stage("register_hlo_module_transformation", stage))
    for platform in _chosen(platforms):
        if platform == "cpu":
            _xla.register_xla_transform(name, stage.value, callback)
        else:
            _xla.register_xla_transform_c_api(client(platform), name, stage.value, callback)
        _registered[platform, name, stage] += 1
        cache.unkept_platforms.add(platform)


def clear_hlo_module_transformation(
    name: str,
    stage: PipelineStage = PipelineStage.PRE_SCHEDULER,
    platforms: Sequence[str] | str | None = None,
) -> bool:
    """Take a pass out of XLA's pipeline; programs that it has rewritten stay so.

    Args:
      name, stage: those with which it was registered.
      platforms: where; by default everywhere.

    Returns:
      Whether there was one.

    Raises:
      TypeError: `stage` is no `PipelineStage`.
    """
    if not isinstance(stage, PipelineStage):
        raise TypeError(not_a_stage("clear_hlo_module_transformation", stage))
    cleared = False
    for platform in _chosen(platforms):
        if platform == "cpu":
            cleared |= _xla.clear_xla_transform(name, stage.value)
        elif _registered[platform, name, stage]:
            cleared |= _xla.clear_xla_transform_c_api(client(platform), name, stage.value)
        _registered.pop((platform, name, stage), None)
        if not any(there == platform for there, _, _ in _registered):
            cache.unkept_platforms.discard(platform)
    return cleared


def _chosen(given: Sequence[str] | str | None) -> list[str]:
    """The platforms here that are meant, each once; the CPU is always here."""
    here = {*platforms(), "cpu"}
    names = here if given is None else [given] if isinstance(given, str) else given
    return [name for name in dict.fromkeys(names) if name in here]
