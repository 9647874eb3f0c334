"""Cases of primitives in dtypes that are not among the samples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import ml_dtypes
import numpy as np

from covector._src.core.avals import aval_of
from covector._src.ops.base import Sample
from covector._src.testing.checks import Case, case_of

# By the dtype of a sample, those in which to try it too.
NARROW = {
    "float32": ("float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"),
    "int32": ("int8", "int16", "uint16", "uint32"),
    "bool": (),
}
WIDE = {
    "float32": ("float64",),
    "complex64": ("complex128",),
    "int32": ("int64", "uint64"),
}


def in_other_dtypes(cases: Iterable[Case], wide: bool = False) -> Iterator[Case]:
    """For each dtype the first of the cases that the primitive accepts in it, and has some size;
    and one without a derivative, which is where special values are."""
    done: dict[tuple[np.dtype, bool], Case] = {}
    for case in cases:
        for name, others in (WIDE if wide else NARROW).items():
            if any(x.dtype == name for x in case.args):
                for other in map(_dtype, others):
                    key = other, case.smooth
                    found = done.get(key)
                    if found is None or max(x.size for x in found.args) < 2:
                        converted = _converted(case, np.dtype(name), other)
                        if converted is not None:
                            done[key] = converted
    yield from done.values()


def _dtype(name: str) -> np.dtype:
    return np.dtype(getattr(ml_dtypes, name, name))


def _converted(case: Case, old: np.dtype, new: np.dtype) -> Case | None:
    """The case with one dtype in the place of another; None if the primitive refuses it."""
    with np.errstate(all="ignore"):
        args = tuple(x.astype(new) if x.dtype == old else x for x in case.args)
    params = {k: new if _is_dtype(v, old) else v for k, v in case.params.items()}
    try:
        case.primitive.typecheck(tuple(map(aval_of, args)), params)
    except (TypeError, ValueError):
        return None
    return case_of(case.primitive, Sample(args, params, case.smooth))


def _is_dtype(value: object, dtype: np.dtype) -> bool:
    return isinstance(value, np.dtype) and value == dtype
