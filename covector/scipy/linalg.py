"""Linear algebra under SciPy's names."""

from .._src.scipy.linalg.decompositions import eigh as eigh
from .._src.scipy.linalg.decompositions import hessenberg as hessenberg
from .._src.scipy.linalg.decompositions import lu as lu
from .._src.scipy.linalg.decompositions import qr as qr
from .._src.scipy.linalg.decompositions import schur as schur
from .._src.scipy.linalg.decompositions import svd as svd
from .._src.scipy.linalg.functions import block_diag as block_diag
from .._src.scipy.linalg.functions import expm as expm
from .._src.scipy.linalg.functions import expm_frechet as expm_frechet
from .._src.scipy.linalg.systems import cho_factor as cho_factor
from .._src.scipy.linalg.systems import cho_solve as cho_solve
from .._src.scipy.linalg.systems import cholesky as cholesky
from .._src.scipy.linalg.systems import det as det
from .._src.scipy.linalg.systems import inv as inv
from .._src.scipy.linalg.systems import lu_factor as lu_factor
from .._src.scipy.linalg.systems import lu_solve as lu_solve
from .._src.scipy.linalg.systems import solve as solve
from .._src.scipy.linalg.systems import solve_triangular as solve_triangular
