"""Covector under the name of JAX, for libraries that were written for JAX."""
