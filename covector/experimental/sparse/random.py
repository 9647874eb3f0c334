"""Random sparse arrays."""

from ..._src.sparse.creation import random_bcoo as random_bcoo
