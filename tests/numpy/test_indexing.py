"""`x[...]` and `x.at[...]` against NumPy, on random indices; under every trace the same."""

import numpy as np
import pytest

import covector
import covector.numpy as jnp
from covector import lax
from covector._src.base import config
from covector._src.core.trace import eval_trace

SHAPES = [(), (5,), (3, 4), (2, 1, 4), (0, 3), (2, 3, 2, 3)]


def random_entry(rng, size):
    """An integer within bounds or a slice, for a dimension of the given size."""
    if size and rng.random() < 0.4:
        return int(rng.integers(-size, size))
    bounds = [None if rng.random() < 0.3 else int(rng.integers(-size - 2, size + 3)) for _ in "ab"]
    step = None if rng.random() < 0.5 else int(rng.choice([-3, -2, -1, 1, 2, 3]))
    return slice(*bounds, step)


def random_index(rng, shape):
    entries = [random_entry(rng, size) for size in shape[: rng.integers(0, len(shape) + 1)]]
    if rng.random() < 0.4:
        keep = int(rng.integers(0, len(entries) + 1))
        tail = [random_entry(rng, size) for size in shape[len(shape) - (len(entries) - keep) :]]
        entries = [*entries[:keep], Ellipsis, *tail[: len(entries) - keep]]
    for _ in range(rng.integers(0, 3)):
        entries.insert(int(rng.integers(0, len(entries) + 1)), None)
    if len(entries) == 1 and rng.random() < 0.5:
        return entries[0]
    return tuple(entries)


def indices(shape, count, seed=0):
    rng = np.random.default_rng([seed, *shape])
    return [random_index(rng, shape) for _ in range(count)]


def numbers(shape):
    return np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_reading(shape):
    x = numbers(shape)
    a = jnp.asarray(x)
    chosen = indices(shape, 60)
    traced = covector.jit(lambda x: [x[index] for index in chosen])(a)
    for index, t in zip(chosen, traced):
        np.testing.assert_array_equal(np.asarray(t), x[index], err_msg=repr(index))
    for index in chosen[:15]:
        np.testing.assert_array_equal(np.asarray(a[index]), x[index], err_msg=repr(index))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_derivative_of_reading(shape):
    """The cotangent of a part lies where the part was, and is zero elsewhere."""
    x = numbers(shape)
    chosen = indices(shape, 25, seed=1)

    def pulled_back(x):
        return [covector.grad(lambda x, i=i: jnp.sum(x[i] * (x[i] + 1)))(x) for i in chosen]

    for index, got in zip(chosen, covector.jit(pulled_back)(x)):
        want = np.zeros_like(x)
        want[index] = 2 * x[index] + 1
        np.testing.assert_array_equal(np.asarray(got), want, err_msg=repr(index))


@pytest.mark.parametrize("dtype", ["int32", "int8", "uint8", "uint32"])
def test_traced_integers(dtype):
    x = numbers((3, 4, 5))
    calls = [
        lambda x, i, j: x[i],
        lambda x, i, j: x[i, j],
        lambda x, i, j: x[:, j],
        lambda x, i, j: x[i, 1:3, None, ::-1],
        lambda x, i, j: x[..., i],
        lambda x, i, j: x[::2, j],
        lambda x, i, j: x[1:, j, ::-2],
        lambda x, i, j: x[i, None, -1],
    ]
    f = covector.jit(lambda x, i, j: [call(x, i, j) for call in calls])
    for i in (0, 1, 2, *((-1, -3) if dtype.startswith("i") else ())):
        for j in (0, 3, *((-2,) if dtype.startswith("i") else ())):
            got = f(x, np.array(i, dtype), np.array(j, dtype))
            for k, (call, g) in enumerate(zip(calls, got)):
                np.testing.assert_array_equal(np.asarray(g), call(x, i, j), err_msg=f"{k} {i} {j}")
    # An array of rank 0 that is not traced indexes too, without being read from its device.
    a, i = jnp.asarray(x), jnp.asarray(np.array(2, dtype))
    np.testing.assert_array_equal(np.asarray(a[i, :, 1]), x[2, :, 1])


def test_integers_out_of_bounds_read_the_nearest():
    """Unless they are known; with the flag `parity`, these do, too."""
    x = jnp.arange(3)
    f = covector.jit(lambda x, i: x[i])
    for i in (3, 100, -4, -100):
        want = 2 if i > 0 else 0
        assert int(f(x, i)) == want
        with config.parity(True):
            assert int(x[i]) == int(covector.jit(lambda x, i=i: x[i])(x)) == want


LITERALS = {
    "an integer": (lambda x: x[5], 5, 0, 3),
    "a negative one": (lambda x: x[-4], -4, 0, 3),
    "a later dimension": (lambda x: x[:, None, 4], 4, 1, 4),
    "behind an ellipsis": (lambda x: x[..., 6], 6, 1, 4),
    "beside an array": (lambda x: x[np.array([0, 1]), 6], 6, 1, 4),
    "beside a traced index": (lambda x: x[jnp.argmax(x[0]) * 0, np.int64(6)], 6, 1, 4),
    "beside a mask": (lambda x: x[np.array([True, False, True]), -5], -5, 1, 4),
    "beside a list": (lambda x: x[[0, 1], 6], 6, 1, 4),
    "at get": (lambda x: x.at[1, 4].get(), 4, 1, 4),
    "at get, promised": (lambda x: x.at[3].get(mode="promise_in_bounds"), 3, 0, 3),
    "at get, not wrapped": (lambda x: x.at[-1].get(wrap_negative_indices=False), -1, 0, 3),
    "at set": (lambda x: x.at[3].set(1.0), 3, 0, 3),
    "at add": (lambda x: x.at[:, 5].add(1.0), 5, 1, 4),
    "at apply": (lambda x: x.at[7].apply(jnp.sin), 7, 0, 3),
}


@pytest.mark.parametrize("name", LITERALS)
def test_known_integers_out_of_bounds_are_errors(name):
    call, index, axis, size = LITERALS[name]
    text = (
        f"index {index} out of bounds for axis {axis} with size {size}. Known indices go from "
        f"{-size} to {size - 1}; say what others mean with `x.at[...].get(mode='clip')` or "
        "`x.at[...].set(y, mode='drop')`. With the flag `parity`, reads are clipped and writes are "
        "dropped, as those at traced indices are."
    )
    x = jnp.zeros((3, 4))
    for run in (call, covector.jit(call)):
        with pytest.raises(IndexError) as raised:
            run(x)
        assert str(raised.value) == text
    with config.parity(True):
        call(x)


def test_vmap_over_indices():
    x, i = jnp.arange(12.0).reshape(3, 4), jnp.array([2, 0, -1, 1])
    got = covector.vmap(lambda i: x[i])(i)
    np.testing.assert_array_equal(np.asarray(got), np.asarray(x)[np.asarray(i)])
    got = covector.vmap(lambda x, i: x[i])(x, i[:3])
    np.testing.assert_array_equal(np.asarray(got), np.asarray(x)[np.arange(3), [2, 0, -1]])
    got = covector.vmap(lambda x, i: x.at[i].add(1), in_axes=(0, 0))(x, i[:3])
    want = np.array(x)
    want[np.arange(3), [2, 0, -1]] += 1
    np.testing.assert_array_equal(np.asarray(got), want)


# ---------------------------------------------------------------- updates

UPDATES = {
    "set": lambda old, y: y + 0 * old,
    "add": lambda old, y: old + y,
    "subtract": lambda old, y: old - y,
    "multiply": lambda old, y: old * y,
    "divide": lambda old, y: old / y,
    "power": lambda old, y: old**y,
    "min": np.minimum,
    "max": np.maximum,
}


@pytest.mark.parametrize("kind", UPDATES)
def test_updating(kind):
    calls, wanted = [], []
    for shape in SHAPES:
        x = numbers(shape)
        for index in indices(shape, 12, seed=2):
            for y in (np.float32(2.5), numbers(x[index].shape[-1:]) + 1):
                want = x.copy()
                want[index] = UPDATES[kind](x[index], y)
                calls.append((x, index, y))
                wanted.append(want)

    def program(arrays):
        return [getattr(x.at[index], kind)(y) for (_, index, _), (x, y) in zip(calls, arrays)]

    got = covector.jit(program)([(x, y) for x, _, y in calls])
    for (x, index, _), g, want in zip(calls, got, wanted):
        np.testing.assert_allclose(np.asarray(g), want, rtol=1e-6, err_msg=f"{x.shape} {index}")
    for (x, index, y), want in list(zip(calls, wanted))[::29]:
        g = getattr(jnp.asarray(x).at[index], kind)(y)
        np.testing.assert_allclose(np.asarray(g), want, rtol=1e-6, err_msg=f"{x.shape} {index}")


def test_apply():
    x = jnp.arange(4.0)
    assert x.at[1::2].apply(lambda v: 10 * v).tolist() == [0, 10, 2, 30]


def test_gradient_of_update():
    x, y = jnp.arange(4.0), jnp.array([5.0, 7.0])

    def loss(x, y, i):
        return jnp.sum(jnp.arange(1.0, 5) * x.at[i].set(y) ** 2)

    for index in (slice(1, 3), slice(0, 4, 2), slice(None, None, -2)):
        w = np.arange(1.0, 5)
        gx, gy = covector.grad(lambda x, y, i=index: loss(x, y, i), (0, 1))(x, y)
        want = 2 * w * np.asarray(x)
        want[index] = 0
        np.testing.assert_allclose(np.asarray(gx), want)
        np.testing.assert_allclose(np.asarray(gy), 2 * w[index] * np.asarray(y))


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("i", [0, 2, -1, -3, 3, 100, -4])
def test_modes_of_updates(traced, i):
    x = jnp.arange(3.0)
    inside = -3 <= i < 3

    def update(mode, kind="set"):
        f = lambda x, i: getattr(x.at[i], kind)(7.0, mode=mode)  # noqa: E731
        return (covector.jit(f)(x, i) if traced else f(x, i)).tolist()

    want, added = np.arange(3.0), np.arange(3.0)
    if inside:
        want[i] = 7.0
        added[i] += 7.0
    for mode in ("drop", "fill", "promise_in_bounds"):
        assert update(mode) == want.tolist()
        assert update(mode, "add") == added.tolist()
    with config.parity(not traced):
        assert update(None) == want.tolist() and update(None, "add") == added.tolist()
    clipped = np.arange(3.0)
    clipped[min(max(i + 3 if i < 0 else i, 0), 2)] = 7.0
    assert update("clip") == clipped.tolist()


@pytest.mark.parametrize("traced", [False, True])
def test_modes_of_get(traced):
    x = jnp.arange(3.0)

    def get(i, **options):
        f = lambda x, i: x.at[i].get(**options)  # noqa: E731
        return float(covector.jit(f)(x, i) if traced else f(x, i))

    assert get(1) == get(1, mode="fill") == 1 and get(-1, mode="fill") == 2
    assert get(5, mode="clip") == 2
    with config.parity(not traced):
        assert get(5) == 2 and get(-7) == 0
    assert np.isnan(get(5, mode="fill")) and get(-4, mode="fill", fill_value=9) == 9
    assert jnp.arange(3).at[5].get(mode="fill") == np.iinfo(np.int32).min
    assert get(1, mode=lax.GatherScatterMode.FILL_OR_DROP) == 1


def test_updates_keep_the_dtype():
    assert jnp.zeros(2, "int8").at[0].set(3).dtype == np.int8
    assert jnp.zeros(2, "bfloat16").at[0].add(1.5).dtype == jnp.bfloat16
    with pytest.warns(FutureWarning, match="float32 to dtype=int32|dtype=float32"):
        assert jnp.arange(2).at[0].set(jnp.float32(1.5)).tolist() == [1, 1]


# ---------------------------------------------------------------- costs and errors


def test_another_index_compiles_nothing_new():
    x = jnp.arange(20.0).reshape(10, 2)
    ops = eval_trace.backend._ops
    x[0], x[1:3], x[2, 1], x.at[0].set(1.0)
    before = len(ops)
    for i in range(1, 8):
        x[i], x[i : i + 2], x[i, 0], x.at[i].set(1.0)
    assert len(ops) == before


def test_iteration():
    x = jnp.arange(6.0).reshape(3, 2)
    assert [row.tolist() for row in x] == np.arange(6.0).reshape(3, 2).tolist()
    assert len(x) == 3 and 5.0 in x and 7.0 not in x
    assert [float(v) for v in reversed(jnp.arange(3.0))] == [2, 1, 0]
    assert covector.jit(lambda x: tuple(x))(x)[2].tolist() == [4, 5]


@pytest.mark.parametrize(
    ("index", "error", "words"),
    [
        ((0, 0, 0), IndexError, "2-dimensional, but 3 were indexed; its shape is (3, 4)"),
        ((Ellipsis, Ellipsis), IndexError, "single ellipsis"),
        ([0, 1], TypeError, "non-tuple sequence"),
        ("a", TypeError, "integer or boolean type, got indexer with type str: 'a'"),
        (1.0, TypeError, "integer or boolean type, got indexer with type float: 1.0"),
        (np.ones(2), TypeError, "type float64: an array"),
        (slice(None, None, 0), ValueError, "slice step cannot be zero"),
    ],
)
def test_wrong_indices(index, error, words):
    x = jnp.zeros((3, 4))
    for f in (lambda x: x[index], covector.jit(lambda x: x[index]), lambda x: x.at[index].set(0)):
        with pytest.raises(error) as info:
            f(x)
        assert words in str(info.value)


def test_wrong_values_of_updates():
    x = jnp.zeros((3, 4))
    with pytest.raises(ValueError, match=r"broadcasting: \(3,\) to \(4,\)"):
        x.at[0].set(jnp.ones(3))
    with pytest.raises(ValueError, match="no mode 'wrong'"):
        x.at[0].set(1, mode="wrong")
    with pytest.raises(TypeError, match=r"x\.at\[index\]\.set\(y\)"):
        x[0] = 1
    with pytest.raises(ValueError, match=r"broadcasting: \(2,\) to \(4,\)"):
        x.at[0].set([1, 2])
    with pytest.raises(TypeError, match=r"at\[\.\.\.\]\.set requires ndarray or scalar"):
        x.at[0].set("one")


def test_lax_slices_agree():
    x = jnp.arange(10)
    f = covector.jit(lambda x, i: (x[i], lax.dynamic_index_in_dim(x, i, 0, False)))
    for i in range(-3, 4):
        a, b = f(x, i)
        assert int(a) == int(b)


def test_bounds_of_slices_that_are_arrays():
    x = jnp.arange(10)
    assert x[jnp.int32(2) : jnp.int32(4)].tolist() == [2, 3]
    assert float(covector.grad(lambda i: x[int(i) : 5].sum() * i)(3.0)) == 7.0
    assert x.at[: jnp.int32(2)].set(0).tolist()[:3] == [0, 0, 2]
    g = covector.grad(lambda x, n: jnp.sum(x[:n] ** 2), allow_int=True)
    assert g(jnp.arange(3.0), jnp.int32(2)).tolist() == [0, 2, 0]
