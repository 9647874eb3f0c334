"""Derivatives by the stored elements of sparse arrays.

The derivative by a sparse array is a sparse array with the same indices: what is not stored is not
varied.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..api import gradients as _gradients
from ..api import jacobian as _jacobian
from ..base import tree
from ..core.avals import aval_of
from ..numpy.shaping import reshape
from .bcoo import BCOO
from .sparsify import is_sparse


def _over_data(fun: Callable[..., Any], argnums: Any, args: Sequence[Any]) -> tuple[Any, Any, Any]:
    """A function of the dense arrays and of the data of sparse ones in some arguments.

    Returns:
      The function of these leaves, in a list; the leaves; and the trees of all the arguments.
    """
    positions = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    positions = tuple([p % len(args) for p in positions])
    leaves, structure = tree.flatten([args[p] for p in positions], is_leaf=is_sparse)
    data = [x.data if is_sparse(x) else x for x in leaves]

    def of_data(data: Any, *rest: Any, **kwargs: Any) -> Any:
        full = list(args)
        filled = [_filled(x, d) for x, d in zip(leaves, data)]
        for p, arg in zip(positions, tree.unflatten(structure, filled)):
            full[p] = arg
        return fun(*full, **kwargs)

    return of_data, data, (leaves, structure, isinstance(argnums, int))


def _filled(like: Any, data: Any) -> Any:
    """The array with other elements."""
    if not is_sparse(like):
        return data
    buffers, aux = like.tree_flatten()
    return type(like).tree_unflatten(aux, (data, *buffers[1:]))


def _result(found: Sequence[Any], trees: Any) -> Any:
    leaves, structure, single = trees
    args = tree.unflatten(structure, [_filled(x, d) for x, d in zip(leaves, found)])
    return args[0] if single else tuple(args)


def value_and_grad(
    fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, **kwargs: Any
) -> Callable[..., tuple[Any, Any]]:
    """`covector.value_and_grad` of a function of sparse arrays.

    Args:
      fun: a function to a number.
      argnums: which positional arguments to differentiate by; they may be, or hold, sparse arrays.
      has_aux, **kwargs: as of `covector.value_and_grad`.

    Returns:
      A function that returns the value and the derivatives; those by sparse arrays are sparse.

    >>> import covector.numpy as jnp
    >>> from covector.experimental import sparse
    >>> m = sparse.BCOO.fromdense(jnp.array([[0.0, 3.0]]))
    >>> value, slope = sparse.value_and_grad(lambda m: jnp.sum((m @ jnp.ones(2)) ** 2))(m)
    >>> print(value, slope.data)
    9.0 [6.]
    """

    def value_and_slopes(*args: Any, **keywords: Any) -> Any:
        of_data, data, trees = _over_data(fun, argnums, args)
        run = _gradients.value_and_grad(of_data, has_aux=has_aux, **kwargs)
        value, found = run(data, **keywords)
        return value, _result(found, trees)

    return value_and_slopes


def grad(
    fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, **kwargs: Any
) -> Callable[..., Any]:
    """`covector.grad` of a function of sparse arrays; see `value_and_grad`.

    >>> import covector.numpy as jnp
    >>> from covector.experimental import sparse
    >>> m = sparse.BCOO.fromdense(jnp.array([[0.0, 3.0]]))
    >>> sparse.grad(lambda m: jnp.sum(m @ jnp.arange(2.0)))(m)
    BCOO(float32[1, 2], nse=1)
    """
    run = value_and_grad(fun, argnums, has_aux, **kwargs)

    def slopes(*args: Any, **keywords: Any) -> Any:
        value, found = run(*args, **keywords)
        return (found, value[1]) if has_aux else found

    return slopes


def _jacobians(derivative: Callable[..., Any]) -> Callable[..., Any]:
    def jacobian(
        fun: Callable[..., Any],
        argnums: int | Sequence[int] = 0,
        has_aux: bool = False,
        **kwargs: Any,
    ) -> Callable[..., Any]:
        def slopes(*args: Any, **keywords: Any) -> Any:
            of_data, data, trees = _over_data(fun, argnums, args)
            found = derivative(of_data, has_aux=has_aux, **kwargs)(data, **keywords)
            found, aux = found if has_aux else (found, None)
            # The result's tree has a list of derivatives at each of its leaves.
            leaves, structure, single = trees
            outs = tree.map(
                lambda parts: _by_arguments(parts, leaves, structure, single),
                found,
                is_leaf=lambda x: isinstance(x, list) and len(x) == len(leaves),
            )
            return (outs, aux) if has_aux else outs

        return slopes

    return jacobian


def _by_arguments(parts: Sequence[Any], leaves: Sequence[Any], structure: Any, single: bool) -> Any:
    args = tree.unflatten(structure, [_wide(x, d) for x, d in zip(leaves, parts)])
    return args[0] if single else tuple(args)


def _wide(like: Any, data: Any) -> Any:
    """The derivative by a sparse array: the dimensions of the result are batch dimensions."""
    if not is_sparse(like):
        return data
    mat = like if isinstance(like, BCOO) else like.to_bcoo()
    n = data.ndim - mat.data.ndim
    out = aval_of(data).shape[:n]
    indices = reshape(mat.indices, (*[1] * n, *mat.indices.shape))
    return BCOO(
        (data, indices),
        shape=(*out, *mat.shape),
        indices_sorted=mat.indices_sorted,
        unique_indices=mat.unique_indices,
    )


jacfwd = _jacobians(_jacobian.jacfwd)
jacfwd.__doc__ = """`covector.jacfwd` of a function of sparse arrays: column by column.

Args:
  fun: a function of trees of arrays.
  argnums: which positional arguments to differentiate by; they may be, or hold, sparse arrays.
  has_aux, **kwargs: as of `covector.jacfwd`.

Returns:
  A function that returns derivatives. Those by a sparse array are BCOO arrays, of which the
  dimensions of the result are batch dimensions.

>>> import covector.numpy as jnp
>>> from covector.experimental import sparse
>>> m = sparse.BCOO.fromdense(jnp.array([[0.0, 3.0]]))
>>> sparse.jacfwd(lambda m: m @ jnp.arange(2.0))(m).todense()
Array([[[0., 1.]]], dtype=float32)
"""
jacrev = _jacobians(_jacobian.jacrev)
jacrev.__doc__ = """`covector.jacrev` of a function of sparse arrays: row by row; see `jacfwd`.

>>> import covector.numpy as jnp
>>> from covector.experimental import sparse
>>> m = sparse.BCOO.fromdense(jnp.array([[0.0, 3.0]]))
>>> sparse.jacrev(lambda m: m @ jnp.arange(2.0))(m).todense()
Array([[[0., 1.]]], dtype=float32)
"""
jacobian = jacrev
