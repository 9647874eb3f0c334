"""Trees of arrays as vectors."""

from ._src.api.ravel import ravel_pytree as ravel_pytree
