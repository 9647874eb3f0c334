"""The text of programs of linear algebra."""

from __future__ import annotations

import numpy as np
import pytest

A = np.eye(3, dtype=np.float32)
BATCH = np.stack([A, A])
C = A.astype(np.complex64)
B = np.ones((3, 4), np.float32)
D = np.ones(3, np.float32)
SOLVE = dict(left_side=True, lower=True)

PROGRAMS = {
    "cholesky": (lambda l, a: l.cholesky(a), [A]),
    "cholesky, not symmetrized": (lambda l, a: l.cholesky(a, symmetrize_input=False), [C]),
    "cholesky_update": (lambda l, r, w: l.cholesky_update(r, w), [A, D]),
    "eig": (lambda l, a: l.eig(a), [A]),
    "eigh": (lambda l, a: l.eigh(a), [C]),
    "eigh of a batch": (lambda l, a: l.eigh(a, lower=False), [BATCH]),
    "hessenberg": (lambda l, a: l.hessenberg(a), [A]),
    "householder_product": (lambda l, a, t: l.householder_product(a, t), [A, D]),
    "lu": (lambda l, a: l.lu(a), [B]),
    "ormqr": (lambda l, *xs: l.ormqr(*xs, left=False, transpose=True), [A, D, A]),
    "pivots": (lambda l, p: l.lu_pivots_to_permutation(p, 5), [np.arange(3, dtype=np.int32)]),
    "qr": (lambda l, a: l.qr(a, pivoting=True, full_matrices=False), [B]),
    "schur": (lambda l, a: l.schur(a), [A]),
    "svd": (lambda l, a: l.svd(a, full_matrices=False), [B]),
    "singular values": (lambda l, a: l.svd(a, compute_uv=False), [B]),
    "symmetric_product": (
        lambda l, a, c: l.symmetric_product(a, c, alpha=2.0, symmetrize_output=True),
        [B, A],
    ),
    "triangular_solve": (lambda l, a, b: l.triangular_solve(a, b, **SOLVE), [A, B]),
    "triangular_solve, vector": (lambda l, a, b: l.triangular_solve(a, b, lower=True), [A, B.T]),
    "tridiagonal": (lambda l, a: l.tridiagonal(a, lower=False), [A]),
    "tridiagonal_solve": (lambda l, *xs: l.tridiagonal_solve(*xs), [D, D, D, B]),
}

DIFFERENTIATED = {
    "cholesky": (lambda l, a: l.cholesky(a), [A]),
    "cholesky of a batch": (lambda l, a: l.cholesky(a), [BATCH]),
    "cholesky of complex numbers": (lambda l, a: l.cholesky(a), [C]),
    "triangular_solve": (lambda l, a, b: l.triangular_solve(a, b, **SOLVE), [A, B]),
    "triangular_solve of columns": (
        lambda l, a, b: l.triangular_solve(a, b, **SOLVE),
        [A, B[:, :1]],
    ),
    "triangular_solve, transposed": (
        lambda l, a, b: l.triangular_solve(a, b, transpose_a=True, conjugate_a=True),
        [C, C],
    ),
}


def applied(m, name, table):
    fun, args = table[name]
    return lambda *xs: fun(m.lax.linalg, *xs), args


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(same_text, name):
    def program(m):
        fun, args = applied(m, name, PROGRAMS)
        return m.make_jaxpr(fun)(*args)

    same_text(program)


@pytest.mark.parametrize("name", DIFFERENTIATED)
def test_jvp(same_text, name):
    def program(m):
        fun, args = applied(m, name, DIFFERENTIATED)
        return m.make_jaxpr(lambda *xs: m.jvp(fun, xs, xs))(*args)

    same_text(program)


@pytest.mark.parametrize("name", DIFFERENTIATED)
def test_grad(same_text, name):
    def program(m):
        fun, args = applied(m, name, DIFFERENTIATED)
        places = tuple(range(len(args)))
        return m.make_jaxpr(m.grad(lambda *xs: fun(*xs).real.sum(), places))(*args)

    same_text(program)


@pytest.mark.parametrize("in_axes", [(0, 0), (None, 1)])
def test_vmap_of_triangular_solve(same_text, in_axes):
    def program(m):
        fun = m.vmap(lambda a, b: m.lax.linalg.triangular_solve(a, b, **SOLVE), in_axes)
        shapes = [BATCH if dim == 0 else A for dim in in_axes[:1]]
        b = {0: np.ones((2, 3, 4)), 1: np.ones((3, 2, 4))}[in_axes[1]]
        return m.make_jaxpr(fun)(*shapes, b.astype(np.float32))

    same_text(program)
