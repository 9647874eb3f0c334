"""Where eqns come from: places in the user's program, and the names of scopes."""

from .._src.api.source_info import current as current
from .._src.api.source_info import current_name_stack as current_name_stack
from .._src.api.source_info import new_name_stack as new_name_stack
from .._src.api.source_info import new_source_info as new_source_info
from .._src.api.source_info import reset_name_stack as reset_name_stack
from .._src.api.source_info import set_name_stack as set_name_stack
from .._src.api.source_info import summarize as summarize
from .._src.api.source_info import transform_name_stack as transform_name_stack
from .._src.api.source_info import user_context as user_context
from .._src.base.source import register_exclusion as register_exclusion
from .._src.core.jaxpr import SourceInfo as SourceInfo
from .._src.core.scopes import NameStack as NameStack
from .._src.core.trace import Scope

extend_name_stack = Scope
