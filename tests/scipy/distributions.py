"""The distributions of `scipy.stats` with parameters at which they are tested."""

from typing import NamedTuple

import numpy as np

from covector.scipy import stats

INF, NAN = np.inf, np.nan

POINTS = np.array(
    [-INF, -1e200, -700, -40, -8.5, -3, -1, -0.3, -1e-3, -1e-20, 0, 1e-300, 1e-20, 1e-5]
    + [0.1, 0.5, 0.9, 1, 1.5, 3, 6.2, 12, 40, 200, 700, INF, NAN]
)
COUNTS = np.array([-INF, -1, 0, 1, 2, 3, 5, 9, 10, 11, 50, 1.5, 1e6, INF, NAN])
PROBABILITIES = np.array([-0.1, 0, 1e-10, 1e-3, 0.1, 0.3, 0.5, 0.7, 0.9, 0.999, 1, 1.1, NAN])


class Case(NamedTuple):
    """Shape parameters of a distribution."""

    sets: list  # to compare values at
    smooth: tuple  # to differentiate at
    undifferentiable: tuple = ()  # in which functions of probabilities have no derivatives


CASES = {
    "norm": Case([()], ()),
    "cauchy": Case([()], ()),
    "laplace": Case([()], ()),
    "logistic": Case([()], ()),
    "gumbel_l": Case([()], ()),
    "gumbel_r": Case([()], ()),
    "uniform": Case([()], ()),
    "expon": Case([()], ()),
    "gamma": Case([(0.5,), (1,), (2.5,), (50,), (-1,)], (2.5,)),
    "chi2": Case([(1,), (2,), (7,), (100,)], (3.7,)),
    "pareto": Case([(0.5,), (3,)], (2.5,)),
    "beta": Case([(0.5, 0.5), (1, 1), (1, 3), (2, 5), (50, 0.3), (-1, 1)], (2.5, 1.7), (0, 1)),
    "t": Case([(0.5,), (1,), (5,), (100,), (INF,), (0,)], (3.2,), (0,)),
    "gennorm": Case([(0.5,), (1,), (2,), (7,)], (1.6,)),
    "truncnorm": Case([(-1, 1), (-INF, 2), (0, INF), (5, 9), (-40, -30), (2, 1)], (-1.2, 2.1)),
    "vonmises": Case([(0,), (0.5,), (30,), (1000,), (-1,)], (1.5,)),
    "wrapcauchy": Case([(0.01,), (0.5,), (0.99,), (1.2,)], (0.4,)),
    "bernoulli": Case([(0,), (0.3,), (1,), (1.1,)], (0.3,)),
    "binom": Case([(10, 0.3), (0, 0.4), (10, 0), (10, 1), (1000, 0.01), (2.5, 0.3)], (10, 0.3)),
    "betabinom": Case([(10, 2, 3), (0, 1, 1), (20, 0.1, 0.2), (10, -1, 2)], (10, 1.5, 2.5)),
    "geom": Case([(0.3,), (1,), (0.001,), (0,)], (0.3,)),
    "nbinom": Case([(3, 0.4), (2.5, 0.01), (3, 1), (0, 0.3)], (3.5, 0.4), (0,)),
    "poisson": Case([(0,), (0.5,), (9,), (100,), (1e3,), (-1,)], (4.2,)),
}


def functions_of(name):
    """The public functions of a distribution by name."""
    return {f: fun for f, fun in vars(getattr(stats, name)).items() if callable(fun)}


def is_discrete(name):
    return hasattr(getattr(stats, name), "pmf")
