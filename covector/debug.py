"""Looking into programs while they run."""

from ._src.api.breakpoint import breakpoint as breakpoint
from ._src.api.debugging import debug_callback as callback
from ._src.api.debugging import debug_log as log
from ._src.api.debugging import debug_print as print
from ._src.control.debug_callbacks import DebugEffect as DebugEffect
from ._src.control.debug_callbacks import OrderedDebugEffect as OrderedDebugEffect
