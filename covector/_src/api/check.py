"""`check`: raise an error unless something holds, where programs cannot raise.

Evaluated, it raises at once; `checkify` turns it into a value.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import checkify_errors as errors
from ..base import source, tree
from ..base.tracebacks import boundary
from ..core.array import Array
from ..core.avals import aval_of
from ..core.trace import context
from ..ops.bitwise import not_p
from .checkify_error import Error, FailedCheckError, bind_check, failure


def _check(where: str, pred: Any, msg: str, args: Any, kwargs: Any) -> None:
    if not _is_scalar_bool(pred):
        raise TypeError(errors.predicate_not_scalar(where, pred))
    values, in_tree = tree.flatten((args, kwargs))
    for value in values:
        if not isinstance(value, (Array, np.ndarray)):
            raise TypeError(errors.value_not_an_array(where, value))
    place = context.place or source.current_place(2)
    failed = not_p.bind(pred) if isinstance(pred, Array) else np.bool_(not pred)
    error = failure(failed, FailedCheckError, place, (msg, in_tree), values)
    bind_check(error, where == "debug_check")


def _is_scalar_bool(pred: Any) -> bool:
    if isinstance(pred, (bool, np.bool_)):
        return True
    if not isinstance(pred, Array):
        return False
    aval: Any = aval_of(pred)
    return aval.shape == () and aval.dtype == np.bool_


@boundary
def check(pred: Any, msg: str, *fmt_args: Any, debug: bool = False, **fmt_kwargs: Any) -> None:
    """Raise an error unless a condition holds, also where its value is not known while tracing.

    Evaluated operation by operation, it raises at once. A compiled program cannot raise: before
    `jit`, `scan` and the like, the function that has checks must go through `checkify`, which
    returns the error as a value.

    Args:
      pred: a scalar bool, true if all is well.
      msg: what to say if it is false: a format string, as in `msg.format(*fmt_args, **fmt_kwargs)`.
      *fmt_args, **fmt_kwargs: trees of arrays, whose values at run time stand in the message. They
        are kept even if nothing fails.
      debug: whether the check is one as by `debug_check`.

    Raises:
      JaxRuntimeError: `pred` is false.
      TypeError: `pred` is not one bool, or what is to be formatted is not an array.
      ValueError: the program was compiled without `checkify`.

    >>> import covector.numpy as jnp
    >>> from covector.experimental import checkify
    >>> def root(x):
    ...     checkify.check(x >= 0, "there is no root of {x}", x=x)
    ...     return jnp.sqrt(x)
    >>> root(jnp.float32(-4.0))
    Traceback (most recent call last):
    ...
    covector._src.api.checkify_error.JaxRuntimeError: there is no root of -4.0 (`check` failed)
    ...
    >>> err, out = checkify.checkify(root)(jnp.float32(-4.0))
    >>> err.get()
    'there is no root of -4.0 (`check` failed)'
    """
    _check("debug_check" if debug else "check", pred, msg, fmt_args, fmt_kwargs)


@boundary
def debug_check(pred: Any, msg: str, *fmt_args: Any, **fmt_kwargs: Any) -> None:
    """As `check` in a function that goes through `checkify`; elsewhere nothing at all.

    Args:
      pred: a scalar bool, true if all is well.
      msg, *fmt_args, **fmt_kwargs: the message, as for `check`.

    Raises:
      TypeError: `pred` is not one bool, or what is to be formatted is not an array.

    >>> import covector as cv
    >>> from covector.experimental import checkify
    >>> def inverse(x):
    ...     checkify.debug_check(x != 0, "0 has no inverse")
    ...     return 1 / x
    >>> print(cv.jit(inverse)(0.0))
    inf
    >>> err, _ = cv.jit(checkify.checkify(inverse))(0.0)
    >>> err.get()
    '0 has no inverse (`check` failed)'
    """
    _check("debug_check", pred, msg, fmt_args, fmt_kwargs)


@boundary
def check_error(error: Error) -> None:
    """Raise if an error value says that something failed: the inverse of `checkify`.

    Like `check` it is an operation that `checkify` turns into a value, and that cannot be compiled.

    Args:
      error: the first result of a checkified function; of a mapped one, it raises the first error.

    Raises:
      JaxRuntimeError: something failed.
      TypeError: `error` is not an `Error`.

    >>> import covector as cv
    >>> from covector.experimental import checkify
    >>> def positive(x):
    ...     checkify.check(x > 0, "must be positive")
    ...     return x
    >>> def compiled(x):
    ...     err, out = cv.jit(checkify.checkify(positive))(x)
    ...     checkify.check_error(err)
    ...     return out
    >>> err, out = checkify.checkify(compiled)(-1.0)
    >>> err.get()
    'must be positive (`check` failed)'
    """
    if not isinstance(error, Error):
        raise TypeError(errors.not_an_error(error))
    bind_check(error, False)
