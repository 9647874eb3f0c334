"""Values of several processes that compute together; here there is one process, the only source.

What programs for many processes ask of these functions is, for one, to hand back its own values on
the host, in the form in which those of all would come.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..api.devices import device_put
from ..base import dtypes, tree
from ..base.sharding_errors import no_spec
from ..core.array import Array
from ..sharding.mesh import Mesh
from ..sharding.named import NamedSharding
from ..sharding.spec import PartitionSpec


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


def host_local_array_to_global_array(local_inputs: Any, global_mesh: Mesh, pspecs: Any) -> Any:
    """Arrays spread over a mesh, of the parts that each process has; one process has the whole.

    Args:
      local_inputs: a tree of arrays.
      global_mesh: the mesh.
      pspecs: how each array is spread: a tree of `PartitionSpec` that is a prefix of the arrays'.

    Raises:
      ValueError: a specification is None.

    >>> import covector as cv
    >>> from covector.experimental import multihost_utils
    >>> mesh = cv.make_mesh((1,), ("x",))
    >>> x = multihost_utils.host_local_array_to_global_array(np.arange(3), mesh, cv.P("x"))
    >>> x.sharding.spec
    P('x',)
    """
    where = "host_local_array_to_global_array"
    leaves, treedef, specs = _with_specs(where, local_inputs, pspecs)
    spread = [_spread(x, global_mesh, spec) for x, spec in zip(leaves, specs)]
    return treedef.unflatten(spread)


def global_array_to_host_local_array(global_inputs: Any, global_mesh: Mesh, pspecs: Any) -> Any:
    """The parts that this process has of arrays spread over a mesh; one process has the whole.

    Args:
      global_inputs: a tree of arrays, which are returned as they are; NumPy arrays are spread.
      global_mesh, pspecs: as for `host_local_array_to_global_array`.

    Raises:
      ValueError: a specification is None.
    """
    where = "global_array_to_host_local_array"
    leaves, treedef, specs = _with_specs(where, global_inputs, pspecs)
    parts = [
        x if isinstance(x, Array) else _spread(x, global_mesh, spec)
        for x, spec in zip(leaves, specs)
    ]
    return treedef.unflatten(parts)


def _with_specs(where: str, given: Any, pspecs: Any) -> tuple[list[Any], Any, list[PartitionSpec]]:
    """The leaves of a tree, its structure, and how each leaf is spread."""
    if any(spec is None for spec in tree.leaves(pspecs, is_leaf=lambda x: x is None)):
        raise ValueError(no_spec(where))
    leaves, treedef = tree.flatten(given)
    return leaves, treedef, tree.flatten_axes(f"{where} pspecs", treedef, pspecs)


def _spread(x: Any, mesh: Mesh, spec: PartitionSpec) -> Any:
    if dtypes.dtype_of(x) == dtypes.float0:
        x = np.zeros(np.shape(x), np.bool_)
    return device_put(x, NamedSharding(mesh, spec))
