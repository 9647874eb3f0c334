"""Clusters of vectors."""

from . import vq as vq
