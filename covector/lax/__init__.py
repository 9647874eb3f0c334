"""Primitive operations: strict about shapes and dtypes, each close to one operation of XLA."""

from __future__ import annotations
