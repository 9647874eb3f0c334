"""Comparison with SciPy in double precision."""

import numpy as np

import covector as cv
import covector.numpy as jnp


def agree(ours, theirs, *args, rtol=1e-12, atol=0.0):
    """Check a function of arrays against SciPy's, which may return several."""
    with cv.enable_x64(True):
        got = ours(*args)
    with np.errstate(all="ignore"):
        want = theirs(*args)
    if not isinstance(want, tuple):
        got, want = (got,), (want,)
    for g, w in zip(got, want):
        assert g.dtype == w.dtype
        np.testing.assert_allclose(np.asarray(g), w, rtol=rtol, atol=atol)


def slopes_agree(fun, *args, wrt=(0,), rtol=1e-6, atol=1e-9, step=1e-5, single=True):
    """Check derivatives against difference quotients; results are stacked unless `single`."""
    with cv.enable_x64(True):
        slopes = cv.jit(cv.grad(lambda *xs: jnp.sum(fun(*xs)), wrt))(*map(jnp.asarray, args))
        for i, got in zip(wrt, slopes):

            def at(shift, i=i):
                moved = [x + shift * (j == i) for j, x in enumerate(args)]
                return np.asarray(fun(*moved)) if single else np.sum(fun(*moved), axis=0)

            near, far = at(step) - at(-step), at(2 * step) - at(-2 * step)
            want = (8 * near - far) / (12 * step)
            np.testing.assert_allclose(np.asarray(got), want, rtol=rtol, atol=atol)
