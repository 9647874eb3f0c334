"""Collectives over axes that `vmap` maps: values, several axes, groups, derivatives, texts."""

import itertools

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector import lax

RNG = np.random.default_rng(0)
X = RNG.standard_normal((6, 6, 12)).astype(np.float32)  # 6 examples
GROUPS = [[4, 0], [1, 5], [3, 2]]


def over(f, x, **options):
    """A function of one example, and of the axis `i`, on a batch."""
    return np.asarray(cv.vmap(f, axis_name="i", **options)(x))


def stacked(values):
    return np.stack(list(values))


def tiled_exchange(x, split, concat):
    """For each example, the parts that all have for it, joined."""
    parts = [np.split(example, len(x), split) for example in x]
    return stacked(np.concatenate([p[i] for p in parts], concat) for i in range(len(x)))


def exchange(x, split, concat):
    """For each example, the slices that all have for it, stacked."""
    return stacked(np.stack([np.take(e, i, split) for e in x], concat) for i in range(len(x)))


def assert_close(got, want):
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


# For each op: the function of one example, and what it is of the whole batch.
OPS = {
    "psum": (lambda x, n, **o: lax.psum(x, n, **o), lambda x: stacked([x.sum(0)] * len(x))),
    "pmean": (lambda x, n, **o: lax.pmean(x, n, **o), lambda x: stacked([x.mean(0)] * len(x))),
    "pmax": (lambda x, n, **o: lax.pmax(x, n, **o), lambda x: stacked([x.max(0)] * len(x))),
    "pmin": (lambda x, n, **o: lax.pmin(x, n, **o), lambda x: stacked([x.min(0)] * len(x))),
    "all_gather": (lambda x, n, **o: lax.all_gather(x, n, **o), lambda x: stacked([x] * len(x))),
    "all_gather at 1": (
        lambda x, n, **o: lax.all_gather(x, n, axis=1, **o),
        lambda x: stacked([np.moveaxis(x, 0, 1)] * len(x)),
    ),
    "all_gather at -1": (
        lambda x, n, **o: lax.all_gather(x, n, axis=-1, **o),
        lambda x: stacked([np.moveaxis(x, 0, 2)] * len(x)),
    ),
    "all_gather tiled": (
        lambda x, n, **o: lax.all_gather(x, n, axis=1, tiled=True, **o),
        lambda x: stacked([np.concatenate(list(x), 1)] * len(x)),
    ),
    "psum_scatter": (lambda x, n, **o: lax.psum_scatter(x, n, **o), lambda x: x.sum(0)),
    "psum_scatter tiled": (
        lambda x, n, **o: lax.psum_scatter(x, n, scatter_dimension=1, tiled=True, **o),
        lambda x: stacked(np.split(x.sum(0), len(x), 1)),
    ),
    "all_to_all 0 0": (
        lambda x, n, **o: lax.all_to_all(x, n, 0, 0, **o),
        lambda x: exchange(x, 0, 0),
    ),
    "all_to_all 0 1": (
        lambda x, n, **o: lax.all_to_all(x, n, 0, 1, **o),
        lambda x: exchange(x, 0, 1),
    ),
    "all_to_all 1 0": (
        lambda x, n, **o: lax.all_to_all(x[:, :6], n, 1, 0, **o),
        lambda x: exchange(x[:, :, :6], 1, 0),
    ),
    "all_to_all tiled 0 1": (
        lambda x, n, **o: lax.all_to_all(x, n, 0, 1, tiled=True, **o),
        lambda x: tiled_exchange(x, 0, 1),
    ),
    "all_to_all tiled 1 0": (
        lambda x, n, **o: lax.all_to_all(x, n, 1, 0, tiled=True, **o),
        lambda x: tiled_exchange(x, 1, 0),
    ),
    "all_to_all tiled 1 1": (
        lambda x, n, **o: lax.all_to_all(x, n, 1, 1, tiled=True, **o),
        lambda x: tiled_exchange(x, 1, 1),
    ),
    "pswapaxes": (lambda x, n, **o: lax.pswapaxes(x, n, 0, **o), lambda x: np.swapaxes(x, 0, 1)),
    "axis_index": (
        lambda x, n: x * lax.axis_index(n),
        lambda x: x * np.arange(len(x), dtype=np.float32)[:, None, None],
    ),
    "axis_size": (lambda x, n: x * lax.axis_size(n), lambda x: x * len(x)),
    "psum of 1": (lambda x, n, **o: x * lax.psum(1, n, **o), lambda x: x * len(x)),
}
WITHOUT_GROUPS = {
    "ppermute": (
        lambda x, n: lax.ppermute(x, n, [(5, 0), (0, 1), (2, 3)]),
        lambda x: stacked([x[5], x[0], 0 * x[0], x[2], 0 * x[0], 0 * x[0]]),
    ),
    "ppermute of all": (
        lambda x, n: lax.ppermute(x, n, [(i, (i + 1) % 6) for i in range(6)]),
        lambda x: np.roll(x, 1, 0),
    ),
    "pshuffle": (
        lambda x, n: lax.pshuffle(x, n, [5, 3, 1, 0, 2, 4]),
        lambda x: x[[5, 3, 1, 0, 2, 4]],
    ),
    "pbroadcast": (lambda x, n: lax.pbroadcast(x, n, 2), lambda x: stacked([x[2]] * len(x))),
}
LINEAR = [name for name in OPS | WITHOUT_GROUPS if name not in ("pmax", "pmin")]


@pytest.mark.parametrize("name", OPS | WITHOUT_GROUPS)
def test_values(name):
    f, want = (OPS | WITHOUT_GROUPS)[name]
    assert_close(over(lambda x: f(x, "i"), X), want(X))
    moved = np.moveaxis(X, 0, 2)
    assert_close(over(lambda x: f(x, "i"), moved, in_axes=2), want(X))
    assert_close(over(cv.jit(lambda x: f(x, "i")), X), want(X))
    # An operand that is the same for all examples.
    same = over(cv.jit(lambda i: f(X[0], "i")), np.arange(6))
    assert_close(same, want(stacked([X[0]] * 6)))


@pytest.mark.parametrize("name", OPS | WITHOUT_GROUPS)
def test_two_axes_are_one_of_the_product_of_their_sizes(name):
    """Whichever is mapped first, and wherever the dimensions are."""
    f, want = (OPS | WITHOUT_GROUPS)[name]
    x = X.reshape(2, 3, 6, 12)
    for names in (("a", "b"), ["a", "b"]) if name in ("psum", "axis_index") else (("a", "b"),):
        for order, dims in itertools.product([("a", "b"), ("b", "a")], [(0, 0), (2, 1)]):
            g = lambda x, names=names: f(x, names)  # noqa: E731
            for axis_name, dim in zip(reversed(order), reversed(dims)):
                g = cv.vmap(g, in_axes=dim, axis_name=axis_name)
            batch = x if order == ("a", "b") else np.swapaxes(x, 0, 1)
            if dims == (2, 1):  # the outer at 2 of all dimensions, the inner at 1 of the others
                batch = np.moveaxis(np.moveaxis(batch, 1, 2), 0, 2)
            out = np.asarray(cv.jit(g)(batch))
            out = out if order == ("a", "b") else np.swapaxes(out, 0, 1)
            assert_close(out.reshape(6, *out.shape[2:]), want(X))


@pytest.mark.parametrize("name", OPS)
def test_each_axis_alone_beside_another(name):
    """A collective over one axis is batched along the other like any op."""
    f, want = OPS[name]
    x = RNG.standard_normal((6, 3, 6, 12)).astype(np.float32)
    nested = cv.vmap(cv.vmap(lambda x: f(x, "i"), axis_name="j"), axis_name="i")
    per_example = stacked(want(x[:, j]) for j in range(3))
    assert_close(np.asarray(cv.jit(nested)(x)), np.swapaxes(per_example, 0, 1))
    unnamed = cv.vmap(cv.vmap(lambda x: f(x, "i"), axis_name="i"), in_axes=1, out_axes=1)
    assert_close(np.asarray(cv.jit(unnamed)(x)), np.swapaxes(per_example, 0, 1))


def in_groups(name):
    """The function of one example and of its whole batch, as far as groups of two allow it."""
    if name == "all_to_all 1 0":
        return (
            lambda x, n, **o: lax.all_to_all(x[:, :2], n, 1, 0, **o),
            lambda x: exchange(x[..., :2], 1, 0),
        )
    return OPS[name]


@pytest.mark.parametrize("name", [n for n in OPS if not n.startswith("axis")])
def test_groups(name):
    """Within each group, a collective is what it is over an axis of the group's size."""
    f, want = in_groups(name)
    x = np.ascontiguousarray(X[:, :2])
    out = over(cv.jit(lambda x: f(x, "i", axis_index_groups=GROUPS)), x)
    for group in GROUPS:
        assert_close(out[group], want(x[group]))


# ---------------------------------------------------------------- derivatives


@pytest.mark.parametrize("name", LINEAR)
def test_linear(name):
    """The derivative of a batch's function is the function, its transpose the adjoint of it."""
    f, _ = (OPS | WITHOUT_GROUPS)[name]
    g = cv.jit(cv.vmap(lambda x: f(x, "i"), axis_name="i"))
    t = RNG.standard_normal(X.shape).astype(np.float32)
    out, out_t = cv.jvp(g, (X,), (t,))
    assert_close(np.asarray(out_t), np.asarray(g(t)))
    ct = RNG.standard_normal(out.shape).astype(np.float32)
    (back,) = cv.vjp(g, X)[1](ct)
    np.testing.assert_allclose(np.vdot(ct, out_t), np.vdot(back, t), rtol=1e-3)


@pytest.mark.parametrize("name", LINEAR)
def test_transposed_within(name):
    """The transpose that is taken for one example is the adjoint over all examples together."""
    f, _ = (OPS | WITHOUT_GROUPS)[name]
    shape = np.shape(over(lambda x: f(x, "i"), X))
    ct = RNG.standard_normal(shape).astype(np.float32)
    within = cv.vmap(lambda x, ct: cv.vjp(lambda x: f(x, "i"), x)[1](ct)[0], axis_name="i")
    back = np.asarray(cv.jit(within)(X, ct))
    forward = over(lambda x: f(x, "i"), X)
    np.testing.assert_allclose(np.vdot(ct, forward), np.vdot(back, X), rtol=1e-3)


def test_extrema_have_derivatives():
    x = jnp.array([1.0, 3.0, 3.0, 2.0])

    def f(x):
        return cv.vmap(lambda x: lax.pmax(x, "i") * 2.0, axis_name="i")(x).sum()

    np.testing.assert_allclose(cv.grad(f)(x), [0, 4, 4, 0])
    within = cv.vmap(lambda x: cv.jvp(lambda x: lax.pmin(x, "i"), (x,), (x,))[1], axis_name="i")
    np.testing.assert_allclose(within(x), np.ones(4))


def test_batch_normalization_under_grad(jax):
    def loss(m, w, x):
        def normalized(x):
            y = m.numpy.tanh(x @ w)
            mean = m.lax.pmean(y, "batch")
            variance = m.lax.pmean((y - mean) ** 2, "batch")
            return (y - mean) / m.numpy.sqrt(variance + 1e-3)

        return (m.vmap(normalized, axis_name="batch")(x) ** 3).sum()

    w = RNG.standard_normal((3, 2)).astype(np.float32)
    x = RNG.standard_normal((5, 3)).astype(np.float32)
    got = cv.jit(cv.grad(lambda w: loss(cv, w, x)))(w)
    want = jax.grad(lambda w: loss(jax, w, x))(w)
    np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-4)


# ---------------------------------------------------------------- where axes are known


def test_constants_are_known_while_tracing():
    found = {}

    def f(x):
        found.update(
            one=lax.psum(1, "i"), half=lax.psum(0.5, "i"), both=lax.axis_size(("i", "j")),
            array=lax.psum(np.ones(2, np.float32), "i"), mixed=lax.psum((x, 3), "j")[1],
        )  # fmt: skip
        return x

    cv.vmap(cv.vmap(f, axis_name="j"), axis_name="i")(np.zeros((3, 4)))
    assert (found["one"], type(found["one"])) == (3, int)
    assert (found["half"], type(found["half"])) == (1.5, float)
    assert (found["both"], found["mixed"]) == (12, 12)
    np.testing.assert_array_equal(found["array"], [3, 3])


def test_booleans_count_as_integers():
    out = cv.vmap(lambda x: lax.psum(x, "i"), axis_name="i")(np.array([True, False, True]))
    assert out.dtype == np.int32
    np.testing.assert_array_equal(out, [2, 2, 2])


def test_programs_that_carry_jaxprs_act_over_axes_within_them():
    """An op of which no operand is batched is mapped if its jaxpr asks for the axis."""
    f = cv.jit(lambda: lax.axis_index("i") * 2)
    np.testing.assert_array_equal(over(lambda x: f(), np.zeros(3)), [0, 2, 4])

    def g(x):
        return lax.cond(True, lambda: lax.axis_index("i"), lambda: 7)

    np.testing.assert_array_equal(over(g, np.zeros(3)), [0, 1, 2])

    def h(x):
        return lax.cond(lax.axis_index("i") > 0, lambda: 1, lambda: 7)

    np.testing.assert_array_equal(over(h, np.zeros(3)), [7, 1, 1])


def test_collectives_that_nobody_needs_are_dropped():
    f = cv.jit(lambda x: (lax.psum(x, "i"), x + 1)[1])
    text = cv.make_jaxpr(cv.vmap(cv.grad(lambda x: f(x)), axis_name="i"))(np.ones(3, np.float32))
    assert "psum" not in str(text.eqns[-1])


def test_inner_axes_hide_outer_ones_of_their_name():
    f = cv.vmap(cv.vmap(lambda x: lax.psum(x, "i"), axis_name="i"), axis_name="i")
    np.testing.assert_array_equal(f(np.ones((2, 3))), np.full((2, 3), 3.0))
