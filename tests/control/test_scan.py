"""Values of `scan`: every form of the loop against Python's own loop, and JAX."""

import gc

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector import lax
from covector._src.xla.compile import Executable


def loop(f, init, xs, length, reverse=False):
    """What `scan` computes, step by step."""
    carry, ys = init, [None] * length
    for i in reversed(range(length)) if reverse else range(length):
        carry, ys[i] = f(carry, cv.tree.map(lambda x, i=i: x[i], xs))
    return carry, cv.tree.map(lambda *y: np.stack(list(map(np.asarray, y))), *ys)


def check(f, init, xs, length, **options):
    got = lax.scan(f, init, xs, length=length, **options)
    want = loop(f, init, xs, length, options.get("reverse", False))
    got_leaves, got_tree = cv.tree.flatten(got)
    want_leaves, want_tree = cv.tree.flatten(want)
    assert got_tree == want_tree
    for x, y in zip(got_leaves, want_leaves):
        assert isinstance(x, cv.Array)
        np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=1e-5, atol=1e-6)
    return got


def recurrence(carry, x):
    """A step in which order matters, with a tree of carries, inputs and outputs."""
    a, count = carry["a"], carry["count"]
    new = jnp.tanh(a * 0.5 + x[0]) - x[1][0]
    return {"a": new, "count": count + 1}, (new * a, {"count": count})


XS = (np.linspace(-1, 1, 14, dtype=np.float32).reshape(7, 2), [np.arange(7, dtype=np.float32)])
INIT = {"a": np.array([0.1, 0.2], np.float32), "count": np.int32(3)}

FORMS = [
    dict(),
    dict(reverse=True),
    dict(unroll=2),
    dict(unroll=3, reverse=True),
    dict(unroll=7),
    dict(unroll=7, reverse=True),
    dict(unroll=True),
    dict(unroll=False),
    dict(unroll=0, reverse=True),
    dict(unroll=100),
]


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_forms_of_the_loop(form):
    check(recurrence, INIT, XS, 7, **form)


@pytest.mark.parametrize("form", FORMS[:5], ids=str)
def test_one_step_and_none(form):
    first = cv.tree.map(lambda x: x[:1], XS)
    check(recurrence, INIT, first, 1, **form)
    carry, (ys, counts) = lax.scan(recurrence, INIT, cv.tree.map(lambda x: x[:0], XS), **form)
    np.testing.assert_array_equal(carry["a"], INIT["a"])
    assert (ys.shape, counts["count"].shape) == ((0, 2), (0,))
    assert (ys.dtype, counts["count"].dtype) == (np.float32, np.int32)


@pytest.mark.parametrize("name", ["bfloat16", "float16", "int8", "uint32", "bool", "complex64"])
def test_dtypes(name):
    dtype = jnp.dtype(name)
    x = (np.arange(8).reshape(4, 2) % 3).astype(dtype)

    def step(c, x):
        new = jnp.logical_xor(c, x) if name == "bool" else c * x + x
        return new, jnp.where(x != 0, new, c)

    got = check(step, x[0], x, 4, unroll=3)
    assert {leaf.dtype for leaf in cv.tree.leaves(got)} == {dtype}


def test_64_bits():
    with cv.enable_x64(True):
        xs = np.linspace(0, 1, 4)
        carry, ys = check(lambda c, x: (c / 3 + x, c), xs[0], xs, 4, reverse=True)
        assert carry.dtype == ys.dtype == np.float64
        count, _ = lax.scan(lambda c, _: (c + 2**40, None), np.int64(0), length=3)
        assert int(count) == 3 * 2**40


def test_keys_are_carried_and_stacked():
    random = cv.random
    keys = random.split(random.key(3), 4)
    last, (before, given) = lax.scan(lambda c, k: (k, (c, k)), random.key(0), keys)
    data = random.key_data
    np.testing.assert_array_equal(data(last), data(keys)[3])
    np.testing.assert_array_equal(data(before)[1:], data(keys)[:3])
    np.testing.assert_array_equal(data(given), data(keys))


def test_empty_trees():
    assert lax.scan(lambda c, x: ((), None), (), np.arange(3)) == ((), None)
    _, ys = lax.scan(lambda c, _: (None, 2.0), None, None, length=3)
    np.testing.assert_array_equal(ys, [2, 2, 2])
    carry, _ = lax.scan(lambda c, x: (c + x["a"], ()), 1, {"a": np.arange(3), "b": None})
    assert int(carry) == 4


def test_empty_arrays():
    carry, ys = lax.scan(lambda c, x: (c + x, x * 2), np.zeros((0, 2)), np.zeros((3, 0, 2)))
    assert (carry.shape, ys.shape) == ((0, 2), (3, 0, 2))


def test_what_only_passes_through():
    """Carries that no step changes, and outputs that are inputs, do not go through the loop."""
    x = np.arange(3, dtype=np.float32)

    def f(x):
        return lax.scan(lambda c, x: ((c[0] + x, c[1], c[2]), (x, c[1])), (0.0, x, 5), x)

    (total, same, five), (xs, constants) = f(x)
    assert float(total) == 3 and int(five) == 5
    np.testing.assert_array_equal(same, x)
    np.testing.assert_array_equal(xs, x)
    np.testing.assert_array_equal(constants, np.stack([x] * 3))
    (eqn,) = cv.make_jaxpr(f)(x).eqns
    params = eqn.params
    assert (params["num_consts"], params["num_carry"], len(eqn.outvars)) == (2, 1, 2)


def test_closures_of_several_levels():
    """Arrays of NumPy and on the device, and values of each transformation around."""
    host, device = np.arange(3, dtype=np.float32), jnp.array([1.0, 2.0, 4.0])

    @cv.jit
    def outer(x):
        y = jnp.sin(x)

        def inner(z):
            return lax.scan(lambda c, w: (c * 0.5 + y * w + z, c * host - device), x, host)

        return cv.vmap(inner)(jnp.stack([x, 2 * x]))

    x = np.array([0.1, -0.3, 0.7], np.float32)
    carries, ys = outer(x)
    for i, z in enumerate([x, 2 * x]):
        step = lambda c, w, z=z: (c * 0.5 + np.sin(x) * w + z, c * host - np.asarray(device))  # noqa: E731
        carry, y = loop(step, x, host, 3)
        np.testing.assert_allclose(carries[i], carry, rtol=1e-5)
        np.testing.assert_allclose(ys[i], y, rtol=1e-5)


def test_within_scan():
    """A scan in a scan, whose body closes over the outer carry and input."""
    xs = np.linspace(0, 1, 12, dtype=np.float32).reshape(4, 3)

    def outer(scan):
        def step(c, x):
            total, ys = scan(lambda d, y: (d * c + y, d + x.sum()), c, x, 3)
            return total, ys

        return step

    inner = lambda f, c, x, n: lax.scan(f, c, x)  # noqa: E731
    got = lax.scan(outer(inner), np.float32(0.5), xs)
    want = loop(outer(loop), np.float32(0.5), xs, 4)
    for x, y in zip(got, want):
        np.testing.assert_allclose(x, y, rtol=1e-5)


def test_weak_carries_are_promoted_to_a_fixpoint():
    """Each carry waits for the one before it, so that one pass does not settle them."""

    def step(c, x):
        return [c[0] + x, *[a + b for a, b in zip(c[1:], c[:-1])]], None

    carry, _ = lax.scan(step, [0.0] * 4, jnp.ones(5, jnp.bfloat16))
    assert {c.dtype for c in carry} == {jnp.dtype(jnp.bfloat16)}
    assert [float(c) for c in carry] == [5, 10, 10, 5]
    carry, _ = lax.scan(lambda c, x: (c + x, None), 0, np.ones(3, np.float32))
    assert carry.dtype == np.float32
    carry, _ = lax.scan(lambda c, x: (c * 2, None), 1, None, length=3)
    assert carry.weak_type


def test_disable_jit_runs_python():
    seen = []

    def step(c, x):
        seen.append((float(c), float(x)))
        return c + x, {"y": c * x}

    with cv.disable_jit():
        carry, ys = lax.scan(step, 1.0, np.array([2.0, 3.0]), reverse=True)
    assert seen == [(1, 3), (4, 2)]
    assert float(carry) == 6
    np.testing.assert_array_equal(ys["y"], [8, 3])


def test_concrete_arrays_are_not_traced_again():
    traced = []

    def step(c, x):
        traced.append(c)
        return jnp.sin(c) + x, c

    for offset in range(3):
        lax.scan(step, 1.0, np.arange(4, dtype=np.float32) + offset)
    cv.jit(lambda x: lax.scan(step, 1.0, x))(np.arange(4, dtype=np.float32))
    assert len(traced) == 1
    lax.scan(step, 1.0, np.arange(5, dtype=np.float32))
    assert len(traced) == 1, "the body takes slices of the same types"
    lax.scan(step, 1, np.arange(4))
    assert len(traced) > 1


@pytest.mark.usefixtures("only_new_garbage")
def test_nothing_of_a_scan_outlives_its_body():
    """Neither jaxprs nor what is compiled of them."""

    def kept():
        gc.collect()
        return sum(type(x) in (cv.extend.core.Jaxpr, Executable) for x in gc.get_objects())

    def run():
        cv.grad(lambda c: lax.scan(lambda c, x: (jnp.sin(c) * x, c), c, XS[0][:, 0])[0])(2.0)
        lax.map(lambda x: x * 2, XS[0])

    run()
    before = kept()
    run()
    assert kept() == before


def test_lengths_that_are_integers_in_other_types():
    for length in (3, np.int64(3), 3.0, jnp.array(3)):
        assert int(lax.scan(lambda c, _: (c + 1, None), 0, length=length)[0]) == 3


def test_the_reference_evaluates_it():
    with cv.reference_mode():
        got = lax.scan(recurrence, INIT, XS, reverse=True)
    want = lax.scan(recurrence, INIT, XS, reverse=True)
    for x, y in zip(cv.tree.leaves(got), cv.tree.leaves(want)):
        np.testing.assert_allclose(x, y, rtol=1e-5)
