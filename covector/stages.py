"""The stages of a jitted function: traced, lowered, compiled."""

from ._src.api.jit import JitFunction as Wrapped
from ._src.api.stages import ArgInfo as ArgInfo
from ._src.api.stages import Compiled as Compiled
from ._src.api.stages import CompilerOptions as CompilerOptions
from ._src.api.stages import Lowered as Lowered
from ._src.api.stages import Traced as Traced

__all__ = ["ArgInfo", "Compiled", "CompilerOptions", "Lowered", "Traced", "Wrapped"]
