"""Values of several processes that compute together: brought to all of them, and compared.

All processes call these functions, in the same order, with values of the same types.  A process
that is alone gets its own values back, in the form in which those of all would come.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from ..api.devices import device_put
from ..api.local_data import global_of, is_over_processes, local_of
from ..base import dtypes, process_errors, tree
from ..base.sharding_errors import no_spec
from ..numpy.reductions import sum as sum_of
from ..sharding.mesh import Mesh
from ..sharding.spec import PartitionSpec
from ..xla.array import ArrayImpl
from ..xla.devices import process_count, process_index
from ..xla.execute import gathered
from ..xla.placement import whole_as
from ..xla.processes import connection
from ..xla.together import digest_of, stacked

# ---------------------------------------------------------------- brought to all


def process_allgather(in_tree: Any, tiled: bool = False) -> Any:
    """The values of all processes.

    Args:
      in_tree: a tree of arrays. An array that is spread over the processes is one value.
      tiled: whether they are joined along the leading dimension, instead of one of their own.

    Returns:
      The tree with NumPy arrays.

    Raises:
      ValueError: an array is spread over the processes, and `tiled` is False.

    >>> from covector.experimental.multihost_utils import process_allgather
    >>> process_allgather({"loss": np.float32([1, 2])})
    {'loss': array([[1., 2.]], dtype=float32)}
    """
    return tree.map(lambda x: _gathered(x, tiled), in_tree)


def _gathered(x: Any, tiled: bool) -> np.ndarray:
    if is_over_processes(x):
        if not tiled:
            raise ValueError(process_errors.not_stackable(x.aval))
        return np.asarray(device_put(x, whole_as(x._placement).sharding))
    mine = _on_host(x)
    if process_count() == 1 and tiled:
        return mine
    rows = gathered(mine)
    return np.concatenate(rows) if tiled and mine.ndim else rows


def broadcast_one_to_all(in_tree: Any, is_source: bool | None = None) -> Any:
    """The values of one process.

    Args:
      in_tree: a tree of arrays, of the same types in all processes.
      is_source: whether it is the values of this process; those of the first one if None.

    Returns:
      The tree with NumPy arrays.

    >>> from covector.experimental.multihost_utils import broadcast_one_to_all
    >>> broadcast_one_to_all(3)
    array(3)
    """
    if process_count() == 1:
        return tree.map(np.asarray, in_tree)
    is_source = process_index() == 0 if is_source is None else is_source
    return tree.map(lambda x: _from_source(_on_host(x), is_source), in_tree)


def _from_source(mine: np.ndarray, is_source: bool) -> np.ndarray:
    """The sum over the processes, of which only one has something to add."""
    rows, whole = stacked(mine if is_source else np.zeros_like(mine))
    return np.asarray(device_put(sum_of(rows, axis=0, dtype=mine.dtype), whole))


def _on_host(x: Any) -> np.ndarray:
    host = np.asarray(x)
    return host.astype(dtypes.canonicalize_dtype(host.dtype), copy=False)


# ---------------------------------------------------------------- compared


def sync_global_devices(name: str) -> None:
    """Wait until all processes have come here.

    Args:
      name: of the place; the processes must all be at the same one.

    Raises:
      AssertionError: they are at places of different names.
    """
    mine = zlib.crc32(name.encode())
    wrong = _others_with_other(np.full(8, mine, np.uint32))
    if wrong:
        raise AssertionError(process_errors.at_another_place(name, wrong))


def assert_equal(in_tree: Any, fail_message: str = "") -> None:
    """Raise AssertionError in all processes if they have different values.

    Values are equal if they have the same types and bits. An array that is spread over the
    processes is one value.

    Args:
      in_tree: a tree of arrays.
      fail_message: with what the error begins.
    """
    leaves, treedef = tree.flatten(in_tree)
    digests = [digest_of(_for_digest(x)) for x in leaves]
    structure = np.frombuffer(str(treedef).encode(), np.uint8)
    wrong = _others_with_other(digest_of(np.concatenate([*digests, structure], dtype=np.uint32)))
    if wrong:
        raise AssertionError(process_errors.values_differ(fail_message, in_tree, wrong))


def _for_digest(x: Any) -> np.ndarray:
    """What tells a value apart from others."""
    if is_over_processes(x) and not x._is_whole_here:
        return np.frombuffer(str(x.aval).encode(), np.uint8)
    return x.to_numpy() if isinstance(x, ArrayImpl) else np.asarray(x)


def _others_with_other(mine: np.ndarray) -> list[int]:
    """The numbers of the processes that have other digests."""
    digests = gathered(mine)
    return np.flatnonzero((digests != mine).any(axis=1)).tolist()


def reached_preemption_sync_point(step_id: int) -> bool:
    """Whether the job is about to be ended, and this is the step at which all are to save.

    When one of the processes is told to end, by SIGTERM, all agree on the first step that none of
    them has begun. A process that is alone is never told.

    Args:
      step_id: the number of the step; each process asks at each.

    Raises:
      RuntimeError: the flag `jax_enable_preemption_service` was off when the processes met.
    """
    joined = connection()
    if joined is None:
        return False
    if joined.preemption is None:
        raise RuntimeError(process_errors.preemption_is_off())
    return joined.preemption.reached_sync_point(step_id)


# ---------------------------------------------------------------- of one process, and of all


def host_local_array_to_global_array(local_inputs: Any, global_mesh: Mesh, pspecs: Any) -> Any:
    """Arrays spread over a mesh, of the parts that each process has.

    Args:
      local_inputs: a tree of arrays: what the devices of this process are to hold, put together.
        Arrays that are spread over the processes stay as they are.
      global_mesh: the mesh, of which the devices of each process are a block.
      pspecs: how each array is spread: a tree of `PartitionSpec` that is a prefix of the arrays'.
        Along what it leaves out, the processes have the same.

    Raises:
      ValueError: a specification is None, or the devices of this process are no block.

    >>> import covector as cv
    >>> from covector.experimental import multihost_utils
    >>> mesh = cv.make_mesh((1,), ("x",))
    >>> x = multihost_utils.host_local_array_to_global_array(np.arange(3), mesh, cv.P("x"))
    >>> x.sharding.spec
    P('x',)
    """
    where = "host_local_array_to_global_array"
    leaves, treedef, specs = _with_specs(where, local_inputs, pspecs)
    spread = [global_of(x, global_mesh, spec) for x, spec in zip(leaves, specs)]
    return treedef.unflatten(spread)


def global_array_to_host_local_array(global_inputs: Any, global_mesh: Mesh, pspecs: Any) -> Any:
    """The parts that this process has of arrays spread over a mesh, put together.

    Args:
      global_inputs: a tree of arrays. Those of this process alone stay as they are; NumPy arrays
        are spread over its devices.
      global_mesh, pspecs: as for `host_local_array_to_global_array`.

    Raises:
      ValueError: a specification is None, or the devices of this process are no block.
    """
    where = "global_array_to_host_local_array"
    leaves, treedef, specs = _with_specs(where, global_inputs, pspecs)
    parts = [local_of(x, global_mesh, spec) for x, spec in zip(leaves, specs)]
    return treedef.unflatten(parts)


def _with_specs(where: str, given: Any, pspecs: Any) -> tuple[list[Any], Any, list[PartitionSpec]]:
    """The leaves of a tree, its structure, and how each leaf is spread."""
    if any(spec is None for spec in tree.leaves(pspecs, is_leaf=lambda x: x is None)):
        raise ValueError(no_spec(where))
    leaves, treedef = tree.flatten(given)
    return leaves, treedef, tree.flatten_axes(f"{where} pspecs", treedef, pspecs)
