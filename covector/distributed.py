"""Programs of several processes: joining the others, and leaving them."""

from ._src.distributed.initialize import initialize as initialize
from ._src.distributed.initialize import is_initialized as is_initialized
from ._src.distributed.initialize import shutdown as shutdown

__all__ = ["initialize", "is_initialized", "shutdown"]
