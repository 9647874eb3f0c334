"""What distributions are at infinity, far out in the tails, and for numbers of other dtypes."""

import inspect

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector.scipy import stats
from tests.scipy.distributions import CASES, functions_of, is_discrete

INF = np.inf


def test_far_tails_keep_their_logarithms():
    with cv.enable_x64(True):
        for value, want in [
            (stats.norm.logsf(1e5), -5e9 - np.log(1e5) - 0.5 * np.log(2 * np.pi)),
            (stats.laplace.logcdf(-1e200), -1e200),
            (stats.gumbel_r.logsf(1e5), -1e5),
            (stats.gumbel_l.logcdf(-1e5), -1e5),
            (stats.expon.logsf(1e300), -1e300),
            (stats.logistic.logcdf(-1e5), -1e5),
            (stats.cauchy.logpdf(1e200), -np.log(np.pi) - 400 * np.log(10)),
            (stats.pareto.logsf(1e200, 3.0), -600 * np.log(10)),
            (stats.expon.logcdf(1e-300), np.log(1e-300)),
            (stats.gumbel_r.logcdf(40.0), -np.exp(-40.0)),
            (stats.gumbel_r.logsf(-3.0), np.log1p(-np.exp(-np.exp(3.0)))),
        ]:
            np.testing.assert_allclose(value, want, rtol=1e-12)


def test_quantiles_keep_the_digits_of_both_tails():
    with cv.enable_x64(True):
        for value, want in [
            (stats.cauchy.isf(1e-200), 1e200 / np.pi),
            (stats.expon.isf(1e-300), 300 * np.log(10)),
            (stats.laplace.isf(1e-300), -np.log(2e-300)),
            (stats.gumbel_r.isf(1e-30), 30 * np.log(10)),
            (stats.pareto.isf(1e-30, 3.0), 1e10),
            (stats.gamma.isf(1e-100, 1.0), 100 * np.log(10)),
        ]:
            np.testing.assert_allclose(value, want, rtol=1e-12)


@pytest.mark.parametrize("name", [n for n in CASES if not is_discrete(n) and n != "truncnorm"])
def test_densities_outside(name):
    # JAX's and SciPy's formulas are NaN at infinity for some.
    shapes = CASES[name].smooth
    x = np.array([-INF, INF, np.nan], np.float32)
    assert np.isnan(stats.__dict__[name].logpdf(1.0, *shapes, 0.0, -1.0))
    np.testing.assert_array_equal(stats.__dict__[name].pdf(x, *shapes), [0, 0, np.nan])


def test_derivatives_outside_are_zero():
    x = jnp.array([-INF, -5.0, 9.0, INF])
    outside = {
        "gamma": (2.5,),
        "expon": (),
        "pareto": (2.5,),
        "beta": (0.5, 0.5),
        "uniform": (),
        "wrapcauchy": (0.4,),
    }
    for name, shapes in outside.items():
        law = getattr(stats, name)
        for fun in (law.logpdf, law.pdf):
            at = x[:2] if name in ("gamma", "expon", "pareto") else x
            slopes = cv.jit(cv.grad(lambda x, fun=fun, s=shapes: jnp.sum(fun(x, *s))))(at)
            np.testing.assert_array_equal(slopes, 0)


def test_derivatives_at_the_ends_are_one_sided():
    for transform in (cv.grad, cv.jacfwd):
        assert transform(lambda x: stats.beta.logpdf(x, 1.0, 3.0))(0.0) == -2
        assert transform(lambda x: stats.gamma.logpdf(x, 1.0))(0.0) == -1
        assert transform(lambda p: stats.bernoulli.logpmf(0, p))(0.0) == -1
        assert transform(lambda x: stats.uniform.cdf(x))(0.0) == 1


# ---------------------------------------------------------------- arguments


def test_signatures_are_those_of_jax(jax):
    from jax.scipy import stats as theirs

    for name in CASES:
        for function in [f for f in dir(getattr(theirs, name)) if not f.startswith("_")]:
            want = inspect.signature(getattr(getattr(theirs, name), function)).parameters
            got = inspect.signature(getattr(getattr(stats, name), function)).parameters
            names = list(got)
            assert names[: len(want)] == list(want), (name, function)
            assert all(got[n].default == want[n].default for n in want), (name, function)
            # What comes after is left out as a rule.
            assert all(got[n].default is not inspect.Parameter.empty for n in names[len(want) :])


def test_dtypes_are_those_of_jax(jax):
    from jax.scipy import stats as theirs

    half, one, double = np.float16(0.5), np.float32(0.5), np.float64(0.5)
    calls = [
        ("norm", "pdf", (0.5,)),
        ("norm", "pdf", (half,)),
        ("norm", "pdf", (1,)),
        ("norm", "ppf", (one,)),
        ("norm", "ppf", (0.5,)),
        ("expon", "cdf", (half, one)),
        ("expon", "logpdf", (one, 0, double)),
        ("poisson", "pmf", (np.int8(2), half)),
        ("uniform", "ppf", (np.asarray(jnp.bfloat16(0.5)),)),
    ]
    for x64 in (False, True):
        with cv.enable_x64(x64), jax.enable_x64(x64):
            for name, function, args in calls:
                got = getattr(getattr(stats, name), function)(*args)
                fun = getattr(getattr(theirs, name), function)
                want = jax.eval_shape(lambda fun=fun, args=args: fun(*args))
                assert got.dtype == want.dtype, (name, function, args)
                assert got.weak_type == want.weak_type, (name, function, args)


def test_every_function_is_documented():
    for name in CASES:
        for function, fun in functions_of(name).items():
            assert fun.__module__ == f"covector.scipy.stats.{name}"
            assert " distribution" in fun.__doc__.splitlines()[0], (name, function)
            for parameter in inspect.signature(fun).parameters:
                assert f"  {parameter}: " in fun.__doc__, (name, function, parameter)


def test_arguments():
    np.testing.assert_array_equal(
        stats.expon.cdf(x=jnp.ones(2), scale=2.0), stats.expon.cdf(jnp.ones(2), 0.0, 2.0)
    )
    assert stats.expon.pdf(jnp.zeros((0, 3))).shape == (0, 3)
    assert stats.expon.pdf(jnp.zeros((2, 1)), jnp.zeros(3)).shape == (2, 3)
    np.testing.assert_allclose(
        cv.vmap(stats.geom.pmf)(jnp.arange(3), jnp.full(3, 0.5)), [0, 0.5, 0.25]
    )
    with pytest.raises(
        TypeError,
        match=r"\[gamma.cdf\] missing a required argument: 'a'.*gamma.cdf\(x, a, loc=0, scale=1\)",
    ):
        stats.gamma.cdf(1.0)
    with pytest.raises(ValueError, match=r"norm\.pdf does not support complex-valued inputs"):
        stats.norm.pdf(1j)
    with pytest.raises(TypeError, match=r"poisson\.pmf"):
        stats.poisson.pmf("1", 2.0)


def test_quantiles_of_counts_end_at_the_support():
    with cv.enable_x64(True):
        q = np.array([0.0, 1e-10, 0.5, 1.0, np.nan])
        np.testing.assert_array_equal(stats.geom.ppf(q, 1.0), [0, 1, 1, INF, np.nan])
        np.testing.assert_array_equal(stats.geom.ppf(q, 0.0), np.full(5, np.nan))
        # The probability of more than k is 1e-12 less than 1 to the k-th power.
        want = np.ceil(np.log(1e-10) / np.log1p(-1e-12))
        np.testing.assert_array_equal(stats.geom.isf(1e-10, 1e-12), want)
