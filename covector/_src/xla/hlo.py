"""XLA's own form of a program, HLO, and what XLA estimates of it."""

from __future__ import annotations

from typing import Any

from .native import _jax


def to_hlo(module: Any) -> Any:
    """A StableHLO module as jaxlib's object for an HLO computation."""
    text = module.operation.get_asm(enable_debug_info=False)
    return _jax.mlir.mlir_module_to_xla_computation(text, use_tuple_args=False, return_tuple=False)


def cost_of(device: Any, computation: Any) -> dict[str, float]:
    """XLA's estimates of what a computation costs: `flops`, `bytes accessed`, ..."""
    return _jax.hlo_module_cost_analysis(device.client, computation.as_hlo_module())
