"""Iterative solvers under SciPy's names."""

from ..._src.scipy.sparse.gmres import gmres as gmres
from ..._src.scipy.sparse.krylov import bicgstab as bicgstab
from ..._src.scipy.sparse.krylov import cg as cg
