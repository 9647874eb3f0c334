"""The primitives of `covector.debug`: calls that look at a program and change nothing in it.

They happen where the program happens to run: more than once where values are computed anew, not at
all where the op that they stand in is dropped.  Differentiated, they see the primal values.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..base import tree
from ..base.logs import logger
from ..core.avals import aval_of
from ..core.effects import Effect
from ..core.primitive import BuiltinPrimitive
from ..ops.linear import move_axis
from ..ops.slicing import index_in_dim
from .scan import scan

# Batches up to this size are taken apart in the program; longer ones in a loop.
LONGEST_UNROLLED = 64


class DebugEffect(Effect):
    """A call for debugging."""

    __slots__ = ()
    repeatable = True

    def __repr__(self) -> str:
        return "Debug"


class OrderedDebugEffect(Effect):
    """A call for debugging that comes after those before it."""

    __slots__ = ()
    ordered = True
    repeatable = True

    def __repr__(self) -> str:
        return "OrderedDebug"


debug_effect, ordered_debug_effect = DebugEffect(), OrderedDebugEffect()


class DebugPrimitive(BuiltinPrimitive):
    """A call of a function that returns nothing.

    Subclasses say by `called(**params)` which function that is, and by `effect_of(**params)` what
    effect the call is.
    """

    multiple_results = True
    public_name = ""

    def called(self, **params: Any) -> Callable[..., Any]:
        raise NotImplementedError

    def effect_of(self, **params: Any) -> Effect:
        raise NotImplementedError

    def effectful_abstract_eval(self, *avals, **params):
        return [], frozenset({self.effect_of(**params)})

    def evaluate(self, backend, args, params):
        return backend.call_python(self.called(**params), self.public_name, args, ())

    def ref(self, *args, **params):
        return self.called(**params)(*args)

    def jvp(self, primals, tangents, **params):
        return self.bind(*primals, **params), []

    def transpose(self, cts, *args, **params):
        return [None] * len(args)

    def vmap(self, axis, dims, *args, **params):
        if axis.size > LONGEST_UNROLLED:
            self.in_a_loop(dims, args, params)
            return [], []
        for i in range(axis.size):
            example = [
                x if dim is None else index_in_dim(x, i, dim, keepdims=False)
                for x, dim in zip(args, dims)
            ]
            self.bind(*example, **params)
        return [], []

    def in_a_loop(
        self, dims: Sequence[int | None], args: Sequence[Any], params: dict[str, Any]
    ) -> None:
        """Call the function for one example after another."""

        def step(_: None, examples: list[Any]) -> tuple[None, None]:
            own = iter(examples)
            self.bind(*[x if d is None else next(own) for x, d in zip(args, dims)], **params)
            return None, None

        scan(step, None, [move_axis(x, d, 0) for x, d in zip(args, dims) if d is not None])

    def emit(self, b, *operands, **params):
        effect = self.effect_of(**params)
        return b.python_callback(self.called(**params), self.public_name, operands, effect)


class DebugCallback(DebugPrimitive):
    """The call of a user's function.

    Parameters:
      callback: the function of flat arrays.
      effect: `debug_effect` or `ordered_debug_effect`.
      partitioned: whether each device calls it with its own part of the arrays.
    """

    public_name = "debug.callback"

    def called(self, *, callback, **params):
        return callback

    def effect_of(self, *, effect, **params):
        return effect


class DebugPrint(DebugPrimitive):
    """Prints a format string with values in it.

    Parameters:
      fmt, has_placeholders: the format string, and whether it begins with a field; if it does not,
        values follow it.
      in_tree, static_args: the structure of `(args, kwargs)`, and those of its leaves that are no
        arrays, with their positions.
      np_printoptions: how NumPy is to print arrays.
      ordered, partitioned: as for callbacks.
      logging_record: where the call stands, if the text is to be logged instead.
    """

    public_name = "debug.print"

    def called(self, *, in_tree, static_args, **params):
        def print_formatted(*arrays: Any) -> tuple[()]:
            args, kwargs = tree.unflatten(in_tree, with_static(arrays, dict(static_args)))
            write(formatted(args, kwargs, **params), params["logging_record"])
            return ()

        return print_formatted

    def effect_of(self, *, ordered, **params):
        return ordered_debug_effect if ordered else debug_effect


debug_callback_p = DebugCallback("debug_callback")
debug_print_p = DebugPrint("debug_print")


def with_static(arrays: Sequence[Any], static: dict[int, Any]) -> list[Any]:
    """All leaves of the arguments: the arrays, and the others at their positions."""
    given = iter(arrays)
    count = len(arrays) + len(static)
    return [static[i] if i in static else next(given) for i in range(count)]


def without_static(leaves: Sequence[Any]) -> tuple[list[Any], dict[int, Any]]:
    """The leaves that can be arrays, and the others by their positions."""
    arrays, static = [], {}
    for i, leaf in enumerate(leaves):
        try:
            aval_of(leaf)
        except TypeError:
            static[i] = leaf
        else:
            arrays.append(leaf)
    return arrays, static


def formatted(
    args: Sequence[Any],
    kwargs: dict[str, Any],
    *,
    fmt: str,
    has_placeholders: bool,
    np_printoptions: tuple[tuple[str, Any], ...],
    **params: Any,
) -> str:
    """The text with the values in it, as NumPy was set to print where the program was written."""
    if not has_placeholders:
        return " ".join([fmt, *map(str, args)])
    with np.printoptions(**dict(np_printoptions)):
        return fmt.format(*args, **kwargs)


def write(text: str, record: Any) -> None:
    """Print a line, or log it."""
    if record is None:
        sys.stdout.write(text + "\n")
        return
    record = copy.copy(record)
    record.msg = text
    logger.handle(record)
