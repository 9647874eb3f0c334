"""What primitives over windows share: the check of their parameters, batches, and lowering."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..base import window_errors
from ..base.shapes import inserted
from ..core.avals import ShapedArray
from ..core.primitive import Primitive
from .windows_shapes import Sizes, reduce_window_shape_tuple

Window = dict[str, Any]  # the parameters of a window, by name


def window_params(
    window_dimensions: Sizes,
    window_strides: Sizes | None = None,
    padding: Sequence[Any] | None = None,
    base_dilation: Sizes | None = None,
    window_dilation: Sizes | None = None,
) -> Window:
    """The parameters of a window; by default it moves one by one, without padding or dilation."""
    ones = (1,) * len(window_dimensions)
    return dict(
        window_dimensions=tuple(window_dimensions),
        window_strides=ones if window_strides is None else tuple(window_strides),
        padding=((0, 0),) * len(ones) if padding is None else tuple(padding),
        base_dilation=ones if base_dilation is None else tuple(base_dilation),
        window_dilation=ones if window_dilation is None else tuple(window_dilation),
    )


def check_windows(name: str, shape: Sizes, **window: Any) -> tuple[int, ...]:
    """The shape of a reduction over windows; raises unless they fit the operand's shape."""
    for what, values in window.items():
        if len(values) != len(shape):
            raise TypeError(window_errors.lengths_differ(name, what, values, shape))
        if what != "padding" and not all(value >= 1 for value in values):
            raise TypeError(window_errors.not_positive(name, what, values))
    return reduce_window_shape_tuple(shape, **window)


def with_batch(window: Window, dim: int) -> Window:
    """The window that treats each example along dimension `dim` by itself."""
    return {
        what: inserted(values, dim, (0, 0) if what == "padding" else 1)
        for what, values in window.items()
    }


# The names of the parameters in StableHLO, where they differ.
_NAMES = {"base_dilation": "base_dilations", "window_dilation": "window_dilations"}


def window_attributes(window: Window) -> dict[str, Any]:
    """The parameters of a window as attributes of StableHLO."""
    attributes = {_NAMES.get(what, what): values for what, values in window.items()}
    attributes["padding"] = np.array(window["padding"], np.int64).reshape(-1, 2)
    return attributes


def emit_windows(
    b: Any,
    operands: Sequence[Any],
    inits: Sequence[Any],
    scalars: Sequence[ShapedArray],
    body: Callable[..., Sequence[Any]],
    window: Window,
    out: Sequence[ShapedArray] | None = None,
) -> list[Any]:
    """Write a reduction over windows.

    Args:
      b: the emitter.
      operands: MLIR values of one shape.
      inits: for each of them the scalar to begin with.
      scalars: the avals of their elements.
      body: from two elements of each operand to one of each.
      window: the parameters.
      out: the avals of the results; by default those of the eqn.
    """
    region = (tuple(scalars) * 2, body)
    attributes = window_attributes(window)
    return b.op_with_regions("reduce_window", [*operands, *inits], [region], out, **attributes)


def emit_scalars(b: Any, primitive: Primitive, aval: ShapedArray, *elements: Any) -> Any:
    """Write a primitive applied to scalars of one type, in the body of a reduction."""
    out, _ = primitive.typecheck((aval,) * len(elements), {})
    scalar = b.replace(primitive=primitive, avals_in=(aval,) * len(elements), avals_out=(out,))
    return primitive.emit(scalar, *elements)
