"""What XLA computes for each primitive is what NumPy computes, alone and inside transformations.

The NumPy side is tested in `test_rules.py`; here it is the oracle.
"""

import numpy as np
import pytest

import covector as cv
from covector._src.core.avals import aval_of
from covector._src.testing.checks import (
    DoesNotApply,
    batchable,
    differentiable,
    stack,
    weakened,
)
from covector._src.testing.compare import Disagreement, assert_all_close, assert_same_type
from covector._src.testing.equations import (
    batched,
    direction,
    directions_of_results,
    jvp_along,
    restricted,
    vjp_against,
)
from tests.contract.dtypes import in_other_dtypes
from tests.contract.primitives import SAMPLED, cases_of, draws, report
from tests.contract.programs import Program, run_on_numpy, run_on_xla

# At the poles of digamma the XLA of jaxlib 0.10 gives NaN, and that of later versions an infinity.
POLES_DIFFER = ("digamma", "lgamma")


def without_infinities(values):
    return [np.where(np.isinf(x), np.nan, x).astype(x.dtype) for x in map(np.asarray, values)]


def disagreements(programs, results):
    """Where XLA's results of programs and NumPy's disagree, for `report`."""
    for program, got, want in zip(programs, results, run_on_numpy(programs)):
        try:
            if isinstance(want, Exception):
                continue  # it is another test's business that NumPy can compute it
            known = without_infinities if program.case.primitive.name in POLES_DIFFER else list
            assert_same(got, want, "on XLA, compared with NumPy", known)
        except Exception as error:
            yield program.what, program.case, error


def assert_same(got, want, what, known=list):
    """Raise unless results have the types that are wanted, and the numbers that are known."""
    if isinstance(got, Exception):
        raise got
    for i, (x, y) in enumerate(zip(got, want, strict=True)):
        assert_same_type(aval_of(x), aval_of(y), f"result {i} {what}")
    assert_all_close(known(got), known(want), what)


def alone(case):
    yield Program("evaluation", case, case.fun, case.args)


def transformed(case):
    """The programs that transformations make of a case."""
    ranks = [x.ndim for x in batchable(case)[0]]
    batches = stack(batchable(case))
    yield Program("vmap", case, batched(case.fun, len(case.examples), (0,) * len(ranks)), batches)
    places = differentiable(case)
    fun, xs = restricted(case.fun, case.args, places)
    rng = draws()
    vs = [direction(rng, x) for x in xs]
    with cv.reference_mode():  # which needs no compilation to know what results there are
        cts = directions_of_results(rng, fun, xs)
    yield Program("jvp", case, jvp_along(fun, vs), xs)
    yield Program("vjp", case, vjp_against(fun, cts), xs)


def programs_of(cases, make):
    for case in cases:
        try:
            yield from make(case)
        except DoesNotApply:
            continue


def check(name, programs):
    programs = list(programs)
    failures = list(disagreements(programs, run_on_xla(programs)))
    if failures:
        pytest.fail(report(name, failures), pytrace=False)


@pytest.mark.parametrize("name", SAMPLED)
def test_evaluation(name):
    check(name, programs_of(cases_of(name), alone))


def one_of_a_kind(cases, *, by_params=True, limit=10):
    """For each combination of dtypes and parameters the largest case up to some size; of these at
    most `limit`, from all over the list."""
    chosen = {}
    for case in cases:
        kind = (*[x.dtype for x in case.args], repr(case.params) if by_params else "")
        size = max([x.size for x in case.args], default=0)
        if kind not in chosen or chosen[kind][0] < size <= 12:
            chosen[kind] = size, case
    found = [case for _, case in chosen.values()]
    return found[:: -(-len(found) // limit) or 1]


@pytest.mark.parametrize("name", SAMPLED)
def test_transformed(name):
    check(name, programs_of(one_of_a_kind(cases_of(name)), transformed))


@pytest.mark.parametrize("name", SAMPLED)
def test_other_dtypes(name):
    check(name, programs_of(in_other_dtypes(cases_of(name)), alone))


@pytest.mark.parametrize("name", SAMPLED)
def test_64_bits(name):
    with cv.enable_x64(True):
        check(name, programs_of(in_other_dtypes(cases_of(name), wide=True), alone))


@pytest.mark.parametrize("name", SAMPLED)
def test_eager_is_jit(name):
    """One case of each combination of dtypes, op by op and compiled."""
    every = list(programs_of(cases_of(name), alone))
    chosen = {id(case) for case in one_of_a_kind(cases_of(name), by_params=False)}
    failures = []
    # All are compiled: this program, unlike one of the chosen, is known from `test_evaluation`.
    for program, got in zip(every, run_on_xla(every)):
        if id(program.case) not in chosen:
            continue
        try:
            assert_same(got, program.fun(*program.args), "under jit, compared with evaluation")
        except Exception as error:
            failures.append(("jit", program.case, error))
    if failures:
        pytest.fail(report(name, failures), pytrace=False)


@pytest.mark.parametrize("name", SAMPLED)
def test_weak_types(name):
    """Python scalars in compiled programs: results are as weak as the types say."""

    def of_scalars(case):
        scalars = [weakened(x) for x in case.args]
        if any(x is not y for x, y in zip(scalars, case.args)):
            yield Program("Python scalars", case, lambda: case.fun(*scalars), [])

    programs = list(programs_of(cases_of(name), of_scalars))
    results = run_on_xla(programs)
    failures = list(disagreements(programs, results))
    for program, got in zip(programs, results):
        if not isinstance(got, Exception):
            jaxpr = cv.make_jaxpr(program.fun)()
            for x, aval in zip(got, jaxpr.out_avals):
                if aval_of(x) is not aval:
                    error = Disagreement(f"the result is {aval_of(x)}, but should be {aval}")
                    failures.append((program.what, program.case, error))
    if failures:
        pytest.fail(report(name, failures), pytrace=False)
