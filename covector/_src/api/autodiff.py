"""Derivatives at a point as linear maps: `jvp`, `linearize`, `vjp`, and `linear_transpose`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..base import dtypes, tree
from ..base import transform_errors as errors
from ..base.tracebacks import boundary
from ..core.avals import ShapedArray, aval_of, is_valid_type
from ..core.scopes import JVP
from ..core.trace import Scope
from ..core.zeros import Zero
from ..transforms import jvp as jvp_transform
from ..transforms import linearize as linearize_transform
from ..transforms.flatten import FlatInArguments
from .differentiated import INEXACT_OR_INTEGER, check_inputs, leaf_name
from .linear_maps import LinearProgram, Pullback, Pushforward, Transposed, pullback_of
from .values import instantiate, operands
from .wrapping import check_callable


@boundary
def jvp(
    fun: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    has_aux: bool = False,
) -> Any:
    """Evaluate a function together with its derivative in one direction (forward mode).

    Takes about the time of evaluating the function and its derivative once, whatever the size of
    the result; memory does not grow with the length of the computation.

    Args:
      fun: a function of trees of arrays that returns a tree of arrays.
      primals: a tuple of its arguments: the point.
      tangents: a tuple of the same structure: the direction. Each has the shape and dtype of its
        primal, or dtype float0 where that is an integer or boolean.
      has_aux: whether `fun` returns a pair of its result and of auxiliary objects, which are not
        differentiated.

    Returns:
      `(result, tangent of the result)`, and with `has_aux` a third item, the auxiliary objects.

    Raises:
      TypeError: primals and tangents differ in structure or dtype, or are no tuples.
      ValueError: a tangent has another shape than its primal.

    >>> import covector as cv, covector.numpy as jnp
    >>> value, slope = cv.jvp(jnp.sin, (0.0,), (2.0,))
    >>> print(value, slope)
    0.0 2.0
    """
    check_callable("jvp", fun)
    if not isinstance(primals, (tuple, list)) or not isinstance(tangents, (tuple, list)):
        raise TypeError(errors.primals_and_tangents_not_tuples(primals, tangents))
    if isinstance(primals, tuple) != isinstance(tangents, tuple):
        structures = tree.structure(primals), tree.structure(tangents)
        raise TypeError(errors.tangent_structure("jvp", *structures))
    flat = flat_in_all("jvp", fun, tuple(primals), has_aux)
    given = flat_tangents(flat, tuple(tangents))
    with Scope(JVP):
        outs, out_tangents = jvp_transform.jvp(flat, operands(flat.leaves), operands(given))
    result = flat.out_tree.unflatten(outs)
    tangent = flat.out_tree.unflatten([instantiate(t) for t in out_tangents])
    return (result, tangent, flat.aux) if has_aux else (result, tangent)


@boundary
def linearize(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """Evaluate a function at a point, and return its derivative there as a function.

    What the derivative needs of the evaluation is computed once and kept, so that it can be applied
    to many tangents.

    Args:
      fun: a function of trees of arrays that returns a tree of arrays.
      *primals: its arguments: the point.
      has_aux: whether `fun` returns a pair of its result and of auxiliary objects.

    Returns:
      `(result, pushforward)`, and with `has_aux` the auxiliary objects. The pushforward takes one
      tangent for each of the primals and returns the tangent of the result. It may be passed to
      and returned from transformed functions.

    Raises:
      TypeError: an argument or a result is no array; the pushforward's tangents have another
        structure than the primals.
      ValueError: a tangent given to the pushforward has another shape or dtype than its primal.

    >>> import covector as cv, covector.numpy as jnp
    >>> value, pushforward = cv.linearize(lambda x: x**3, 2.0)
    >>> print(value, pushforward(1.0), pushforward(10.0))
    8.0 12.0 120.0
    """
    check_callable("linearize", fun)
    flat = flat_in_all("linearize", fun, primals, has_aux)
    at = operands(flat.leaves)
    outs, derivative = linearize_transform.linearize(flat, at)
    derivative = derivative.pruned()
    program = LinearProgram(flat, derivative, [aval_of(x) for x in at], [aval_of(x) for x in outs])
    result = flat.out_tree.unflatten(outs)
    pushforward = Pushforward(program, derivative.residuals)
    return (result, pushforward, flat.aux) if has_aux else (result, pushforward)


@boundary
def vjp(
    fun: Callable[..., Any], *primals: Any, has_aux: bool = False, reduce_axes: Any = ()
) -> Any:
    """Evaluate a function at a point, and return its transposed derivative (reverse mode).

    One application of the pullback costs a small multiple of evaluating the function, whatever the
    number of arguments; `grad` is the pullback of a scalar function applied to 1.

    Args:
      fun: a function of trees of arrays that returns a tree of arrays.
      *primals: its arguments: the point.
      has_aux: whether `fun` returns a pair of its result and of auxiliary objects.
      reduce_axes: not supported any more.

    Returns:
      `(result, pullback)`, and with `has_aux` the auxiliary objects. The pullback takes a cotangent
      of the result, in the same containers, shapes and dtypes, and returns a tuple of cotangents,
      one for each of the primals; those of integers have dtype float0. It may be passed to and
      returned from transformed functions.

    Raises:
      TypeError: an argument or a result is no array.
      ValueError: the cotangent given to the pullback differs from the result in structure, shape or
        dtype.

    >>> import covector as cv, covector.numpy as jnp
    >>> value, pullback = cv.vjp(lambda x, y: (x * y, x + y), 2.0, 3.0)
    >>> x_bar, y_bar = pullback((1.0, 10.0))
    >>> print(x_bar, y_bar)
    13.0 12.0
    """
    check_callable("vjp", fun)
    if reduce_axes:
        raise NotImplementedError(errors.reduce_axes_given("vjp"))
    flat = flat_in_all("vjp", fun, primals, has_aux)
    at = operands(flat.leaves)
    outs, derivative = linearize_transform.linearize(flat, at)
    pullback: Pullback = pullback_of(flat, derivative.pruned(), at, outs)
    result = flat.out_tree.unflatten(outs)
    return (result, pullback, flat.aux) if has_aux else (result, pullback)


@boundary
def linear_transpose(fun: Callable[..., Any], *primals: Any, reduce_axes: Any = ()) -> Transposed:
    """The transpose of a linear function, which is not evaluated for it.

    Args:
      fun: a function of trees of arrays, linear in all its arguments together: a sum of terms in
        each of which one argument occurs once. What does not depend on the arguments may be
        anything.
      *primals: arrays, or other objects with attributes `shape` and `dtype`, which tell the types
        of its arguments.
      reduce_axes: not supported any more.

    Returns:
      A function from a cotangent of the result, in the same containers, shapes and dtypes, to a
      tuple of cotangents of the arguments. It may be passed to and returned from transformed
      functions.

    Raises:
      TypeError: the function mixes integers with other numbers; the cotangent given to the
        transpose differs from the result in structure, shape or dtype.
      NotImplementedError: on the call of the transpose: the function is not linear.

    >>> import covector as cv, covector.numpy as jnp
    >>> transpose = cv.linear_transpose(lambda x: jnp.outer(x, jnp.arange(3.0)), jnp.zeros(2))
    >>> print(transpose(jnp.ones((2, 3)))[0])
    [3. 3.]
    """
    check_callable("linear_transpose", fun)
    if reduce_axes:
        raise NotImplementedError(errors.reduce_axes_given("linear_transpose"))
    flat = flat_in_all("linear_transpose", fun, primals, False, any_type=True)
    in_avals = [_type_of(x) for x in flat.leaves]
    program = linearize_transform.linear_program(flat, in_avals).pruned()
    for kind in (np.inexact, np.integer):
        if all(dtypes.issubdtype(aval.dtype, kind) for aval in (*in_avals, *program.out_avals)):
            break
    else:
        ins, outs = in_avals, program.out_avals
        raise TypeError(errors.not_linear_dtypes([a.dtype for a in ins], [a.dtype for a in outs]))
    return Transposed(LinearProgram(flat, program, in_avals, program.out_avals), program.residuals)


# ---------------------------------------------------------------- arguments


def flat_in_all(
    where: str, fun: Callable[..., Any], primals: tuple[Any, ...], has_aux: bool,
    any_type: bool = False,
) -> FlatInArguments:  # fmt: skip
    """A function as one of the leaves of all its arguments, which must be arrays."""
    flat = FlatInArguments(where, fun, range(len(primals)), primals, {}, has_aux)
    if not any_type:
        check_inputs(flat, INEXACT_OR_INTEGER)
    return flat


def flat_tangents(flat: FlatInArguments, tangents: tuple[Any, ...]) -> list[Any]:
    """The leaves of the tangents of `jvp`, checked; symbolic zeros in place of float0."""
    given, in_tree = tree.flatten(tangents)
    if in_tree != flat.in_tree:
        raise TypeError(errors.tangent_structure("jvp", flat.in_tree, in_tree))
    leaves = []
    for i, (x, t) in enumerate(zip(flat.leaves, given)):
        aval, got = aval_of(x), aval_of(t)
        want = aval.to_tangent_aval()
        if (want.shape, want.dtype) != (got.shape, got.dtype):
            kind = TypeError if want.dtype != got.dtype else ValueError
            raise kind(errors.tangent_type("jvp", leaf_name(flat, i), aval, want, got))
        leaves.append(Zero(want) if want.dtype == dtypes.float0 else t)
    return leaves


def _type_of(x: Any) -> ShapedArray:
    """The type of an array, or of what has a shape and a dtype."""
    if not is_valid_type(x) and hasattr(x, "shape") and hasattr(x, "dtype"):
        return ShapedArray(x.shape, dtypes.canonicalize_dtype(x.dtype))
    return aval_of(x)
