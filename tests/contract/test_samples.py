"""Every primitive has samples, and its samples are worth something."""

import numpy as np
import pytest

from covector._src.base import dtypes
from covector._src.ops.base import Op
from covector._src.testing.checks import cases
from tests.contract.primitives import (
    EXCEPTIONS,
    NEVER_EMPTY,
    SAMPLED,
    WITHOUT_SAMPLES,
    cases_of,
    primitives,
)


@pytest.mark.parametrize("name", SAMPLED)
def test_there_are_samples(name):
    primitive = primitives()[name]
    assert hasattr(primitive, "samples"), (
        f"{name} has no `samples`; give it some, or list it in WITHOUT_SAMPLES with the reason"
    )
    assert cases_of(name), f"the samples of {name} are empty"


@pytest.mark.parametrize("name", SAMPLED)
def test_there_is_a_reference(name):
    assert primitives()[name].has_rule("ref"), f"{name} has no NumPy rule `ref`"


@pytest.mark.parametrize("name", SAMPLED)
def test_an_empty_array_is_among_the_samples(name):
    cases = cases_of(name)
    if name in NEVER_EMPTY or not any(case.args for case in cases):
        return
    assert any(x.size == 0 for case in cases for x in case.args), (
        f"no sample of {name} has an empty array; add one, or list it in NEVER_EMPTY"
    )


@pytest.mark.parametrize("name", SAMPLED)
def test_samples_are_the_same_each_time(name):
    for case, again in zip(cases_of(name), cases(primitives()[name]), strict=True):
        assert repr(case) == repr(again)
        assert [x.tobytes() for x in case.args] == [x.tobytes() for x in again.args]


def test_lists_of_exceptions_name_primitives():
    names = {*WITHOUT_SAMPLES, *NEVER_EMPTY, *(name for name, _ in EXCEPTIONS)}
    assert names <= set(primitives()), "these are no primitives"
    for name in WITHOUT_SAMPLES:
        own = getattr(type(primitives()[name]), "samples", Op.samples)
        assert own is Op.samples, f"{name} has samples now"


def test_samples_cover_the_dtypes():
    kinds = {x.dtype for name in SAMPLED for case in cases_of(name) for x in case.args}
    for dtype in ("bool", "int32", "uint8", "float32", "complex64", dtypes.bfloat16):
        assert np.dtype(dtype) in kinds
