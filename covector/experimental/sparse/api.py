"""Sparse arrays of any format."""

from ..._src.sparse.creation import empty as empty
from ..._src.sparse.creation import eye as eye
from ..._src.sparse.sparsify import todense as todense
from ..._src.sparse.sparsify import todense_p as todense_p
