"""CSR and CSC matrices and functions of them."""

from ..._src.sparse.bcoo import Shape as Shape
from ..._src.sparse.coo import CSC as CSC
from ..._src.sparse.coo import CSR as CSR
from ..._src.sparse.coo import csr_fromdense as csr_fromdense
from ..._src.sparse.coo import csr_matmat as csr_matmat
from ..._src.sparse.coo import csr_matvec as csr_matvec
from ..._src.sparse.coo import csr_todense as csr_todense
