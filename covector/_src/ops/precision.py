"""How exactly products of matrices are computed, as users ask for it.

A precision is None (the device's default), a pair of `Precision`s, one for each operand, or an
algorithm: a `DotAlgorithm` or one of the `DotAlgorithmPreset`s, which names the dtypes in which
the products are formed and added up.
"""

from __future__ import annotations

import enum
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from ..base import config, dot_errors, dtypes

# ---------------------------------------------------------------- how accurate


class Precision(enum.Enum):
    """How accurate a product of float32 arrays is to be, where a device offers a choice.

    CPUs always compute at full precision. On GPUs, `DEFAULT` and `HIGH` allow TensorFloat-32 and
    `HIGHEST` means float32. On TPUs they mean one, three and six passes in bfloat16. Each has
    other names, which functions accept as strings: `"default"`, `"fastest"`, `"bfloat16"`;
    `"high"`, `"bfloat16_3x"`, `"tensorfloat32"`; `"highest"`, `"float32"`.

    >>> Precision("tensorfloat32")
    Precision.HIGH
    """

    DEFAULT = 0
    HIGH = 1
    HIGHEST = 2

    @classmethod
    def _missing_(cls, value: object) -> Precision | None:
        return _PRECISION_OF.get(value)

    def __repr__(self) -> str:
        return f"Precision.{self.name}"

    def __str__(self) -> str:
        return self.name


_PRECISION_OF: dict[Any, Precision] = {
    "highest": Precision.HIGHEST,
    "float32": Precision.HIGHEST,
    "high": Precision.HIGH,
    "bfloat16_3x": Precision.HIGH,
    "tensorfloat32": Precision.HIGH,
    "default": Precision.DEFAULT,
    "bfloat16": Precision.DEFAULT,
    "fastest": Precision.DEFAULT,
    None: Precision.DEFAULT,
}

# ---------------------------------------------------------------- by which algorithm


class DotAlgorithm(NamedTuple):
    """The algorithm of a product, spelled out, for devices that have several.

    Attributes:
      lhs_precision_type, rhs_precision_type: dtypes to which the operands are rounded.
      accumulation_type: the dtype in which products are added up.
      lhs_component_count, rhs_component_count: into how many parts an operand is split.
      num_primitive_operations: how many products of parts are computed.
      allow_imprecise_accumulation: whether sums may be less exact for speed.

    A device may support few of the combinations; those that at least one does support have names
    in `DotAlgorithmPreset`.
    """

    lhs_precision_type: Any
    rhs_precision_type: Any
    accumulation_type: Any
    lhs_component_count: int = 1
    rhs_component_count: int = 1
    num_primitive_operations: int = 1
    allow_imprecise_accumulation: bool = False

    def attribute(self, lhs_dtype: Any, rhs_dtype: Any) -> str:
        """The algorithm as an attribute of StableHLO."""
        types = (self.lhs_precision_type, self.rhs_precision_type, self.accumulation_type)
        return _attribute(*map(_mlir_name, types), *self[3:])


class DotAlgorithmPreset(enum.Enum):
    """Algorithms of products that some device supports, by name.

    A name says the dtypes of the operands and of the sum. `_X3`, `_X6` and `_X9` emulate float32
    by that many products of less precise numbers; `ANY_F8` takes any 8-bit floats, `_ANY` leaves
    the dtype of the sum to `preferred_element_type`, and `FAST_ACCUM` adds up less exactly. CPUs
    support `DEFAULT`, `F16_F16_F16`, `F32_F32_F32`, `F64_F64_F64`, `BF16_BF16_F32`, and this one
    with `_X3` and `_X6`.

    >>> DotAlgorithmPreset.BF16_BF16_F32.accumulation_type is np.float32
    True
    """

    DEFAULT = 1
    ANY_F8_ANY_F8_F32 = 2
    ANY_F8_ANY_F8_F32_FAST_ACCUM = 3
    ANY_F8_ANY_F8_ANY = 4
    ANY_F8_ANY_F8_ANY_FAST_ACCUM = 5
    F16_F16_F16 = 6
    F16_F16_F32 = 7
    BF16_BF16_BF16 = 8
    BF16_BF16_F32 = 9
    BF16_BF16_F32_X3 = 10
    BF16_BF16_F32_X6 = 11
    BF16_BF16_F32_X9 = 12
    TF32_TF32_F32 = 13
    TF32_TF32_F32_X3 = 14
    F32_F32_F32 = 15
    F64_F64_F64 = 16

    def __repr__(self) -> str:
        return f"DotAlgorithmPreset.{self.name}"

    def __str__(self) -> str:
        return self.name

    @property
    def supported_lhs_types(self) -> tuple[Any, ...] | None:
        """Dtypes that an operand may have; it is converted to the first if it has another."""
        return _FACTS[self].stored

    @property
    def supported_rhs_types(self) -> tuple[Any, ...] | None:
        return _FACTS[self].stored

    @property
    def accumulation_type(self) -> Any:
        """The dtype in which products are added up; None where the result's dtype decides."""
        return _FACTS[self].sum

    def supported_output_types(self, lhs_dtype: Any, rhs_dtype: Any) -> tuple[Any, ...] | None:
        """Dtypes that the product of operands of the given dtypes may have."""
        facts = _FACTS[self]
        if self in _EIGHT_BIT and facts.sum is not None:
            return (facts.sum, np.float16, dtypes.bfloat16, *_F8_RESULTS)
        narrow = _NARROW_RESULT.get(self)
        if narrow is not None and dtypes.promote_types(lhs_dtype, rhs_dtype) == narrow:
            return (facts.sum, narrow)
        return None if facts.sum is None else (facts.sum,)

    def attribute(self, lhs_dtype: Any, rhs_dtype: Any) -> str:
        """The algorithm as an attribute of StableHLO, for operands of the given dtypes."""
        facts = _FACTS[self]
        if self not in _EIGHT_BIT:
            return _attribute(
                facts.product, facts.product, _mlir_name(facts.sum), 1, 1, facts.count
            )
        if not (is_float8(lhs_dtype) and is_float8(rhs_dtype)):
            raise ValueError(dot_errors.algorithm_wants_float8(self, lhs_dtype, rhs_dtype))
        fast = self is DotAlgorithmPreset.ANY_F8_ANY_F8_F32_FAST_ACCUM
        return _attribute(_mlir_name(lhs_dtype), _mlir_name(rhs_dtype), "f32", 1, 1, 1, fast)


class _Facts(NamedTuple):
    """What a preset means.

    Attributes:
      stored: dtypes that operands may have, or None for all.
      sum: the dtype in which products are added up, or None.
      product: the name in MLIR of the type to which operands are rounded.
      count: how many products are computed.
    """

    stored: tuple[Any, ...] | None
    sum: Any
    product: str = ""
    count: int = 1


_FACTS = {
    DotAlgorithmPreset.DEFAULT: _Facts(None, None),
    DotAlgorithmPreset.ANY_F8_ANY_F8_F32: _Facts(None, np.float32),
    DotAlgorithmPreset.ANY_F8_ANY_F8_F32_FAST_ACCUM: _Facts(None, np.float32),
    DotAlgorithmPreset.ANY_F8_ANY_F8_ANY: _Facts(None, None),
    DotAlgorithmPreset.ANY_F8_ANY_F8_ANY_FAST_ACCUM: _Facts(None, None),
    DotAlgorithmPreset.F16_F16_F16: _Facts((np.float16,), np.float16, "f16"),
    DotAlgorithmPreset.F16_F16_F32: _Facts((np.float16,), np.float32, "f16"),
    DotAlgorithmPreset.BF16_BF16_BF16: _Facts(
        (dtypes.bfloat16, np.float32), dtypes.bfloat16, "bf16"
    ),
    DotAlgorithmPreset.BF16_BF16_F32: _Facts((dtypes.bfloat16, np.float32), np.float32, "bf16"),
    DotAlgorithmPreset.BF16_BF16_F32_X3: _Facts((np.float32,), np.float32, "bf16", 3),
    DotAlgorithmPreset.BF16_BF16_F32_X6: _Facts((np.float32,), np.float32, "bf16", 6),
    DotAlgorithmPreset.BF16_BF16_F32_X9: _Facts((np.float32,), np.float32, "bf16", 9),
    DotAlgorithmPreset.TF32_TF32_F32: _Facts((np.float32,), np.float32, "tf32"),
    DotAlgorithmPreset.TF32_TF32_F32_X3: _Facts((np.float32,), np.float32, "tf32", 3),
    DotAlgorithmPreset.F32_F32_F32: _Facts((np.float32,), np.float32, "f32"),
    DotAlgorithmPreset.F64_F64_F64: _Facts((np.float64,), np.float64, "f64"),
}
_EIGHT_BIT = frozenset(p for p in DotAlgorithmPreset if p.name.startswith("ANY_F8"))
_NARROW_RESULT = {
    DotAlgorithmPreset.F16_F16_F32: np.float16,
    DotAlgorithmPreset.BF16_BF16_F32: dtypes.bfloat16,
}
ON_CPU = frozenset(
    DotAlgorithmPreset[name]
    for name in (
        *("DEFAULT", "F16_F16_F16", "F32_F32_F32", "F64_F64_F64"),
        *("BF16_BF16_F32", "BF16_BF16_F32_X3", "BF16_BF16_F32_X6"),
    )
)
_F8_RESULTS = tuple(
    getattr(ml_dtypes, "float8_" + name)
    for name in ("e4m3fn", "e5m2", "e5m2fnuz", "e4m3fnuz", "e4m3b11fnuz")
)


def is_float8(dtype: Any) -> bool:
    """Whether a dtype is one of the 8-bit floats."""
    return np.dtype(dtype).name.startswith("float8_")


def is_algorithm(precision: Any) -> bool:
    """Whether a canonical precision names an algorithm."""
    return isinstance(precision, (DotAlgorithm, DotAlgorithmPreset))


def _mlir_name(dtype: Any) -> str:
    """The name of a float dtype in MLIR, such as "bf16" or "f8E4M3FN"."""
    name = dtypes.short_name(np.dtype(dtype))
    return "f" + name[1:].upper().replace("_", "") if "_" in name else name


def _attribute(
    lhs: str,
    rhs: str,
    total: str,
    lhs_parts: int,
    rhs_parts: int,
    products: int,
    imprecise: bool = False,
) -> str:
    return (
        f"#stablehlo.dot_algorithm<lhs_precision_type = {lhs}, rhs_precision_type = {rhs}, "
        f"accumulation_type = {total}, lhs_component_count = {lhs_parts}, rhs_component_count = "
        f"{rhs_parts}, num_primitive_operations = {products}, allow_imprecise_accumulation = "
        f"{str(imprecise).lower()}>"
    )


# ---------------------------------------------------------------- what users write

PrecisionLike = (
    None | str | Precision | tuple[str, str] | tuple[Precision, Precision] | DotAlgorithm
    | DotAlgorithmPreset
)  # fmt: skip


def canonicalize_precision(precision: Any) -> Any:
    """A precision as primitives keep it.

    Args:
      precision: None for the flag `default_matmul_precision`; a `Precision` or its name, or a pair
        of such; a `DotAlgorithmPreset` or its name; a `DotAlgorithm`.

    Returns:
      None, a pair of `Precision`s, or an algorithm. `ValueError` is raised for anything else.
    """
    if precision is None:
        default = config.default_matmul_precision.value
        return None if default is None else canonicalize_precision(default)
    if isinstance(precision, Precision):
        return precision, precision
    if is_algorithm(precision):
        return precision
    if isinstance(precision, str):
        found = _PRECISION_OF.get(precision)
        if found is not None:
            return found, found
        if precision in DotAlgorithmPreset.__members__:
            return DotAlgorithmPreset[precision]
    elif isinstance(precision, (list, tuple)) and len(precision) == 2:
        pair = tuple([_PRECISION_OF.get(p, p) if isinstance(p, str) else p for p in precision])
        if all(isinstance(p, Precision) for p in pair):
            return pair
    raise ValueError(
        dot_errors.not_a_precision(precision, _PRECISION_OF, DotAlgorithmPreset.__members__)
    )


def precision_attributes(precision: Any) -> list[str]:
    """A canonical precision as an attribute of StableHLO, one entry for each operand."""
    pair = precision if type(precision) is tuple else (Precision.DEFAULT, Precision.DEFAULT)
    return [f"#stablehlo<precision {p.name}>" for p in pair]
