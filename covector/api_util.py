"""Helpers for libraries that write transformations of their own."""

from ._src.api.linear_util import argnums_partial as argnums_partial
from ._src.api.linear_util import flatten_fun as flatten_fun
from ._src.api.linear_util import flatten_fun_nokwargs as flatten_fun_nokwargs
from ._src.api.utilities import debug_info as debug_info
from ._src.api.utilities import donation_vector as donation_vector
from ._src.api.utilities import flatten_axes as flatten_axes
from ._src.api.utilities import rebase_donate_argnums as rebase_donate_argnums
from ._src.api.utilities import safe_map as safe_map
from ._src.api.utilities import shaped_abstractify as shaped_abstractify
