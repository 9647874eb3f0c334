"""Vectors and the nearest codes, under SciPy's names."""

from ..._src.scipy.cluster import vq as vq
