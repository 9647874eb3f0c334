"""Jaxprs and primitives, for those who transform programs or add operations of their own.

>>> import covector as cv
>>> from covector.extend import core
>>> closed = cv.make_jaxpr(lambda x: cv.lax.neg(x))(1.0)
>>> [eqn.primitive.name for eqn in closed.eqns]
['neg']
>>> print(core.jaxpr_as_fun(closed)(2.0)[0])
-2.0
"""

from ..._src.api.extending import TraceTag as TraceTag
from ..._src.api.extending import array_types as array_types
from ..._src.api.extending import axis_names as unsafe_get_axis_names_DO_NOT_USE
from ..._src.api.extending import concrete_or_error as concrete_or_error
from ..._src.api.extending import find_top_trace as find_top_trace
from ..._src.api.extending import gensym as gensym
from ..._src.api.extending import get_opaque_trace_state as get_opaque_trace_state
from ..._src.api.extending import is_under_jit as unsafe_am_i_under_a_jit_DO_NOT_USE
from ..._src.api.extending import is_under_vmap as unsafe_am_i_under_a_vmap_DO_NOT_USE
from ..._src.api.extending import mapped_aval as mapped_aval
from ..._src.api.extending import nonempty_axis_env as nonempty_axis_env_DO_NOT_USE
from ..._src.api.extending import primal_dtype_to_tangent_dtype as primal_dtype_to_tangent_dtype
from ..._src.api.extending import take_current_trace as take_current_trace
from ..._src.api.extending import unmapped_aval as unmapped_aval
from ..._src.api.extending import valid_jaxtype as valid_jaxtype
from ..._src.base.errors import InconclusiveDimensionOperation as InconclusiveDimensionOperation
from ..._src.base.errors import JaxprTypeError as JaxprTypeError
from ..._src.control.call import CallPrimitive as CallPrimitive
from ..._src.control.call import call_impl as call_impl
from ..._src.core.avals import AbstractToken as AbstractToken
from ..._src.core.avals import Token as Token
from ..._src.core.check import check_jaxpr as check_jaxpr
from ..._src.core.effects import Effect as Effect
from ..._src.core.effects import Effects as Effects
from ..._src.core.effects import no_effects as no_effects
from ..._src.core.jaxpr import ClosedJaxpr as ClosedJaxpr
from ..._src.core.jaxpr import DebugInfo as DebugInfo
from ..._src.core.jaxpr import DropVar as DropVar
from ..._src.core.jaxpr import Jaxpr as Jaxpr
from ..._src.core.jaxpr import JaxprEqn as JaxprEqn
from ..._src.core.jaxpr import Literal as Literal
from ..._src.core.jaxpr import Var as Var
from ..._src.core.jaxpr import jaxpr_as_fun as jaxpr_as_fun
from ..._src.core.jaxpr import jaxprs_in_params as jaxprs_in_params
from ..._src.core.jaxpr import new_jaxpr_eqn as new_jaxpr_eqn
from ..._src.core.jaxpr import subjaxprs as subjaxprs
from ..._src.core.trace import current_trace as set_current_trace
from ..._src.core.user_primitive import Primitive as Primitive
from . import primitives as primitives
