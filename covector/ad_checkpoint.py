"""Rematerialization: names, policies, and what a derivative keeps."""

from ._src.api.checkpoint import checkpoint as checkpoint
from ._src.api.checkpoint import print_saved_residuals as print_saved_residuals
from ._src.api.checkpoint import saved_residuals as saved_residuals
from ._src.api.checkpoint_policies import checkpoint_policies as checkpoint_policies
from ._src.control.checkpoint_policy import Offloadable as Offloadable
from ._src.control.checkpoint_policy import Recompute as Recompute
from ._src.control.checkpoint_policy import Saveable as Saveable
from ._src.ops.names import checkpoint_name as checkpoint_name
