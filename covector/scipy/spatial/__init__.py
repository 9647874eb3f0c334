"""Geometry in space."""

from . import transform as transform
