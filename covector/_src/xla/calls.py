"""The path of repeated calls: from the types of the arguments to a compiled program, and its run.

A program is found again in a table whose keys hold the configuration and the type of each
argument; where an array has been put somewhere, its placement belongs to its type.  What is found
is a `Call`: all that is needed to run the program on jaxlib's buffers and to make arrays of what it
gives.

What stands here takes a good part of the time of a short program.  So `RepeatedCalls` and
`op_again` exist twice: here, and in C (`_calls.c`), which is used where installation could compile
it, unless the flag `native_kernels` is off when Covector is imported.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..base import config, tree
from ..base.tracebacks import drop_own_frames
from ..core.trace import context, eval_trace
from .array import ArrayImpl
from .compile import Executable, watch
from .placement import Placement

# The C++ traversal itself; dicts whose keys have no order take the general path.
_flatten = tree.default_registry.flatten

# The structure of a result that is one array.
ONE_LEAF = tree.structure(0)


class Call:
    """A compiled program as something to call with the buffers of all its arguments.

    Attributes:
      execute: jaxlib's function that runs it.
      kept: which of the buffers it takes, if not all; consts: buffers that it takes besides them.
      handlers: of its outputs, for jaxlib; out_avals: their types.
      placements: where they lie.
      make: makes the result of the list of arrays; None if it is the one array there is.
      tuples: if the result consists of tuples and arrays alone, its tuples, with None for arrays.
      failed: raises what the user should see, from an exception and the buffers.
    """

    __slots__ = (
        *("consts", "execute", "failed", "handlers", "kept"),
        *("make", "out_avals", "placements", "tuples"),
    )

    def __init__(
        self,
        executable: Executable,
        placement: Placement | None,
        make: Callable[..., Any] | None = None,
        tuples: tuple[Any, ...] | None = None,
    ):
        self.execute = executable._execute
        self.kept = None if executable._takes_all else executable.kept
        self.consts = executable._consts
        self.handlers = executable._handlers
        self.out_avals = tuple(executable.out_avals)
        self.placements = tuple(executable.out_placements or [placement] * len(self.out_avals))
        self.make = make
        self.tuples = tuples
        self.failed = executable.failed

    def __call__(self, buffers: list[Any]) -> Any:
        if self.kept is not None:
            buffers = [buffers[i] for i in self.kept] + self.consts
        try:
            outs = self.execute(buffers).consume_with_handlers(self.handlers)
        except Exception as error:
            self.failed(error, buffers)
        if self.make is None:
            return ArrayImpl(outs[0], self.out_avals[0], self.placements[0])
        return self.make(list(map(ArrayImpl, outs, self.out_avals, self.placements)))


def call_for_tree(executable: Executable, placement: Placement | None, out_tree: Any) -> Call:
    """The call of a program whose outputs are the leaves of a tree."""
    if out_tree == ONE_LEAF:
        return Call(executable, placement)
    return Call(executable, placement, out_tree.unflatten, _tuples(out_tree))


def _tuples(structure: Any) -> tuple[Any, ...] | None:
    """The tuples that a tree consists of, with None for its leaves; None if there is more to it."""
    kind = structure.node_data()
    if kind is None or kind[0] is not tuple:
        return None
    children = structure.children()
    found = tuple(None if child == ONE_LEAF else _tuples(child) for child in children)
    whole = all(x is not None or child == ONE_LEAF for x, child in zip(found, children))
    return found if whole else None


def type_of(x: ArrayImpl) -> Any:
    """What tells programs for an argument apart."""
    return x.aval if x._placement is None else (x.aval, x._placement)


def _read(leaves: Sequence[Any], key: list[Any]) -> list[Any] | None:
    """The buffers of arrays, whose types are added to a key; None if a leaf is something else."""
    buffers = []
    for x in leaves:
        if type(x) is not ArrayImpl:
            return None
        key.append(x.aval if x._placement is None else (x.aval, x._placement))
        buffers.append(x._buffer)
    return buffers


class RepeatedCalls:
    """A callable that goes straight to a compiled program where it has one for its arguments.

    Where it has none, where keywords are given, and under a transformation it calls its `_call`.

    Attributes:
      _calls: the programs, by `(configuration, *types)` for arguments that are arrays, and by
        `(configuration, tree, *types of leaves)` for any; None if `_call` is to do everything.
    """

    __slots__ = ("_calls",)
    _calls: dict[Any, Call] | None
    _call: Callable[..., Any]

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        calls = self._calls
        if calls is None or kwargs or context.trace is not eval_trace or watch.ever_on:
            return self._call(*args, **kwargs)
        key = [config.trace_key()]
        buffers = _read(args, key)
        if buffers is None:  # trees, numbers or NumPy arrays are among them
            leaves, in_tree = _leaves(args)
            key = [config.trace_key(), in_tree]
            buffers = _read(leaves, key)
        call = calls.get(tuple(key))
        if call is None:
            return self._call(*args)
        try:
            return call(buffers)
        except Exception as error:
            drop_own_frames(error)
            raise


def _to_array(x: Any, doing: str) -> ArrayImpl:
    return eval_trace.backend.to_array(x, doing)


def _leaves(args: tuple[Any, ...]) -> tuple[Sequence[ArrayImpl], Any]:
    """The leaves of arguments of any kind, as arrays, and the tree.

    Numbers and NumPy arrays run the program of arrays.  If a leaf cannot be an array there are no
    leaves, and no program is known for these.
    """
    try:
        leaves, in_tree = _flatten(args)
    except Exception:  # dicts whose keys have no order
        leaves, in_tree = tree.flatten_again(tree.default_registry, args)
    try:
        return [_to_array(x, "jit") for x in leaves], in_tree
    except (TypeError, OverflowError):
        return [], in_tree


def op_again(
    calls: dict[Any, Call],
    otherwise: Callable[..., Any],
    to_array: Callable[..., ArrayImpl],
    primitive: Any,
    args: Sequence[Any],
    params: dict[str, Any],
) -> Any:
    """Apply a primitive by the program that is known for concrete operands of their types.

    Args:
      calls: the programs, by `(configuration, primitive, *types, *params.items())`.
      otherwise: applies the primitive if there is none.
      to_array: makes an array of a value that is none.
      primitive: the primitive.
      args: the operands.
      params: the parameters.
    """
    if watch.ever_on:
        return otherwise(primitive, args, params)
    key: list[Any] = [config.trace_key(), primitive]
    buffers = _read(args, key)
    if buffers is None:
        args = [to_array(x, primitive.name) for x in args]
        key = [config.trace_key(), primitive]
        buffers = _read(args, key)
    if params:
        key += params.items()
    try:
        call = calls.get(tuple(key))
    except TypeError:  # a parameter is not hashable
        call = None
    return otherwise(primitive, args, params) if call is None else call(buffers)


try:
    from . import _calls
except ImportError:  # there was no compiler
    pass
else:
    if config.native_kernels.value:
        _calls.prepare(
            (ArrayImpl, Call, np.ndarray),
            (context, eval_trace, watch, config.trace_key),
            (_flatten, _leaves, _to_array, drop_own_frames),
        )
        RepeatedCalls, op_again = _calls.RepeatedCalls, _calls.op_again
