"""What the tests of the NumPy layer share: arrays of every kind, and the comparison with JAX.

A call is a function of a module, `covector.numpy` or `jax.numpy`, and of arrays.  Types are
compared without running anything; values in one compiled program for many calls, and some of them
once more one by one, since concrete operands take another path.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes  # noqa: F401  makes bfloat16 known to NumPy
import numpy as np

import covector
import covector.numpy as jnp
from covector._src.base import dtypes

DTYPES = ("bool", "int8", "uint8", "int32", "uint32", "float16", "bfloat16", "float32", "complex64")
NUMBERS = (True, 2, 2.5, 1j)
Call = Callable[..., Any]


def array(shape: tuple[int, ...], dtype: str, seed: int = 0) -> np.ndarray:
    """Numbers of a dtype, the same for the same arguments."""
    rng = np.random.default_rng([seed, *shape, *dtype.encode()])
    values, kind = rng.uniform(-3, 4, shape), np.dtype(dtype)
    if dtype == "bool":
        return values > 0
    if dtypes.issubdtype(kind, np.unsignedinteger):
        return np.abs(np.round(values)).astype(kind)
    if dtypes.issubdtype(kind, np.integer):
        return np.round(values).astype(kind)
    if dtypes.issubdtype(kind, np.complexfloating):
        return (values + 1j * rng.uniform(-3, 4, shape)).astype(kind)
    return np.asarray(values).astype(kind)


# ---------------------------------------------------------------- types


def _described(leaf: Any) -> tuple[Any, ...]:
    """Dtype, shape and weakness; that of booleans, which means nothing, is left out."""
    weak = bool(leaf.weak_type) and leaf.dtype != bool
    return str(np.dtype(leaf.dtype)), tuple(leaf.shape), weak


def _types(module: Any, numpy: Any, call: Call, args: tuple[Any, ...]) -> Any:
    try:
        result = module.eval_shape(lambda *xs: call(numpy, *xs), *args)
    except (TypeError, ValueError, IndexError, NotImplementedError, OverflowError) as error:
        return error
    return [_described(leaf) for leaf in module.tree.leaves(result)]


def assert_same_type(jax: Any, call: Call, *args: Any, what: str = "") -> None:
    """Raise unless a call gives arrays of the types that JAX's are of, or the kind of its error."""
    ours = _types(covector, jnp, call, args)
    theirs = _types(jax, jax.numpy, call, args)
    if isinstance(ours, Exception) or isinstance(theirs, Exception):
        kinds = [type(x) if isinstance(x, Exception) else x for x in (ours, theirs)]
        assert isinstance(ours, Exception) and isinstance(theirs, Exception), (what, kinds, ours)
        assert issubclass(type(ours), type(theirs)), (what, kinds)
    else:
        assert ours == theirs, (what, ours, theirs)


# ---------------------------------------------------------------- values


def assert_close(got: Any, want: Any, what: str, ulps: float = 16) -> None:
    """Raise unless two results are equal but for rounding, NaN with NaN; in trees, leaf by leaf."""
    if isinstance(want, (tuple, list)):
        assert len(got) == len(want), what
        for g, w in zip(got, want):
            assert_close(g, w, what, ulps)
        return
    if not hasattr(want, "dtype"):
        assert got == want, what
        return
    assert got.dtype == want.dtype and got.shape == want.shape, (what, got, want)
    got, want = np.asarray(got), np.asarray(want)
    if not dtypes.issubdtype(got.dtype, np.inexact):
        np.testing.assert_array_equal(got, want, err_msg=what)
        return
    eps = float(dtypes.finfo(got.dtype).eps)
    wide = np.complex128 if got.dtype.kind == "c" else np.float64
    np.testing.assert_allclose(
        got.astype(wide), want.astype(wide), rtol=ulps * eps, atol=ulps * eps, err_msg=what
    )


def assert_same_values(
    jax: Any, calls: dict[str, tuple[Call, tuple[Any, ...]]], ulps: float = 16, alone: int = 0
) -> None:
    """Compare named calls with JAX's, all in one program of each library.

    One call of each `alone` is compared once more, by itself and op by op.
    """
    args = [xs for _, xs in calls.values()]

    def program(numpy: Any) -> Call:
        return lambda args: [call(numpy, *xs) for (call, _), xs in zip(calls.values(), args)]

    ours = covector.jit(program(jnp))(args)
    theirs = jax.jit(program(jax.numpy))(args)
    for i, (name, got, want) in enumerate(zip(calls, ours, theirs, strict=True)):
        assert_close(got, want, name, ulps)
        if alone and i % alone == 0:
            call, xs = calls[name]
            assert_close(call(jnp, *xs), want, f"{name}, alone", ulps)
