"""Checks for those who write derivatives, or primitives of their own."""

from ._src.ops.base import Sample as Sample
from ._src.testing.grads import check_grads as check_grads
from ._src.testing.grads import check_jvp as check_jvp
from ._src.testing.grads import check_vjp as check_vjp
from ._src.testing.report import Report as Report
from ._src.testing.report import Row as Row
from ._src.testing.report import check_primitive as check_primitive
