"""NaN and infinities in softmax and its kin, where maxima are reductions that may lose NaN."""

import numpy as np
import pytest

import covector as cv
from covector import nn
from covector.scipy import special

ROWS = 40  # of 200: together more than are reduced by XLA itself


def exponents():
    x = np.random.default_rng(0).standard_normal((ROWS, 200)).astype(np.float32)
    x[3, 7] = x[5, -1] = np.nan
    x[4] = x[5, :-1] = -np.inf
    x[6, 2] = np.inf
    x[7] = np.nan
    x[8, [0, 4]] = np.inf, np.nan
    return x


FUNCTIONS = {
    "softmax": lambda x: nn.softmax(x),
    "log_softmax": lambda x: nn.log_softmax(x),
    "logsumexp": lambda x: nn.logsumexp(x, -1),
    "special.softmax": lambda x: special.softmax(x, axis=-1),
    "special.log_softmax": lambda x: special.log_softmax(x, axis=-1),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_rows_with_nan_are_as_if_alone(name):
    f, x = FUNCTIONS[name], exponents()
    weights = np.arange(200, dtype=np.float32)

    def weighted(x):
        out = f(x)
        return (out * weights if out.ndim == 2 else out).sum()

    for g in (cv.jit(f), cv.jit(cv.grad(weighted))):
        together, alone = np.asarray(g(x)), [np.asarray(g(row[None]))[0] for row in x[:9]]
        np.testing.assert_allclose(together[:9], alone, 1e-3, 2e-3)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_rows_with_nan_are_nan(name):
    out = np.asarray(cv.jit(FUNCTIONS[name])(exponents()))
    nothing_else = np.isnan(out.reshape(ROWS, -1)).all(1)
    assert nothing_else[[3, 5, 7, 8]].all() and not nothing_else[9:].any()
