"""`custom_root`: the derivative that the implicit function theorem gives."""

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector import lax


def newton(f, x):
    """Newton's method for a function of a scalar."""
    step = lambda x, _: (x - f(x) / cv.jvp(f, (x,), (jnp.ones_like(x),))[1], None)  # noqa: E731
    return lax.scan(step, x, length=30)[0]


def scalar_solve(g, y):
    return y / g(1.0)


def cube_root(a, guess=1.0):
    return lax.custom_root(lambda x: x**3 - a, guess, newton, scalar_solve)


def close(x, y):
    np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-5)


def test_value_and_derivatives():
    """x = a^(1/3): x' = 1 / (3 x^2), x'' = -2 / (9 x^5)."""
    close(cube_root(8.0), 2)
    close(cv.grad(cube_root)(8.0), 1 / 12)
    close(cv.jit(cv.grad(cube_root))(8.0), 1 / 12)
    _, tangent = cv.jvp(cube_root, (8.0,), (3.0,))
    close(tangent, 0.25)
    close(cv.grad(cv.grad(cube_root))(8.0), -2 / (9 * 32))
    close(cv.grad(cube_root, 1)(8.0, 1.5), 0)


def test_vmap():
    a = np.array([1, 8, 27], np.float32)
    close(cv.vmap(cube_root)(a), [1, 2, 3])
    close(cv.vmap(cv.grad(cube_root))(a), [1 / 3, 1 / 12, 1 / 27])
    close(cv.vmap(lambda g: cube_root(8.0, g))(np.array([1, 2.5], np.float32)), [2, 2])
    close(cv.grad(lambda a: cv.vmap(cube_root)(a).sum())(a), [1 / 3, 1 / 12, 1 / 27])


def test_a_system_of_trees():
    """u + v = m, u - v = n: u = (m + n) / 2, v = (m - n) / 2."""

    def f(m, n):
        residual = lambda x: {"u": x["u"] + x["v"] - m, "v": x["u"] - x["v"] - n}  # noqa: E731

        def solve(f, x):
            r = f(x)
            return {"u": x["u"] - (r["u"] + r["v"]) / 2, "v": x["v"] - (r["u"] - r["v"]) / 2}

        def tangent_solve(g, y):
            return {"u": (y["u"] + y["v"]) / 2, "v": (y["u"] - y["v"]) / 2}

        return lax.custom_root(residual, {"u": 0.0, "v": 0.0}, solve, tangent_solve)

    x = f(3.0, 1.0)
    close([x["u"], x["v"]], [2, 1])
    j = cv.jacrev(f, (0, 1))(3.0, 1.0)
    close([*j["u"], *j["v"]], [0.5, 0.5, 0.5, -0.5])


def test_the_method_is_not_differentiated():
    """The solver may be one that has no derivative at all, and closes over what varies."""

    def f(a):
        return lax.custom_root(
            lambda x: x * x - a,
            a,
            lambda f, guess: lax.stop_gradient(jnp.sqrt(a)) + 0 * guess,
            scalar_solve,
        )

    close(cv.grad(f)(9.0), 1 / 6)
    close(cv.jit(cv.vmap(cv.grad(f)))(np.array([4.0, 9.0])), [1 / 4, 1 / 6])


def test_aux():
    def f(a):
        with_count = lambda f, x: (newton(f, x), (30, x > 0))  # noqa: E731
        return lax.custom_root(lambda x: x**3 - a, 1.0, with_count, scalar_solve, has_aux=True)

    x, (count, positive) = f(8.0)
    close(x, 2)
    assert int(count) == 30 and bool(positive)
    close(cv.grad(lambda a: f(a)[0])(8.0), 1 / 12)
    close(cv.grad(f, has_aux=True)(8.0)[0], 1 / 12)


REFUSED = [
    (TypeError, dict(f=lambda x: (x, x)), "f() output pytree structure must match initial_guess"),
    (ValueError, dict(f=lambda x: jnp.ones(2)), "f() output shapes must match initial_guess"),
    (TypeError, dict(solve=lambda f, x: (x, x)), "solve() output pytree structure must match"),
    (TypeError, dict(tangent_solve=lambda g, y: [y]), "tangent_solve() output pytree structure"),
    (ValueError, dict(has_aux=True), "solve() produced a pytree with structure PyTreeDef(*)"),
    (TypeError, dict(f=1), "[custom_root] f must be a function, but it is 1."),
]


@pytest.mark.parametrize("case", REFUSED, ids=range(len(REFUSED)))
def test_refused(case):
    kind, changes, text = case
    given = dict(f=lambda x: x - 1, initial_guess=0.5, solve=lambda f, x: x + 0.5)
    given |= dict(tangent_solve=scalar_solve) | changes
    with pytest.raises(kind) as info:
        lax.custom_root(**given)
    assert text in str(info.value)
