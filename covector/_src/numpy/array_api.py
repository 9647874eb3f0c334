"""What the array API standard (data-apis.org/array-api) asks of a namespace: who it is, and has."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from ..base import dtypes, numpy_errors
from ..base.config import enable_x64
from ..xla.devices import devices, platforms

__array_api_version__ = "2024.12"

_MAIN = ["bool", "int8", "int16", "int32", "uint8", "uint16", "uint32", "float32", "complex64"]
_WIDE = ["int64", "uint64", "float64", "complex128"]  # with `enable_x64` alone


def array_namespace(self: Any, *, api_version: str | None = None) -> Any:
    """The module `covector.numpy`, in which the functions of the array API are.

    Args:
      api_version: a version of the standard that it must follow.

    Raises:
      ValueError: it follows another one.
    """
    if api_version not in (None, __array_api_version__):
        raise ValueError(numpy_errors.other_api_version(api_version, __array_api_version__))
    return importlib.import_module("covector.numpy")


def __array_namespace_info__() -> ArrayNamespaceInfo:
    """What the namespace can do, as the array API standard has it.

    >>> import covector.numpy as jnp
    >>> jnp.__array_namespace_info__().default_dtypes()["real floating"]
    dtype('float32')
    """
    return ArrayNamespaceInfo()


class ArrayNamespaceInfo:
    """Answers to the questions that the array API standard provides for."""

    def capabilities(self) -> dict[str, Any]:
        """What the standard leaves open: nothing in it may depend on values, as under `jit`."""
        return {
            "boolean indexing": False,
            "data-dependent shapes": False,
            "max dimensions": 64,
        }

    def default_device(self) -> None:
        """The device of new arrays: None, since they are moved to where they are needed."""
        return None

    def devices(self) -> list[Any]:
        """All devices, and None, which stands for any of them."""
        return [None, *(device for name in platforms() for device in devices(name))]

    def default_dtypes(self, *, device: Any = None) -> dict[str, Any]:
        """The dtypes of new arrays of each kind; they are the same on all devices."""
        integer = dtypes.python_scalar_dtype(int)
        return {
            "real floating": dtypes.python_scalar_dtype(float),
            "complex floating": dtypes.python_scalar_dtype(complex),
            "integral": integer,
            "indexing": integer,
        }

    def dtypes(
        self, *, device: Any = None, kind: str | tuple[str, ...] | None = None
    ) -> dict[str, Any]:
        """The dtypes of the standard by name.

        Args:
          device: they are the same on all of them.
          kind: "bool", "signed integer", "unsigned integer", "integral", "real floating",
            "complex floating", "numeric", or a tuple of these; None means all.

        Raises:
          ValueError: the kind is none of those.

        >>> import covector.numpy as jnp
        >>> jnp.__array_namespace_info__().dtypes(kind="unsigned integer")
        {'uint8': dtype('uint8'), 'uint16': dtype('uint16'), 'uint32': dtype('uint32')}
        """
        names = [*_MAIN, *(_WIDE if enable_x64.value else ())]
        found = {name: np.dtype(name) for name in names}
        if kind is None:
            return found
        return {name: dtype for name, dtype in found.items() if dtypes.isdtype(dtype, kind)}
