"""Rotations in space, and interpolation between them, under SciPy's names."""

from ..._src.scipy.spatial.rotation import Rotation as Rotation
from ..._src.scipy.spatial.slerp import Slerp as Slerp
