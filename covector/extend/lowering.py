"""What rules write modules with."""

from .._src.xla.emitter import Emitter as LoweringRuleContext
from .._src.xla.extending import JaxIrContext as JaxIrContext
from .._src.xla.extending import upstream_dialects as upstream_dialects

__all__ = ["JaxIrContext", "LoweringRuleContext", "upstream_dialects"]
