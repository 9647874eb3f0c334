"""Shardings in the compiler's words."""

from .._src.xla.gspmd import GSPMDSharding as GSPMDSharding
from .._src.xla.gspmd import (
    get_hlo_sharding_from_serialized_proto as get_hlo_sharding_from_serialized_proto,
)
from .._src.xla.gspmd import (
    get_op_sharding_from_serialized_proto as get_op_sharding_from_serialized_proto,
)
from .._src.xla.gspmd import (
    get_serialized_proto_from_hlo_sharding as get_serialized_proto_from_hlo_sharding,
)
