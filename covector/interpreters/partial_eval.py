"""Jaxprs: making them of functions, and dropping from them what is not used."""

from typing import Any as _Any

from .._src.interpreters.partial_eval import PartialVal as PartialVal
from .._src.interpreters.partial_eval import dce_jaxpr as dce_jaxpr
from .._src.interpreters.partial_eval import dce_jaxpr_call_rule as dce_jaxpr_call_rule
from .._src.interpreters.partial_eval import (
    dce_jaxpr_closed_call_rule as dce_jaxpr_closed_call_rule,
)
from .._src.interpreters.partial_eval import dce_jaxpr_consts as dce_jaxpr_consts
from .._src.interpreters.partial_eval import dce_rules as dce_rules
from .._src.interpreters.partial_eval import trace_to_jaxpr_dynamic as trace_to_jaxpr_dynamic
from .._src.interpreters.partial_eval import trace_to_jaxpr_nounits as trace_to_jaxpr_nounits
from .._src.transforms.stage import JaxprTracer as DynamicJaxprTracer
from .._src.transforms.stage import JaxprTracer as JaxprTracer

Val = _Any
