"""The public functions of elementwise primitives, made from the primitives themselves.

Such a function does no more than bind its primitive.  What there is to say about it follows from
the primitive's family, but for the docstring and the example that its class gives.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from ..base import dtypes
from ..core.array import Array
from .accuracy import Accuracy
from .families import AccurateUnary, Elementwise

Function = Callable[..., Any]


def unary(primitive: Elementwise, name: str = "") -> Function:
    """The public function of a primitive of one operand, `name` being the primitive's unless given.

    It takes `accuracy` if the primitive does.
    """
    bind = primitive.bind

    def function(x: Any) -> Array:
        return bind(x)

    def function_with_accuracy(x: Any, *, accuracy: Accuracy | None = None) -> Array:
        return bind(x) if accuracy is None else bind(x, accuracy=accuracy)

    accurate = isinstance(primitive, AccurateUnary)
    return _publish(function_with_accuracy if accurate else function, primitive, name)


def binary(
    primitive: Elementwise, name: str = "", named: Callable[[Function], Function] | None = None
) -> Function:
    """The public function of a primitive of two operands.

    They are called x and y, but where `named` makes of `bind` a function of other names.
    """
    bind = primitive.bind

    def function(x: Any, y: Any) -> Array:
        return bind(x, y)

    return _publish(function if named is None else named(bind), primitive, name)


# ---------------------------------------------------------------- docstrings

_NAMES = {
    np.integer: "integers",
    np.signedinteger: "signed integers",
    np.floating: "floats",
    np.complexfloating: "complex numbers",
    np.bool_: "booleans",
    np.float32: "float32",
    np.float64: "float64",
    dtypes.extended: "keys",
}


def _publish(function: Function, primitive: Elementwise, name: str) -> Function:
    """Give a function the name, the place and the docstring by which users know it."""
    function.__name__ = function.__qualname__ = name or primitive.name
    function.__module__ = "covector.lax"
    function.__doc__ = _docstring(function, primitive)
    return function


def _docstring(function: Function, primitive: Elementwise) -> str:
    """What the class of a primitive says of it, followed by what its family implies."""
    kinds = _listing([_NAMES[kind] for kind in primitive.accepts])
    if primitive.arity == 1:
        args = [f"x: an array of {kinds}."]
    else:
        operands = ", ".join(inspect.signature(function).parameters)
        args = [
            f"{operands}: arrays of {kinds}, both of the same dtype. Their shapes are equal, but",
            "  that a scalar meets any shape, and a dimension of size 1 any size.",
        ]
    if "accuracy" in inspect.signature(function).parameters:
        args += [
            "accuracy: a `lax.Tolerance` or `lax.AccuracyMode` that the values must meet, where",
            "  XLA has a choice.",
        ]
    call, result = primitive.example
    others = ", or the dtypes or shapes do not match" if primitive.arity > 1 else ""
    return "\n\n".join(
        [
            inspect.cleandoc(type(primitive).__doc__ or ""),
            "\n".join(["Args:", *["  " + line for line in args]]),
            f"Returns:\n  {primitive.returns}",
            f"Raises:\n  TypeError: an operand has another dtype{others}.",
            f">>> from covector import lax\n>>> {call}\n{result}",
        ]
    )


def _listing(words: list[str]) -> str:
    """`a`, `a or b`, `a, b or c`."""
    return re.sub(r", ([^,]*)$", r" or \1", ", ".join(words))
