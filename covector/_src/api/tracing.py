"""Tracing for its own sake: the jaxpr of a function, its result types, names for parts of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import update_wrapper
from typing import Any, TypeVar

from ..base import tracing_errors, tree
from ..base.tracebacks import boundary
from ..core.avals import AbstractValue, aval_of
from ..core.jaxpr import ClosedJaxpr
from ..core.trace import Scope, eager_evaluation, named_axes
from ..transforms.flatten import FlatFunction
from ..transforms.signatures import debug_info
from ..transforms.stage import stage_closed
from .arguments import ArgumentSpec, check_arrays, join
from .shape_dtype import ShapeDtypeStruct, abstractify
from .wrapping import check_callable

F = TypeVar("F", bound=Callable[..., Any])


def make_jaxpr(
    fun: Callable[..., Any],
    static_argnums: int | Sequence[int] = (),
    axis_env: Sequence[tuple[Any, int]] | None = None,
    return_shape: bool = False,
) -> Callable[..., Any]:
    """Make a function that returns the jaxpr of `fun` for example arguments.

    Args:
      fun: a function of trees of arrays that returns a tree of arrays.
      static_argnums: positions of arguments that are ordinary Python values, known to the trace.
      axis_env: pairs of a name and a size: named axes that collectives in `fun` may refer to.
      return_shape: whether the result tree of `fun` is returned, too, with `ShapeDtypeStruct`s
        for leaves.

    Returns:
      A function with the signature of `fun` that returns a `ClosedJaxpr`, or a pair of one and of
      the result types. Only types of its arguments matter: `ShapeDtypeStruct`s will do.

    Raises:
      TypeError: `fun` is not callable, or an argument or result cannot be an array.

    >>> import covector as cv
    >>> cv.make_jaxpr(lambda x, y: cv.lax.sin(x) * y)(1.0, 2.0)
    { lambda ; a:f32[] b:f32[]. let c:f32[] = sin a; d:f32[] = mul c b in (d,) }
    """
    check_callable("make_jaxpr", fun)
    static = ArgumentSpec("make_jaxpr", "static", fun, static_argnums, None)

    def jaxpr_of(*args: Any, **kwargs: Any) -> Any:
        with named_axes(*(axis_env or ())):
            closed, out_tree = _trace("make_jaxpr", fun, static, args, kwargs)
        return (closed, _types_of_results(closed, out_tree)) if return_shape else closed

    update_wrapper(jaxpr_of, fun)
    jaxpr_of.__module__ = "covector"
    for attribute in ("__name__", "__qualname__"):
        if hasattr(fun, attribute):
            setattr(jaxpr_of, attribute, f"make_jaxpr({getattr(fun, attribute)})")
    return jaxpr_of


@boundary
def eval_shape(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The types of what a function would return; nothing is computed.

    Args:
      fun: a function of trees of arrays that returns a tree of arrays.
      *args, **kwargs: its arguments. Only shapes and dtypes matter, so that `ShapeDtypeStruct`s,
        or any objects with attributes `shape` and `dtype`, may stand for arrays.

    Returns:
      The tree of results with a `ShapeDtypeStruct` for each array.

    Raises:
      TypeError: `fun` is not callable, or an argument or result cannot be an array; and whatever
        the function itself would raise about shapes and dtypes.

    >>> import covector as cv
    >>> big = cv.ShapeDtypeStruct((100_000, 100_000), "float32")
    >>> cv.eval_shape(lambda a: {"sin": cv.lax.sin(a)}, big)
    {'sin': ShapeDtypeStruct(shape=(100000, 100000), dtype=float32)}
    """
    check_callable("eval_shape", fun)
    static = ArgumentSpec("eval_shape", "static", fun, None, None)
    return _types_of_results(*_trace("eval_shape", fun, static, args, kwargs))


def _trace(
    where: str,
    fun: Callable[..., Any],
    static: ArgumentSpec,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> tuple[ClosedJaxpr, Any]:
    """The jaxpr of a function for arguments of these types, and the structure of its result."""
    statics: tuple[Any, ...] = ()
    if static:
        args, kwargs, statics = static.split(args, kwargs)
    leaves, in_tree = tree.flatten((args, kwargs))
    flat = FlatFunction(join(fun, statics), in_tree)
    info = debug_info(where, fun, args, kwargs, statics)
    try:
        avals = [abstractify(x) for x in leaves]
    except TypeError:
        check_arrays(where, info, leaves)
        raise
    closed = stage_closed(flat, avals, info)
    closed.jaxpr.debug_info = flat.debug_info_of_result(info)
    return closed, flat.out_tree


def _types_of_results(closed: ClosedJaxpr, out_tree: Any) -> Any:
    return tree.unflatten(out_tree, [ShapeDtypeStruct.like(aval) for aval in closed.out_avals])


def typeof(x: Any) -> AbstractValue:
    """The type of a value: for an array, its shape, dtype and weak type.

    Args:
      x: an array, a tracer, or a Python or NumPy number.

    Raises:
      TypeError: `x` is none of these.

    >>> import covector as cv
    >>> cv.typeof(1.0)
    ShapedArray(float32[], weak_type=True)
    """
    return aval_of(x)


def ensure_compile_time_eval() -> AbstractContextManager[None]:
    """Evaluate operations on known values at once, though the function around is being traced.

    Under `jit` an operation is written down, to run later, even if its operands are numbers.
    Within this context manager one that has no traced operand runs while the function is traced:
    its result is a constant of the program, and may decide an `if`. Others are traced as ever.

    >>> import covector as cv
    >>> @cv.jit
    ... def f(x):
    ...     with cv.ensure_compile_time_eval():
    ...         positive = cv.lax.gt(cv.lax.sin(1.0), 0.0)
    ...     return x if positive else -x
    >>> print(f(2.0))
    2.0
    """
    return eager_evaluation()


def named_scope(name: str) -> AbstractContextManager[None]:
    """Name a part of a function, as a context manager or decorator.

    The operations in it carry the name in jaxprs (`pretty_print(name_stack=True)`) and in the
    compiled program, where profilers and XLA's own texts show it. It changes no values.

    Args:
      name: the name; scopes within scopes are joined as in `outer/inner`.

    Raises:
      TypeError: the name is not a string.

    >>> import covector as cv
    >>> def f(x):
    ...     with cv.named_scope("wave"):
    ...         return cv.lax.sin(x)
    >>> print(cv.make_jaxpr(f)(1.0).pretty_print(name_stack=True))
    { lambda ; a:f32[]. let b:f32[] = sin a in (b,) } # [wave]
    """
    if not isinstance(name, str):
        raise TypeError(tracing_errors.scope_not_a_string(name))
    return Scope(name)


def named_call(fun: F, *, name: str | None = None) -> F:
    """A function whose operations are in a scope of its name, as with `named_scope`.

    Args:
      fun: any function.
      name: the name of the scope; by default the function's own.

    >>> import covector as cv
    >>> cv.named_call(cv.lax.sin, name="wave").__name__
    'sin'
    """
    return named_scope(fun.__name__ if name is None else name)(fun)
