"""Exchange of arrays with other libraries, through DLPack."""

from ._src.xla.dlpack import from_dlpack as from_dlpack
from ._src.xla.dlpack import is_supported_dtype as is_supported_dtype
