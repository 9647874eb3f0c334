"""Minimization under SciPy's names."""

from .._src.scipy.optimize.minimize import OptimizeResults as OptimizeResults
from .._src.scipy.optimize.minimize import minimize as minimize
