"""Descriptions of sparse arrays, and `vmap` over buffers of which some stand for all elements."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple

from ..api.vectorize import vmap
from ..base import sparse_errors as errors
from ..base import tree
from .bcoo import Shape as Shape


class SparseInfo(NamedTuple):
    """What the buffers of a sparse array do not say: its shape, and what is known of indices."""

    shape: Shape
    indices_sorted: bool = False
    unique_indices: bool = False


class COOInfo(NamedTuple):
    """What the buffers of a COO matrix do not say: its shape, and what is known of their order."""

    shape: Shape
    rows_sorted: bool = False
    cols_sorted: bool = False


class BCOOProperties(NamedTuple):
    """The numbers of dimensions and of stored elements of a BCOO array."""

    n_batch: int
    n_sparse: int
    n_dense: int
    nse: int


class BCSRProperties(NamedTuple):
    """The numbers of dimensions and of stored elements of a BCSR array."""

    n_batch: int
    n_dense: int
    nse: int


def nfold_vmap(
    fun: Callable[..., Any], N: int, *, broadcasted: bool = True, in_axes: Any = 0
) -> Callable[..., Any]:
    """`vmap` N times.

    Args:
      fun: a function of arrays.
      N: how many dimensions to map over.
      broadcasted: whether to use `broadcasting_vmap`.
      in_axes: as of `vmap`.
    """
    for _ in range(N):
        fun = (broadcasting_vmap if broadcasted else vmap)(fun, in_axes=in_axes)
    return fun


def broadcasting_vmap(
    fun: Callable[..., Any], in_axes: Any = 0, out_axes: Any = 0
) -> Callable[..., Any]:
    """`vmap` of a function, where an array whose axis has the size 1 is the same for all elements.

    Args:
      fun: a function of arrays.
      in_axes, out_axes: as of `vmap`.

    >>> import covector.numpy as jnp
    >>> from covector.experimental.sparse import util
    >>> util.broadcasting_vmap(jnp.add)(jnp.arange(3), jnp.array([10]))
    Array([10, 11, 12], dtype=int32)
    """

    @wraps(fun)
    def mapped(*args: Any) -> Any:
        leaves, structure = tree.flatten(args)
        axes = tree.broadcast_prefix(in_axes, args, is_leaf=lambda x: x is None)
        sizes = {x.shape[a] for x, a in zip(leaves, axes) if a is not None}
        if len(sizes - {1}) > 1:
            raise ValueError(errors.shapes("broadcasting_vmap", *[x.shape for x in leaves]))
        if len(sizes) > 1:
            alone = [a is not None and x.shape[a] == 1 for x, a in zip(leaves, axes)]
            leaves = [x.squeeze(a) if one else x for x, a, one in zip(leaves, axes, alone)]
            axes = [None if one else a for a, one in zip(axes, alone)]

        def flat(*leaves: Any) -> Any:
            return fun(*tree.unflatten(structure, leaves))

        return vmap(flat, in_axes=tuple(axes), out_axes=out_axes)(*leaves)

    return mapped
