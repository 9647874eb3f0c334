"""Covector measured against JAX, in one process and in turns: `python -m benchmarks`."""
