"""COO matrices and functions of them."""

from ..._src.sparse.bcoo import Shape as Shape
from ..._src.sparse.coo import COO as COO
from ..._src.sparse.coo import coo_fromdense as coo_fromdense
from ..._src.sparse.coo import coo_matmat as coo_matmat
from ..._src.sparse.coo import coo_matvec as coo_matvec
from ..._src.sparse.coo import coo_todense as coo_todense
from ..._src.sparse.info import COOInfo as COOInfo
