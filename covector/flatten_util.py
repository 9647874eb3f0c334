"""Trees of arrays as vectors."""

from ._src.numpy.ravel import ravel_pytree as ravel_pytree
