"""`closure_convert`: what a function closes over, made arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..base import dtypes, tree
from ..base import transform_errors as errors
from ..core.avals import aval_of
from ..core.jaxpr import eval_jaxpr
from ..core.trace import Tracer
from ..transforms.flatten import FlatInArguments
from ..transforms.jvp import JVPTracer
from ..transforms.signatures import debug_info
from ..transforms.stage import stage
from ..transforms.vmap import BatchTracer
from .wrapping import check_callable, named_after


def closure_convert(fun: Callable[..., Any], *example_args: Any) -> tuple[Callable[..., Any], list]:
    """Make arguments of the values that a function closes over and that may be differentiated in.

    A rule of derivatives for a higher-order function, such as a solver that is given the function
    to solve, sees what it is given, but not what that function closes over. This takes such values
    out: those that hold a tangent, or that may get one later.

    Args:
      fun: a pure function of trees of arrays.
      *example_args: arguments that tell the types for which the function is converted.

    Returns:
      `(converted, values)`: a function that takes the arguments of `fun` and then the values, and
      the list of the values.

    Raises:
      TypeError: on the call: the arguments have another structure than the examples.

    >>> import covector as cv, covector.numpy as jnp
    >>> def derivative_of_square(c):
    ...     converted, values = cv.closure_convert(lambda x: c * x**2, 1.0)
    ...     assert len(values) == 1  # c, as there is a derivative taken in it
    ...     return cv.grad(converted)(3.0, *values)
    >>> print(cv.grad(derivative_of_square)(5.0))
    6.0
    """
    check_callable("closure_convert", fun)
    flat = FlatInArguments("closure_convert", fun, range(len(example_args)), example_args, {})
    avals = [aval_of(x) for x in flat.leaves]
    jaxpr, consts = stage(flat, avals, debug_info("closure_convert", fun, example_args, {}))
    taken_out = [may_have_tangent(x) for x in consts]
    values = [x for x, out in zip(consts, taken_out) if out]
    count = len(example_args)

    @named_after(fun, "{0}, with the values that it closes over as further arguments.")
    def converted(*args: Any) -> Any:
        leaves, in_tree = tree.flatten(args[:count])
        if in_tree != flat.in_tree or len(args) != count + len(values):
            given = tree.structure(args)
            raise TypeError(errors.not_the_example(fun, flat.in_tree, len(values), given))
        given_values = iter(args[count:])
        all_consts = [next(given_values) if out else x for x, out in zip(consts, taken_out)]
        return flat.out_tree.unflatten(eval_jaxpr(jaxpr, all_consts, *leaves))

    return converted, values


def may_have_tangent(x: Any) -> bool:
    """Whether a value has a tangent, or belongs to a program that may be differentiated later."""
    if isinstance(x, BatchTracer):
        return may_have_tangent(x.value)
    if isinstance(x, JVPTracer):
        return True
    aval: Any = aval_of(x).to_tangent_aval()
    return isinstance(x, Tracer) and getattr(aval, "dtype", None) not in (None, dtypes.float0)
