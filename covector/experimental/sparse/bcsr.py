"""BCSR arrays and functions of them."""

from ..._src.sparse.bcsr import BCSR as BCSR
from ..._src.sparse.bcsr import bcsr_broadcast_in_dim as bcsr_broadcast_in_dim
from ..._src.sparse.bcsr import bcsr_concatenate as bcsr_concatenate
from ..._src.sparse.bcsr import bcsr_dot_general as bcsr_dot_general
from ..._src.sparse.bcsr import bcsr_eliminate_zeros as bcsr_eliminate_zeros
from ..._src.sparse.bcsr import bcsr_extract as bcsr_extract
from ..._src.sparse.bcsr import bcsr_fromdense as bcsr_fromdense
from ..._src.sparse.bcsr import bcsr_sum_duplicates as bcsr_sum_duplicates
from ..._src.sparse.bcsr import bcsr_todense as bcsr_todense
from ..._src.sparse.info import BCSRProperties as BCSRProperties
