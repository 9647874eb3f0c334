"""Derivatives by the stored elements of sparse arrays."""

from ..._src.sparse.ad import grad as grad
from ..._src.sparse.ad import jacfwd as jacfwd
from ..._src.sparse.ad import jacobian as jacobian
from ..._src.sparse.ad import jacrev as jacrev
from ..._src.sparse.ad import value_and_grad as value_and_grad
from ..._src.sparse.sparsify import is_sparse as is_sparse
