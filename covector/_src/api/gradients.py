"""Gradients of scalar functions: `grad`, `value_and_grad`, and the two passes apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..base import transform_errors as errors
from ..core.avals import ShapedArray, aval_of
from ..transforms.flatten import FlatInArguments
from ..transforms.linearize import linearize
from ..transforms.transpose import transpose_linear
from .autodiff import vjp
from .differentiated import (
    COMPLEX,
    INEXACT,
    INEXACT_OR_INTEGER,
    Argnums,
    as_argnums,
    check_inputs,
    check_output,
    differentiated,
)
from .jit import jit
from .values import instantiate, one_like, operands
from .wrapping import check_callable, named_after


def grad(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Any = (),
) -> Callable[..., Any]:
    """The gradient of a function that returns a scalar, as a function.

    Args:
      fun: a function whose arguments at the positions `argnums` are trees of arrays, and whose
        result is one real array of shape (). Its other arguments may be any objects.
      argnums: the position of the argument that the gradient is taken in, or a sequence of them;
        negative ones count from the end. Arguments passed by keyword have no position.
      has_aux: whether `fun` returns a pair of the scalar and of auxiliary objects.
      holomorphic: whether `fun` is promised to be holomorphic; then its arguments and its result
        are complex, and so is the derivative.
      allow_int: whether arguments may be integers or booleans; their gradients have dtype float0.
      reduce_axes: not supported any more.

    Returns:
      A function with the arguments of `fun` that returns the gradient: a tree with the structure,
      shapes and dtypes of the argument, or a tuple of such trees if `argnums` is a sequence. With
      `has_aux`, a pair of the gradient and the auxiliary objects.

    Raises:
      TypeError: on the call: there is no argument at a position, an argument or the result has a
        dtype or a shape that has no gradient.

    >>> import covector as cv, covector.numpy as jnp
    >>> def loss(params, x):
    ...     return jnp.sum((params["w"] * x + params["b"]) ** 2)
    >>> gradient = cv.grad(loss)({"w": 2.0, "b": 1.0}, jnp.array([1.0, 2.0]))
    >>> print(gradient["w"], gradient["b"])
    26.0 16.0
    """
    differentiate = differentiator(
        "grad", fun, argnums, has_aux, holomorphic, allow_int, reduce_axes
    )

    @named_after(fun, "The gradient of {0}, with the arguments of {0}.")
    def gradient_of(*args: Any, **kwargs: Any) -> Any:
        _, aux, gradient = differentiate(args, kwargs)
        return (gradient, aux) if has_aux else gradient

    return gradient_of


def value_and_grad(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Any = (),
) -> Callable[..., tuple[Any, Any]]:
    """A function that returns both the value of a scalar function and its gradient.

    The arguments are those of `grad`.

    Returns:
      A function with the arguments of `fun` that returns `(value, gradient)`; with `has_aux`,
      `((value, auxiliary objects), gradient)`.

    >>> import covector as cv, covector.numpy as jnp
    >>> value, gradient = cv.value_and_grad(lambda x: jnp.sum(x**2))(jnp.array([1.0, 2.0]))
    >>> print(value, gradient)
    5.0 [2. 4.]
    """
    differentiate = differentiator(
        "value_and_grad", fun, argnums, has_aux, holomorphic, allow_int, reduce_axes
    )

    @named_after(fun, "The value and the gradient of {0}, with the arguments of {0}.")
    def value_and_gradient_of(*args: Any, **kwargs: Any) -> Any:
        value, aux, gradient = differentiate(args, kwargs)
        return ((value, aux) if has_aux else value), gradient

    return value_and_gradient_of


def fwd_and_bwd(
    fun: Callable[..., Any],
    argnums: int | Sequence[int],
    has_aux: bool = False,
    jitted: bool = True,
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The forward and the backward pass of a function as two functions.

    Both are compiled once, where `jit` of a pullback that is made anew for each call would be
    compiled for each.

    Args:
      fun: a function of trees of arrays that returns a tree of arrays.
      argnums: the position, or the sequence of positions, of the arguments to differentiate in.
      has_aux: whether `fun` returns a pair of its result and of auxiliary objects.
      jitted: whether the two functions are compiled.

    Returns:
      `fwd` and `bwd`. `fwd` takes the arguments of `fun` and returns `(result, pullback)`, and with
      `has_aux` the auxiliary objects; `bwd(pullback, cotangent)` returns the cotangent of the
      argument, or a tuple of them if `argnums` is a sequence.

    >>> import covector as cv, covector.numpy as jnp
    >>> fwd, bwd = cv.fwd_and_bwd(lambda x, y: x * y, argnums=0)
    >>> result, pullback = fwd(2.0, 3.0)
    >>> print(result, bwd(pullback, 10.0))
    6.0 30.0
    """
    check_callable("fwd_and_bwd", fun)
    nums = as_argnums("fwd_and_bwd", argnums)

    def fwd(*args: Any, **kwargs: Any) -> Any:
        flat = differentiated("fwd_and_bwd", fun, nums, args, kwargs)
        call = named_after(fun, "{0}, in some of its arguments.")(flat.call)
        return vjp(call, *[args[i] for i in flat.positions], has_aux=has_aux)

    def bwd(pullback: Callable[..., Any], cotangent: Any) -> Any:
        cts = pullback(cotangent)
        return cts[0] if isinstance(nums, int) else cts

    return (jit(fwd), jit(bwd)) if jitted else (fwd, bwd)


# ---------------------------------------------------------------- the work


def differentiator(
    where: str,
    fun: Callable[..., Any],
    argnums: Any,
    has_aux: bool,
    holomorphic: bool,
    allow_int: bool,
    reduce_axes: Any,
) -> Callable[[tuple[Any, ...], dict[str, Any]], tuple[Any, Any, Any]]:
    """From arguments of a scalar function to its value, auxiliary objects and gradient."""
    check_callable(where, fun)
    if reduce_axes:
        raise NotImplementedError(errors.reduce_axes_given(where))
    nums: Argnums = as_argnums(where, argnums)
    accepts = COMPLEX if holomorphic else INEXACT_OR_INTEGER if allow_int else INEXACT

    def differentiate(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any, Any]:
        flat = differentiated(where, fun, nums, args, kwargs, has_aux)
        check_inputs(flat, accepts)
        outs, linear = linearize(flat, operands(flat.leaves))
        aval = check_scalar(flat, outs, holomorphic)
        cts = transpose_linear(linear, [one_like(aval)])
        gradient = flat.in_tree.unflatten([instantiate(ct) for ct in cts])
        return outs[0], flat.aux, gradient[0] if isinstance(nums, int) else gradient

    return differentiate


def check_scalar(flat: FlatInArguments, outs: Sequence[Any], holomorphic: bool) -> ShapedArray:
    """The type of the one result of a function, which must be a scalar of a suitable dtype."""
    if flat.out_tree.num_nodes != 1 or len(outs) != 1:
        result = flat.out_tree.unflatten(outs)
        raise TypeError(errors.output_not_one_array(flat.where, flat.fun, result))
    aval: Any = aval_of(outs[0])
    if aval.shape != ():
        raise TypeError(errors.output_not_scalar(flat.where, flat.fun, aval.shape))
    check_output(flat, aval, holomorphic)
    return aval
