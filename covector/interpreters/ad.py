"""Derivatives: tables of the primitives' rules, and symbolic zeros."""

from .._src.core.zeros import UndefinedPrimal as UndefinedPrimal
from .._src.core.zeros import Zero as Zero
from .._src.interpreters.ad import defbilinear as defbilinear
from .._src.interpreters.ad import defjvp as defjvp
from .._src.interpreters.ad import defjvp2 as defjvp2
from .._src.interpreters.ad import deflinear as deflinear
from .._src.interpreters.ad import deflinear2 as deflinear2
from .._src.interpreters.ad import get_primitive_transpose as get_primitive_transpose
from .._src.interpreters.ad import is_undefined_primal as is_undefined_primal
from .._src.interpreters.ad import jvp as jvp
from .._src.interpreters.ad import primitive_jvps as primitive_jvps
from .._src.interpreters.ad import primitive_transposes as primitive_transposes
from .._src.ops.linear import add_any as add_jaxvals
from .._src.ops.linear import add_any_p as add_jaxvals_p
from .._src.ops.linear import instantiate as instantiate_zeros
from .._src.ops.linear import zeros_of_aval as zeros_like_aval
from .._src.transforms.jvp import JVPTrace as JVPTrace
from .._src.transforms.jvp import JVPTracer as JVPTracer
from .._src.transforms.jvp import add_tangents as add_tangents
from .._src.transforms.linearize import linearize as linearize
