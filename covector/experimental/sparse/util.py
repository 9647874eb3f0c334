"""What the formats of sparse arrays share."""

from ..._src.base.sparse_errors import CuSparseEfficiencyWarning as CuSparseEfficiencyWarning
from ..._src.base.sparse_errors import SparseEfficiencyError as SparseEfficiencyError
from ..._src.base.sparse_errors import SparseEfficiencyWarning as SparseEfficiencyWarning
from ..._src.sparse.bcoo import Shape as Shape
from ..._src.sparse.info import SparseInfo as SparseInfo
from ..._src.sparse.info import broadcasting_vmap as broadcasting_vmap
from ..._src.sparse.info import nfold_vmap as nfold_vmap
