"""Types of batches that are no arrays: how `vmap` takes an example out of one, and makes one.

A batch of such a type is a leaf to `vmap`. Within the function there stands an example of it,
which its handler makes of tracers; a result of such a type is put together by another handler
while the tracers still live.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..base import tree
from ..base import vmap_rule_errors as errors
from ..core.avals import aval_of
from ..core.axis import Axis
from ..core.trace import context, current_trace
from ..ops.creation import iota
from ..ops.linear import bring_to
from ..transforms.flatten import FlatFunction
from ..transforms.purity import call_traced
from ..transforms.vmap import BatchTrace


class Handlers(NamedTuple):
    """What is registered for a type of batches; see `register_vmappable`."""

    spec_type: type
    axis_size_type: type
    to_elt: Callable[..., Any]
    from_elt: Callable[..., Any]
    make_iota: Callable[..., Any] | None


vmappable: dict[type, Handlers] = {}


def register_vmappable(
    data_type: type,
    spec_type: type,
    axis_size_type: type,
    to_elt: Callable[..., Any],
    from_elt: Callable[..., Any],
    make_iota: Callable[..., Any] | None,
) -> None:
    """Let arguments and results of functions under `vmap` be batches of a type of your own.

    Args:
      data_type: the type of the batches.
      spec_type: the type of what stands for such a batch in `in_axes` and `out_axes`, beside
        integers.
      axis_size_type: the type of `axis_size`, int or one of your own.
      to_elt: makes one example: `to_elt(example, index, batch, spec)`, with the batch, and what
        stands for it in `in_axes`. Call `example(x, axis)` for the example of an array `x` (or of
        another registered type), or for `x` itself if `axis` is None; `index()` is the number of
        the example.
      from_elt: makes a batch: `from_elt(batch, axis_size, elt, spec)`, with one example and what
        stands for it in `out_axes`. Call `batch(axis_size, x, axis)` for the array of all the
        examples that `x` stands for.
      make_iota: makes the numbers of all examples of `axis_size`; None for integers.

    >>> import covector as cv, covector.numpy as jnp
    >>> from covector.interpreters import batching
    >>> class Columns:  # a matrix, of which vmap takes the columns
    ...     def __init__(self, matrix):
    ...         self.matrix = matrix
    >>> batching.register_vmappable(
    ...     Columns, int, int,
    ...     lambda example, index, batch, spec: example(batch.matrix, 1),
    ...     lambda batch, axis_size, elt, spec: Columns(batch(axis_size, elt.matrix, 1)),
    ...     None)
    >>> print(cv.vmap(jnp.sum, axis_size=3)(Columns(jnp.ones((2, 3)))))
    [2. 2. 2.]
    >>> batching.unregister_vmappable(Columns)
    """
    vmappable[data_type] = Handlers(spec_type, axis_size_type, to_elt, from_elt, make_iota)


def unregister_vmappable(data_type: type) -> None:
    """Undo `register_vmappable` for a type; nothing happens if it is not registered."""
    vmappable.pop(data_type, None)


def is_vmappable(x: Any) -> bool:
    """Whether batches of the type of `x` are registered."""
    return type(x) in vmappable


def is_axis(spec: Any) -> bool:
    """Whether `spec` may stand in `in_axes` and `out_axes`: an integer, or of a registered type."""
    return type(spec) is int or any(type(spec) is known.spec_type for known in vmappable.values())


class FunctionOfExamples(FlatFunction):
    """A flat function with batches of registered types among arguments and results.

    The examples are made, and results put together, under the trace of the `vmap`: what the
    function takes in place of an example is the whole batch, and so is what it returns.

    Args:
      fun, in_tree: as for `FlatFunction`.
      specs: for each argument what stands for it in `in_axes`.
      out_axes: as for `vmap`.
      axis: the batch axis.
    """

    __slots__ = ("axis", "out_axes", "specs")

    def __init__(
        self, fun: Callable[..., Any], in_tree: Any, specs: Sequence[Any], out_axes: Any, axis: Axis
    ):
        super().__init__(fun, in_tree)
        self.specs = specs
        self.out_axes = out_axes
        self.axis = axis

    def __call__(self, *leaves: Any) -> Sequence[Any]:
        trace = context.trace
        assert isinstance(trace, BatchTrace)
        examples = [
            example_of(trace, x, spec) if is_vmappable(x) else x
            for x, spec in zip(leaves, self.specs)
        ]
        args, kwargs = tree.unflatten(self.in_tree, examples)
        outs, self.out_tree = tree.flatten(call_traced(self.fun, args, kwargs), is_vmappable)
        specs = tree.flatten_axes("vmap out_axes", self.out_tree, self.out_axes)
        return [
            batch_of(trace, self.axis.size, x, spec) if is_vmappable(x) else x
            for x, spec in zip(outs, specs)
        ]


def example_of(trace: BatchTrace, x: Any, spec: Any) -> Any:
    """What stands for one example of a batch while it is mapped."""
    if is_vmappable(x):
        numbers = partial(_number, trace)
        return vmappable[type(x)].to_elt(partial(example_of, trace), numbers, x, spec)
    return trace.wrap(x, None if spec is None else spec % np.ndim(x))


def batch_of(trace: BatchTrace, size: Any, elt: Any, spec: Any) -> Any:
    """All the examples that `elt` stands for."""
    if is_vmappable(elt):
        return vmappable[type(elt)].from_elt(partial(batch_of, trace), size, elt, spec)
    x, dim = trace.unwrap(elt)
    if spec is None:
        if dim is not None:
            raise ValueError(errors.no_place_for_batch(aval_of(x)))
        return x
    with current_trace(trace.parent):
        return bring_to(x, size, dim, spec % (np.ndim(elt) + 1))


def _number(trace: BatchTrace) -> Any:
    """The number of the example, as one example of all numbers."""
    size = trace.axis.size
    make = next(
        (
            known.make_iota
            for known in vmappable.values()
            if known.make_iota is not None and type(size) is known.axis_size_type
        ),
        partial(iota, "int32"),
    )
    with current_trace(trace.parent):
        return trace.wrap(make(size), 0)
