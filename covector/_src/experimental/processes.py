"""Values of several processes that compute together; here there is one process, the only source.

What programs for many processes ask of these functions is, for one, to hand back its own values on
the host, in the form in which those of all would come.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import tree


def process_allgather(in_tree: Any, tiled: bool = False) -> Any:
    """The values of all processes.

    Args:
      in_tree: a tree of arrays.
      tiled: whether they are joined along the leading dimension, instead of one of their own.

    Returns:
      The tree with NumPy arrays.

    >>> from covector.experimental.multihost_utils import process_allgather
    >>> process_allgather({"loss": np.float32([1, 2])})
    {'loss': array([[1., 2.]], dtype=float32)}
    """
    gathered = broadcast_one_to_all(in_tree)
    return gathered if tiled else tree.map(lambda x: x[None], gathered)


def broadcast_one_to_all(in_tree: Any, is_source: bool | None = None) -> Any:
    """The values of the source, which is the first process by default, as NumPy arrays."""
    return tree.map(np.asarray, in_tree)


def sync_global_devices(name: str) -> None:
    """Wait until all processes have come here."""


def assert_equal(in_tree: Any, fail_message: str = "") -> None:
    """Raise AssertionError if processes have different values."""


def reached_preemption_sync_point(step_id: int) -> bool:
    """Whether all processes have been told to stop, and are at this step; one is never told."""
    return False
