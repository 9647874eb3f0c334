"""Looking into programs while they run."""

from ._src.api.breakpoint import breakpoint as breakpoint
from ._src.api.debugging import debug_callback, debug_log, debug_print
from ._src.api.pictures import inspect_array_sharding as inspect_array_sharding
from ._src.api.pictures import visualize_array as visualize_array
from ._src.api.pictures import visualize_array_sharding as visualize_array_sharding
from ._src.api.pictures import visualize_sharding as visualize_sharding
from ._src.control.debug_callbacks import DebugEffect as DebugEffect
from ._src.control.debug_callbacks import OrderedDebugEffect as OrderedDebugEffect

callback, log, print = debug_callback, debug_log, debug_print
