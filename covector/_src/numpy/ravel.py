"""Trees of arrays as vectors, and back."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base import dtypes, ravel_errors, tree
from ..core.array import Array
from ..ops.complex import is_complex, real
from ..ops.conversion import convert_element_type
from ..ops.full import full
from ..ops.joining import concatenate, split
from ..ops.linear import reshape
from .composite import composite, composite_list
from .promotion import as_array, dtype_of, operands, shape_of


@dataclass(frozen=True)
class Unravel:
    """The function from vectors to trees that `ravel_pytree` returns.

    Two that are made from trees of equal structure, shapes and dtypes are equal, so that a function
    compiled with one as a static argument is not compiled again for the other.

    Attributes:
      treedef: the structure of the tree.
      shapes: those of its leaves.
      dtypes: those of its leaves if they differ; None if the tree takes the dtype of the vector.
    """

    treedef: Any
    shapes: tuple[tuple[int, ...], ...]
    dtypes: tuple[Any, ...] | None

    def __call__(self, flat: Any) -> Any:
        """The tree of a vector.

        Raises:
          TypeError: the leaves differ in dtype, and the vector's is not their common one.
          ValueError: it is not a vector of the length of the one that the tree was made into.
        """
        flat = as_array("unravel", flat)
        sizes = [math.prod(shape) for shape in self.shapes]
        if flat.aval.shape != (sum(sizes),):
            raise ValueError(ravel_errors.wrong_shape(flat.aval.shape, sum(sizes)))
        if self.dtypes is not None:
            common = dtypes.result_type(*self.dtypes)
            if flat.aval.dtype != common:
                raise TypeError(ravel_errors.wrong_dtype(flat.aval.dtype, common, self.dtypes))
        leaves = _cut(flat, shapes=self.shapes, dtypes=self.dtypes) if self.shapes else []
        return tree.unflatten(self.treedef, leaves)


@composite_list
def _cut(
    flat: Any, *, shapes: tuple[tuple[int, ...], ...], dtypes: tuple[Any, ...] | None
) -> list[Any]:
    parts = split(flat, [math.prod(shape) for shape in shapes])
    leaves = [reshape(x, shape) for x, shape in zip(parts, shapes)]
    if dtypes is None:
        return leaves
    return [_converted(x, dtype) for x, dtype in zip(leaves, dtypes)]


def _converted(x: Any, dtype: Any) -> Any:
    """An array in another dtype; of complex numbers that become real, the real parts."""
    if is_complex(x.aval.dtype) and not is_complex(dtype):
        x = real(x)
    return convert_element_type(x, dtype)


@composite
def _joined(*leaves: Any, dtype: Any) -> Any:
    vectors = [reshape(convert_element_type(x, dtype), (math.prod(shape_of(x)),)) for x in leaves]
    return concatenate(vectors, 0)


def ravel_pytree(pytree: Any) -> tuple[Array, Callable[[Array], Any]]:
    """Make a tree of arrays into one vector.

    Args:
      pytree: a tree of arrays and numbers.

    Returns:
      `(vector, unravel)`: the elements of all leaves in order, in the common dtype of the leaves
      (float32 if there are none), and the function that makes a tree like the one given out of such
      a vector. If all leaves have the same dtype, `unravel` takes vectors of any dtype and gives
      leaves of that dtype.

    >>> import covector.numpy as jnp
    >>> from covector.flatten_util import ravel_pytree
    >>> vector, unravel = ravel_pytree({"b": jnp.zeros(2), "w": jnp.ones((1, 2))})
    >>> vector
    Array([0., 0., 1., 1.], dtype=float32)
    >>> unravel(2 * vector)
    {'b': Array([0., 0.], dtype=float32), 'w': Array([[2., 2.]], dtype=float32)}
    """
    leaves, treedef = tree.flatten(pytree)
    if not leaves:
        return full((0,), 0, np.float32), Unravel(treedef, (), None)
    leaves = operands("ravel_pytree", leaves)
    kinds = tuple([dtype_of(x) for x in leaves])
    common = dtypes.result_type(*kinds)
    same = all(kind == common for kind in kinds)
    shapes = tuple(map(shape_of, leaves))
    return _joined(*leaves, dtype=common), Unravel(treedef, shapes, None if same else kinds)
