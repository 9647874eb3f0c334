"""The language of traced programs: types of values, traces, and the evaluation of jaxprs.

What one needs to make and take apart jaxprs stands in `covector.extend.core`.
"""

from typing import Any as _Any

from ._src.api.extending import eval_context as eval_context
from ._src.api.tracing import ensure_compile_time_eval as ensure_compile_time_eval
from ._src.base.dims import max_dim as max_dim
from ._src.base.dims import min_dim as min_dim
from ._src.core.avals import AbstractValue as AbstractValue
from ._src.core.avals import ShapedArray as ShapedArray
from ._src.core.jaxpr import Atom as Atom
from ._src.core.jaxpr import eval_jaxpr as eval_jaxpr
from ._src.core.trace import Trace as Trace
from ._src.core.trace import Tracer as Tracer

ParamDict = dict[str, _Any]
Value = _Any
