"""Values of distributions against SciPy: in both tails, at the ends, outside, and at NaN."""

from functools import partial

import numpy as np
import pytest
import scipy.stats

import covector as cv
from tests.scipy.compiling import QUICK_TO_COMPILE
from tests.scipy.distributions import (
    CASES,
    COUNTS,
    POINTS,
    PROBABILITIES,
    functions_of,
    is_discrete,
)

# Distributions whose programs take long to compile: the functions that stand for all.
CHOSEN = {
    "norm": ["logpdf", "cdf", "logsf", "ppf"],
    "gamma": ["logpdf", "cdf", "entropy"],
    "chi2": ["logpdf", "sf"],
    "beta": ["logpdf", "sf"],
    "t": ["cdf"],
    "gennorm": ["logpdf", "cdf"],
    "truncnorm": ["logsf"],
    "binom": ["pmf", "ppf"],
    "betabinom": ["logpmf"],
    "geom": ["pmf", "logcdf", "sf"],
    "nbinom": ["logpmf", "sf"],
    "poisson": ["logpmf", "cdf", "entropy"],
}


def ours(name, tail):
    """The functions of a distribution in one program, with a column for each set of shapes."""
    shapes = [np.array(column, float) for column in zip(*CASES[name].sets)]
    functions = functions_of(name)
    points = COUNTS if is_discrete(name) else POINTS

    @partial(cv.jit, compiler_options=QUICK_TO_COMPILE)
    def compute(x, q, *params):
        first = {"ppf": [q], "isf": [q], "entropy": []}
        chosen = CHOSEN.get(name, functions)
        return {f: functions[f](*first.get(f, [x]), *params) for f in chosen}

    with cv.enable_x64(True):
        out = compute(points[:, None], PROBABILITIES[:, None], *shapes, *tail)
        return {f: np.asarray(value) for f, value in out.items()}


def theirs(name, function, tail, points):
    shapes = [np.array(column, float) for column in zip(*CASES[name].sets)]
    first = [] if function == "entropy" else [points[:, None]]
    with np.errstate(all="ignore"):
        return getattr(getattr(scipy.stats, name), function)(*first, *shapes, *tail)


def inaccurate(name, function, want, points):
    """Where SciPy's own results have few digits, or none."""
    if function == "entropy":
        return np.zeros(np.shape(want), bool)
    # Beside infinity, and there, its formulas overflow.
    found = np.broadcast_to(abs(points[:, None]) > 1e3, want.shape)
    if function in ("logcdf", "logsf"):
        # The logarithm of a probability next to 1 is that of the rest, which it does not use.
        found = found | (abs(want) < 1e-4)
    if name == "bernoulli" and function in ("ppf", "isf"):
        # It has numbers below the least at probability 0, where JAX has the least.
        found = found | np.isin(points, [0, 1])[:, None]
    return found


@pytest.mark.parametrize("name", CASES)
def test_values(name):
    tail = (2.0,) if is_discrete(name) else (0.5, 2.0)
    for function, got in ours(name, tail).items():
        points = COUNTS if is_discrete(name) else POINTS
        quantile = function in ("ppf", "isf")
        points = PROBABILITIES if quantile else points
        want = np.asarray(theirs(name, function, tail, points))
        got, want = np.broadcast_arrays(got, want)
        kept = ~inaccurate(name, function, want, points)
        rtol = 2e-11 if quantile else 5e-12
        # Logarithms of 1 are sums of others.
        atol = {"ppf": 1e-15, "isf": 1e-15, "logpmf": 1e-14}.get(function, 1e-290)
        np.testing.assert_allclose(got[kept], want[kept], rtol=rtol, atol=atol, err_msg=function)
