"""`debug.print` and `debug.callback`: looking at values while a program runs."""

from __future__ import annotations

import logging
import string
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..base import callback_errors as errors
from ..base import source, tree
from ..base.logs import logger
from ..control.debug_callbacks import (
    debug_callback_p,
    debug_effect,
    debug_print_p,
    ordered_debug_effect,
    with_static,
    without_static,
)


def debug_callback(
    callback: Callable[..., Any] | None = None,
    *args: Any,
    ordered: bool = False,
    partitioned: bool = False,
    **kwargs: Any,
) -> Any:
    """Call a Python function with the values that a program computes, to look at them.

    It changes nothing in the program: what is differentiated, mapped or dropped stays so. The call
    may happen more than once, or not at all, wherever that holds of the ops around it.

    Args:
      callback: takes the arguments, with arrays on the CPU in them; its result is ignored. Without
        it, `callback(ordered=True)` returns a function of `callback`, `args` and `kwargs`.
      *args, **kwargs: trees; leaves that are no arrays are passed on as they are.
      ordered: whether the calls keep their order among all those that are ordered.
      partitioned: whether each device calls it with its own part of the arrays.

    Raises:
      TypeError: `callback` is not callable. What it raises itself reaches whoever waits for
        `effects_barrier`.

    >>> import covector as cv
    >>> seen = []
    >>> double = cv.jit(lambda x: cv.debug.callback(seen.append, x) or 2 * x)
    >>> print(cv.grad(double)(3.0)); cv.effects_barrier(); print(seen)
    2.0
    [Array(3., dtype=float32)]
    """

    def call(callback: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        if not callable(callback):
            raise TypeError(errors.not_callable(callback))
        leaves, in_tree = tree.flatten((args, kwargs))
        arrays, static = without_static(leaves)

        def flat_callback(*arrays: Any) -> tuple[()]:
            args, kwargs = tree.unflatten(in_tree, with_static(arrays, static))
            callback(*args, **kwargs)
            return ()

        debug_callback_p.bind(
            *arrays,
            callback=flat_callback,
            effect=ordered_debug_effect if ordered else debug_effect,
            partitioned=partitioned,
        )

    if callback is not None:
        return call(callback, *args, **kwargs)
    if args or kwargs:
        raise TypeError(errors.options_with_arguments("callback", args, kwargs))
    return call


def debug_print(
    fmt: str | None = None,
    *args: Any,
    ordered: bool = False,
    partitioned: bool = False,
    skip_format_check: bool = False,
    **kwargs: Any,
) -> Any:
    """Print values when a program runs.

    Args:
      fmt: a format string, as `str.format` takes it: `"loss {x:.3f}"`; not an f-string, which
        Python fills in while the program is traced. Without it, `print(ordered=True)` returns a
        function of `fmt`, `args` and `kwargs`.
      *args, **kwargs: what the fields of the format string show.
      ordered: whether lines keep their order among all calls that are ordered.
      partitioned: whether each device prints its own part of the arrays.
      skip_format_check: whether arguments that have no field are let pass.

    Raises:
      ValueError: an argument has no field in the format string.

    >>> import covector as cv
    >>> @cv.jit
    ... def f(x):
    ...     cv.debug.print("x = {x:.2f}, its square {}", x**2, x=x)
    ...     return x
    >>> _ = f(3.0).block_until_ready(); cv.effects_barrier()
    x = 3.00, its square 9.0
    """
    options = dict(ordered=ordered, partitioned=partitioned)
    return _printing(fmt, args, kwargs, skip_format_check, logged=False, options=options)


def debug_log(
    fmt: str | None = None,
    *args: Any,
    ordered: bool = False,
    partitioned: bool = False,
    skip_format_check: bool = False,
    **kwargs: Any,
) -> Any:
    """Log values when a program runs, as information from the line of the call.

    Args:
      fmt, *args, **kwargs, ordered, partitioned, skip_format_check: as for `print`.
    """
    options = dict(ordered=ordered, partitioned=partitioned)
    return _printing(fmt, args, kwargs, skip_format_check, logged=True, options=options)


def _printing(
    fmt: str | None,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    skip_format_check: bool,
    logged: bool,
    options: dict[str, bool],
) -> Any:
    """Print or log, or return the function that does."""

    def call(fmt: str, *args: Any, **kwargs: Any) -> None:
        if not skip_format_check:
            _checker.vformat(fmt, args, kwargs)
        leaves, in_tree = tree.flatten((args, kwargs))
        arrays, static = without_static(leaves)
        debug_print_p.bind(
            *arrays,
            fmt=fmt,
            in_tree=in_tree,
            static_args=tuple(static.items()),
            np_printoptions=tuple(np.get_printoptions().items()),
            has_placeholders=_begins_with_a_field(fmt),
            logging_record=_record() if logged else None,
            **options,
        )

    if fmt is not None:
        return call(fmt, *args, **kwargs)
    if args or kwargs:
        raise TypeError(errors.options_with_arguments("print", args, kwargs))
    return call


def _begins_with_a_field(fmt: str) -> bool:
    """Whether there is a field in the first part of a format string: text, then maybe a field."""
    return bool(fmt) and next(string.Formatter().parse(fmt))[1] is not None


class _FormatChecker(string.Formatter):
    """Finds arguments that a format string has no field for; formats nothing."""

    def format_field(self, value: Any, format_spec: str) -> str:
        return ""

    def check_unused_args(self, used_args: Any, args: Any, kwargs: Any) -> None:
        unused: Sequence[Any] = [x for i, x in enumerate(args) if i not in used_args]
        if unused:
            raise ValueError(errors.unused_positional(unused))
        unused = [name for name in kwargs if name not in used_args]
        if unused:
            raise ValueError(errors.unused_keywords(unused))


_checker = _FormatChecker()


def _record() -> logging.LogRecord:
    """A record of the user's line, whose text is not yet known."""
    file, line = source.file_and_line(source.current_place(2)) or ("(unknown file)", 0)
    return logger.makeRecord(logger.name, logging.INFO, file, line, "", (), None)
