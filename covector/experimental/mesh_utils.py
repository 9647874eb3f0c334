"""Arrays of devices, to make meshes of."""

from .._src.api.sharding import create_device_mesh as create_device_mesh
from .._src.api.sharding import create_hybrid_device_mesh as create_hybrid_device_mesh
