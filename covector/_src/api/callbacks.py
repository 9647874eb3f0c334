"""`pure_callback` and `io_callback`: Python functions in compiled programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..base import callback_errors as errors
from ..base import dtypes, tree
from ..control.callbacks import FlatCallback, io_callback_p, pure_callback_p
from ..control.vmap_methods import VMAP_METHODS
from ..core.avals import ShapedArray


def pure_callback(
    callback: Callable[..., Any],
    result_shape_dtypes: Any,
    *args: Any,
    sharding: Any = None,
    vmap_method: str | None = None,
    **kwargs: Any,
) -> Any:
    """Call a Python function whose results depend on nothing but its arguments.

    It may be called more often than the program says, or not at all where nothing uses its results.

    Args:
      callback: takes the arguments, with arrays on the CPU in them, and returns a tree of what
        NumPy can make arrays of.
      result_shape_dtypes: a tree of the same structure of values with `shape` and `dtype`, such as
        `ShapeDtypeStruct`s: what the function returns.
      *args, **kwargs: trees of arrays.
      sharding: the device that calls the function, as a `SingleDeviceSharding`; it matters to
        programs on several devices only.
      vmap_method: how it is mapped. `"sequential"` calls it for one example after another, in a
        loop, or, `"sequential_unrolled"`, without; the others call it once, with a leading batch
        dimension: of arguments that all examples share it is 1 by `"expand_dims"`, the size of the
        batch by `"broadcast_all"`, and missing by `"legacy_vectorized"`. None means that it cannot
        be mapped.

    Returns:
      A tree of arrays.

    Raises:
      ValueError: at differentiation; `custom_jvp` or `custom_vjp` around it say what to do. A
        64-bit dtype while x64 is off; an unknown `vmap_method`.
      RuntimeError: the function returns other shapes or dtypes. What it raises itself reaches
        whoever waits for the results.

    >>> import covector as cv, numpy as np
    >>> @cv.jit
    ... def median(x):
    ...     out = cv.ShapeDtypeStruct(x.shape[:-1], x.dtype)
    ...     return cv.pure_callback(
    ...         lambda x: np.median(x, axis=-1), out, x, vmap_method="broadcast_all")
    >>> cv.vmap(median)(np.array([[1, 7, 2], [5, 5, 8]], np.float32))
    Array([2., 5.], dtype=float32)
    """
    if vmap_method not in VMAP_METHODS:
        raise ValueError(errors.unknown_vmap_method("pure_callback", VMAP_METHODS, vmap_method))
    leaves, in_tree = tree.flatten((args, kwargs))
    avals, out_tree = result_types("pure_callback", result_shape_dtypes)
    outs = pure_callback_p.bind(
        *leaves,
        callback=FlatCallback(callback, in_tree),
        result_avals=avals,
        sharding=sharding,
        vmap_method=vmap_method,
    )
    return tree.unflatten(out_tree, outs)


def io_callback(
    callback: Callable[..., Any],
    result_shape_dtypes: Any,
    *args: Any,
    sharding: Any = None,
    ordered: bool = False,
    **kwargs: Any,
) -> Any:
    """Call a Python function that does more than return values: reads a file, counts, sends.

    It is called just as often as the program says, even if nothing uses its results.

    Args:
      callback: takes the arguments, with arrays on the CPU in them, and returns a tree of what
        NumPy can make arrays of.
      result_shape_dtypes: a tree of the same structure of values with `shape` and `dtype`; None
        for a function that returns None.
      *args, **kwargs: trees of arrays.
      sharding: the device that calls the function.
      ordered: whether the calls keep their order among all those that are ordered. Such calls
        cannot be mapped.

    Returns:
      A tree of arrays.

    Raises:
      ValueError: at differentiation; a 64-bit dtype while x64 is off.
      RuntimeError: the function returns other shapes or dtypes. What it raises itself reaches
        whoever waits for the results, or for `effects_barrier`.

    >>> import covector as cv, numpy as np
    >>> from covector.experimental import io_callback
    >>> numbers = iter([3.0, 5.0])
    >>> draw = lambda: io_callback(lambda: next(numbers), cv.ShapeDtypeStruct((), "float32"))
    >>> print(cv.jit(lambda x: x * draw())(2.0))
    6.0
    """
    leaves, in_tree = tree.flatten((args, kwargs))
    avals, out_tree = result_types("io_callback", result_shape_dtypes)
    outs = io_callback_p.bind(
        *leaves,
        callback=FlatCallback(callback, in_tree),
        result_avals=avals,
        sharding=sharding,
        ordered=ordered,
    )
    return tree.unflatten(out_tree, outs)


def result_types(where: str, result_shape_dtypes: Any) -> tuple[tuple[ShapedArray, ...], Any]:
    """The types that a callback promises to return, and their tree."""
    leaves, out_tree = tree.flatten(result_shape_dtypes)
    avals = []
    for leaf in leaves:
        if not hasattr(leaf, "shape") or not hasattr(leaf, "dtype"):
            raise TypeError(errors.no_shape_or_dtype(where, leaf))
        dtype = np.dtype(leaf.dtype)
        if dtypes.canonicalize_dtype(dtype) != dtype:
            raise ValueError(errors.no_64_bits(where, dtype))
        avals.append(ShapedArray(tuple(leaf.shape), dtype))
    return tuple(avals), out_tree
