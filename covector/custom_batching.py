"""Functions that `vmap` maps in a way of their own."""

from ._src.api.custom_batching import custom_vmap as custom_vmap
from ._src.api.custom_batching import sequential_vmap as sequential_vmap
