"""Random sparse arrays of all layouts for tests, and comparisons with dense ones."""

from ..._src.sparse.sparsify import is_sparse as is_sparse
from ..._src.sparse.test_util import MATMUL_TOL as MATMUL_TOL
from ..._src.sparse.test_util import BatchedDotGeneralProperties as BatchedDotGeneralProperties
from ..._src.sparse.test_util import SparseLayout as SparseLayout
from ..._src.sparse.test_util import SparseTestCase as SparseTestCase
from ..._src.sparse.test_util import iter_bcsr_layouts as iter_bcsr_layouts
from ..._src.sparse.test_util import iter_sparse_layouts as iter_sparse_layouts
from ..._src.sparse.test_util import iter_subsets as iter_subsets
from ..._src.sparse.test_util import rand_bcoo as rand_bcoo
from ..._src.sparse.test_util import rand_bcsr as rand_bcsr
from ..._src.sparse.test_util import rand_sparse as rand_sparse
