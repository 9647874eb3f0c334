"""Arrays from files, buffers and other libraries."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import dtypes, position_errors
from ..core.array import Array
from ..xla import dlpack
from .creation import asarray


def load(file: Any, *args: Any, **kwargs: Any) -> Any:
    """Read an array that `save` wrote, or the arrays that `savez` wrote.

    Args:
      file: a path, or an open file.
      *args, **kwargs: as for `numpy.load`.

    Returns:
      An array; of `savez` what `numpy.load` returns, whose arrays are NumPy's.

    >>> import io
    >>> import covector.numpy as jnp
    >>> file = io.BytesIO()
    >>> jnp.save(file, jnp.array([1.0, 2.0], dtype="bfloat16"))
    >>> _ = file.seek(0)
    >>> jnp.load(file)
    Array([1, 2], dtype=bfloat16)
    """
    out = np.load(file, *args, **kwargs)
    if not isinstance(out, np.ndarray):
        return out
    if out.dtype == "V2":  # what NumPy makes of bfloat16, which it does not know
        out = out.view(dtypes.bfloat16)
    return asarray(out) if dtypes.is_supported(out.dtype) else out


save, savez = np.save, np.savez


def frombuffer(buffer: Any, dtype: Any = float, count: int = -1, offset: int = 0) -> Array:
    """A vector of the numbers whose bytes a buffer holds.

    Args:
      buffer: bytes, or another object that has a buffer on the host.
      dtype: the dtype of the numbers.
      count: how many; all of them if it is -1.
      offset: how many bytes to leave out in front.

    Returns:
      A copy, in a dtype that is enabled.

    >>> import covector.numpy as jnp
    >>> jnp.frombuffer(bytes([1, 0, 2, 0]), dtype="int16")
    Array([1, 2], dtype=int16)
    """
    return asarray(np.frombuffer(buffer, dtype, count, offset))


def fromstring(string: str, dtype: Any = float, count: int = -1, *, sep: str) -> Array:
    """A vector of the numbers that are written in a text.

    Args:
      string: the text.
      dtype: the dtype of the numbers.
      count: how many; all of them if it is -1.
      sep: what stands between them.

    >>> import covector.numpy as jnp
    >>> jnp.fromstring("1 2 3", dtype=int, sep=" ")
    Array([1, 2, 3], dtype=int32)
    """
    return asarray(np.fromstring(string, dtype, count, sep=sep))


def fromfile(*args: Any, **kwargs: Any) -> Any:
    """Raise an error: reading from a file is not a pure function. Use `numpy.fromfile`.

    >>> import covector.numpy as jnp
    >>> jnp.fromfile("numbers.bin")
    Traceback (most recent call last):
    NotImplementedError: ...
    """
    raise NotImplementedError(position_errors.impure("fromfile"))


def fromiter(*args: Any, **kwargs: Any) -> Any:
    """Raise an error: reading from an iterator is not a pure function. Use `numpy.fromiter`.

    >>> import covector.numpy as jnp
    >>> jnp.fromiter(iter([1, 2]), int)
    Traceback (most recent call last):
    NotImplementedError: ...
    """
    raise NotImplementedError(position_errors.impure("fromiter"))


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Array:
    """An array of another library, through DLPack.

    Args:
      x: an array that has the method `__dlpack__`.
      device: where the result is to be.
      copy: whether to copy: always, never, or, if None, only where it is necessary.

    >>> import numpy as np
    >>> import covector.numpy as jnp
    >>> jnp.from_dlpack(np.arange(3, dtype="int32"))
    Array([0, 1, 2], dtype=int32)
    """
    return dlpack.from_dlpack(x, device=device, copy=copy)
