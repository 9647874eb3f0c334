"""Checks of derivatives against finite differences, for functions of trees of arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..api.autodiff import jvp, vjp
from ..base import dtypes, tree, tree_keys
from ..core.avals import aval_of
from .compare import Disagreement, assert_close, host

# A number, numbers by dtype, or None for the default.
Tolerance = float | Mapping[Any, float] | None

# By the number of bits of a real: the step of differences, and how far results may differ from
# them.  The step is the cube root of the machine epsilon: there, the error h^2 f'''/6 of a central
# difference and the error eps f/h of rounding balance.  The difference allowed is some ten times
# the square root: far above the errors, far below what a wrong rule makes.
_STEP = {16: 0.1, 32: 5e-3, 64: 6e-6}
_TOLERANCE = {16: 0.2, 32: 2e-3, 64: 2e-7}

# How often a vjp is paired with random vectors: in one pairing an error may cancel.
_PAIRINGS = 3


def check_grads(
    f: Callable[..., Any],
    args: Sequence[Any],
    order: int,
    modes: str | Sequence[str] = ("fwd", "rev"),
    atol: Tolerance = None,
    rtol: Tolerance = None,
    eps: float | None = None,
) -> None:
    """Check the derivatives of a function, up to an order, against finite differences.

    Derivatives are taken in random directions. Those of higher order are checked as derivatives
    of the derivatives: with both modes, forward over reverse and every other combination.

    Args:
      f: a function of trees of arrays that returns a tree of arrays.
      args: a tuple of its arguments: where to differentiate. It must be smooth there.
      order: the highest order of derivatives, at least 1.
      modes: `"fwd"`, `"rev"`, or both.
      atol: the largest difference allowed, or a dict of it by dtype; by default it depends on the
        dtypes.
      rtol: the largest difference allowed relative to the derivative.
      eps: the distance of the two points of a difference; by default it depends on the dtypes.

    Raises:
      AssertionError: a derivative differs; the message says which, and by how much.

    >>> import covector as cv, covector.numpy as jnp
    >>> cv.test_util.check_grads(lambda x: x * jnp.sin(x), (jnp.arange(3.0),), order=2)
    """
    modes = (modes,) if isinstance(modes, str) else tuple(modes)
    unknown = set(modes) - {"fwd", "rev"}
    if unknown or order < 1:
        raise ValueError(
            f"[check_grads] modes are 'fwd' and 'rev', and the order is at least 1; but got the "
            f"modes {modes} and the order {order}."
        )
    _check_grads(f, tuple(args), order, modes, atol, rtol, eps, "f")


def _check_grads(
    f: Callable[..., Any],
    args: tuple[Any, ...],
    order: int,
    modes: tuple[str, ...],
    atol: Tolerance,
    rtol: Tolerance,
    eps: float | None,
    name: str,
) -> None:
    if "fwd" in modes:
        check_jvp(f, partial(jvp, f), args, atol, rtol, eps, f"jvp of {name}")
    if "rev" in modes:
        check_vjp(f, partial(vjp, f), args, atol, rtol, eps, f"vjp of {name}")
    if order == 1:
        return
    rng = np.random.default_rng(order)
    if "fwd" in modes:
        tangents = _directions(rng, args)
        along = lambda *args: jvp(f, args, tangents)[1]  # noqa: E731
        rest = f"(jvp of {name})"
        _check_grads(along, args, order - 1, modes, atol, rtol, eps, rest)
    if "rev" in modes:
        ct = _directions(rng, f(*args))
        against = lambda *args: vjp(f, *args)[1](ct)  # noqa: E731
        rest = f"(vjp of {name})"
        _check_grads(against, args, order - 1, modes, atol, rtol, eps, rest)


def check_jvp(
    f: Callable[..., Any],
    f_jvp: Callable[..., Any],
    args: Sequence[Any],
    atol: Tolerance = None,
    rtol: Tolerance = None,
    eps: float | None = None,
    err_msg: str = "",
) -> None:
    """Check a jvp of a function against a central difference in a random direction.

    Args:
      f: a function of trees of arrays that returns a tree of arrays.
      f_jvp: called as `f_jvp(primals, tangents)`; returns the result and its tangent. For
        instance `functools.partial(covector.jvp, f)`.
      args: a tuple of the arguments of `f`.
      atol, rtol, eps: as for `check_grads`.
      err_msg: what is checked, for the message.

    Raises:
      AssertionError: the result, or its tangent, differs.
    """
    args = tuple(args)
    tangents = _directions(np.random.default_rng(0), args)
    out, tangent = f_jvp(args, tangents)
    what = err_msg or "jvp"
    _assert_trees_close(out, f(*args), args, f"{what}: the result", atol, rtol)
    numeric = _difference(f, args, tangents, eps)
    _assert_trees_close(tangent, numeric, (args, out), f"{what}: the tangent", atol, rtol)


def check_vjp(
    f: Callable[..., Any],
    f_vjp: Callable[..., Any],
    args: Sequence[Any],
    atol: Tolerance = None,
    rtol: Tolerance = None,
    eps: float | None = None,
    err_msg: str = "",
) -> None:
    """Check a vjp of a function against a central difference: both are paired with random vectors.

    Args:
      f: a function of trees of arrays that returns a tree of arrays.
      f_vjp: called as `f_vjp(*args)`; returns the result and a function from a cotangent of the
        result to a tuple of cotangents of the arguments. For instance
        `functools.partial(covector.vjp, f)`.
      args: a tuple of the arguments of `f`.
      atol, rtol, eps: as for `check_grads`.
      err_msg: what is checked, for the message.

    Raises:
      AssertionError: the result, or the pairing `<J^T ct, v> = <ct, J v>`, differs.
    """
    args = tuple(args)
    what = err_msg or "vjp"
    out, pullback = f_vjp(*args)
    _assert_trees_close(out, f(*args), args, f"{what}: the result", atol, rtol)
    atol, rtol = (_tolerance(given, (args, out)) for given in (atol, rtol))
    rng = np.random.default_rng(0)
    for _ in range(_PAIRINGS):
        tangents, ct = _directions(rng, args), _directions(rng, out)
        numeric = _difference(f, args, tangents, eps)
        # The rounding errors of a sum are as large as its terms, which may cancel.
        terms = rtol * _pairing(tree.map(_magnitude, ct), tree.map(_magnitude, numeric))
        assert_close(
            _pairing(pullback(ct), tangents),
            _pairing(ct, numeric),
            f"{what}: <J^T ct, v> compared with <ct, J v>",
            rtol,
            atol + terms,
        )


# ---------------------------------------------------------------- numbers


def _directions(rng: np.random.Generator, values: Any) -> Any:
    """Random tangents of the leaves of a tree; those of integers are zero."""

    def draw(x: Any) -> np.ndarray:
        aval: Any = aval_of(x)
        dtype = dtypes.primal_tangent_dtype(aval.dtype)
        if dtype == dtypes.float0:
            return np.zeros(aval.shape, dtype)
        v = np.asarray(rng.standard_normal(aval.shape))
        if dtypes.issubdtype(dtype, np.complexfloating):
            v = v + 1j * rng.standard_normal(aval.shape)
        return v.astype(dtype)

    return tree.map(draw, values)


def _difference(f: Callable[..., Any], args: Any, tangents: Any, eps: float | None) -> Any:
    """The central difference of `f` in a direction, in double precision; of integers, zero."""
    h = max(_STEP[_bits(args)] if eps is None else eps / 2, 1e-300)

    def moved(by: float) -> Any:
        def move(x: Any, v: np.ndarray) -> Any:
            aval: Any = aval_of(x)
            return x if v.dtype == dtypes.float0 else (host(x) + by * host(v)).astype(aval.dtype)

        return f(*tree.map(move, args, tangents))

    def slope(ahead: Any, behind: Any) -> np.ndarray:
        aval: Any = aval_of(ahead)
        if not dtypes.issubdtype(aval.dtype, np.inexact):
            return np.zeros(aval.shape)
        return (host(ahead) - host(behind)) / (2 * h)

    return tree.map(slope, moved(h), moved(-h))


def _pairing(cts: Any, vs: Any) -> float:
    """<ct, v>, the sum of the products of all elements of two trees; its real part."""
    products = tree.map(lambda ct, v: np.sum(host(ct) * host(v)).real, cts, vs)
    return float(sum(tree.leaves(products)))


def _magnitude(x: Any) -> np.ndarray:
    return np.abs(host(x))


def _bits(values: Any) -> int:
    """The number of bits of the reals of the least precise leaf of a tree."""
    kinds = [aval_of(x).dtype for x in tree.leaves(values)]
    inexact = [dtype for dtype in kinds if dtypes.issubdtype(dtype, np.inexact)]
    return min([max(16, dtypes.finfo(dtype).bits) for dtype in inexact], default=64)


def _tolerance(given: Tolerance, values: Any) -> float:
    """A tolerance as a number; given by dtype, it is the largest for the dtypes of `values`."""
    default = _TOLERANCE[_bits(values)]
    if not isinstance(given, Mapping):
        return default if given is None else given
    by_name = {np.dtype(dtype).name: number for dtype, number in given.items()}
    names = {dtypes.name(dtypes.dtype_of(x)) for x in tree.leaves(values)}
    return max((by_name[name] for name in names if name in by_name), default=default)


def _assert_trees_close(
    got: Any, want: Any, values: Any, what: str, atol: Tolerance, rtol: Tolerance
) -> None:
    """Raise unless two trees agree as far as the precision of the leaves of `values` allows."""
    if tree.structure(got) != tree.structure(want):
        raise Disagreement(
            f"{what} has the structure {tree.structure(got)}, but should have "
            f"{tree.structure(want)}"
        )
    atol, rtol = (_tolerance(given, values) for given in (atol, rtol))
    for (path, x), y in zip(tree.leaves_with_path(got), tree.leaves(want)):
        assert_close(x, y, what + tree_keys.keystr(path), rtol, atol)
