"""Functions with derivative rules of their own, and what their rules are given."""

from ._src.api.closures import closure_convert as closure_convert
from ._src.api.custom_derivatives import CustomVJPPrimal as CustomVJPPrimal
from ._src.api.custom_derivatives import SymbolicZero as SymbolicZero
from ._src.api.custom_derivatives import custom_gradient as custom_gradient
from ._src.api.custom_derivatives import custom_jvp as custom_jvp
from ._src.api.custom_derivatives import custom_vjp as custom_vjp
from ._src.api.custom_derivatives import (
    custom_vjp_primal_tree_values as custom_vjp_primal_tree_values,
)
from ._src.api.custom_derivatives import zero_from_primal as zero_from_primal
from ._src.api.linear_call import linear_call as linear_call
from ._src.control.custom_jvp import custom_jvp_call_p as custom_jvp_call_p
from ._src.control.custom_vjp import custom_vjp_call_p as custom_vjp_call_p
