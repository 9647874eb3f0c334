"""Derivatives of distributions against difference quotients, in the variable and all parameters."""

from functools import partial

import numpy as np
import pytest

import covector as cv
from tests.scipy.compiling import QUICK_TO_COMPILE
from tests.scipy.distributions import CASES, functions_of, is_discrete

# Distributions whose programs take long to compile: the functions that stand for all.
CHOSEN = {
    "norm": ["logsf"],
    "cauchy": ["logpdf", "cdf", "ppf"],
    "laplace": ["logpdf", "logcdf", "ppf"],
    "logistic": ["logpdf", "logcdf", "ppf"],
    "gumbel_l": ["logpdf", "logcdf", "ppf"],
    "gumbel_r": ["logpdf", "logsf", "isf"],
    "uniform": ["pdf", "cdf", "isf"],
    "expon": ["pdf", "logcdf", "ppf"],
    "gamma": ["pdf", "ppf"],
    "chi2": ["cdf"],
    "pareto": ["pdf", "logcdf", "isf"],
    "beta": ["logpdf", "isf"],
    "t": ["logpdf", "cdf"],
    "gennorm": ["logpdf"],
    "truncnorm": ["logpdf"],
    "wrapcauchy": ["logpdf", "cdf", "ppf"],
    "bernoulli": ["logpmf", "cdf", "entropy"],
    "binom": ["logpmf"],
    "betabinom": ["logpmf"],
    "nbinom": ["logpmf"],
    "poisson": ["logpmf", "cdf", "entropy"],
}
CUMULATIVE = ("cdf", "logcdf", "sf", "logsf", "ppf", "isf")
X, K, Q = np.array([0.21, 0.9, 1.6]), np.array([1.0, 2, 5]), np.array([0.02, 0.4, 0.77])


def arguments(name, function):
    """Arguments, and the positions of those to differentiate in."""
    discrete = is_discrete(name)
    first = [K if discrete else X + 2 * (name == "pareto")]
    first = [np.minimum(K, 1)] if name == "bernoulli" else first
    first = {"ppf": [Q], "isf": [Q], "entropy": []}.get(function, first)
    args = [*first, *CASES[name].smooth, *([0.0] if discrete else [0.2, 1.7])]
    args = [np.broadcast_to(np.asarray(x, float), 3).copy() for x in args]
    fixed = {0, len(args) - 1} if discrete and first else set()
    if function in CUMULATIVE:
        fixed |= {i + 1 for i in CASES[name].undifferentiable}
    if name in ("binom", "betabinom"):
        fixed |= {1}  # the number of trials
    return args, [i for i in range(len(args)) if i not in fixed]


@pytest.mark.parametrize("name", CASES)
def test_derivatives(name):
    functions = functions_of(name)
    for function in CHOSEN.get(name, functions):
        if is_discrete(name) and function in ("ppf", "isf"):
            continue  # constant between their jumps
        fun = functions[function]
        args, varying = arguments(name, function)

        @partial(cv.jit, compiler_options=QUICK_TO_COMPILE)
        def value_and_slopes(*args, fun=fun, varying=varying):
            free = [args[i] for i in varying]

            def of_free(*free):
                merged = [*args]
                for i, x in zip(varying, free):
                    merged[i] = x
                return fun(*merged)

            out, pullback = cv.vjp(of_free, *free)
            return fun(*args), pullback(out * 0 + 1)

        with cv.enable_x64(True):
            _, got = value_and_slopes(*args)

            def at(i, shift, program=value_and_slopes, args=args):
                value, _ = program(*(x + shift * (j == i) for j, x in enumerate(args)))
                return np.asarray(value)

            for i, slope in zip(varying, got):
                near, far = (at(i, h) - at(i, -h) for h in (1e-5, 2e-5))
                want = (8 * near - far) / 12e-5
                np.testing.assert_allclose(slope, want, rtol=1e-6, atol=1e-8, err_msg=function)
