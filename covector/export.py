"""Programs that can be stored, and called without the functions they were made from.

>>> import covector as cv, covector.numpy as jnp
>>> from covector import export
>>> data = export.export(cv.jit(jnp.sin))(jnp.zeros(3)).serialize()
>>> print(export.deserialize(data).call(jnp.zeros(3)))
[0. 0. 0.]
"""

from ._src.base.dim_scope import SymbolicScope as SymbolicScope
from ._src.base.dims import is_symbolic_dim as is_symbolic_dim
from ._src.export.exported import Exported as Exported
from ._src.export.exported import deserialize as deserialize
from ._src.export.exporting import default_export_platform as default_export_platform
from ._src.export.exporting import export as export
from ._src.export.exporting import (
    maximum_supported_calling_convention_version as maximum_supported_calling_convention_version,
)
from ._src.export.exporting import (
    minimum_supported_calling_convention_version as minimum_supported_calling_convention_version,
)
from ._src.export.safety import DisabledSafetyCheck as DisabledSafetyCheck
from ._src.export.shapes import symbolic_args_specs as symbolic_args_specs
from ._src.export.shapes import symbolic_shape as symbolic_shape
from ._src.export.trees import (
    register_namedtuple_serialization as register_namedtuple_serialization,
)
from ._src.export.trees import (
    register_pytree_node_serialization as register_pytree_node_serialization,
)
