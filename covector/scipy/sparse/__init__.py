"""Sparse linear algebra under SciPy's names."""

from . import linalg as linalg
