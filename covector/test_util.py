"""Checks of derivatives against finite differences."""

from ._src.testing.grads import check_grads as check_grads
from ._src.testing.grads import check_jvp as check_jvp
from ._src.testing.grads import check_vjp as check_vjp
