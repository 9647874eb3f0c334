"""Minimization: known minima, SciPy's results, derivatives by the implicit function theorem."""

import inspect

import numpy as np
import pytest
import scipy.optimize as osp

import covector as cv
import covector.numpy as jnp
from covector.scipy.optimize import OptimizeResults, minimize

METHODS = ["BFGS", "l-bfgs"]
OPTIONS = {"BFGS": dict(gtol=1e-7), "l-bfgs": dict(gtol=1e-7, ftol=0.0)}


def rosenbrock(np):
    return lambda x: np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def himmelblau(np):
    return lambda p: (p[0] ** 2 + p[1] - 11.0) ** 2 + (p[0] + p[1] ** 2 - 7.0) ** 2


def eggholder(np):
    def fun(p):
        x, y = p
        return -(y + 47) * np.sin(np.sqrt(np.abs(x / 2.0 + y + 47.0))) - x * np.sin(
            np.sqrt(np.abs(x - (y + 47.0)))
        )

    return fun


PROGRAMS = {
    "Rosenbrock": (rosenbrock, np.zeros(2)),
    "Rosenbrock of 6 numbers": (rosenbrock, np.full(6, -1.2)),
    "Himmelblau": (himmelblau, np.ones(2)),
    "eggholder": (eggholder, np.full(2, 100.0)),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", list(PROGRAMS))
def test_minima_are_scipys(name, method):
    make, x0 = PROGRAMS[name]
    reference = osp.minimize(make(np), x0, method="BFGS", tol=1e-8)
    with cv.enable_x64(True):
        run = cv.jit(lambda x: minimize(make(jnp), x, method=method, options=OPTIONS[method]))
        result = cv.device_get(run(x0))
    np.testing.assert_allclose(result.x, reference.x, atol=1e-4)  # SciPy takes differences
    np.testing.assert_allclose(result.fun, reference.fun, atol=1e-9)
    assert result.success and result.status == 0
    assert 0 < result.nit < result.nfev < 300


@pytest.mark.parametrize("method", METHODS)
def test_single_precision(method):
    result = minimize(lambda x: jnp.mean((1e4 * x) ** 2), jnp.ones(2), method=method)
    assert result.x.dtype == np.float32
    np.testing.assert_allclose(result.x, 0, atol=1e-6)


def test_the_inverse_of_the_hessian():
    a = np.diag([1.0, 2.0, 5.0]) + 0.3
    with cv.enable_x64(True):
        result = minimize(lambda x, a: x @ a @ x / 2, np.ones(3), (a,), method="BFGS", tol=1e-10)
        few = minimize(lambda x, a: x @ a @ x / 2, np.ones(3), (a,), method="l-bfgs")
    # It is an estimate, right to a few hundredths after these few steps.
    np.testing.assert_allclose(result.hess_inv, np.linalg.inv(a), atol=0.02)
    assert few.hess_inv is None


def test_complex_numbers():
    z0 = np.array([1.0, 2 - 3j, -5j])
    with cv.enable_x64(True):
        for method in METHODS:
            result = minimize(lambda z: (abs(z - z0) ** 2).sum(), 0 * z0, method=method)
            np.testing.assert_allclose(result.x, z0, atol=1e-6)
            gradient = cv.grad(lambda z: (abs(z - z0) ** 2).sum())(result.x)
            np.testing.assert_allclose(result.jac, gradient, atol=1e-9)


def test_derivatives():
    def minimum(a):
        return minimize(
            lambda x: ((x - a) ** 2).sum() + (x**4).sum(), jnp.zeros(2), method="BFGS", tol=1e-9
        ).x

    with cv.enable_x64(True):
        a = jnp.array([1.0, 2.0])
        # From 2 (x - a) + 4 x^3 = 0 follows dx = da / (1 + 6 x^2).
        slopes = 1 / (1 + 6 * np.asarray(minimum(a)) ** 2)
        np.testing.assert_allclose(cv.jacfwd(minimum)(a), np.diag(slopes), atol=1e-5)
        np.testing.assert_allclose(cv.grad(lambda a: minimum(a).sum())(a), slopes, atol=1e-5)


def test_vmap_runs_each_to_its_own_end():
    starts = jnp.array([[0.0, 0.0], [1.0, 1.0], [-1.0, 2.0]])
    together = cv.vmap(lambda x: minimize(rosenbrock(jnp), x, method="BFGS"))(starts)
    np.testing.assert_allclose(together.x, 1, atol=2e-3)
    assert together.nit[1] == 0 and together.nit[0] > 5


@pytest.mark.parametrize("method", METHODS)
def test_ends(method):
    f, x0 = rosenbrock(jnp), jnp.zeros(2)
    few = minimize(f, x0, method=method, options=dict(maxiter=3))
    assert (few.nit, few.status, bool(few.success)) == (3, 1, False)
    none = minimize(f, x0, method=method, options=dict(maxiter=0))
    np.testing.assert_array_equal(none.x, x0)
    assert none.status == 1
    nan = minimize(lambda x: jnp.nan * x.sum(), x0, method=method)
    assert not nan.success and nan.nit <= 1


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        (dict(args=45, method="BFGS"), TypeError, "args .* must be a tuple"),
        (dict(method="Newton"), ValueError, "'Newton' is not known"),
        (dict(method="BFGS", options=dict(xtol=1)), ValueError, "no option xtol"),
    ],
)
def test_mistakes(options, error, text):
    with pytest.raises(error, match=text):
        minimize(lambda x, *_: x.sum(), jnp.ones(2), **options)


def test_mistakes_of_shapes():
    with pytest.raises(ValueError, match="must be a vector"):
        minimize(jnp.sum, jnp.ones((2, 2)), method="BFGS")
    with pytest.raises(ValueError, match="must return a number"):
        minimize(lambda x: x, jnp.ones(2), method="BFGS")


def test_signatures_are_those_of_jax(jax):
    import jax.scipy.optimize

    ours, theirs = [
        [(p.name, p.default, p.kind) for p in inspect.signature(f).parameters.values()]
        for f in (minimize, jax.scipy.optimize.minimize)
    ]
    assert ours == theirs
    assert OptimizeResults._fields == jax.scipy.optimize.OptimizeResults._fields
