"""How arrays are spread over devices."""

from ._src.api.meshes import get_mesh as get_mesh
from ._src.api.meshes import set_mesh as set_mesh
from ._src.api.meshes import use_abstract_mesh as use_abstract_mesh
from ._src.api.sharding import auto_axes as auto_axes
from ._src.api.sharding import explicit_axes as explicit_axes
from ._src.api.sharding import make_single_device_sharding as make_single_device_sharding
from ._src.api.sharding import reshard as reshard
from ._src.sharding.base import Sharding as Sharding
from ._src.sharding.mesh import AbstractDevice as AbstractDevice
from ._src.sharding.mesh import AbstractMesh as AbstractMesh
from ._src.sharding.mesh import AxisType as AxisType
from ._src.sharding.mesh import Mesh as Mesh
from ._src.sharding.mesh import get_abstract_mesh as get_abstract_mesh
from ._src.sharding.named import NamedSharding as NamedSharding
from ._src.sharding.spec import PartitionSpec as PartitionSpec
from ._src.xla.placement import SingleDeviceSharding as SingleDeviceSharding
