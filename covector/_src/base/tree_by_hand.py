"""Taking a tree apart where jaxlib's C++ code has failed.

It fails for dicts whose keys Python cannot compare, which are sorted here by an order of our own
(tree_keys.py); for trees that are too deep; and where a container's own code raises, which it does
here again.  The treedefs are of the same kind, since a treedef can be assembled from a node's data
and its children.

A failure costs more than its exception.  The C++ code counts its way down against Python's
recursion limit, and an exception that comes up from a node at depth d leaves the counter d too
high for the rest of the thread's life: a loop over trees with such dicts would run into a
RecursionError after some hundred steps.  So the count is given back.
"""

from __future__ import annotations

import ctypes
import functools
import threading
from collections.abc import Callable
from typing import Any

from ..xla.native import pytree
from .tree_errors import too_deep
from .tree_keys import KeyPath, are_comparable
from .tree_registry import assemble, one_level

PathPredicate = Callable[[KeyPath, Any], bool] | None


def flatten_by_hand(registry: Any, tree: Any, is_leaf: PathPredicate = None) -> tuple[list, Any]:
    """What `registry.flatten_with_path` does, to be called after that has raised.

    Raises:
      RecursionError: the tree is deeper than Python's recursion limit allows.
    """
    visit = _Visit(registry, is_leaf)
    try:
        treedef = visit((), tree)
    except RecursionError:
        raise too_deep() from None
    except Exception:
        visit.note_failure()
        raise
    finally:
        _leave(visit.failed_at)
    return visit.found, treedef


class _Visit:
    """A walk over a tree: its leaves so far, and the depth of the first node that C++ fails at."""

    def __init__(self, registry: Any, is_leaf: PathPredicate) -> None:
        self.registry, self.is_leaf = registry, is_leaf
        self.found: list[tuple[KeyPath, Any]] = []
        self.failed_at: int | None = None
        self.depth = 0

    def __call__(self, path: KeyPath, node: Any) -> Any:
        self.depth = len(path)
        level = None
        if self.is_leaf is None or not self.is_leaf(path, node):
            if type(node) is dict and not are_comparable(node):
                self.note_failure()
            level = one_level(node, self.registry)
        if level is None:
            self.found.append((path, node))
            return assemble(None, (), self.registry)
        pairs, static = level
        children = [self((*path, key), child) for key, child in pairs]
        return assemble((type(node), static), children, self.registry)

    def note_failure(self) -> None:
        if self.failed_at is None:
            self.failed_at = self.depth


def _leave(depth: int | None) -> None:
    """Take back what a failure at some depth has added to the thread's count of recursions."""
    if depth and _failures_add_up():
        for _ in range(depth):
            ctypes.pythonapi.Py_LeaveRecursiveCall()


@functools.cache
def _failures_add_up() -> bool:
    """Whether this jaxlib, on this Python, has the defect: tried once, in a thread of its own."""
    registry, outcome = pytree.PyTreeRegistry(), []

    def fail_often() -> None:
        tree: Any = {0: None, "": None}
        for _ in range(100):
            tree = [tree]
        for _ in range(500):
            try:
                registry.flatten(tree)
            except ValueError:
                continue
            except (RecursionError, SystemError):
                outcome.append(True)
                return

    thread = threading.Thread(target=fail_often)
    thread.start()
    thread.join()
    return bool(outcome)
