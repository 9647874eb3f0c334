"""Interpolation under SciPy's names."""

from .._src.scipy.interpolate import RegularGridInterpolator as RegularGridInterpolator
