"""Pictures of arrays in text: which device holds which part, and where values are large."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ..base import callback_errors as errors
from ..base import tree
from ..control.inspect_sharding import inspect_sharding_p
from .debugging import debug_callback

# ---------------------------------------------------------------- which device holds which part


def inspect_array_sharding(value: Any, *, callback: Callable[[Any], Any]) -> None:
    """Call a function with the sharding of arrays, also of those within a jitted function.

    Args:
      value: an array, or a tree of arrays.
      callback: takes the sharding of one of them. It is called at once for an array that is there,
        and for a traced one when the program is compiled; not again when that runs.

    >>> import covector as cv
    >>> cv.debug.inspect_array_sharding(cv.numpy.ones(3), callback=print)
    SingleDeviceSharding(device=CpuDevice(id=0), memory_kind=device)
    """
    for leaf in tree.leaves(value):
        inspect_sharding_p.bind(leaf, callback=callback)


def visualize_array_sharding(arr: Any, **kwargs: Any) -> None:
    """Print which device holds which part of an array.

    Args:
      arr: an array with one or two dimensions; traced, it is shown when the program is compiled.
      **kwargs: as for `visualize_sharding`.

    >>> import covector as cv
    >>> cv.debug.visualize_array_sharding(cv.numpy.ones(3))
    ┌───────┐
    │ CPU 0 │
    └───────┘
    <BLANKLINE>
    """

    def show(sharding: Any) -> None:
        visualize_sharding(np.shape(arr), sharding, **kwargs)

    inspect_array_sharding(arr, callback=show)


def visualize_sharding(
    shape: Sequence[int],
    sharding: Any,
    *,
    use_color: bool = True,
    scale: float = 1.0,
    min_width: int = 9,
    max_width: int = 80,
    color_map: Any = None,
) -> None:
    """Print which device holds which part of arrays of a shape.

    Args:
      shape: one or two sizes.
      sharding: how such arrays are spread over devices.
      use_color, color_map: accepted for compatibility; the picture is drawn with lines.
      scale: how large the picture is.
      min_width, max_width: limits of the width of a part, in characters.

    Raises:
      ValueError: there are more than two dimensions, or none.
    """
    if not 1 <= len(shape) <= 2:
        raise ValueError(errors.no_picture_of("visualize_sharding", shape))
    parts = sharding.devices_indices_map(tuple(shape))
    height = int(10 * scale)
    size = height, int(height * (shape[1] if len(shape) == 2 else 1) / max(shape[0], 1) * 2.5)
    grid: dict[tuple[int, ...], tuple[tuple[slice, ...], list[Any]]] = {}
    for device, index in parts.items():
        grid.setdefault(_place(index, shape), (index, []))[1].append(device)
    cells = {
        (i, j): _Cell(devices, _share(index, shape), size, (min_width, max_width))
        for (i, j), (index, devices) in grid.items()
    }
    print(_table(cells) + "\n")


def _place(index: tuple[slice, ...], shape: Sequence[int]) -> tuple[int, ...]:
    """Row and column of a part, if all parts have its size."""
    sizes = [len(range(size)[part]) for size, part in zip(shape, index)]
    place = [range(n)[part].start // max(s, 1) for n, part, s in zip(shape, index, sizes)]
    return (0, *place) if len(shape) == 1 else tuple(place)


def _share(index: tuple[slice, ...], shape: Sequence[int]) -> list[float]:
    """How much of each dimension a part takes."""
    return [len(range(n)[part]) / max(n, 1) for n, part in zip(shape, index)]


class _Cell:
    """The lines of text for one part of an array, without its frame."""

    def __init__(
        self,
        devices: Sequence[Any],
        share: Sequence[float],
        size: tuple[int, int],
        limits: tuple[int, int],
    ):
        numbers = ",".join(str(n) for n in sorted(device.id for device in devices))
        self.text = f"{devices[0].platform.upper()} {numbers}"
        width = min(max(int(share[-1] * size[1]), limits[0]), limits[1]) - 2
        self.left = max((width - len(self.text)) // 2, 0)
        self.width = max(width, len(self.text))
        height = int(share[0] * size[0]) - 2 if len(share) == 2 else 0
        self.above = max(height // 2, 0)
        self.height = self.above + 1 + max(height // 2 + height % 2, 0)

    def line(self, number: int, width: int) -> str:
        """One line, in a column of the given width."""
        text = " " * self.left + self.text if number == self.above else ""
        return text.ljust(width)


def _table(cells: Mapping[tuple[int, int], _Cell]) -> str:
    """The cells with lines around them."""
    rows = range(max(i for i, _ in cells) + 1)
    columns = range(max(j for _, j in cells) + 1)
    widths = [max(cells[i, j].width for i in rows) for j in columns]

    def rule(left: str, middle: str, right: str) -> str:
        return left + middle.join("─" * width for width in widths) + right

    lines = [rule("┌", "┬", "┐")]
    for i in rows:
        if i:
            lines.append(rule("├", "┼", "┤"))
        for number in range(max(cells[i, j].height for j in columns)):
            texts = [cells[i, j].line(number, widths[j]) for j in columns]
            lines.append("│" + "│".join(texts) + "│")
    return "\n".join([*lines, rule("└", "┴", "┘")])


# ---------------------------------------------------------------- where values are large

SHADES = " .:-=+*#%@"


def visualize_array(x: Any, *, width: int = 64, height: int = 32) -> None:
    """Print where an array is small and where it is large, when the program runs.

    Dark characters stand for large values, `?` for NaN and `!` for infinities. Where there are more
    elements than characters, one stands for their mean.

    Args:
      x: an array with one or two dimensions; of complex numbers the absolute values are shown.
      width, height: how many characters the picture may have, without its frame.

    Raises:
      ValueError: there are more than two dimensions, or none.

    >>> import covector as cv
    >>> cv.debug.visualize_array(cv.numpy.arange(12.0).reshape(2, 6)); cv.effects_barrier()
    float32[2,6] from 0 to 11
    ┌────────────┐
    │    ..::--==│
    │++**##%%@@@@│
    └────────────┘
    """
    if not 1 <= np.ndim(x) <= 2:
        raise ValueError(errors.no_picture_of("visualize_array", np.shape(x)))

    def show(x: Any) -> None:
        print(_heat_picture(np.asarray(x), width, height))

    debug_callback(show, x)


def _heat_picture(x: np.ndarray, width: int, height: int) -> str:
    title = f"{x.dtype}[{','.join(map(str, x.shape))}]"
    if x.size == 0:
        return f"{title} has no elements"
    values = np.abs(x) if x.dtype.kind == "c" else x.astype(np.float64)
    finite = values[np.isfinite(values)]
    low, high = (finite.min(), finite.max()) if finite.size else (0.0, 0.0)
    wide = 2 if x.ndim == 2 else 1  # characters are about twice as high as wide
    cells = _means(values.reshape(-1, x.shape[-1]), max(height, 1), max(width // wide, 1))
    lines = ["".join(_shade(v, low, high) * wide for v in row) for row in cells]
    edge = "─" * len(lines[0])
    picture = "\n".join(f"│{line}│" for line in lines)
    return f"{title} from {low:g} to {high:g}\n┌{edge}┐\n{picture}\n└{edge}┘"


def _means(values: np.ndarray, rows: int, columns: int) -> list[list[float]]:
    """The means of parts of about one size, of which there are at most so many."""
    parts = [
        list(pairwise(np.linspace(0, n, min(n, most) + 1).round().astype(int)))
        for n, most in zip(values.shape, (rows, columns))
    ]
    with np.errstate(invalid="ignore"):
        return [[values[a:b, c:d].mean() for c, d in parts[1]] for a, b in parts[0]]


def _shade(value: float, low: float, high: float) -> str:
    if not np.isfinite(value):
        return "?" if np.isnan(value) else "!"
    share = (value - low) / (high - low) if high > low else 0.0
    return SHADES[min(int(share * len(SHADES)), len(SHADES) - 1)]
