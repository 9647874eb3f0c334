"""Integrals of sampled functions under SciPy's names."""

from .._src.numpy.sampled import trapezoid as trapezoid
from .._src.scipy.integrate import cumulative_trapezoid as cumulative_trapezoid
from .._src.scipy.integrate import simpson as simpson
