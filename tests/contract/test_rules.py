"""The rules of each primitive against each other and against numbers, on NumPy.

Rules are made of primitives, and say nothing of how those are computed; so here NumPy evaluates
them, op by op and without compiling anything.  That XLA agrees is the business of
`test_lowering.py`.
"""

import numpy as np
import pytest

import covector as cv
from covector._src.ops.trigonometric import sin_p
from covector._src.testing.checks import CHECKS, DoesNotApply
from tests.contract.primitives import EXCEPTIONS, SAMPLED, cases_of, draws, report

# What compiled programs have to do with it.
ON_NUMPY = [name for name in CHECKS if not name.startswith("jit")]


def failures_of(name):
    for check in ON_NUMPY:
        for case in cases_of(name):
            try:
                CHECKS[check](case, draws())
            except DoesNotApply:
                continue
            except Exception as error:
                yield check, case, error


@pytest.mark.parametrize("name", SAMPLED)
def test_rules(name):
    with cv.reference_mode():
        failures = list(failures_of(name))
    unexpected = [f for f in failures if (name, f[0]) not in EXCEPTIONS]
    if unexpected:
        pytest.fail(report(name, unexpected), pytrace=False)
    for check in {check for primitive, check in EXCEPTIONS if primitive == name}:
        assert any(f[0] == check for f in failures), f"{name} passes the check {check} by now"


def test_numpy_evaluates(monkeypatch):
    """In reference mode results are those of `ref`, here of one of which XLA knows nothing."""
    monkeypatch.setattr(sin_p, "ref", lambda x: np.full_like(x, 7.0))
    with cv.reference_mode():
        assert cv.lax.sin(np.float32(0.5)) == 7
        assert cv.jit(cv.vmap(cv.lax.sin))(np.ones(2, np.float32)).tolist() == [7, 7]
    assert cv.lax.sin(np.float32(0)) == 0


def test_checks_apply():
    """Each check has something to say of the primitives for which it was made."""
    for check, name in [
        *[(check, "sin") for check in ON_NUMPY if check != "transpose"],
        *[(check, "reduce_sum") for check in ON_NUMPY if check != "weak types"],
        *[(check, "dot_general") for check in ON_NUMPY if check != "weak types"],
    ]:
        applied = 0
        with cv.reference_mode():
            for case in cases_of(name):
                try:
                    CHECKS[check](case, draws())
                    applied += 1
                except DoesNotApply:
                    continue
        assert applied, f"the check {check} applies to no sample of {name}"
