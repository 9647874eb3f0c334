"""Random numbers from explicit keys, the same ones wherever and whenever they are drawn."""

from __future__ import annotations

from ._src.random.continuous import cauchy as cauchy
from ._src.random.continuous import exponential as exponential
from ._src.random.continuous import gumbel as gumbel
from ._src.random.continuous import laplace as laplace
from ._src.random.continuous import logistic as logistic
from ._src.random.continuous import pareto as pareto
from ._src.random.continuous import rayleigh as rayleigh
from ._src.random.continuous import triangular as triangular
from ._src.random.continuous import wald as wald
from ._src.random.continuous import weibull_min as weibull_min
from ._src.random.gamma import ball as ball
from ._src.random.gamma import beta as beta
from ._src.random.gamma import chisquare as chisquare
from ._src.random.gamma import dirichlet as dirichlet
from ._src.random.gamma import f as f
from ._src.random.gamma import gamma as gamma
from ._src.random.gamma import generalized_normal as generalized_normal
from ._src.random.gamma import loggamma as loggamma
from ._src.random.gamma import random_gamma_p as random_gamma_p
from ._src.random.gamma import t as t
from ._src.random.keys import PRNGKey as PRNGKey
from ._src.random.keys import clone as clone
from ._src.random.keys import fold_in as fold_in
from ._src.random.keys import key as key
from ._src.random.keys import key_data as key_data
from ._src.random.keys import key_dtype as key_dtype
from ._src.random.keys import key_impl as key_impl
from ._src.random.keys import split as split
from ._src.random.keys import wrap_key_data as wrap_key_data
from ._src.random.normal import lognormal as lognormal
from ._src.random.normal import normal as normal
from ._src.random.normal import truncated_normal as truncated_normal
from ._src.random.selection import categorical as categorical
from ._src.random.selection import choice as choice
from ._src.random.selection import permutation as permutation
from ._src.random.uniform import bernoulli as bernoulli
from ._src.random.uniform import bits as bits
from ._src.random.uniform import rademacher as rademacher
from ._src.random.uniform import randint as randint
from ._src.random.uniform import uniform as uniform
