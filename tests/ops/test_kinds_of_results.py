"""Functions of several results give them in the containers in which JAX does."""

import numpy as np
import pytest

import covector

A = np.array([[4.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 2.0]], np.float32)
V = np.array([3.0, 1.0, 2.0], np.float32)

CALLS = {
    "top_k": lambda lax: lax.top_k(V, 2),
    "approx_max_k": lambda lax: lax.approx_max_k(V, 2),
    "approx_min_k": lambda lax: lax.approx_min_k(V, 2),
    "sort": lambda lax: lax.sort((V, V)),
    "sort_key_val": lambda lax: lax.sort_key_val(V, V),
    "split": lambda lax: lax.split(V, (1, 2)),
    "lu": lambda lax: lax.linalg.lu(A),
    "qr": lambda lax: lax.linalg.qr(A),
    "svd": lambda lax: lax.linalg.svd(A),
    "eigh": lambda lax: lax.linalg.eigh(A),
    "schur": lambda lax: lax.linalg.schur(A),
    "hessenberg": lambda lax: lax.linalg.hessenberg(A),
    "tridiagonal": lambda lax: lax.linalg.tridiagonal(A),
    "qdwh": lambda lax: lax.linalg.qdwh(A),
    "rng_bit_generator": lambda lax: lax.rng_bit_generator(np.zeros(4, np.uint32), (2,)),
    "scan": lambda lax: lax.scan(lambda c, x: (c + x, [c]), np.float32(0), V),
    "associative_scan": lambda lax: lax.associative_scan(lambda x, y: [x[0] + y[0]], [V]),
    "cond": lambda lax: lax.cond(True, lambda: [V], lambda: [V]),
    "while_loop": lambda lax: lax.while_loop(lambda c: c[0] < 3, lambda c: [c[0] + 1], [0]),
}


@pytest.mark.parametrize("name", CALLS)
def test_containers(jax, name):
    ours, theirs = CALLS[name](covector.lax), CALLS[name](jax.lax)
    assert str(covector.tree.structure(ours)) == str(jax.tree.structure(theirs))
