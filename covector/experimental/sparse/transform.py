"""Functions of dense arrays as functions of sparse ones."""

from ..._src.sparse.sparsify import sparsify as sparsify
