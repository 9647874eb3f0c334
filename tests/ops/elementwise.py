"""What the tests of elementwise ops share: the ops, grids of numbers, and the comparison."""

import contextlib
import itertools

import ml_dtypes  # noqa: F401  makes bfloat16 known to NumPy
import numpy as np

from covector import lax
from covector._src.base import config, dtypes
from covector._src.ops.families import Elementwise

# The names under which the functions are public, where they are not those of the primitives.
PUBLIC = {"not": "bitwise_not", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor"}
# Primitives with parameters, and those that have no function; they have tests of their own.
SPECIAL = {
    *("conj", "round", "integer_pow", "reduce_precision", "bitcast_convert_type"),
    # More accurate than JAX's: tests/ops/test_special_functions.py.
    *(
        "bessel_i1e",
        "igamma",
        "igammac",
        "igamma_grad_a",
        "random_gamma_grad",
        "regularized_incomplete_beta",
    ),
    "zeta",  # has a derivative in one operand only
}
WITHOUT_FUNCTION = {"eq_to", "le_to", "lt_to"}

PRIMITIVES = {
    p.name: p for p in vars(lax).values() if isinstance(p, Elementwise) and p.name not in SPECIAL
}
FUNCTIONS = {
    PUBLIC.get(name, name): p for name, p in PRIMITIVES.items() if name not in WITHOUT_FUNCTION
}
DTYPES = [
    np.dtype(name)
    for name in (
        *("float32", "bfloat16", "float16", "float64", "complex64"),
        *("int32", "int8", "uint8", "uint32", "bool"),
    )
]

REALS = [0.0, -0.0, 0.25, -0.25, 0.9, 1.0, -1.0, 1.5, -2.5, 3.0, 17.0, -80.0, 1e-3, 1e4]
NOT_NUMBERS = [np.inf, -np.inf, np.nan]
PARTS = [0.0, -0.0, 1.0, -0.5, 2.0, 100.0, np.inf, -np.inf, np.nan]
WHOLE = [0, 1, 2, 3, 7, 31, 32, 100, 127]


def accepts(primitive, dtype):
    return any(dtypes.issubdtype(dtype, kind) for kind in primitive.accepts)


def numbers(dtype):
    """Numbers of a dtype, among them those where functions behave in their own way."""
    if dtype == np.bool_:
        return np.array([False, True])
    if dtypes.issubdtype(dtype, np.integer):
        info = np.iinfo(dtype)
        signed = [] if info.min == 0 else [-1, -2, -7, -128]
        return np.array([*WHOLE, *signed, info.min, info.max], dtype)
    if dtypes.issubdtype(dtype, np.complexfloating):
        pairs = itertools.product(PARTS, PARTS)
        return np.array([complex(re, im) for re, im in pairs], dtype)
    return np.array([*REALS, *NOT_NUMBERS], dtype)


def operands(primitive, dtype):
    """All numbers, or all pairs of numbers, as operands of a primitive."""
    if primitive.arity == 1:
        return [numbers(dtype)]
    values = numbers(dtype)
    if dtypes.issubdtype(dtype, np.complexfloating):
        values = values[np.isfinite(values)]
    return [side.reshape(-1) for side in np.meshgrid(values, values, indexing="ij")]


@contextlib.contextmanager
def width_of(jax, *dtypes):
    """Both libraries with 64-bit dtypes, if one of the dtypes is such."""
    wide = any(np.dtype(dtype) in (np.float64, np.complex128, np.int64) for dtype in dtypes)
    with config.enable_x64(wide), jax.enable_x64(wide):
        yield


def assert_equal(got, want, what, ulps=4):
    """Raise unless two results have one type, and agree but for rounding, NaN with NaN."""
    assert got.dtype == want.dtype and got.shape == want.shape, what
    assert bool(got.weak_type) == bool(want.weak_type), f"weak type of {what}"
    got, want = np.asarray(got), np.asarray(want)
    if "gamma" in what:
        # The derivatives of digamma vanish at infinity, where XLA, and so JAX, gives NaN.
        want = np.where(np.isnan(want) & (got == 0), got, want)
    if not dtypes.issubdtype(got.dtype, np.inexact):
        np.testing.assert_array_equal(got, want, err_msg=what)
        return
    eps = float(dtypes.finfo(got.dtype).eps)
    wide = np.complex128 if dtypes.issubdtype(got.dtype, np.complexfloating) else np.float64
    np.testing.assert_allclose(
        got.astype(wide), want.astype(wide), rtol=ulps * eps, atol=0, err_msg=what
    )
    if wide is np.float64:
        numbers = ~np.isnan(got)
        np.testing.assert_array_equal(
            np.signbit(got[numbers]), np.signbit(want[numbers]), err_msg=f"signs of {what}"
        )


def outcome(function, *args):
    """What a function returns, or the type of the error that it raises."""
    try:
        return function(*args)
    except (TypeError, ValueError) as error:
        return type(error)
