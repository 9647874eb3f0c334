"""`custom_linear_solve` and `custom_root`: values, and the derivatives that mathematics gives."""

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector import lax

A = np.array([[4, 1, 0.5], [0.2, 3, -1], [0.3, 0.7, 5]], np.float32)
B = np.array([1, -2, 0.5], np.float32)
S = (A + A.T) / 2


def jacobi(matvec, b):
    """Iterate x <- x + D^-1 (b - A x), with the diagonal of A found from its columns."""
    diagonal = jnp.stack([matvec(e)[i] for i, e in enumerate(np.eye(3, dtype=np.float32))])
    step = lambda x, _: (x + (b - matvec(x)) / diagonal, None)  # noqa: E731
    return lax.scan(step, jnp.zeros_like(b), length=60)[0]


def solution(a, b, **options):
    options.setdefault("transpose_solve", jacobi)
    return lax.custom_linear_solve(lambda x: a @ x, b, jacobi, **options)


def close(x, y, tolerance=1e-4):
    np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance)


def inverse_derivative(a, b, da, db):
    """dx = A^-1 (db - dA x)."""
    return np.linalg.solve(a, db - da @ np.linalg.solve(a, b))


def test_solution_and_derivatives():
    close(solution(A, B), np.linalg.solve(A, B))
    da, db = S[::-1].copy(), B[::-1].copy()
    _, tangent = cv.jvp(solution, (A, B), (da, db))
    close(tangent, inverse_derivative(A, B, da, db))
    a_bar, b_bar = cv.jit(cv.grad(lambda a, b: jnp.vdot(solution(a, b), db), (0, 1)))(A, B)
    b_wanted = np.linalg.solve(A.T, db)
    close(b_bar, b_wanted)
    close(a_bar, -np.outer(b_wanted, np.linalg.solve(A, B)))


def test_only_one_operand_varies():
    close(cv.jacrev(solution, 1)(A, B), np.linalg.inv(A))
    close(cv.jacfwd(solution, 1)(A, B), np.linalg.inv(A))
    _, tangent = cv.jvp(lambda a: solution(a, B), (A,), (S,))
    close(tangent, inverse_derivative(A, B, S, np.zeros(3)))


def test_second_derivatives():
    """The Hessian of b^T A^-1 b by b is A^-1 + A^-T."""
    h = cv.hessian(lambda b: jnp.vdot(b, solution(A, b)))(B)
    close(h, np.linalg.inv(A) + np.linalg.inv(A).T)


def test_symmetric():
    f = lambda b: lax.custom_linear_solve(lambda x: S @ x, b, jacobi, symmetric=True)  # noqa: E731
    close(cv.jacrev(f)(B), np.linalg.inv(S))
    used = lambda b: lax.custom_linear_solve(  # noqa: E731
        lambda x: S @ x, b, jacobi, lambda vecmat, b: b, symmetric=True
    )
    close(cv.jacrev(used)(B), np.eye(3))


def test_matvec_with_a_loop():
    """A product that a loop with a counter computes; the counter is no part of the transpose."""

    a = jnp.asarray(A)
    matvec_of = lambda x: lax.scan(lambda i, row: (i + 1, row @ x + 0 * i), 0, a)[1]  # noqa: E731
    f = lambda b: lax.custom_linear_solve(matvec_of, b, jacobi, jacobi)  # noqa: E731
    close(cv.jacrev(f)(B), np.linalg.inv(A))


def test_trees():
    """The equation in two blocks, [[2, 1], [0, 4]] of scalars and vectors."""

    def matvec(x):
        return {"p": 2 * x["p"] + x["q"].sum(), "q": 4 * x["q"]}

    def solve(matvec, b):
        q = b["q"] / 4
        return {"p": (b["p"] - q.sum()) / 2, "q": q}

    def transposed(vecmat, b):
        p = b["p"] / 2
        return {"p": p, "q": (b["q"] - p) / 4}

    b = {"p": np.float32(3), "q": np.array([1, 2], np.float32)}
    f = lambda b: lax.custom_linear_solve(matvec, b, solve, transposed)  # noqa: E731
    x = f(b)
    close(x["p"], 1.125)
    g = cv.grad(lambda b: f(b)["p"])(b)
    close(g["p"], 0.5)
    close(g["q"], [-0.125, -0.125])


def test_vmap():
    many_a, many_b = np.stack([A, S]), np.stack([B, 2 * B])
    want = np.linalg.solve(many_a, many_b[..., None])[..., 0]
    close(cv.vmap(solution)(many_a, many_b), want)
    close(cv.vmap(solution, (0, None))(many_a, B), np.linalg.solve(many_a, B[:, None])[..., 0])
    close(cv.vmap(solution, (None, 1), 1)(A, many_b.T), np.linalg.solve(A, many_b.T))
    j = cv.vmap(cv.jacrev(solution, 1), (0, None))(many_a, B)
    close(j, np.linalg.inv(many_a))
    one_way = lambda a, b: solution(a, b, transpose_solve=None)  # noqa: E731
    close(cv.vmap(one_way, (0, None))(many_a, B), np.linalg.solve(many_a, B[:, None])[..., 0])


def test_aux():
    with_count = lambda matvec, b: (jacobi(matvec, b), {"steps": 60})  # noqa: E731

    def f(a, b):
        return lax.custom_linear_solve(
            lambda x: a @ x, b, with_count, with_count, has_aux=True
        )  # fmt: skip

    x, aux = f(A, B)
    close(x, np.linalg.solve(A, B))
    assert int(aux["steps"]) == 60
    b_bar = cv.grad(lambda b: f(A, b)[0].sum())(B)
    close(b_bar, np.linalg.solve(A.T, np.ones(3)))
    x, aux = cv.vmap(f, (0, None))(np.stack([A, S]), B)
    close(x[1], np.linalg.solve(S, B))
    assert aux["steps"].tolist() == [60, 60]


REFUSED = [
    (TypeError, dict(matvec=lambda x: [x]), "matvec() output pytree structure must match b"),
    (ValueError, dict(matvec=lambda x: x[:2]), "matvec() output shapes must match b, got [(2,)]"),
    (TypeError, dict(solve=lambda f, x: (x, x)), "solve() output pytree structure"),
    (ValueError, dict(solve=lambda f, x: x[None]), "solve() output shapes must match b"),
    (TypeError, dict(transpose_solve=lambda f, x: [x]), "transpose_solve() output pytree"),
    (ValueError, dict(has_aux=True), "a pytree tuple with auxiliary output was expected"),
    (TypeError, dict(solve=3), "[custom_linear_solve] solve must be a function, but it is 3"),
]


@pytest.mark.parametrize("case", REFUSED, ids=range(len(REFUSED)))
def test_refused(case):
    kind, changes, text = case
    given = dict(matvec=lambda x: 2 * x, b=B, solve=lambda f, b: b / 2) | changes
    with pytest.raises(kind) as info:
        lax.custom_linear_solve(**given)
    assert text in str(info.value)


def test_no_reverse_mode_without_a_transposed_solver():
    with pytest.raises(TypeError, match="transpose_solve required for backwards mode"):
        cv.grad(lambda b: solution(A, b, transpose_solve=None).sum())(B)
    _, tangent = cv.jvp(lambda b: solution(A, b, transpose_solve=None), (B,), (B,))
    close(tangent, np.linalg.solve(A, B))
