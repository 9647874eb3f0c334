"""The programs that functions write, as text, against those of JAX 0.10.2.

JAX nests many functions in a `jit` of their own; where they do, the text compared with is that of
what is inside.
"""

import numpy as np
import pytest

import covector
import covector.numpy as jnp

x = np.ones(3, np.float32)
X = np.ones((2, 3), np.float32)
A = np.ones((2, 3, 4), np.float32)
i = np.arange(3, dtype=np.int32)
b = np.array([True, False, True])
c = np.ones(3, np.complex64)
u = np.ones(3, np.uint8)
k = np.int32(1)
s = np.float32(1)
h = x.astype("bfloat16")

PROGRAMS = {
    "2 * x": (lambda np, x: 2 * x, x),
    "x + 0.1": (lambda np, x: x + 0.1, x),
    "x / 2": (lambda np, x: x / 2, x),
    "i / 2": (lambda np, i: i / 2, i),
    "i + 2.5": (lambda np, i: i + 2.5, i),
    "i + x": (lambda np, i, x: i + x, i, x),
    "weak + x": (lambda np, w, x: w + x, 2.0, x),
    "X + x": (lambda np, X, x: X + x, X, x),
    "X[:, :1] + x": (lambda np, X, x: X[:, :1] + x, X, x),
    "s + X": (lambda np, s, X: s + X, s, X),
    "b + b": (lambda np, b: b + b, b),
    "b * b": (lambda np, b: b * b, b),
    "x ** 2": (lambda np, x: x**2, x),
    "x ** -1": (lambda np, x: x**-1, x),
    "x ** 2.5": (lambda np, x: x**2.5, x),
    "x ** x": (lambda np, x: x**x, x),
    "2 ** x": (lambda np, x: 2**x, x),
    "i ** 2": (lambda np, i: i**2, i),
    "NumPy's numbers": (lambda np, x: x * x.dtype.type(3) + 1, x),
    "reciprocal": (lambda np, x: np.reciprocal(x), x),
    "square": (lambda np, x: np.square(x), x),
    "sin of integers": (lambda np, i: np.sin(i), i),
    "log2": (lambda np, x: np.log2(x), x),
    "log10": (lambda np, x: np.log10(x), x),
    "deg2rad": (lambda np, x: np.deg2rad(x), x),
    "x < 2": (lambda np, x: x < 2, x),
    "isnan": (lambda np, x: np.isnan(x), x),
    "isinf": (lambda np, x: np.isinf(x), x),
    "isfinite": (lambda np, c: np.isfinite(c), c),
    "logical_and": (lambda np, x, b: np.logical_and(x, b), x, b),
    "logical_not": (lambda np, x: np.logical_not(x), x),
    "shifts": (lambda np, i, u: (i << 1, i >> 1, u >> 1), i, u),
    "maximum": (lambda np, x: np.maximum(x, 0.0), x),
    "clip": (lambda np, x: np.clip(x, 0.0, 1.0), x),
    "where": (lambda np, b, x: np.where(b, x, 0.0), b, x),
    "where, broadcast": (lambda np, b, X: np.where(b, X, X), b, X),
    "where, not boolean": (lambda np, x: np.where(x, x, x), x),
    "real": (lambda np, c, x: (np.real(c), np.real(x), np.imag(x)), c, x),
    "conj": (lambda np, c, x: (np.conj(c), np.conj(x)), c, x),
    "angle": (lambda np, c: np.angle(c), c),
    "round": (lambda np, x: np.round(x, 2), x),
    "rint": (lambda np, x: np.rint(x), x),
    "trunc": (lambda np, x: np.trunc(x), x),
    "signbit": (lambda np, x: np.signbit(x), x),
    "sum": (lambda np, x: np.sum(x), x),
    "sum of halves": (lambda np, h: np.sum(h), h),
    "sum of booleans": (lambda np, b: np.sum(b), b),
    "sum, masked": (lambda np, X: np.sum(X, where=X > 0), X),
    "sum, initial": (lambda np, X: np.sum(X, initial=2.0), X),
    "sum, kept": (lambda np, X: np.sum(X, axis=0, keepdims=True), X),
    "mean": (lambda np, X: np.mean(X, axis=1), X),
    "mean of integers": (lambda np, i: np.mean(i), i),
    "mean of halves": (lambda np, h: np.mean(h), h),
    "max": (lambda np, X: np.max(X, 0), X),
    "prod": (lambda np, X: np.prod(X), X),
    "any": (lambda np, x: np.any(x), x),
    "argmax": (lambda np, X: np.argmax(X), X),
    "argmax, kept": (lambda np, X: np.argmax(X, 1, keepdims=True), X),
    "ptp": (lambda np, X: np.ptp(X), X),
    "count_nonzero": (lambda np, X: np.count_nonzero(X), X),
    "average": (lambda np, x: np.average(x, weights=x), x),
    "matmul": (lambda np, X: X @ X.T, X),
    "matmul of stacks": (lambda np, A: np.matmul(A, np.ones((4, 5))), A),
    "matmul, broadcast": (lambda np, A: np.matmul(A, np.ones((1, 4, 5))), A),
    "matmul, permuted": (lambda np, A: np.matmul(np.ones((5, 3)), A), A),
    "dot": (lambda np, x, X: np.dot(X, x), x, X),
    "vdot": (lambda np, c: np.vdot(c, c), c),
    "outer": (lambda np, x: np.outer(x, x), x),
    "tensordot": (lambda np, A, X: np.tensordot(A, X, ((1, 0), (1, 0))), A, X),
    "kron": (lambda np, X: np.kron(X, X), X),
    "einsum": (lambda np, X: np.einsum("ij,kj->ik", X, X), X),
    "einsum, swapped": (lambda np, X: np.einsum("ij,kj->ki", X, X + 1), X),
    "einsum, batched": (lambda np, A: np.einsum("bij,bkj->bik", A, A), A),
    "einsum of three": (lambda np, X: np.einsum("ij,kj,kl->il", X, X, X), X),
    "einsum of one": (lambda np, X: np.einsum("ij->ji", X), X),
    "zeros": (lambda np: (np.zeros((2, 3)), np.ones(2, int), np.full(3, 2.5)),),
    "like": (lambda np, x: (np.zeros_like(x), np.full_like(x, 2)), x),
    "arange": (lambda np: (np.arange(3), np.arange(1, 4), np.arange(0, 1, 0.25)),),
    "tri": (lambda np: np.tri(3, 4, 1),),
    "tril": (lambda np, X: (np.tril(X), np.triu(X, 1)), X),
    "array": (lambda np, s: np.array([s, 1, 2.0]), s),
    "array of an array": (lambda np, x: np.array(x), x),
    "asarray": (lambda np, x: np.asarray(x, dtype=int), x),
    "astype": (lambda np, x: x.astype("bfloat16"), x),
    "reshape": (lambda np, X: (X.reshape(3, -1), X.ravel()), X),
    "transpose": (lambda np, A: (A.T, A.mT, np.moveaxis(A, 0, -1)), A),
    "expand_dims": (lambda np, X: np.expand_dims(X, (0, 2)), X),
    "squeeze": (lambda np, X: np.squeeze(X[:1]), X),
    "broadcast_to": (lambda np, x: np.broadcast_to(x, (2, 3)), x),
    "concatenate": (lambda np, x, i: np.concatenate([x, i]), x, i),
    "stack": (lambda np, x: np.stack([x, x], 1), x),
    "vstack": (lambda np, x: np.vstack([x, x]), x),
    "dstack": (lambda np, x: np.dstack([x, x]), x),
    "tile": (lambda np, x: np.tile(x, (2, 1)), x),
    "repeat": (lambda np, X: np.repeat(X, 2, axis=0), X),
    "roll": (lambda np, X: np.roll(X, 1, axis=1), X),
    "flip": (lambda np, X: (np.flip(X), np.rot90(X)), X),
    "x[0]": (lambda np, X: (X[0], X[-1], X[0, 1], X[:, 1]), X),
    "x[a:b]": (lambda np, x: (x[1:], x[::2], x[::-1], x[::-2], x[5:], x[0:0]), x),
    "x[None]": (lambda np, x: (x[None], x[:, None], x[...], x[()]), x),
    "x[0, ..., None]": (lambda np, A: (A[0, ..., 1], A[0, None, 1:], A[..., ::-1, 0]), A),
    "x[i]": (lambda np, x, i: x[i], x, k),
}


def inlined(jax, closed):
    """A jaxpr of JAX with its calls of `jit` written out."""
    literal = jax.extend.core.Literal

    def evaluate(jaxpr, consts, args):
        env = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*consts, *args]))

        def read(atom):
            return atom.val if isinstance(atom, literal) else env[atom]

        for eqn in jaxpr.eqns:
            operands = [read(atom) for atom in eqn.invars]
            if eqn.primitive.name == "jit":
                inner = eqn.params["jaxpr"]
                outs = evaluate(inner.jaxpr, inner.consts, operands)
            else:
                outs = eqn.primitive.bind(*operands, **eqn.params)
                outs = outs if eqn.primitive.multiple_results else [outs]
            env.update(zip(eqn.outvars, outs))
        return [read(atom) for atom in jaxpr.outvars]

    def run(*args):
        return evaluate(closed.jaxpr, closed.consts, args)

    return jax.make_jaxpr(run)(*closed.in_avals)


@pytest.mark.parametrize("name", PROGRAMS)
def test_same_text(jax, name):
    import jax.extend.core

    program, *args = PROGRAMS[name]
    ours = covector.make_jaxpr(lambda *args: program(jnp, *args))(*args)
    theirs = jax.make_jaxpr(lambda *args: program(jax.numpy, *args))(*args)
    assert str(ours) == str(inlined(jax, theirs))
