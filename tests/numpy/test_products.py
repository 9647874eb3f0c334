"""Products of matrices and tensors: values against NumPy's in float64, types against JAX 0.10.2."""

from functools import partial

import numpy as np
import pytest

import covector
import covector.numpy as jnp
from tests.numpy.comparing import DTYPES, array, assert_same_type

MATMULS = [
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((3,), (3, 2)),
    ((2, 3), (3, 4)),
    ((5, 2, 3), (3, 4)),
    ((2, 3), (5, 3, 4)),
    ((5, 2, 3), (5, 3, 4)),
    ((5, 2, 3), (1, 3, 4)),
    ((1, 2, 3), (5, 3, 4)),
    ((7, 1, 2, 3), (5, 3, 4)),
    ((7, 5, 2, 3), (1, 5, 3, 4)),
    ((1, 5, 2, 3), (7, 1, 3, 4)),
    ((5, 2, 3), (3,)),
    ((3,), (5, 3, 2)),
    ((0, 2, 3), (3, 4)),
    ((2, 0), (0, 4)),
]
SUBSCRIPTS = [
    ("ij,jk->ik", (2, 3), (3, 4)),
    ("ij,jk", (2, 3), (3, 4)),
    ("ij,jk->ki", (2, 3), (3, 4)),
    ("ij->ji", (2, 3)),
    ("ij->", (2, 3)),
    ("ij->j", (2, 3)),
    ("ii", (3, 3)),
    ("ii->i", (3, 3)),
    ("iij->j", (3, 3, 2)),
    ("iji->ji", (3, 2, 3)),
    ("iii->i", (2, 2, 2)),
    ("...ij,jk", (5, 2, 3), (3, 4)),
    ("a...b,b...c->...ac", (2, 7, 3), (3, 7, 4)),
    ("i...,...j->...ij", (2, 5), (5, 3)),
    ("i,j->ij", (2,), (3,)),
    ("i,j->ji", (2,), (3,)),
    ("ij,ij->ij", (2, 3), (2, 3)),
    ("ij,ji->ij", (2, 3), (3, 2)),
    ("ij,k->", (2, 3), (4,)),
    ("bij,bjk->bik", (5, 2, 3), (5, 3, 4)),
    ("bij,bjk->ikb", (5, 2, 3), (5, 3, 4)),
    ("ij,ik->jk", (2, 3), (2, 4)),
    ("ij,jk,kl->il", (2, 3), (3, 4), (4, 5)),
    ("ij,jk,kl,lm->im", (2, 3), (3, 4), (4, 5), (5, 2)),
    ("i,i,i->i", (3,), (3,), (3,)),
    ("ab,cd,ef->fabcde", (2, 3), (1, 2), (2, 3)),
    ("ii,ij->j", (3, 3), (3, 2)),
    ("ij,jk", (2, 3), (1, 4)),
    ("ij,ij->i", (2, 1), (2, 3)),
    (",ij->ij", (), (2, 3)),
    ("abc,abd,ae->cde", (2, 3, 4), (2, 3, 5), (2, 6)),
]


def operands(shapes):
    return [array(shape, "float32", seed=i) for i, shape in enumerate(shapes)]


def assert_near(got, want, what):
    np.testing.assert_allclose(np.asarray(got), want, rtol=1e-5, atol=1e-4, err_msg=what)


def wide(args):
    return [x.astype(np.float64) for x in args]


def test_matmul(jax):
    args = [operands(shapes) for shapes in MATMULS]
    got = covector.jit(lambda args: [jnp.matmul(*xs) for xs in args])(args)
    for shapes, xs, g in zip(MATMULS, args, got):
        assert g.shape == np.matmul(*xs).shape
        assert_near(g, np.matmul(*wide(xs)), f"{shapes}")
        assert_same_type(jax, lambda np, x, y: x @ y, *xs)
    x, y = operands(MATMULS[7])
    assert_near(jnp.asarray(x) @ y, x @ y, "eager")
    assert_near(x @ jnp.asarray(y), x @ y, "NumPy on the left")


def test_einsum(jax):
    args = [operands(shapes) for _, *shapes in SUBSCRIPTS]
    texts = [text for text, *_ in SUBSCRIPTS]

    def program(args):
        return [jnp.einsum(text, *xs) for text, xs in zip(texts, args)]

    for text, xs, g in zip(texts, args, covector.jit(program)(args)):
        assert_near(g, np.einsum(text, *wide(xs)), text)
        assert_same_type(jax, lambda np, *xs: np.einsum(text, *xs), *xs, what=text)  # noqa: B023
    for text, xs in list(zip(texts, args))[::4]:
        assert_near(jnp.einsum(text, *xs), np.einsum(text, *wide(xs)), f"eager {text}")


@pytest.mark.parametrize("optimize", [False, True, "greedy", [(0, 1), (0, 1)]])
def test_einsum_orders(optimize):
    x, y, z = xs = operands([(2, 3), (3, 4), (4, 5)])
    got = jnp.einsum("ij,jk,kl", *xs, optimize=optimize)
    assert_near(got, x @ y @ z, str(optimize))
    got = jnp.einsum(x, [0, 1], y, [1, 2], z, [2, 3], [3, 0], optimize=optimize)
    assert_near(got, (x @ y @ z).T, str(optimize))
    assert jnp.einsum_path("ij,jk,kl", *xs, optimize="optimal")[0] == [(0, 1), (0, 1)]


OTHERS = {
    "dot": (lambda np, x, y: np.dot(x, y), (4, 2, 3), (5, 3, 2)),
    "dot of scalars": (lambda np, x, y: np.dot(x, y), (), (3,)),
    "vdot": (lambda np, x, y: np.vdot(x, y), (2, 3), (6,)),
    "inner": (lambda np, x, y: np.inner(x, y), (2, 3), (4, 3)),
    "outer": (lambda np, x, y: np.outer(x, y), (2, 3), (4,)),
    "kron": (lambda np, x, y: np.kron(x, y), (2, 3), (4,)),
    "kron of matrices": (lambda np, x, y: np.kron(x, y), (2, 3), (3, 2)),
    "tensordot": (lambda np, x, y: np.tensordot(x, y, 1), (2, 3), (3, 4)),
    "tensordot of two": (lambda np, x, y: np.tensordot(x, y), (5, 2, 3), (2, 3)),
    "tensordot of none": (lambda np, x, y: np.tensordot(x, y, 0), (2,), (3,)),
    "tensordot of pairs": (lambda np, x, y: np.tensordot(x, y, ((0, -1), (1, 0))), (2, 3), (3, 2)),
    "tensordot of a pair": (lambda np, x, y: np.tensordot(x, y, (0, 1)), (2, 3), (4, 2)),
    "cross": (lambda np, x, y: np.cross(x, y), (2, 3), (3,)),
    "cross along": (lambda np, x, y: np.cross(x, y, axis=0), (3, 2), (3, 2)),
    "cross to": (lambda np, x, y: np.cross(x, y, axisc=0), (2, 3), (2, 3)),
}


def test_others(jax):
    args = {name: operands(shapes) for name, (_, *shapes) in OTHERS.items()}

    def program(args):
        return {name: call(jnp, *args[name]) for name, (call, *_) in OTHERS.items()}

    got = covector.jit(program)(args)
    for name, (call, *_) in OTHERS.items():
        assert_near(got[name], call(np, *wide(args[name])), name)
        assert_near(call(jnp, *args[name]), call(np, *wide(args[name])), f"eager {name}")
        assert_same_type(jax, call, *args[name], what=name)


def test_vectors_of_two_components():
    x, y = operands([(4, 2), (4, 2)])
    assert_near(jnp.cross(x, y), x[:, 0] * y[:, 1] - x[:, 1] * y[:, 0], "cross")
    z = np.concatenate([y, np.ones((4, 1))], axis=1).astype(np.float32)
    want = np.cross(np.pad(x, ((0, 0), (0, 1))), z)
    assert_near(jnp.cross(x, z), want, "cross of 2 and 3")


def test_products_along_an_axis():
    x, y = operands([(4, 3), (4, 3)])
    assert_near(jnp.vecdot(x, y), np.sum(x * y, -1), "vecdot")
    assert_near(jnp.vecdot(x, y, axis=0), np.sum(x * y, 0), "vecdot")
    assert_near(jnp.vecdot(x, y[0]), x @ y[0], "vecdot")
    m, v = operands([(5, 2, 3), (5, 3)])
    assert_near(jnp.matvec(m, v), np.einsum("bij,bj->bi", m, v), "matvec")
    assert_near(jnp.vecmat(v, np.swapaxes(m, 1, 2)), np.einsum("bij,bj->bi", m, v), "vecmat")


def test_conjugates():
    x, y = array((3,), "complex64"), array((3,), "complex64", seed=1)
    assert_near(jnp.vdot(x, y), np.vdot(x, y), "vdot")
    assert_near(jnp.vecdot(x, y), np.vdot(x, y), "vecdot")
    assert_near(jnp.vecmat(x, y[:, None]), [np.vdot(x, y)], "vecmat")
    assert_near(jnp.dot(x, y), x @ y, "dot")


@pytest.mark.parametrize("name", ["matmul", "dot", "inner", "outer", "kron", "vdot", "tensordot"])
def test_types(jax, name):
    def call(np, x, y):
        return getattr(np, name)(x, y)

    for first in DTYPES:
        for second in DTYPES:
            if name == "kron" and first == second == "bool":
                continue
            x, y = array((2, 2), first), array((2, 2), second)
            assert_same_type(jax, call, x, y, what=f"{name} {first} {second}")
    assert_same_type(jax, lambda np, x: np.dot(x, 2), array((2,), "float16"))
    assert_same_type(
        jax, lambda np, x: np.matmul(x, x, preferred_element_type=int), array((2, 2), "int8")
    )


def test_gradient_of_a_batched_product():
    x, y = operands([(1, 2, 3), (5, 3, 4)])
    gx, gy = covector.grad(lambda x, y: jnp.sum((x @ y) ** 2), (0, 1))(x, y)
    out = 2 * (x @ y)
    assert_near(gx, np.sum(out @ np.swapaxes(y, 1, 2), 0, keepdims=True), "left")
    assert_near(gy, np.swapaxes(x, 1, 2) @ out, "right")


@pytest.mark.parametrize(
    ("f", "error", "words"),
    [
        (lambda x: x @ x, TypeError, "contracting"),
        (lambda x: jnp.matmul(x, 2), ValueError, "ndim at least 1"),
        (lambda x: jnp.ones((2, 2, 3)) @ jnp.ones((3, 3, 4)), ValueError, "cannot be broadcast"),
        (lambda x: jnp.tensordot(x, x, 3), TypeError, "axes, 3, exceeds input ranks"),
        (lambda x: jnp.tensordot(x, x, ((0,), (0, 1))), TypeError, "in pairs"),
        (lambda x: jnp.einsum("ijk", x), ValueError, ""),
        (lambda x: jnp.einsum("ij,jk", x, x), ValueError, "named 'j'"),
        (lambda x: jnp.cross(jnp.ones(4), jnp.ones(4)), ValueError, "2 or 3 components"),
        (lambda x: jnp.vecdot(x, x[:, :2]), ValueError, "of one size"),
        (lambda x: x @ [1, 2, 3], TypeError, "unsupported operand type(s) for @"),
        (lambda x: jnp.matmul(x, [1, 2, 3]), TypeError, "at position 1"),
        (lambda x: jnp.outer(x, x, out=x), NotImplementedError, "`out`"),
    ],
)
def test_errors(f, error, words):
    for g in (f, covector.jit(f)):
        with pytest.raises(error) as info:
            g(jnp.ones((2, 3)))
        assert words in str(info.value)


def precisions(jaxpr):
    """The precision of each product in a jaxpr, and in those that it applies."""
    for eqn in jaxpr.eqns:
        if eqn.primitive.name == "dot_general":
            yield str(eqn.params["precision"])
        for value in eqn.params.values():
            if hasattr(value, "jaxpr"):
                yield from precisions(value.jaxpr)


@pytest.mark.parametrize("default", [None, "float32", "tensorfloat32", "BF16_BF16_F32"])
def test_the_default_precision_is_that_of_jax(jax, default):
    x = np.ones((2, 2), np.float32)
    found = []
    for m in (covector, jax):
        products = [m.numpy.dot, m.numpy.matmul, m.numpy.vdot, m.numpy.inner, m.numpy.vecdot]
        products += [partial(m.numpy.tensordot, axes=1), partial(m.numpy.einsum, "ij,jk->ik")]
        with m.default_matmul_precision(default):
            found.append([list(precisions(m.make_jaxpr(f)(x, x).jaxpr)) for f in products])
    assert found[0] == found[1]
