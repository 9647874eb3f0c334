"""Compilation: rules that write primitives as StableHLO, and what such rules need."""

from typing import Any as _Any

from .._src.sharding.mesh import Mesh as Mesh
from .._src.xla.emitter import Emitter as LoweringRuleContext
from .._src.xla.ir_values import DEVICE_TO_DEVICE_TYPE as DEVICE_TO_DEVICE_TYPE
from .._src.xla.ir_values import RECV_FROM_HOST_TYPE as RECV_FROM_HOST_TYPE
from .._src.xla.ir_values import SEND_TO_HOST_TYPE as SEND_TO_HOST_TYPE
from .._src.xla.ir_values import aval_to_ir_type as aval_to_ir_type
from .._src.xla.ir_values import aval_to_ir_types as aval_to_ir_types
from .._src.xla.ir_values import dense_int_array as dense_int_array
from .._src.xla.ir_values import dense_int_elements as dense_int_elements
from .._src.xla.ir_values import dtype_to_ir_type as dtype_to_ir_type
from .._src.xla.ir_values import flatten_ir_types as flatten_ir_types
from .._src.xla.ir_values import i32_attr as i32_attr
from .._src.xla.ir_values import i64_attr as i64_attr
from .._src.xla.ir_values import ir_attribute as ir_attribute
from .._src.xla.ir_values import ir_constant as ir_constant
from .._src.xla.ir_values import ir_constants as ir_constants
from .._src.xla.ir_values import make_ir_context as make_ir_context
from .._src.xla.ir_values import module_to_bytecode as module_to_bytecode
from .._src.xla.ir_values import module_to_string as module_to_string
from .._src.xla.ir_values import register_constant_handler as register_constant_handler
from .._src.xla.ir_values import shape_tensor as shape_tensor
from .._src.xla.ir_values import token_type as token_type
from .._src.xla.ir_values import unflatten_ir_values_like_types as unflatten_ir_values_like_types
from .._src.xla.merging import merge_mlir_modules as merge_mlir_modules
from .._src.xla.mlir import ir as ir
from .._src.xla.module import ModuleContext as ModuleContext
from .._src.xla.tokens import TokenSet as TokenSet
from .._src.xla.tokens import lowerable_effects as lowerable_effects
from .._src.xla.user_lowering import core_call_lowering as core_call_lowering
from .._src.xla.user_lowering import emit_python_callback as emit_python_callback
from .._src.xla.user_lowering import flatten_ir_values as flatten_ir_values
from .._src.xla.user_lowering import jaxpr_subcomp as jaxpr_subcomp
from .._src.xla.user_lowering import lower_fun as lower_fun
from .._src.xla.user_lowering import register_lowering as register_lowering

MeshAxisName = _Any
LoweringRule = _Any
ConstantHandler = _Any
Value = ir.Value
Token = ir.Value
