"""Donated arguments: their memory is reused, and they cannot be used again."""

import gc

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp

pytestmark = pytest.mark.filterwarnings("ignore:.*donated buffers were not usable")


def donating(fun, argnums=0, **options):
    return cv.jit(fun, donate_argnums=argnums, **options)


def test_the_result_takes_the_memory_of_the_argument():
    f = donating(lambda x: x + 1)
    x = jnp.arange(1000.0) + 0
    address = x.unsafe_buffer_pointer()
    y = f(x)
    assert x.is_deleted() and y.unsafe_buffer_pointer() == address
    np.testing.assert_array_equal(np.asarray(y), np.arange(1000.0, dtype=np.float32) + 1)


def test_by_name():
    f = cv.jit(lambda x, y: x * y, donate_argnames="y")
    x, y = jnp.ones(3), jnp.ones(3)
    f(x, y)
    assert y.is_deleted() and not x.is_deleted()
    y = jnp.ones(3)
    f(x, y=y)
    assert y.is_deleted()


def test_trees_are_donated_whole():
    f = donating(lambda tree, x: ({k: v + x for k, v in tree.items()}))
    tree = {"a": jnp.ones(3), "b": jnp.ones((2, 2))}
    x = jnp.asarray(1.0)
    f(tree, x)
    assert all(leaf.is_deleted() for leaf in tree.values()) and not x.is_deleted()


def test_numbers_can_be_donated_again_and_again():
    """The arrays that stand for numbers are kept; a donation must not take them away."""
    f = donating(lambda x: x + 1)
    for _ in range(3):
        assert float(f(2.0)) == 3.0 and float(f(2)) == 3
        assert float(f(np.float32(2.0))) == 3.0
    assert float(jnp.asarray(1.0) * 2.0) == 2.0
    assert float(f(True)) == 2.0


def test_numpy_arguments_are_left_alone():
    f = donating(lambda x: x + 1)
    host = np.arange(1000, dtype=np.float32)
    for _ in range(2):
        np.testing.assert_array_equal(np.asarray(f(host)), host + 1)
    assert host[5] == 5


def test_a_view_of_donated_memory_keeps_its_elements():
    f = donating(lambda x: x + 1)
    x = jnp.arange(1000.0) + 0
    host = np.asarray(x)
    y = f(x)
    np.testing.assert_array_equal(host, np.arange(1000.0))
    np.testing.assert_array_equal(np.asarray(y), host + 1)


@pytest.mark.parametrize("x64", [False, True])
def test_use_after_donation(x64):
    with cv.enable_x64(x64):
        f = donating(lambda x: x * 2)
        x = jnp.arange(4.0)
        f(x)
        for use in (f, lambda x: x + 1, np.asarray, cv.grad(jnp.sum)):
            with pytest.raises(RuntimeError, match="donated"):
                use(x)


def test_one_array_cannot_be_donated_and_read():
    f = donating(lambda x, y: x + y)
    x = jnp.arange(4.0) + 0
    with pytest.raises(RuntimeError):
        np.asarray(f(x, x))


def test_an_argument_that_is_returned():
    f = donating(lambda x: x)
    x = jnp.arange(4.0) + 0
    y = f(x)
    np.testing.assert_array_equal(np.asarray(y), [0, 1, 2, 3])
    np.testing.assert_array_equal(np.asarray(y + 1), [1, 2, 3, 4])


def test_an_argument_that_is_not_read():
    f = donating(lambda x, y: y, argnums=0)
    x, y = jnp.ones(3), jnp.zeros(3)
    np.testing.assert_array_equal(np.asarray(f(x, y)), 0)
    np.testing.assert_array_equal(np.asarray(f(jnp.ones(3), y)), 0)


def test_a_result_of_another_type_takes_no_memory():
    f = donating(lambda x: jnp.sum(x))
    x = jnp.ones(100)
    assert float(f(x)) == 100
    assert float(f(jnp.ones(100))) == 100


def test_under_transformations_nothing_is_lost():
    f = donating(lambda x: jnp.sin(x) * x)
    x = jnp.arange(3.0)
    g = cv.grad(lambda x: jnp.sum(f(x)))(x)
    want = np.cos(np.arange(3)) * np.arange(3) + np.sin(np.arange(3))
    np.testing.assert_allclose(np.asarray(g), want, rtol=1e-5)
    assert not x.is_deleted()
    outer = cv.jit(lambda x: f(x) + x)  # the inner donation gives way to the second use
    want = np.sin(np.arange(3)) * np.arange(3) + np.arange(3)
    np.testing.assert_allclose(np.asarray(outer(x)), want, rtol=1e-5)
    assert not x.is_deleted()
    np.testing.assert_allclose(np.asarray(cv.vmap(f)(x)), np.sin(np.arange(3)) * np.arange(3), 1e-5)


@pytest.mark.usefixtures("only_new_garbage")
def test_a_loop_of_updates_needs_no_new_memory():
    step = donating(lambda x: x * 0.5 + 1)
    x = jnp.zeros(10_000) + 0
    addresses = set()
    for _ in range(20):
        x = step(x)
        addresses.add(x.unsafe_buffer_pointer())
    gc.collect()
    assert len(addresses) == 1
    np.testing.assert_allclose(np.asarray(x)[:3], 2, atol=1e-5)


def test_positions_from_the_end():
    f = donating(lambda x, y: x + y, argnums=-1)
    x, y = jnp.ones(3), jnp.ones(3)
    f(x, y)
    assert y.is_deleted() and not x.is_deleted()


def test_positions_that_do_not_exist_are_refused():
    with pytest.raises(ValueError, match=r"donate_argnums.*2"):
        cv.jit(lambda x: x, donate_argnums=2)
    with pytest.raises(ValueError, match=r"donate_argnames.*'z'"):
        cv.jit(lambda x: x, donate_argnames="z")
    with pytest.raises(ValueError, match=r"static.*donat|donat.*static"):
        cv.jit(lambda x, y: x, static_argnums=0, donate_argnums=0)


def test_positions_count_static_arguments():
    f = cv.jit(lambda n, x, y: x * n + y, static_argnums=0, donate_argnums=1)
    x, y = jnp.ones(3), jnp.ones(3)
    np.testing.assert_array_equal(np.asarray(f(3, x, y)), 4)
    assert x.is_deleted() and not y.is_deleted()
    f = cv.jit(lambda x, n, y: x * n + y, static_argnums=1, donate_argnums=-1)
    x, y = jnp.ones(3), jnp.ones(3)
    np.testing.assert_array_equal(np.asarray(f(x, 3, y)), 4)
    assert y.is_deleted() and not x.is_deleted()


def test_the_stages_know_what_is_donated():
    f = donating(lambda x, y: x + y, argnums=1)
    lowered = f.lower(jnp.ones(3), jnp.ones(3))
    assert lowered.donate_argnums == (1,)
    assert [info.donated for info in lowered.args_info[0]] == [False, True]
    x, y = jnp.ones(3), jnp.ones(3)
    lowered.compile()(x, y)
    assert y.is_deleted() and not x.is_deleted()


def test_a_warning_tells_of_donations_that_no_result_can_use():
    f = cv.jit(lambda x, y, z: x[:2] + y, donate_argnums=(0, 1, 2))
    text = r"Some donated buffers were not usable: float32\[3\]\. No result that is left"
    with pytest.warns(UserWarning, match=text):
        f(jnp.ones(3), jnp.ones(2), jnp.ones(5))  # of the third nobody speaks: it is not read
