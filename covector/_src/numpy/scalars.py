"""Dtypes as objects that make arrays: `float32(3)`; and what one may ask of dtypes."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from ..base import dtypes
from ..core.array import Array
from .creation import asarray


class _ScalarMeta(type):
    """The type of the scalar types: each equals the NumPy type whose dtype it has."""

    dtype: np.dtype

    def __hash__(cls) -> int:
        return hash(cls.dtype.type)

    def __eq__(cls, other: object) -> bool:
        return cls is other or cls.dtype.type == other

    def __call__(cls, x: Any = 0) -> Array:
        return asarray(x, dtype=cls.dtype)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.dtype.type)


def _scalar_type(dtype: Any) -> Any:
    dtype = np.dtype(dtype)
    name = "bool_" if dtype == np.bool_ else dtype.name
    doc = (
        f"The dtype {dtype.name}, for use wherever a dtype is asked for.\n\n"
        f"Called with a value, it makes an array of that dtype."
    )
    return _ScalarMeta(name, (), {"dtype": dtype, "__doc__": doc})


bool_ = _scalar_type(np.bool_)
uint8, uint16, uint32, uint64 = (_scalar_type(f"uint{bits}") for bits in (8, 16, 32, 64))
int8, int16, int32, int64 = (_scalar_type(f"int{bits}") for bits in (8, 16, 32, 64))
float16, float32, float64 = (_scalar_type(f"float{bits}") for bits in (16, 32, 64))
bfloat16 = _scalar_type(ml_dtypes.bfloat16)
complex64, complex128 = _scalar_type("complex64"), _scalar_type("complex128")
int1, int2, int4 = map(_scalar_type, (ml_dtypes.int1, ml_dtypes.int2, ml_dtypes.int4))
uint1, uint2, uint4 = map(_scalar_type, (ml_dtypes.uint1, ml_dtypes.uint2, ml_dtypes.uint4))
float6_e2m3fn = _scalar_type(ml_dtypes.float6_e2m3fn)
float6_e3m2fn = _scalar_type(ml_dtypes.float6_e3m2fn)
float4_e2m1fn = _scalar_type(ml_dtypes.float4_e2m1fn)
float8_e3m4 = _scalar_type(ml_dtypes.float8_e3m4)
float8_e4m3 = _scalar_type(ml_dtypes.float8_e4m3)
float8_e4m3b11fnuz = _scalar_type(ml_dtypes.float8_e4m3b11fnuz)
float8_e4m3fn = _scalar_type(ml_dtypes.float8_e4m3fn)
float8_e4m3fnuz = _scalar_type(ml_dtypes.float8_e4m3fnuz)
float8_e5m2 = _scalar_type(ml_dtypes.float8_e5m2)
float8_e5m2fnuz = _scalar_type(ml_dtypes.float8_e5m2fnuz)
float8_e8m0fnu = _scalar_type(ml_dtypes.float8_e8m0fnu)

bool = bool_
single, double, csingle, cdouble = float32, float64, complex64, complex128
int_, uint, float_, complex_ = int64, uint64, float64, complex128

# NumPy's own: abstract scalar types, and the classes that stand for no array of ours.
number, inexact, generic = np.number, np.inexact, np.generic
integer, signedinteger, unsignedinteger = np.integer, np.signedinteger, np.unsignedinteger
floating, complexfloating = np.floating, np.complexfloating
character, flexible, object_ = np.character, np.flexible, np.object_
dtype = np.dtype

finfo, iinfo = dtypes.finfo, dtypes.iinfo
result_type, promote_types = dtypes.result_type, dtypes.promote_types
isdtype = dtypes.isdtype


def issubdtype(arg1: Any, arg2: Any) -> Any:
    """Whether a dtype is another, or one of those that an abstract scalar type comprises.

    >>> import covector.numpy as jnp
    >>> jnp.issubdtype("bfloat16", jnp.floating), jnp.issubdtype("int4", jnp.unsignedinteger)
    (True, False)
    """
    return dtypes.issubdtype(arg1, arg2)


def can_cast(from_: Any, to: Any, casting: str = "safe") -> Any:
    """Whether NumPy would convert one dtype to another under a rule.

    Args:
      from_, to: dtypes.
      casting: "no", "equiv", "safe", "same_kind" or "unsafe".

    >>> import covector.numpy as jnp
    >>> jnp.can_cast("int32", "float64"), jnp.can_cast("float64", "int32")
    (True, False)
    """
    return np.can_cast(from_, to, casting)


ComplexWarning = np.exceptions.ComplexWarning

pi, e, inf, nan = np.pi, np.e, np.inf, np.nan
euler_gamma = np.euler_gamma
newaxis = None
