"""Arrays of random keys behave as arrays, of elements that are keys."""

import copy
import pickle

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector import lax, random


@pytest.fixture
def keys():
    return random.split(random.key(0), (2, 3))


def numbers(keys):
    return np.asarray(random.key_data(keys))


# What may be done to an array of keys, and to NumPy's array of the numbers that they are made of.
SHAPING = {
    "element": (lambda x: x[1, 2], lambda x: x[1, 2]),
    "row": (lambda x: x[-1], lambda x: x[-1]),
    "slice": (lambda x: x[:, 1:], lambda x: x[:, 1:]),
    "new axis": (lambda x: x[None, ..., 0], lambda x: x[None, :, 0]),
    "indices": (lambda x: x[jnp.array([1, 0, 1])], lambda x: x[[1, 0, 1]]),
    "mask": (lambda x: x[np.array([False, True])], lambda x: x[[False, True]]),
    "reshape": (lambda x: x.reshape(3, 2), lambda x: x.reshape(3, 2, 2)),
    "ravel": (lambda x: x.ravel(), lambda x: x.reshape(6, 2)),
    "transpose": (lambda x: x.T, lambda x: x.transpose(1, 0, 2)),
    "swapaxes": (lambda x: x.swapaxes(0, 1), lambda x: x.transpose(1, 0, 2)),
    "squeeze": (lambda x: x[None].squeeze(0), lambda x: x),
    "take": (lambda x: x.take(jnp.array([1, 1]), 0), lambda x: x[[1, 1]]),
    "concatenate": (lambda x: jnp.concatenate([x, x]), lambda x: np.concatenate([x, x])),
    "stack": (lambda x: jnp.stack([x, x], 1), lambda x: np.stack([x, x], 1)),
    "tile": (lambda x: jnp.tile(x, (2, 1)), lambda x: np.tile(x, (2, 1, 1))),
    "repeat": (lambda x: jnp.repeat(x, 2, axis=0), lambda x: np.repeat(x, 2, axis=0)),
    "broadcast": (lambda x: jnp.broadcast_to(x[0], (4, 3)), lambda x: np.stack([x[0]] * 4)),
    "where": (
        lambda x: jnp.where(jnp.array([True, False, True]), x, x[::-1]),
        lambda x: np.where(np.array([[True], [False], [True]]), x, x[::-1]),
    ),
    "set": (lambda x: x.at[0].set(x[1]), lambda x: x[[1, 1]]),
    "set one": (lambda x: x.at[0, 1].set(x[0, 0])[0, :2], lambda x: x[0, [0, 0]]),
    "list": (lambda x: jnp.array([x[0], x[1]]), lambda x: x),
    "copy": (lambda x: x.copy(), lambda x: x),
    "iteration": (lambda x: jnp.stack(list(x)), lambda x: x),
    "zeros": (lambda x: jnp.zeros_like(x), lambda x: np.zeros_like(x)),
    "full": (lambda x: jnp.full_like(x, x[0, 0]), lambda x: np.broadcast_to(x[0, 0], x.shape)),
}


@pytest.mark.parametrize("name", SHAPING)
def test_shaping(keys, name):
    of_keys, of_numbers = SHAPING[name]
    out = of_keys(keys)
    want = of_numbers(numbers(keys))
    assert (out.dtype, out.shape) == (keys.dtype, want.shape[:-1])
    np.testing.assert_array_equal(numbers(out), want)
    np.testing.assert_array_equal(numbers(cv.jit(of_keys)(keys)), want)


def test_attributes(keys):
    assert (keys.shape, keys.ndim, keys.size, len(keys)) == ((2, 3), 2, 6, 2)
    assert (keys.itemsize, keys.nbytes) == (8, 48)
    assert isinstance(keys, cv.Array) and keys.devices() == {cv.devices()[0]}
    assert str(keys.dtype) == "key<fry>" and random.key_impl(keys) == "threefry2x32"
    assert jnp.issubdtype(keys.dtype, cv.dtypes.prng_key)
    assert jnp.issubdtype(keys.dtype, cv.dtypes.extended)
    assert not jnp.issubdtype(keys.dtype, np.integer)


def test_text(jax):
    for seed in (0, 42):
        key = random.key(seed)
        assert repr(key) == str(key) == repr(jax.random.key(seed))
    assert repr(random.split(key)) == repr(jax.random.split(jax.random.key(42)))


def test_equality(keys):
    assert (keys == keys).all() and not (keys[0] != keys[0]).any()
    assert (keys == keys[0, 0]).tolist() == [[True, False, False], [False, False, False]]
    assert bool(jnp.array_equal(keys, keys))


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x)), cv.device_put]
)
def test_copies(keys, again):
    out = again(keys)
    assert out.dtype == keys.dtype and (out == keys).all()


def test_the_host_has_no_keys(keys):
    assert cv.device_get(keys) is keys
    with pytest.raises(TypeError, match="cannot be converted to a NumPy array"):
        np.asarray(keys)


@pytest.mark.parametrize(
    ("what", "text"),
    [
        (bool, "key array cannot be converted to boolean"),
        (len, "unsized object"),
        (iter, "iteration over a 0-d array"),
        (hash, "unhashable"),
        (lambda key: key + 1, "add does not accept dtypes key<fry>, int32"),
        (lambda key: key + key, "add does not accept dtype key<fry>"),
        (lambda key: -key, "neg does not accept dtype key<fry>"),
        (lambda key: key < key, "lt does not accept dtype key<fry>"),
    ],
)
def test_keys_are_no_numbers(what, text):
    with pytest.raises(TypeError, match=text):
        what(random.key(0))


@pytest.mark.parametrize(
    "convert",
    [
        lambda key: lax.convert_element_type(key, int),
        lambda key: lax.convert_element_type(np.int32(0), key.dtype),
    ],
)
def test_no_conversions_between_keys_and_numbers(convert):
    with pytest.raises(ValueError, match="Cannot convert_element_type from"):
        convert(random.key(0))


# ---------------------------------------------------------------- transformations


def split_first(key):
    return random.split(key)[0]


def loop(step, key, count):
    for _ in range(count):
        key = step(key)
    return key


@pytest.mark.parametrize(
    "function",
    [
        lambda key: lax.scan(lambda k, _: (split_first(k), None), key, None, length=3)[0],
        lambda key: lax.fori_loop(0, 3, lambda _, k: split_first(k), key),
        lambda key: lax.while_loop(
            lambda state: state[0] < 3,
            lambda state: (state[0] + 1, split_first(state[1])),
            (0, key),
        )[1],
        lambda key: lax.cond(True, lambda k: loop(split_first, k, 3), lambda k: k, key),
    ],
    ids=["scan", "fori_loop", "while_loop", "cond"],
)
def test_control_flow_carries_keys(keys, function):
    want = numbers(loop(split_first, keys[0, 1], 3))
    np.testing.assert_array_equal(numbers(function(keys[0, 1])), want)
    np.testing.assert_array_equal(numbers(cv.vmap(function)(keys[0]))[1], want)


def test_scan_over_keys(keys):
    _, drawn = lax.scan(lambda carry, key: (carry, random.bits(key)), 0, keys[1])
    assert drawn.tolist() == [int(random.bits(key)) for key in keys[1]]
    _, kept = lax.scan(lambda key, _: (split_first(key), key), keys[0, 0], None, length=2)
    assert (kept == jnp.stack([keys[0, 0], split_first(keys[0, 0])])).all()


def test_a_condition_for_each_key(keys):
    chosen = cv.vmap(lambda go, key: lax.cond(go, split_first, lambda k: k, key))(
        jnp.array([True, False, True]), keys[0]
    )
    want = [split_first(keys[0, 0]), keys[0, 1], split_first(keys[0, 2])]
    assert (chosen == jnp.stack(want)).all()


def test_derivatives_pass_keys_by():
    key = random.key(1)
    noise = float(random.normal(key))
    assert cv.grad(lambda x, k: x * random.normal(k))(2.0, key) == pytest.approx(noise)
    assert cv.grad(lambda k: 1.0, allow_int=True)(key).dtype == cv.float0
    assert cv.vjp(lambda k, x: x * random.normal(k), key, 1.0)[1](1.0)[0].dtype == cv.float0


def test_programs_with_keys_inside(keys):
    inside = cv.jit(lambda: random.split(keys[1, 1]))
    assert (inside() == random.split(keys[1, 1])).all()
    assert cv.eval_shape(random.split, keys[0, 0]).dtype == keys.dtype
    with cv.reference_mode():
        drawn = random.bits(keys[0, 0])
    assert drawn == random.bits(keys[0, 0])
