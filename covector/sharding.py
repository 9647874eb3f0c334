"""How arrays are spread over devices."""

from ._src.xla.placement import Sharding as Sharding
from ._src.xla.placement import SingleDeviceSharding as SingleDeviceSharding
