"""Samplers of distributions draw the numbers that JAX draws."""

import pytest

from tests.random.streams import assert_same_stream

COVARIANCE = [[2.0, 0.5], [0.5, 1.0]]

SAMPLERS = {
    "normal": lambda R, k, jnp: R.normal(k, (700,)),
    "normal f16": lambda R, k, jnp: R.normal(k, (6,), "float16"),
    "normal complex": lambda R, k, jnp: R.normal(k, (6,), "complex64"),
    "truncated_normal": lambda R, k, jnp: R.truncated_normal(k, jnp.array([-1.0, 0.0]), 2.0),
    "lognormal": lambda R, k, jnp: R.lognormal(k, 0.5, (9,)),
    "exponential": lambda R, k, jnp: R.exponential(k, (9,)),
    "cauchy": lambda R, k, jnp: R.cauchy(k, (9,)),
    "laplace": lambda R, k, jnp: R.laplace(k, (9,)),
    "logistic": lambda R, k, jnp: R.logistic(k, (9,)),
    "gumbel": lambda R, k, jnp: R.gumbel(k, (9,)),
    "gumbel high": lambda R, k, jnp: R.gumbel(k, (9,), mode="high"),
    "gumbel highest": lambda R, k, jnp: R.gumbel(k, (9,), mode="highest"),
    "pareto": lambda R, k, jnp: R.pareto(k, 2.0, (9,)),
    "rayleigh": lambda R, k, jnp: R.rayleigh(k, jnp.float32(2.0), (9,)),
    "weibull_min": lambda R, k, jnp: R.weibull_min(k, 1.0, 2.0, (9,)),
    "triangular": lambda R, k, jnp: R.triangular(k, -1.0, 0.0, 2.0, (9,)),
    "wald": lambda R, k, jnp: R.wald(k, jnp.float32(1.0), (9,)),
    "maxwell": lambda R, k, jnp: R.maxwell(k, (9,)),
    "double_sided_maxwell": lambda R, k, jnp: R.double_sided_maxwell(k, jnp.ones(2), 2.0),
    "multivariate_normal": lambda R, k, jnp: R.multivariate_normal(
        k, jnp.zeros((3, 2)), jnp.array(COVARIANCE)
    ),
    "orthogonal": lambda R, k, jnp: R.orthogonal(k, 3, (2,)),
    "orthogonal wide": lambda R, k, jnp: R.orthogonal(k, 2, m=4),
    "poisson": lambda R, k, jnp: R.poisson(k, jnp.array([0.0, 1.0, 5.0, 20.0, 1e3, jnp.nan])),
    "geometric": lambda R, k, jnp: R.geometric(k, 0.3, (20,)),
    "binomial": lambda R, k, jnp: R.binomial(
        k, jnp.array([5.0, 100.0, jnp.inf, jnp.nan, 900.0]), jnp.array([0.1, 0.9, 0.5, 0.5, 0.3])
    ),
    "multinomial": lambda R, k, jnp: R.multinomial(k, jnp.array([20, 5]), jnp.ones((2, 3)) / 3),
}


@pytest.mark.parametrize("name", SAMPLERS)
def test_the_stream_is_that_of_jax(jax, name):
    assert_same_stream(jax, SAMPLERS[name])
