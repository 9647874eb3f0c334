"""Dtypes: which there are, how values get one, and which one several values have in common.

Three things set Covector's dtypes apart from NumPy's.  There are more of them (bfloat16, narrow
floats and integers, and *extended* dtypes such as that of random keys).  64-bit dtypes exist only
if `enable_x64` is on; without it a 64-bit dtype is *canonicalized* to its 32-bit counterpart.  And
the dtypes of Python's own numbers are *weak*: they yield to those of arrays (see `lattice.py`).

>>> result_type(np.int8(1), 2.5), promote_types("int8", "uint8")
(dtype('float32'), dtype('int16'))
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import Any, Literal, overload

import ml_dtypes
import numpy as np

from . import errors, lattice
from .config import enable_x64, explicit_x64_dtypes, numpy_dtype_promotion
from .dims import Dim
from .errors import TypePromotionError as TypePromotionError
from .warn import warn

finfo = ml_dtypes.finfo
iinfo = ml_dtypes.iinfo


@functools.cache
def greatest(dtype: Any) -> int:
    """The greatest number of a dtype of integers."""
    return int(iinfo(dtype).max)


# ---------------------------------------------------------------- the dtypes


class extended(np.generic):
    """The abstract scalar type of all extended dtypes, for use with `issubdtype`."""


class prng_key(extended):
    """The abstract scalar type of random keys' dtypes, for use with `issubdtype`."""


class ExtendedDType:
    """A dtype whose elements are made of several numbers, such as those of a random key.

    An array of shape `s` and such a dtype is stored as an array of shape `s + element_shape` and
    dtype `element_dtype`.  Dtypes of one class and name are equal.  Subclasses define:

      type: the scalar type, a subclass of `extended`, which `issubdtype` asks for.
      name: the name by which arrays of this dtype are printed, such as "key<fry>".
      element_shape: the shape of the numbers that make up an element.
      element_dtype: the dtype of these numbers.
    """

    # Not an abstract base class: `isinstance` with those is several times slower.
    __slots__ = ()

    kind = "V"  # among NumPy's kinds: neither numbers nor booleans

    type: type[extended]
    name: str
    element_shape: tuple[int, ...]
    element_dtype: np.dtype

    @property
    def itemsize(self) -> int:
        """How many bytes an element takes."""
        return math.prod(self.element_shape) * self.element_dtype.itemsize

    @property
    def tangent_dtype(self) -> Any:
        """The dtype of tangents: float0, as keys do not vary; a subclass may say otherwise."""
        return float0

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.name == other.name  # pyright: ignore

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return self.name


# The tangents of integers and booleans form a space of dimension 0: a dtype without content.
float0: np.dtype = np.dtype([("float0", np.void, 0)])
string_dtype: np.dtype = np.dtypes.StringDType()
bfloat16: type[Any] = ml_dtypes.bfloat16


def _supported(names: tuple[str, ...]) -> tuple[np.dtype, ...]:
    """The dtypes of these names; those that this version of ml_dtypes lacks are left out."""
    found = (getattr(np, name, None) or getattr(ml_dtypes, name, None) for name in names)
    return tuple(np.dtype(scalar) for scalar in found if scalar is not None)


_BOOL = np.dtype(bool)
_UNSIGNED = _supported(tuple(name for name in lattice.INTS if name.startswith("u")))
_SIGNED = _supported(tuple(name for name in lattice.INTS if name.startswith("i")))
_FLOATS = _supported(lattice.FLOATS)
_COMPLEXES = _supported(lattice.COMPLEXES)

# The Python type of the numbers of each dtype.
_PYTHON_TYPE: dict[np.dtype, type] = {
    _BOOL: bool,
    **dict.fromkeys(_UNSIGNED + _SIGNED, int),
    **dict.fromkeys(_FLOATS, float),
    **dict.fromkeys(_COMPLEXES, complex),
}
_VALID = frozenset((*_PYTHON_TYPE, float0, string_dtype))
# The types of NumPy's and ml_dtypes' scalars; those of ml_dtypes have no base in common.
SCALAR_TYPES: tuple[type, ...] = tuple(dtype.type for dtype in _PYTHON_TYPE)

_KINDS: dict[str, tuple[np.dtype, ...]] = {
    "bool": (_BOOL,),
    "signed integer": _SIGNED,
    "unsigned integer": _UNSIGNED,
    "integral": _SIGNED + _UNSIGNED,
    "real floating": _FLOATS,
    "complex floating": _COMPLEXES,
    "numeric": _SIGNED + _UNSIGNED + _FLOATS + _COMPLEXES,
}


def is_supported(dtype: Any) -> bool:
    """Whether arrays may have this dtype."""
    return isinstance(dtype, ExtendedDType) or dtype in _VALID


def name(dtype: Any) -> str:
    """The name under which arrays of this dtype are printed: "float32", "float0", "key<fry>"."""
    return "float0" if dtype == float0 else dtype.name


@functools.cache
def short_name(dtype: Any) -> str:
    """The name in a jaxpr: "f32", "bf16", "i8", "u4", "c64", "bool", "float0"."""
    text = name(dtype)
    if isinstance(dtype, ExtendedDType) or dtype == float0:
        return text
    for word in ("float", "uint", "int", "complex"):
        text = text.replace(word, word[0])
    return text


def itemsize_bits(dtype: Any) -> int:
    """How many bits an element takes: 4 for int4, though NumPy stores it in 8; 8 for booleans."""
    if dtype is None:
        raise ValueError(errors.no_dtype_given("itemsize_bits"))
    if isinstance(dtype, ExtendedDType):
        raise ValueError(errors.no_item_size(dtype))
    dtype = np.dtype(dtype)
    python_type = _PYTHON_TYPE.get(dtype)
    if python_type is bool:
        return 8
    if python_type is int:
        return iinfo(dtype).bits
    if python_type is float:
        return finfo(dtype).bits
    if python_type is complex:
        return 2 * finfo(dtype).bits
    raise ValueError(errors.no_item_size(dtype))


bit_width = itemsize_bits  # the shorter name, for use inside the library


def supports_inf(dtype: Any) -> bool:
    """Whether infinity is among the numbers of this dtype."""
    dtype = np.dtype(dtype)
    # A narrow format whose name has "fn" ("finite") spends the bits of infinity on a number.
    return _PYTHON_TYPE.get(dtype) in (float, complex) and "fn" not in dtype.name


# ---------------------------------------------------------------- canonical dtypes, defaults

_TO_32_BITS = {
    np.dtype(wide): np.dtype(narrow)
    for wide, narrow in (
        ("int64", "int32"),
        ("uint64", "uint32"),
        ("float64", "float32"),
        ("complex128", "complex64"),
    )
}

# What `canonicalize_dtype` has answered, without and with 64-bit dtypes.
_canonical: tuple[dict[Any, np.dtype], dict[Any, np.dtype]] = ({}, {})


def canonicalize_dtype(dtype: Any, allow_extended_dtype: bool = False) -> Any:
    """The dtype that arrays asked to have this one do have.

    Args:
      dtype: a dtype, or what `numpy.dtype` takes.
      allow_extended_dtype: whether an extended dtype is returned as it is, rather than refused.

    Returns:
      A NumPy dtype: the given one, or its 32-bit counterpart if `enable_x64` is off.

    >>> canonicalize_dtype("float64"), canonicalize_dtype(int), canonicalize_dtype("int16")
    (dtype('float32'), dtype('int32'), dtype('int16'))
    """
    try:
        return _canonical[enable_x64.value][dtype]
    except (KeyError, TypeError):
        return _canonicalize(dtype, allow_extended_dtype)


def _canonicalize(dtype: Any, allow_extended_dtype: bool) -> Any:
    if isinstance(dtype, ExtendedDType):
        if allow_extended_dtype:
            return dtype
        raise ValueError(errors.extended_dtype_in("canonicalize_dtype", dtype))
    result = _as_numpy_dtype(dtype, "canonicalize_dtype")
    x64 = enable_x64.value
    if not x64:
        result = _TO_32_BITS.get(result, result)
    try:
        _canonical[x64][dtype] = result
    except TypeError:  # an unhashable description of a dtype, such as a list
        pass
    return result


def _as_numpy_dtype(dtype: Any, where: str) -> np.dtype:
    try:
        return np.dtype(dtype)
    except TypeError:
        raise TypeError(errors.not_a_dtype(where, dtype)) from None


def python_scalar_dtype(kind: type) -> np.dtype:
    """The dtype of Python's numbers of type bool, int, float or complex."""
    return canonicalize_dtype(kind)


def default_float_dtype() -> np.dtype:
    """The dtype of floats that are made without naming one."""
    return canonicalize_dtype(float)


def check_user_dtype_supported(dtype: Any, where: str) -> Any:
    """The canonical form of a dtype that a user gave to the public function `where`.

    bool, int, float and complex mean the default dtypes.  Any other 64-bit dtype is a request that
    cannot be met while `enable_x64` is off: it is truncated to 32 bits with a warning, granted, or
    refused, as the flag `explicit_x64_dtypes` says.

    Raises TypeError if arrays cannot have this dtype, ValueError if there is none.
    """
    if dtype is None:
        raise ValueError(errors.no_dtype_given(where))
    if isinstance(dtype, ExtendedDType):
        return dtype
    if isinstance(dtype, type) and dtype in (bool, int, float, complex):
        return canonicalize_dtype(dtype)
    if hasattr(dtype, "__array__") and hasattr(dtype, "weak_type"):
        raise ValueError(errors.array_given_as_dtype(where, dtype.dtype))
    result = _as_numpy_dtype(dtype, where)
    if result not in _VALID:
        raise TypeError(errors.unsupported_dtype(where, result))
    return _explicit(result, where)


def _explicit(dtype: np.dtype, where: str) -> np.dtype:
    """What becomes of a valid dtype that was asked for by name."""
    canonical = canonicalize_dtype(dtype)
    if canonical is dtype or canonical == dtype:
        return dtype
    mode = explicit_x64_dtypes.value
    if mode == "allow":
        return dtype
    if mode == "error":
        raise ValueError(errors.dtype_forbidden_without_x64(where, dtype))
    warn(errors.dtype_needs_x64(where, dtype, canonical))
    return canonical


# ---------------------------------------------------------------- kinds and conversions

# The scalar types of ml_dtypes stand outside NumPy's hierarchy; this is where they belong.
_ABSTRACT_ABOVE: dict[type, type] = {
    dtype.type: abstract
    for dtypes, abstract in (
        (_SIGNED, np.signedinteger),
        (_UNSIGNED, np.unsignedinteger),
        (_FLOATS, np.floating),
    )
    for dtype in dtypes
    if not issubclass(dtype.type, abstract)
}


def issubdtype(a: Any, b: Any) -> bool:
    """Whether dtype `a` is `b`, or one of those that the abstract scalar type `b` comprises.

    Like `numpy.issubdtype`, but knows bfloat16, the narrow dtypes and the extended ones.

    >>> issubdtype(bfloat16, np.floating), issubdtype("int4", np.unsignedinteger)
    (True, False)
    """
    try:
        return _below[a, b]
    except (KeyError, TypeError):
        return _is_below(a, b)


# What `issubdtype` has answered about dtypes and types; other arguments might be mutable.
_below: dict[tuple[Any, Any], bool] = {}


def _is_below(a: Any, b: Any) -> bool:
    if isinstance(b, ExtendedDType):
        return isinstance(a, ExtendedDType) and a == b
    lower, upper = _scalar_type(a), _scalar_type(b)
    found = issubclass(lower, upper) or issubclass(_ABSTRACT_ABOVE.get(lower, lower), upper)
    if isinstance(a, (type, np.dtype)) and isinstance(b, (type, np.dtype)):
        _below[a, b] = found
    return found


def _scalar_type(dtype: Any) -> type:
    if isinstance(dtype, ExtendedDType):
        return dtype.type
    if isinstance(dtype, type) and issubclass(dtype, np.generic):
        return dtype
    return np.dtype(dtype).type


def isdtype(dtype: Any, kind: Any) -> bool:
    """Whether a dtype is of a kind, as the array API standard has it.

    Args:
      dtype: a dtype.
      kind: "bool", "signed integer", "unsigned integer", "integral", "real floating",
        "complex floating", "numeric", a dtype, or a tuple of such.

    >>> isdtype("int4", "integral"), isdtype("float32", ("bool", np.float32))
    (True, True)
    """
    dtype = np.dtype(dtype)
    return any(dtype in _dtypes_of_kind(k) for k in (kind if isinstance(kind, tuple) else (kind,)))


def _dtypes_of_kind(kind: Any) -> tuple[np.dtype, ...]:
    if isinstance(kind, str) and kind in _KINDS:
        return _KINDS[kind]
    try:
        return (np.dtype(kind),)
    except TypeError:
        wrong = ValueError if isinstance(kind, str) else TypeError
        raise wrong(errors.unknown_dtype_kind(kind, _KINDS)) from None


def scalar_type_of(x: Any) -> type:
    """The type of Python's numbers that a value, or a dtype, corresponds to."""
    dtype = dtype_of(x)
    if isinstance(dtype, ExtendedDType) or dtype not in _PYTHON_TYPE:
        raise TypeError(errors.not_a_scalar_kind(dtype))
    return _PYTHON_TYPE[dtype]


def to_numeric_dtype(dtype: Any) -> np.dtype:
    """The dtype in which numbers of this one are computed: int32 for booleans."""
    dtype = np.dtype(dtype)
    return np.dtype(np.int32) if dtype == _BOOL else dtype


def to_inexact_dtype(dtype: Any) -> np.dtype:
    """The dtype in which functions such as `sin` are computed: float32 for most integers."""
    dtype = np.dtype(dtype)
    if _PYTHON_TYPE.get(dtype) not in (bool, int):
        return dtype
    return np.dtype(np.float64 if dtype.itemsize == 8 else np.float32)


def to_floating_dtype(dtype: Any) -> np.dtype:
    """The dtype of a real number computed from one of this dtype, such as its modulus."""
    return finfo(to_inexact_dtype(dtype)).dtype


def to_complex_dtype(dtype: Any) -> np.dtype:
    """The complex dtype that takes in this one: complex64, or complex128 for 64-bit reals."""
    wide = to_floating_dtype(dtype) == np.dtype(np.float64)
    return np.dtype(np.complex128 if wide else np.complex64)


def primal_tangent_dtype(dtype: Any) -> Any:
    """The dtype of tangents of values of this dtype: itself, or float0 where nothing can vary."""
    if isinstance(dtype, ExtendedDType):
        return dtype.tangent_dtype
    return dtype if _PYTHON_TYPE.get(dtype) in (float, complex) else float0


# ---------------------------------------------------------------- the dtypes of values


def dtype_of(x: Any) -> Any:
    """The dtype of an array, a number, an abstract value, or what stands for a dtype.

    The dtypes of Covector's own values are what they are; all others are canonicalized.
    """
    return dtype_and_weak_type(x)[0]


def is_weakly_typed(x: Any) -> bool:
    """Whether the dtype of a value yields to those of others."""
    return type(x) in lattice.WEAK or bool(getattr(x, "weak_type", False))


def dtype_and_weak_type(x: Any) -> tuple[Any, bool]:
    """The dtype of a value, and whether it yields to those of others."""
    kind = type(x)
    read = _readers.get(kind)
    if read is None:
        read = _readers[kind] = _reader_for(kind)
    return read(x)


_Reader = Callable[[Any], tuple[Any, bool]]


def _reader_for(kind: type) -> _Reader:
    """How values of a type tell their dtype."""
    if kind in _PYTHON_TYPE.values():
        return lambda x: (canonicalize_dtype(kind), kind is not bool)
    if kind is Dim:
        return lambda x: (canonicalize_dtype(int), True)
    if issubclass(kind, type):
        return _read_type
    if issubclass(kind, (str, np.dtype)):
        return _read_name
    if issubclass(kind, ExtendedDType):
        return lambda x: (x, False)
    if hasattr(kind, "weak_type"):
        return _read_own
    return _read_foreign


# Covector's arrays, tracers and abstract values.
_read_own = operator.attrgetter("dtype", "weak_type")


def _read_type(x: type) -> tuple[Any, bool]:
    if x in lattice.WEAK:
        return canonicalize_dtype(x), True
    if x is not bool and issubclass(x, np.generic):
        return _explicit(_checked(np.dtype(x)), "dtype"), False
    return _read_foreign(x)


def _read_name(x: str | np.dtype) -> tuple[Any, bool]:
    return _explicit(_checked(_as_numpy_dtype(x, "dtype")), "dtype"), False


def _read_foreign(x: Any) -> tuple[Any, bool]:
    """NumPy arrays, and whatever else has a dtype."""
    if x is None:
        raise ValueError(errors.no_dtype_given("dtype"))
    if hasattr(x, "weak_type"):  # on the instance alone, not on its class
        return _read_own(x)
    dtype = getattr(x, "dtype", None)
    if not isinstance(dtype, (np.dtype, ExtendedDType)):
        try:
            dtype = np.result_type(x)
        except TypeError:
            raise TypeError(errors.no_dtype_of_value(x)) from None
    return canonicalize_dtype(_checked(dtype), allow_extended_dtype=True), False


def _checked(dtype: Any) -> Any:
    if not is_supported(dtype):
        raise TypeError(errors.unsupported_dtype("dtype", dtype))
    return dtype


_readers: dict[type, _Reader] = {}

# ---------------------------------------------------------------- promotion

_pairs: dict[tuple[Any, bool, Any, bool, bool, str], tuple[Any, bool]] = {}


def promote_pair(a: Any, a_weak: bool, b: Any, b_weak: bool) -> tuple[Any, bool]:
    """The common dtype of two dtypes, each weak or not, and whether it is weak."""
    try:
        return _pairs[a, a_weak, b, b_weak, enable_x64.value, numpy_dtype_promotion.value]
    except KeyError:
        return _promote_new_pair(a, a_weak, b, b_weak)


def _promote_new_pair(a: Any, a_weak: bool, b: Any, b_weak: bool) -> tuple[Any, bool]:
    x64 = enable_x64.value
    found = _promote([(a, a_weak), (b, b_weak)])
    # A 64-bit dtype while they are off ends in a warning, each time; so it is not remembered.
    if x64 or not {a, b} & _TO_32_BITS.keys():
        _pairs[a, a_weak, b, b_weak, x64, numpy_dtype_promotion.value] = found
    return found


def lattice_result_type(*args: Any) -> tuple[Any, bool]:
    """The common dtype of arrays, numbers, abstract values and dtypes, and whether it is weak."""
    if len(args) == 2:
        a, a_weak = dtype_and_weak_type(args[0])
        b, b_weak = dtype_and_weak_type(args[1])
        return promote_pair(a, a_weak, b, b_weak)
    return _promote([dtype_and_weak_type(arg) for arg in args])


def _promote(typed: list[tuple[Any, bool]]) -> tuple[Any, bool]:
    dtypes = {dtype for dtype, _ in typed}
    all_weak = all(weak for _, weak in typed)
    if len(dtypes) == 1 and (len(typed) == 1 or not all_weak):
        # Nothing to convert: this holds for extended dtypes too, which the lattice lacks.
        dtype = dtypes.pop()
        return dtype, all_weak and dtype != _BOOL
    strict = numpy_dtype_promotion.value == "strict"
    if all_weak and not strict:
        # Weak dtypes need not be the default ones (int16 made of a Python number, say).  Bounded
        # as if they were not weak, they keep their width.
        nodes = frozenset(name(dtype) for dtype in dtypes)
    else:
        nodes = frozenset(_node(dtype, weak) for dtype, weak in typed)
    node = lattice.join(nodes, strict, enable_x64.value)
    for python_type, weak_node in lattice.WEAK.items():
        if node == weak_node:
            return canonicalize_dtype(python_type), True
    dtype = _explicit(np.dtype(node), "dtype promotion")
    return dtype, all_weak and not strict and dtype != _BOOL


def _node(dtype: Any, weak: bool) -> str:
    """The place of a dtype in the lattice."""
    python_type = _PYTHON_TYPE.get(dtype) if weak else None
    return lattice.WEAK.get(python_type, name(dtype)) if python_type else name(dtype)


@overload
def result_type(*args: Any, return_weak_type_flag: Literal[True]) -> tuple[Any, bool]: ...
@overload
def result_type(*args: Any, return_weak_type_flag: Literal[False] = False) -> Any: ...
def result_type(*args: Any, return_weak_type_flag: bool = False) -> Any:
    """The dtype of the result of an operation on these arguments.

    Args:
      *args: arrays, numbers, dtypes, or None for the default float dtype; at least one.
      return_weak_type_flag: whether to return the pair (dtype, weak_type).

    Raises:
      TypePromotionError: if the dtypes have none in common.

    >>> result_type(np.float16(1), 2.0), result_type("int32", "uint32"), result_type(1, 2.0)
    (dtype('float16'), dtype('int32'), dtype('float32'))
    """
    if not args:
        raise ValueError(errors.no_arguments("result_type", "an array or a dtype"))
    dtype, weak = lattice_result_type(*[default_float_dtype() if a is None else a for a in args])
    if weak:
        dtype = canonicalize_dtype(np.uint64 if dtype in _UNSIGNED else _PYTHON_TYPE[dtype])
    return (dtype, weak) if return_weak_type_flag else dtype


def promote_types(a: Any, b: Any) -> np.dtype:
    """The common dtype of two dtypes, in which int, float and complex are weak.

    Raises TypePromotionError if there is none.

    >>> promote_types("uint8", int), promote_types("float16", float), promote_types("int8", "uint8")
    (dtype('uint8'), dtype('float16'), dtype('int16'))
    """
    nodes = frozenset(
        lattice.WEAK[x]
        if isinstance(x, type) and x in lattice.WEAK
        else name(_as_numpy_dtype(x, "promote_types"))
        for x in (a, b)
    )
    node = lattice.join(nodes, numpy_dtype_promotion.value == "strict", enable_x64.value)
    for python_type, weak_node in lattice.WEAK.items():
        if node == weak_node:
            return np.dtype(python_type)
    return np.dtype(node)


def safe_to_cast(source: Any, target: Any) -> bool:
    """Whether promotion would convert a dtype or value to the dtype of another one.

    >>> safe_to_cast("int16", "float32"), safe_to_cast("float32", "int16")
    (True, False)
    """
    target = dtype_of(target)
    return dtype_of(source) == target or result_type(source, target) == target
