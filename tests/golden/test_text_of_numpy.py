"""The text of programs written with NumPy's functions and operators.

Functions that JAX wraps in a `jit` of their own (`where`, `clip`, `std`, ...) are written out here,
and are not compared.
"""

from __future__ import annotations

import numpy as np
import pytest

import covector.numpy

X = np.arange(3, dtype=np.float32)
A = np.arange(6, dtype=np.float32).reshape(2, 3)
B = np.arange(12, dtype=np.float32).reshape(3, 4)
N = np.arange(3, dtype=np.int32)
P = np.array([True, False, True])
H = np.arange(3, dtype=np.float16)
STACKS = np.ones((2, 2, 3), np.float32), np.ones((2, 3, 4), np.float32)

UNARY = (
    *("abs", "all", "any", "arcsin", "arctan", "argmax", "argmin", "cbrt", "ceil", "conj", "cos"),
    *("cosh", "deg2rad", "exp", "exp2", "expm1", "floor", "isfinite", "isnan", "log", "log1p"),
    *("max", "mean", "min", "negative", "ones_like", "prod", "ravel", "real", "reciprocal", "sign"),
    *("sin", "sinh", "sqrt", "square", "sum", "tan", "tanh", "transpose", "zeros_like"),
)

FUNCTIONS = {
    # operators and promotion
    "plus a number": (lambda m: lambda x: x + 1, (X,)),
    "times an integer": (lambda m: lambda x: x * 2, (X,)),
    "number minus array": (lambda m: lambda x: 1 - x, (X,)),
    "divided": (lambda m: lambda x: x / 2, (X,)),
    "integers divided": (lambda m: lambda x: x / 2, (N,)),
    "squared": (lambda m: lambda x: x**2, (X,)),
    "cubed": (lambda m: lambda x: x**3, (X,)),
    "to a fractional power": (lambda m: lambda x: x**2.5, (X,)),
    "negated": (lambda m: lambda x: -x, (X,)),
    "absolute": (lambda m: lambda x: abs(x), (X,)),
    "compared": (lambda m: lambda x: (x > 1, x == 0, x <= 2, x != 1), (X,)),
    "logic": (lambda m: lambda x, y: (x & y, x | y, ~x, x ^ y), (P, P)),
    "floats and integers": (lambda m: lambda x, y: x + y, (X, N)),
    "floats and booleans": (lambda m: lambda x, y: x + y, (X, P)),
    "sine of integers": (lambda m: lambda x: m.numpy.sin(x), (N,)),
    "known factor": (lambda m: lambda x: m.numpy.sin(3.0) * x, (X,)),
    "arctan2": (lambda m: lambda x: m.numpy.arctan2(x, x), (X,)),
    "maximum": (lambda m: lambda x: m.numpy.maximum(x, 0), (X,)),
    # broadcasting
    "rows": (lambda m: lambda x, y: x + y, (A, X)),
    "outer product by hand": (lambda m: lambda x, y: x[:, None] * y, (X, X)),
    "outer": (lambda m: lambda x: m.numpy.outer(x, x), (X,)),
    "tile": (lambda m: lambda x: m.numpy.tile(x, 2), (X,)),
    # products
    "matrix times matrix": (lambda m: lambda x, y: x @ y, (A, B)),
    "matrix times vector": (lambda m: lambda x, y: x @ y, (A, X)),
    "vector times vector": (lambda m: lambda x, y: x @ y, (X, X)),
    "dot": (lambda m: lambda x, y: m.numpy.dot(x, y), (A, B)),
    "stacks of matrices": (lambda m: lambda x, y: m.numpy.matmul(x, y), STACKS),
    "einsum": (lambda m: lambda x, y: m.numpy.einsum("ij,jk->ik", x, y), (A, B)),
    # reductions
    "sum over an axis": (lambda m: lambda x: m.numpy.sum(x, axis=0), (A,)),
    "sum that keeps dimensions": (lambda m: lambda x: x.sum(axis=1, keepdims=True), (A,)),
    "sum of booleans": (lambda m: lambda x: m.numpy.sum(x), (P,)),
    "mean over an axis": (lambda m: lambda x: x.mean(1), (A,)),
    "mean in half precision": (lambda m: lambda x: x.mean(), (H,)),
    "max over an axis": (lambda m: lambda x: x.max(0), (A,)),
    # shapes
    "T": (lambda m: lambda x: x.T, (A,)),
    "reshape": (lambda m: lambda x: x.reshape(3, 2), (A,)),
    "flattened": (lambda m: lambda x: x.reshape(-1), (A,)),
    "astype": (lambda m: lambda x: x.astype("int32"), (X,)),
    "stack": (lambda m: lambda x: m.numpy.stack([x, x]), (X,)),
    "concatenate": (lambda m: lambda x: m.numpy.concatenate([x, x]), (X,)),
    "expand_dims": (lambda m: lambda x: m.numpy.expand_dims(x, 0), (X,)),
    "squeeze": (lambda m: lambda x: m.numpy.squeeze(x[None]), (X,)),
    "swapaxes": (lambda m: lambda x: m.numpy.swapaxes(x, 0, 1), (A,)),
    "moveaxis": (lambda m: lambda x: m.numpy.moveaxis(x, 0, 1), (A,)),
    # indexing
    "row": (lambda m: lambda x: x[0], (A,)),
    "column": (lambda m: lambda x: x[:, 1], (A,)),
    "last": (lambda m: lambda x: x[-1], (X,)),
    "slice": (lambda m: lambda x: x[1:], (X,)),
    "reversed": (lambda m: lambda x: x[::-1], (X,)),
    "new axis": (lambda m: lambda x: x[None], (X,)),
    # creation
    "zeros": (lambda m: lambda: m.numpy.zeros(3), ()),
    "ones": (lambda m: lambda: m.numpy.ones((2, 3)), ()),
    "full": (lambda m: lambda: m.numpy.full((2,), 7), ()),
    "arange": (lambda m: lambda: m.numpy.arange(5), ()),
    "arange of floats": (lambda m: lambda: m.numpy.arange(5.0), ()),
    "array": (lambda m: lambda: m.numpy.array([1.0, 2.0]), ()),
    # programs
    "softmax": (
        lambda m: lambda x: m.numpy.exp(x - x.max()) / m.numpy.sum(m.numpy.exp(x - x.max())),
        (X,),
    ),
    "gradient of a layer": (
        lambda m: m.grad(lambda w, x: m.numpy.sum(m.numpy.tanh(x @ w) ** 2)),
        (B, A),
    ),
    "gradient of a norm": (lambda m: m.grad(lambda x: m.numpy.sqrt(m.numpy.sum(x**2))), (X,)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_text(name, same_text):
    make, args = FUNCTIONS[name]
    same_text(lambda m: m.make_jaxpr(make(m))(*args))


@pytest.mark.parametrize("name", UNARY)
def test_text_of_unary(name, same_text):
    assert hasattr(covector.numpy, name)
    same_text(lambda m: m.make_jaxpr(lambda x: getattr(m.numpy, name)(x))(X))
