"""Jacobians and Hessians: derivatives written out in full.

The Jacobian of f is the matrix of its derivative.  Forward mode applies the derivative to each unit
vector of the arguments and gets the columns; reverse mode applies the transposed derivative to
each unit vector of the results and gets the rows.  Both do so for all unit vectors at once, by
`vmap`, with the leaves of a tree laid end to end; then each block, of one leaf of the results by
one of the arguments, is cut out and put in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..base import dtypes
from ..core.avals import ShapedArray, aval_of
from ..core.axis import Axis
from ..core.scopes import JVP, VMAP
from ..core.trace import Scope
from ..core.zeros import Zero
from ..ops.arithmetic import add_p
from ..ops.comparison import eq_p
from ..ops.conversion import convert
from ..ops.creation import iota_p
from ..ops.joining import split_p
from ..ops.linear import bring_to, reshape, scalar
from ..transforms.jvp import jvp
from ..transforms.linearize import linearize
from ..transforms.transpose import transpose_linear
from ..transforms.vmap import vmap
from .differentiated import (
    COMPLEX,
    INEXACT,
    INEXACT_OR_INTEGER,
    REAL,
    as_argnums,
    check_inputs,
    check_output,
    differentiated,
)
from .values import operands, zeros
from .wrapping import check_callable, named_after


def jacfwd(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
) -> Callable[..., Any]:
    """The Jacobian of a function by forward mode, column by column.

    The better choice if the results have more elements than the arguments.

    Args:
      fun: a function of trees of arrays that returns a tree of arrays.
      argnums: the position of the argument that derivatives are taken in, or a sequence of them.
      has_aux: whether `fun` returns a pair of its result and of auxiliary objects.
      holomorphic: whether `fun` is promised to be holomorphic; then its arguments and results are
        complex.

    Returns:
      A function with the arguments of `fun` that returns the Jacobian: for each leaf of the result,
      of shape `out`, a tree with the structure of the argument, in which a leaf of shape `in` has
      become an array of shape `(*out, *in)`; a tuple of such trees if `argnums` is a sequence. With
      `has_aux`, a pair of the Jacobian and the auxiliary objects.

    Raises:
      TypeError: on the call: an argument is not real (complex, with `holomorphic`).

    >>> import covector as cv, covector.numpy as jnp
    >>> print(cv.jacfwd(lambda x: jnp.stack([x[0] * x[1], x[0] ** 2]))(jnp.array([2.0, 3.0])))
    [[3. 2.]
     [4. 0.]]
    """
    return _jacfwd("jacfwd", fun, argnums, has_aux, holomorphic)


def jacrev(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[..., Any]:
    """The Jacobian of a function by reverse mode, row by row.

    The better choice if the arguments have more elements than the results. Arguments and result are
    those of `jacfwd`, but the results of `fun` must be real (complex, with `holomorphic`) where
    there the arguments must; and with `allow_int` arguments may be integers, with zeros for
    derivatives.

    >>> import covector as cv, covector.numpy as jnp
    >>> jacobian = cv.jacrev(lambda p: p["a"] * p["b"])({"a": jnp.ones(2), "b": 3.0})
    >>> print(jacobian["a"], jacobian["b"])
    [[3. 0.]
     [0. 3.]] [1. 1.]
    """
    return _jacrev("jacrev", fun, argnums, has_aux, holomorphic, allow_int)


def jacobian(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[..., Any]:
    """The Jacobian of a function: another name for `jacrev`.

    >>> import covector as cv, covector.numpy as jnp
    >>> print(cv.jacobian(lambda x: x * jnp.flip(x))(jnp.array([2.0, 3.0])))
    [[3. 2.]
     [3. 2.]]
    """
    return _jacrev("jacobian", fun, argnums, has_aux, holomorphic, allow_int)


def hessian(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
) -> Callable[..., Any]:
    """The second derivatives of a function, written out in full.

    It is `jacfwd` of `jacrev`. Where only its product with a vector is wanted, `jvp` of `grad` is
    cheaper: `jvp(grad(f), (x,), (v,))[1]`.

    Args:
      fun: a function of trees of real arrays that returns a tree of real arrays.
      argnums: the position of the argument that derivatives are taken in, or a sequence of them.
      has_aux: whether `fun` returns a pair of its result and of auxiliary objects.
      holomorphic: whether `fun` is promised to be holomorphic; then its arguments and results are
        complex.

    Returns:
      A function with the arguments of `fun` that returns, for each leaf of the result, of shape
      `out`, a tree of trees with the structure of the argument: `h["a"]["b"]` has the shape
      `(*out, *shape of a, *shape of b)`.

    >>> import covector as cv, covector.numpy as jnp
    >>> print(cv.hessian(lambda x: x[0] ** 2 * x[1])(jnp.array([2.0, 3.0])))
    [[6. 4.]
     [4. 0.]]
    """
    inner = _jacrev("hessian", fun, argnums, has_aux, holomorphic, False)
    return _jacfwd("hessian", inner, argnums, has_aux, holomorphic)


# ---------------------------------------------------------------- the two modes


def _jacfwd(
    where: str, fun: Callable[..., Any], argnums: Any, has_aux: bool, holomorphic: bool
) -> Callable[..., Any]:
    check_callable(where, fun)
    nums = as_argnums(where, argnums)

    @named_after(fun, "The Jacobian of {0}, by forward mode.")
    def jacobian_of(*args: Any, **kwargs: Any) -> Any:
        flat = differentiated(where, fun, nums, args, kwargs, has_aux)
        check_inputs(flat, COMPLEX if holomorphic else REAL)
        at = operands(flat.leaves)
        in_avals: list[Any] = [aval_of(x) for x in at]
        outs: Sequence[Any] = ()

        def column(*tangents: Any) -> Sequence[Any]:
            nonlocal outs
            with Scope(JVP):
                outs, out_tangents = jvp(flat, at, tangents)
            return out_tangents

        columns, dims = over_unit_vectors(column, in_avals)
        out_avals: list[Any] = [aval_of(x) for x in outs]
        if holomorphic:
            for aval in out_avals:
                check_output(flat, aval, True)
        rows = [
            blocks(t, dim, -1, out_aval, in_avals)
            for t, dim, out_aval in zip(columns, dims, out_avals)
        ]
        trees = [flat.in_tree.unflatten(row) for row in rows]
        if isinstance(nums, int):
            trees = [by_argument[0] for by_argument in trees]
        result = flat.out_tree.unflatten(trees)
        return (result, flat.aux) if has_aux else result

    return jacobian_of


def _jacrev(
    where: str,
    fun: Callable[..., Any],
    argnums: Any,
    has_aux: bool,
    holomorphic: bool,
    allow_int: bool,
) -> Callable[..., Any]:
    check_callable(where, fun)
    nums = as_argnums(where, argnums)
    accepts = COMPLEX if holomorphic else INEXACT_OR_INTEGER if allow_int else INEXACT

    @named_after(fun, "The Jacobian of {0}, by reverse mode.")
    def jacobian_of(*args: Any, **kwargs: Any) -> Any:
        flat = differentiated(where, fun, nums, args, kwargs, has_aux)
        check_inputs(flat, accepts)
        at = operands(flat.leaves)
        outs, linear = linearize(flat, at)
        out_avals: list[Any] = [aval_of(x) for x in outs]
        for aval in out_avals:
            check_output(flat, aval, holomorphic)
        cts, dims = over_unit_vectors(lambda *cts: transpose_linear(linear, cts), out_avals)
        columns = [blocks(ct, dim, 0, aval_of(x), out_avals) for ct, dim, x in zip(cts, dims, at)]
        trees = [
            flat.in_tree.unflatten([column[i] for column in columns]) for i in range(len(outs))
        ]
        if isinstance(nums, int):
            trees = [by_argument[0] for by_argument in trees]
        result = flat.out_tree.unflatten(trees)
        return (result, flat.aux) if has_aux else result

    return jacobian_of


# ---------------------------------------------------------------- unit vectors and blocks


def over_unit_vectors(
    linear: Callable[..., Sequence[Any]], avals: Sequence[ShapedArray]
) -> tuple[Sequence[Any], Sequence[int | None]]:
    """Apply a linear function to all unit vectors of a space at once.

    Args:
      linear: a function of arrays of the types `avals`.
      avals: these span the space.

    Returns:
      The results, symbolic zeros among them, and for each the dimension that counts the vectors.
    """
    count = sum(aval.size for aval in avals)
    starts = np.cumsum([0] + [aval.size for aval in avals]).tolist()
    basis = [unit_vectors(count, start, aval) for start, aval in zip(starts, avals)]
    with Scope(VMAP):
        return vmap(linear, Axis(count), basis, [0] * len(basis))


def unit_vectors(count: int, start: int, aval: ShapedArray) -> Any:
    """The part of `count` unit vectors that lies in an array whose elements are the coordinates
    from `start` on; the vectors are counted by the first dimension."""
    shape = (count, aval.size)
    index = dict(shape=shape, dtype=np.dtype(np.int32), sharding=None)
    coordinate = iota_p.bind(dimension=1, **index)
    if start:
        coordinate = add_p.bind(coordinate, scalar(start, np.int32))
    ones = eq_p.bind(iota_p.bind(dimension=0, **index), coordinate)
    return reshape(convert(ones, aval.dtype, aval.weak_type), (count, *aval.shape))


def blocks(
    x: Any, dim: int | None, to: int, aval: ShapedArray, others: Sequence[ShapedArray]
) -> list[Any]:
    """Cut rows or columns of a Jacobian into blocks.

    Args:
      x: rows, or columns, for one array; or a symbolic zero.
      dim: the dimension of `x` that counts them; None if they are all the same.
      to: where the dimensions of the others go: 0 for in front of the array's own, -1 for behind.
      aval: the type of the array.
      others: the types of the arrays whose elements were the unit vectors.

    Returns:
      For each of the others, the block of its derivatives.
    """
    shapes = [
        (*other.shape, *aval.shape) if to == 0 else (*aval.shape, *other.shape) for other in others
    ]
    if type(x) is Zero or aval_of(x).dtype == dtypes.float0:
        return [zeros(aval.update(shape=shape)) for shape in shapes]
    axis = to % (aval.ndim + 1)
    sizes = [other.size for other in others]
    x = bring_to(x, sum(sizes), dim, axis)
    parts = [x] if len(sizes) == 1 else split_p.bind(x, sizes=tuple(sizes), axis=axis)
    return [convert(reshape(part, s), aval.dtype, aval.weak_type) for part, s in zip(parts, shapes)]
