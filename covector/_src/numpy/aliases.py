"""Functions that go by several names."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any


def alias(name: str, function: Callable[..., Any]) -> Any:
    """A function that does what another one does, and differs from it in name alone."""
    assert isinstance(function, FunctionType)
    same = FunctionType(
        function.__code__, function.__globals__, name, function.__defaults__, function.__closure__
    )
    same.__kwdefaults__ = function.__kwdefaults__
    same.__annotations__ = function.__annotations__
    same.__doc__ = f"Alias of `{function.__name__}`: {function.__doc__}"
    same.__qualname__ = name
    return same
