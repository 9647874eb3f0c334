"""Functions of matrices with derivatives that are better than those of their steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ..control.custom_jvp import custom_jvp_function_p
from ..core.jaxpr import DebugInfo
from ..ops.linear import instantiate

Function = Callable[..., list[Any]]


def with_derivative(
    rule: Callable[..., tuple[list[Any], list[Any]]], symbolic_zeros: bool = False
) -> Callable[..., Function]:
    """Decorator: give a function a derivative.

    Args:
      rule: takes the arguments, their tangents and the keyword arguments; returns the results and
        their tangents.
      symbolic_zeros: whether the rule takes a `Zero` for a tangent that is known to be zero; by
        default it gets an array of zeros.

    Returns:
      A decorator of functions that take arrays by position, and return a list of them.
    """

    def decorate(fun: Function) -> Function:
        info = DebugInfo("custom_jvp", fun.__name__)

        def derivative(
            primals: Sequence[Any], tangents: Sequence[Any], **static: Any
        ) -> tuple[list[Any], list[Any]]:
            given = tangents if symbolic_zeros else [*map(instantiate, tangents)]
            return rule(primals, given, **static)

        def derived(*args: Any, **static: Any) -> list[Any]:
            return custom_jvp_function_p.bind(
                *args,
                fun=partial(fun, **static),
                rule=partial(derivative, **static),
                num_consts=0,
                symbolic_zeros=symbolic_zeros,
                name=fun.__name__,
                debug_info=info,
            )

        return derived

    return decorate
