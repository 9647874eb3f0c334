"""Addresses of functions, in the form in which jaxlib takes them."""

from __future__ import annotations

import ctypes
from typing import Any


def pycapsule(funcptr: Any) -> Any:
    """The address of a function, as `register_ffi_target` takes it.

    Args:
      funcptr: a function of a library that `ctypes` has loaded.

    Returns:
      An object of Python's type `PyCapsule`.

    >>> import ctypes
    >>> from covector import ffi
    >>> type(ffi.pycapsule(ctypes.pythonapi.Py_IsInitialized)).__name__
    'PyCapsule'
    """
    new = ctypes.pythonapi.PyCapsule_New
    new.restype = ctypes.py_object
    new.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return new(ctypes.cast(funcptr, ctypes.c_void_p), None, None)
