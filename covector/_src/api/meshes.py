"""`set_mesh` and its kin: the mesh that a PartitionSpec refers to where none is given."""

from __future__ import annotations

from typing import Any

from ..base import sharding_errors as errors
from ..core.trace import context, eval_trace
from ..sharding.current import in_use, use, use_again
from ..sharding.mesh import EMPTY_MESH, AbstractMesh, Mesh


def get_mesh() -> Mesh:
    """The mesh that `set_mesh` chose; an empty one if none is in use.

    Raises:
      ValueError: within a transformed function, which may only ask for `get_abstract_mesh`.
    """
    if context.trace is not eval_trace:
        raise ValueError(errors.only_outside("get_mesh", "within one, use `get_abstract_mesh`"))
    mesh = in_use().mesh
    return EMPTY_MESH if mesh is None else mesh


class set_mesh:
    """Use a mesh of devices from now on; or only within a `with` statement.

    Args:
      mesh: the mesh, or None for none.

    Raises:
      ValueError: `mesh` is no mesh, or a transformation is under way.

    >>> import covector as cv
    >>> mesh = cv.make_mesh((1,), ("x",))
    >>> with cv.set_mesh(mesh):
    ...     cv.device_put(1.0, cv.P()).sharding.mesh == mesh
    True
    """

    __slots__ = ("_previous",)

    def __init__(self, mesh: Mesh | None):
        if mesh is not None and not isinstance(mesh, Mesh):
            raise ValueError(errors.not_a_mesh("set_mesh", "Mesh", mesh))
        if context.trace is not eval_trace:
            raise ValueError(errors.only_outside("set_mesh", "call it around them"))
        abstract = None if mesh is None else mesh.abstract_mesh
        self._previous = use(mesh=mesh, abstract_mesh=abstract)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc_info: Any) -> None:
        use_again(self._previous)


class use_abstract_mesh:
    """Use a mesh without devices within a `with` statement.

    Args:
      mesh: the mesh.

    >>> import covector as cv
    >>> with cv.sharding.use_abstract_mesh(cv.sharding.AbstractMesh((2,), ("x",))):
    ...     cv.sharding.get_abstract_mesh().size
    2
    """

    __slots__ = ("_mesh", "_previous")

    def __init__(self, mesh: AbstractMesh):
        if not isinstance(mesh, AbstractMesh):
            raise ValueError(errors.not_a_mesh("use_abstract_mesh", "AbstractMesh", mesh))
        self._mesh = mesh

    def __enter__(self) -> None:
        previous = in_use().abstract_mesh
        if previous is not None and previous.size and self._mesh.size not in (0, previous.size):
            raise ValueError(errors.mesh_size_changes(self._mesh, previous))
        self._previous = use(abstract_mesh=self._mesh)

    def __exit__(self, *exc_info: Any) -> None:
        use_again(self._previous)
