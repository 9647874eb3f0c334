"""Indices with arrays, lists and booleans in them: against NumPy on random ones, and JAX."""

import numpy as np
import pytest

import covector
import covector.numpy as jnp
from covector import errors
from covector._src.base import config

SHAPES = [(5,), (3, 4), (2, 3, 4), (2, 1, 3, 2), (2, 0, 3)]


def random_entry(rng, size):
    """An integer, slice or array for a dimension of the given size."""
    kind = rng.random()
    if kind < 0.2 and size:
        return int(rng.integers(-size, size))
    if kind < 0.45 or not size:
        bounds = [
            None if rng.random() < 0.4 else int(rng.integers(-size - 2, size + 3)) for _ in "ab"
        ]
        return slice(*bounds, rng.choice([None, -2, -1, 1, 2]))
    shape = [(), (2,), (3, 2), (1, 2), (2, 1)][rng.integers(5)]
    return rng.integers(-size, size, shape).astype(rng.choice(["int32", "int8", "int64"]))


def random_index(rng, shape):
    entries, dim, end = [], 0, rng.integers(len(shape) + 1)
    while dim < end:
        if rng.random() < 0.15:
            rank = int(rng.integers(1, min(2, len(shape) - dim) + 1))
            entries.append(rng.random(shape[dim : dim + rank]) < 0.5)
            dim += rank
        else:
            entries.append(random_entry(rng, shape[dim]))
            dim += 1
    for extra, chance in ((None, 0.3), (True, 0.1), (False, 0.05)):
        if rng.random() < chance:
            entries.insert(int(rng.integers(len(entries) + 1)), extra)
    return (*entries, Ellipsis) if dim < len(shape) and rng.random() < 0.3 else tuple(entries)


def cases(count, seed):
    """Arrays, indices that NumPy takes, and what it reads by them."""
    found = []
    for shape in SHAPES:
        rng = np.random.default_rng([seed, *shape])
        x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
        while sum(y is x for y, *_ in found) < count:
            index = random_index(rng, shape)
            try:
                found.append((x, index, x[index]))
            except IndexError:  # shapes that do not go together
                continue
    return found


@pytest.mark.parametrize("kind", [tuple, list])
def test_sequences_among_entries_are_arrays(kind):
    x = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)
    twos = kind([0, 1, 1])
    indices = [(..., twos), (twos,), (slice(None), twos), (0, twos), (twos, twos), (twos, ...)]
    indices += [
        (kind([kind([0, 1]), kind([1, 0])]), 2),
        (None, twos),
        (..., kind([-1]), slice(1, 3)),
    ]
    for index in indices:
        wanted = x[tuple(np.array(e) if type(e) is kind else e for e in index)]
        for read in (lambda x, i: x[i], lambda x, i: covector.jit(lambda x: x[i])(x)):
            np.testing.assert_array_equal(read(jnp.asarray(x), index), wanted)
            np.testing.assert_array_equal(read(jnp.asarray(x), index), wanted)  # as known by now
    assert jnp.asarray(x)[..., kind([])].shape == (2, 3, 0)


def test_reading():
    chosen = cases(60, seed=0)
    got = covector.jit(lambda xs: [x[index] for x, (_, index, _) in zip(xs, chosen)])(
        [x for x, *_ in chosen]
    )
    for (_, index, want), g in zip(chosen, got):
        np.testing.assert_array_equal(np.asarray(g), want, err_msg=repr(index))
    for x, index, want in chosen[::7]:
        np.testing.assert_array_equal(np.asarray(jnp.asarray(x)[index]), want, err_msg=repr(index))


def test_indices_that_are_operands():
    """Not known while the program is written, as opposed to those of the test above."""
    arrays = [np.array([0, -1, 2]), np.array([[1], [-2]]), np.array(1)]
    calls = [
        lambda x, i, j, k: x[i],
        lambda x, i, j, k: x[i, j],
        lambda x, i, j, k: x[:, i],
        lambda x, i, j, k: x[i, :, j],
        lambda x, i, j, k: x[k, :, i],
        lambda x, i, j, k: x[..., k, i],
        lambda x, i, j, k: x[::-1, i, 1:],
        lambda x, i, j, k: x[None, i, None, j],
        lambda x, i, j, k: x[k, ::2, i],
        lambda x, i, j, k: x[-1, i, ::-2],
    ]
    x = np.arange(60.0, dtype=np.float32).reshape(3, 4, 5)
    got = covector.jit(lambda x, *arrays: [call(x, *arrays) for call in calls])(x, *arrays)
    for n, (call, g) in enumerate(zip(calls, got)):
        np.testing.assert_array_equal(np.asarray(g), call(x, *arrays), err_msg=str(n))
        eager = call(jnp.asarray(x), *map(jnp.asarray, arrays))
        np.testing.assert_array_equal(np.asarray(eager), call(x, *arrays), err_msg=str(n))


IN_PLACE = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "max": np.maximum}


@pytest.mark.parametrize("kind", ["set", *IN_PLACE])
def test_updating(kind):
    """Where elements occur several times, each time counts, but for `set`."""
    chosen, wanted = cases(25, seed=1), []
    for x, index, part in chosen:
        value = np.float32(3) if kind == "set" else np.arange(part.size).reshape(part.shape) + 1
        want = x.copy()
        if kind == "set":
            want[index] = value
        else:
            IN_PLACE[kind].at(want, index, value)
        wanted.append((value, want))

    def program(xs):
        triples = zip(xs, chosen, wanted)
        return [getattr(x.at[c[1]], kind)(jnp.float32(w[0])) for x, c, w in triples]

    got = covector.jit(program)([x for x, *_ in chosen])
    for (x, index, _), (_, want), g in zip(chosen, wanted, got):
        np.testing.assert_allclose(np.asarray(g), want, err_msg=f"{x.shape} {index}")
    for (x, index, _), (value, want) in list(zip(chosen, wanted))[::11]:
        g = getattr(jnp.asarray(x).at[index], kind)(jnp.float32(value))
        np.testing.assert_allclose(np.asarray(g), want, err_msg=f"{x.shape} {index}")


def test_gradients():
    """The cotangents of elements that are read several times are added up."""
    chosen = cases(20, seed=2)

    def program(xs):
        return [
            covector.grad(lambda x, i=index: jnp.sum(x[i] ** 2))(x)
            for x, (_, index, _) in zip(xs, chosen)
        ]

    for (x, index, part), g in zip(chosen, covector.jit(program)([x for x, *_ in chosen])):
        want = np.zeros_like(x)
        np.add.at(want, index, 2 * part)
        np.testing.assert_allclose(np.asarray(g), want, err_msg=repr(index))


# ---------------------------------------------------------------- against JAX

X = np.arange(12, dtype=np.float32).reshape(3, 4)
OUT = np.array([0, 5, -1, -7, 2], np.int32)
CALLS = {
    "read": lambda m, x, i: x[i],
    "columns": lambda m, x, i: x[:, i],
    "integers, filled": lambda m, x, i: m.numpy.arange(4).at[i].get(mode="fill"),
    "unsigned, filled": lambda m, x, i: m.numpy.arange(4, dtype="uint8").at[i].get(mode="fill"),
    "booleans, filled": lambda m, x, i: (x[0] > 1).at[i].get(mode="fill"),
    "element, clipped": lambda m, x, i: x.at[7, -9].get(mode="clip"),
    "element, filled": lambda m, x, i: x.at[1, -9].get(mode="fill", fill_value=8),
    "apply twice": lambda m, x, i: x.at[i % 2].apply(lambda v: 2 * v + 1),
    "power twice": lambda m, x, i: (x + 1).at[i % 2].power(2.0),
    "divide twice": lambda m, x, i: x.at[i % 2].divide(2.0),
    "divide integers": lambda m, x, i: m.numpy.arange(4).at[1:].divide(2),
    "add floats to integers": lambda m, x, i: (
        m.numpy.arange(4).at[2].multiply(m.numpy.float32(2.5))
    ),
    "narrow": lambda m, x, i: m.numpy.zeros(3, "bfloat16").at[i].add(x[0, 1]),
    "weak": lambda m, x, i: m.numpy.asarray(1.0).at[()].add(2),
    "set at several": lambda m, x, i: x.at[m.numpy.array([0, 2]), 1].set(x[0, :2]),
    "false": lambda m, x, i: x.at[False].set(5.0),
    "nothing": lambda m, x, i: x[m.numpy.zeros((0, 2), int)],
    **{
        f"get {mode} {wrap}": lambda m, x, i, mode=mode, wrap=wrap: x.at[i].get(
            mode=mode, wrap_negative_indices=wrap
        )
        for mode in ("fill", "clip", "promise_in_bounds", "drop", None)
        for wrap in (True, False)
    },
    **{
        f"{kind} {mode}": lambda m, x, i, mode=mode, kind=kind: getattr(x.at[i], kind)(
            2.0, mode=mode
        )
        for mode in ("fill", "clip", "drop", None)
        for kind in ("set", "add", "min", "max", "multiply")
    },
    "set, not from the end": lambda m, x, i: x.at[i].set(2.0, wrap_negative_indices=False),
}


@pytest.mark.filterwarnings("ignore:scatter inputs have incompatible types")
def test_values(jax):
    """Values, dtypes and weakness, with indices out of bounds in each mode."""

    def program(m):
        return lambda x, i: [call(m, x, i) for call in CALLS.values()]

    ours, theirs = [m.jit(program(m))(X, OUT) for m in (covector, jax)]
    for name, g, w in zip(CALLS, ours, theirs):
        assert (g.dtype, g.shape, g.weak_type) == (w.dtype, w.shape, w.weak_type), name
        np.testing.assert_array_equal(
            np.asarray(g).astype("f"), np.asarray(w).astype("f"), err_msg=name
        )
    for name in list(CALLS)[::3]:
        g, w = [CALLS[name](m, m.numpy.asarray(X), m.numpy.asarray(OUT)) for m in (covector, jax)]
        assert (g.dtype, g.weak_type) == (w.dtype, w.weak_type), name
        np.testing.assert_array_equal(
            np.asarray(g).astype("f"), np.asarray(w).astype("f"), err_msg=name
        )


@pytest.mark.parametrize("axes", [(0, None, None), (None, 0, None), (0, 0, 0), (None, 0, 1)])
def test_batches(jax, axes):
    xs, i, ks = (
        np.stack([X, X + 1, -X]),
        np.array([[0, 2], [1, 1], [2, 0]]),
        np.arange(6).reshape(2, 3),
    )
    args = [v if axis is not None else v[0] for v, axis in zip((xs, i, ks), axes)]
    args[2] = ks[:, 0] if axes[2] is None else (ks.T if axes[2] == 0 else ks)

    def program(m):
        def one(x, i, k):
            return (
                x[i],
                x[i, k],
                x[:, k[0]],
                x.at[i].add(1.0),
                x.at[i, k].set(9.0),
                x.at[k[0]].get(),
            )

        return m.jit(m.vmap(one, axes))

    for g, w in zip(program(covector)(*args), program(jax)(*args)):
        np.testing.assert_array_equal(np.asarray(g), np.asarray(w))


def test_derivatives(jax):
    i, j = np.array([0, 2, 0, 9]), np.array([1, 1, 3, 0])

    def program(m):
        def loss(x, y):
            a = x.at[i, j].set(y * y)  # the last one is out of bounds
            b = x.at[i].add(m.numpy.sin(y[0])).at[1].multiply(y[1])
            c = x.at[j % 3].max(y[2] * 10).at[2, ::2].divide(y[3])
            return m.numpy.sum(a[j % 3] ** 2) + m.numpy.sum(b[i % 3, j]) + m.numpy.sum(c**2)

        return m.jit(m.value_and_grad(loss, (0, 1)))

    y = np.array([1.5, -2.0, 0.25, 3.0], np.float32)
    ours, theirs = program(covector)(X, y), program(jax)(X, y)
    np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-6)
    for g, w in zip(ours[1], theirs[1]):
        np.testing.assert_allclose(np.asarray(g), np.asarray(w), rtol=1e-5, atol=1e-5)


# ---------------------------------------------------------------- costs and errors


def test_another_index_compiles_nothing_new():
    x, k = jnp.arange(20.0).reshape(10, 2), jnp.arange(3)
    ops = covector._src.core.trace.eval_trace.backend._ops
    calls = [
        lambda n: x[k + n],
        lambda n: x[n, k % 2],
        lambda n: x[n : n + 2, k % 2],
        lambda n: x[np.arange(n, n + 3)],
        lambda n: x.at[k + n].add(1.0),
        lambda n: x.at[n].set(1.0),
        lambda n: x.at[n : n + 2, k % 2].set(2.0),
        lambda n: x.at[jnp.array(n)].get(mode="fill"),
    ]
    for call in calls:
        call(1)
    before = len(ops)
    for n in range(2, 5):
        for call in calls:
            call(n)
    assert len(ops) == before


ERRORS = {
    "list": (lambda x: x[[0, 1]], TypeError, ["non-tuple sequence", "[0, 1]", "arr[array(seq)]"]),
    "list of parts": (lambda x: x[[0, None]], TypeError, ["[0, None]", "arr[tuple(seq)]"]),
    "range": (lambda x: x[range(2)], TypeError, ["non-tuple sequence"]),
    "list of floats": (lambda x: x[[0.5], 0], TypeError, ["integer or boolean type"]),
    "floats": (lambda x: x[jnp.ones(2)], TypeError, ["integer or boolean type", "float32"]),
    "set": (lambda x: x[{1}], IndexError, ["{1}"]),
    "shapes": (lambda x: x[np.arange(2), np.arange(3)], ValueError, ["(2,), (3,)"]),
    "too many": (lambda x: x[np.ones((3, 4), bool), 0], IndexError, ["3 were indexed"]),
    "mask": (lambda x: x[np.ones(2, bool)], IndexError, ["boolean index", "(2,)", "(3,)"]),
    "of nothing": (lambda x: x[:0][0], IndexError, ["axis 0 with size 0"]),
    "fill value": (
        lambda x: x.at[0].get(mode="fill", fill_value=np.ones(2)),
        ValueError,
        ["fill_value must be a scalar", "(2,)"],
    ),
    "mode": (lambda x: x.at[0].set(1, mode="no"), ValueError, ["no mode 'no'"]),
    "shape of values": (lambda x: x.at[:, [0, 1]].set(jnp.ones(3)), ValueError, ["(3,)", "(3, 2)"]),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    call, kind, parts = ERRORS[name]
    for run in (call, covector.jit(call)):
        with pytest.raises(kind) as raised:
            run(jnp.zeros((3, 4)))
        for part in parts:
            assert part in str(raised.value)


def test_checks_of_known_integers_with_parity():
    """The flag `check_static_indices`: reading out of bounds is an error, writing is not."""
    x = jnp.zeros((2, 3))
    calls = [lambda x: x[2], lambda x: x[:, -4], lambda x: x.at[0, 3].get(), lambda x: x[[0], 5]]
    with config.check_static_indices(True), config.parity(True):
        for call in calls:
            for run in (call, covector.jit(call)):
                with pytest.raises(IndexError, match=r"index -?\d out of bounds for axis \d"):
                    run(x)
        assert x.at[2].get(mode="fill").shape == (3,) and x.at[5].set(1.0).tolist() == x.tolist()
        assert x[-2, 2] == 0
    with config.parity(True):
        assert [call(x).shape for call in calls] == [(3,), (2,), (), (1,)]


def test_traced_masks_do_not_select():
    def select(x, flags):
        return x[flags]

    with pytest.raises(errors.NonConcreteBooleanIndexError) as raised:
        covector.jit(select)(jnp.arange(3), jnp.ones(3, bool))
    for part in ("bool[3]", "the argument flags", "jnp.where(mask, x, other)", "size=n"):
        assert part in str(raised.value)
    with pytest.raises(IndexError):
        covector.jit(lambda x: x[x[0] > 1])(jnp.arange(3))
    # Under a derivative of what is evaluated, booleans are known.
    g = covector.grad(lambda x: jnp.sum(x[x > 1] ** 2))(jnp.arange(4.0))
    assert g.tolist() == [0, 0, 4, 6]
