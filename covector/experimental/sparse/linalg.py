"""Systems of equations and eigenvalues of sparse matrices."""

from ..._src.sparse.linalg import lobpcg_standard as lobpcg_standard
from ..._src.sparse.linalg import spsolve as spsolve
