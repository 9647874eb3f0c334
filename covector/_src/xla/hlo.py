"""XLA's own form of a program, HLO, and what XLA estimates of it."""

from __future__ import annotations

from typing import Any

from .native import _hlo, _jax


def to_hlo(module: Any) -> Any:
    """A StableHLO module as jaxlib's object for an HLO computation."""
    text = module.operation.get_asm(enable_debug_info=True)
    return _jax.mlir.mlir_module_to_xla_computation(text, use_tuple_args=False, return_tuple=False)


def hlo_text(computation: Any, metadata: bool = False) -> str:
    """An HLO computation as text; `metadata` says for each operation where it came from."""
    options = _hlo.HloPrintOptions.short_parsable()
    options.print_metadata = metadata
    return computation.as_hlo_module().to_string(options)


def cost_of(device: Any, computation: Any) -> dict[str, float]:
    """XLA's estimates of what a computation costs: `flops`, `bytes accessed`, ..."""
    return _jax.hlo_module_cost_analysis(device.client, computation.as_hlo_module())
