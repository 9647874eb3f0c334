"""`minimize`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ...api.gradients import value_and_grad
from ...base import optimize_errors as errors
from ...core.array import Array
from ...core.avals import aval_of
from ...numpy.joining import concatenate, split
from ...numpy.linear_algebra.operands import inexact_array
from ...ops.complex import complex as complex_of
from ...ops.complex import is_complex
from .quasi_newton import CONVERGED, State, minimize_bfgs, minimize_lbfgs


class OptimizeResults(NamedTuple):
    """What a minimization has come to.

    Attributes:
      x: the point of the least value.
      success: whether the gradient there is small enough.
      status: 0 if so; 1 if there were too many steps, 2 or 3 too many calls, 4 if the value hardly
        changed, 5 if no step along the last direction lowered it.
      fun, jac: the value and the gradient at `x`.
      hess_inv: an estimate of the inverse of the Hessian, or None.
      nfev, njev: how often function and gradient were computed.
      nit: how many steps were made.
    """

    x: Any
    success: Any
    status: Any
    fun: Any
    jac: Any
    hess_inv: Any
    nfev: Any
    njev: Any
    nit: Any


METHODS: dict[str, Callable[..., State]] = {
    "bfgs": minimize_bfgs,
    "l-bfgs-experimental-do-not-rely-on-this": minimize_lbfgs,
}
ALIASES = {"l-bfgs": "l-bfgs-experimental-do-not-rely-on-this"}


def minimize(
    fun: Callable[..., Any],
    x0: Array,
    args: tuple[Any, ...] = (),
    *,
    method: str,
    tol: float | None = None,
    options: Mapping[str, Any] | None = None,
) -> OptimizeResults:
    """Find a local minimum of a function of a vector.

    Works under `jit` and `vmap`, and is differentiated in both modes. Complex numbers are taken for
    pairs of real ones, of which `hess_inv` has first the real parts, then the imaginary parts.

    Args:
      fun: the function, of a vector and `args`, differentiable, to a number.
      x0: an array of shape `(n,)`, where to start.
      args: further arguments.
      method: `"BFGS"`, or `"l-bfgs"`, which stores ten pairs of vectors instead of a matrix.
      tol: sets the option `gtol`.
      options: `gtol` (1e-5): the method ends where `norm` (infinity: an order of
        `numpy.linalg.norm`) of the gradient is less; `maxiter`: how many steps there may be, by
        default 200 n; of BFGS `line_search_maxiter` (10), how many lengths each may try; of l-bfgs
        `maxls` (20) for that, `maxcor` (10), how many pairs are stored, `ftol`, the least progress
        of a step, `maxfun` and `maxgrad`, bounds of calls.

    Returns:
      The result; `success` tells whether there is a small gradient.

    Raises:
      TypeError: `args` is no tuple.
      ValueError: `x0` is no vector, or there is no such method or option.

    >>> import covector.numpy as jnp, covector.scipy as jsp
    >>> result = jsp.optimize.minimize(lambda x: ((x - 3) ** 2).sum(), jnp.zeros(2), method="BFGS")
    >>> print(result.x.round(4), result.success)
    [3. 3.] True
    """
    if not isinstance(args, tuple):
        raise TypeError(errors.args_tuple(args))
    name = ALIASES.get(method.lower(), method.lower())
    if name not in METHODS:
        raise ValueError(errors.unknown_method(method, ["BFGS", "l-bfgs"]))
    run = METHODS[name]
    options = dict(options or {})
    known = [p for p in inspect.signature(run).parameters if p not in ("fun", "x0")]
    if unknown := [o for o in options if o not in known]:
        raise ValueError(errors.unknown_option(method, unknown, known))
    if tol is not None:
        options.setdefault("gtol", tol)
    x0 = inexact_array("minimize", x0)
    if x0.ndim != 1:
        raise ValueError(errors.not_a_vector(x0.shape))

    complex_ = is_complex(x0.dtype)

    def value(x: Any) -> Any:
        return _number(fun(_joined(x) if complex_ else x, *args))

    end = run(value_and_grad(value), _split(x0) if complex_ else x0, **options)
    return OptimizeResults(
        x=_joined(end.x) if complex_ else end.x,
        success=end.status == CONVERGED,
        status=end.status,
        fun=end.value,
        # The derivative by the real part, minus i times that by the imaginary part: as of `grad`.
        jac=_joined(end.gradient).conj() if complex_ else end.gradient,
        hess_inv=end.memory.matrix if name == "bfgs" else None,
        nfev=end.calls,
        njev=end.calls,
        nit=end.steps,
    )


def _split(x: Any) -> Any:
    """Complex numbers as their real parts, followed by their imaginary parts."""
    return concatenate([x.real, x.imag])


def _joined(x: Any) -> Any:
    return complex_of(*split(x, 2))


def _number(value: Any) -> Any:
    if np.shape(value):
        raise ValueError(errors.not_scalar(aval_of(value).shape))
    return value
