"""Gathers and scatters against JAX 0.10.2: values in every mode, derivatives, batches, programs."""

import itertools
import re

import numpy as np
import pytest

import covector
from covector import lax
from tests.ops.structural import assert_same

MODES = ("clip", "fill", "promise_in_bounds")
F32, I32 = np.dtype(np.float32), np.dtype(np.int32)

# For each case: shape of the operand, indices (some are out of bounds), sizes of a window,
# dimension numbers, as those of a gather and as those of a scatter.
CASES = {
    "elements": ((5,), [[1], [7], [-1], [4]], (1,), ((), (0,), (0,))),
    "rows": ((4, 3), [[3], [0], [4]], (1, 3), ((1,), (0,), (0,))),
    "columns": ((3, 4), [[-2], [3]], (3, 1), ((0,), (1,), (1,))),
    "windows": ((4, 5), [[0, 3], [3, 1], [1, 4]], (2, 2), ((1, 2), (), (0, 1))),
    "grid": ((4, 3), [[[3, 1]], [[0, 2]]], (1, 2), ((1,), (0,), (0, 1))),
    "swapped": ((4, 3), [[1, 3], [2, 0]], (1, 1), ((), (0, 1), (1, 0))),
    "batches": ((2, 4), [[[1], [3]], [[0], [9]]], (1, 1), ((), (1,), (1,), (0,), (0,))),
    "batches last": ((4, 2), [[[1], [3]], [[0], [9]]], (1, 1), ((), (0,), (0,), (1,), (1,))),
    "one window": ((3, 4), [1, 2], (2, 2), ((0, 1), (), (0, 1))),
    "one window outside": ((3, 4), [2, -1], (2, 2), ((0, 1), (), (0, 1))),
    "one element": ((3, 4), [1, 2], (1, 1), ((), (0, 1), (0, 1))),
    "no coordinate": ((3, 4), [], (3, 4), ((0, 1), (), ())),
    "no window": ((4, 3), np.zeros((0, 1)), (1, 3), ((1,), (0,), (0,))),
    "empty window": ((4, 0), [[1], [2]], (1, 0), ((1,), (0,), (0,))),
}
REPEATED = ((5,), [[1], [3], [1], [7], [1]], (1,), ((), (0,), (0,)))
SCATTERS = ("scatter", "scatter_add", "scatter_sub", "scatter_mul", "scatter_min", "scatter_max")


def draw(shape, dtype=F32, seed=0):
    rng = np.random.default_rng([seed, *shape])
    x = rng.uniform(-4, 4, shape)
    if dtype == np.bool_:
        return x > 0
    return np.asarray(np.abs(x) if dtype.kind == "u" else x).astype(dtype)


def indices_of(case, dtype=I32):
    return np.asarray(case[1], dtype)


def gather(m, case, x, i, **options):
    _, _, sizes, numbers = case
    return m.lax.gather(x, i, m.lax.GatherDimensionNumbers(*numbers), sizes, **options)


def windows_of(case):
    """The shape of the array of windows."""
    _, _, sizes, numbers = case
    dropped = {*numbers[1], *(numbers[3] if len(numbers) > 3 else ())}
    kept = iter([size for dim, size in enumerate(sizes) if dim not in dropped])
    batch = iter(indices_of(case).shape[:-1])
    rank = len(numbers[0]) + indices_of(case).ndim - 1
    return tuple([next(kept if dim in numbers[0] else batch) for dim in range(rank)])


def scatter(m, name, case, x, i, updates, **options):
    numbers = m.lax.ScatterDimensionNumbers(*case[3])
    return getattr(m.lax, name)(x, i, updates, numbers, **options)


@pytest.fixture
def same(jax):
    """A check that a program, which takes a module, gives the same with both; it is jitted."""

    def check(program, *args, tolerance=1e-6):
        ours, theirs = [m.jit(lambda *xs, m=m: program(m, *xs))(*args) for m in (covector, jax)]
        assert_same(ours, theirs, tolerance)

    return check


# ---------------------------------------------------------------- values


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "complex64", "int32", "uint8", "bool"])
def test_gather(same, dtype):
    dtype = np.dtype(dtype)
    xs = [draw(case[0], dtype) for case in CASES.values()]

    def program(m, xs):
        return [
            gather(m, case, x, indices_of(case), mode=mode, **options)
            for case, x in zip(CASES.values(), xs)
            for mode, options in [(None, {}), *[(mode, {}) for mode in MODES], ("fill", FILL)]
        ]

    same(program, xs)


FILL = dict(fill_value=1)


@pytest.mark.usefixtures("optimized_jax")  # without its fusions XLA wraps bounds of 8 bits around
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint32"])
def test_dtypes_of_indices(same, dtype):
    """What does not fit into their dtype bounds them as little as it should."""
    dtype = np.dtype(dtype)
    x = draw((300,), F32)
    i = np.array([[0], [100], [127]] if dtype.itemsize == 1 else [[0], [299], [300]], dtype)
    window = ((300,), i, (3,), ((1,), (), (0,)))
    updates = draw(windows_of(window))

    def program(m, x, i, updates):
        return [
            [gather(m, window, x, i, mode=mode) for mode in MODES],
            [scatter(m, "scatter_add", window, x, i, updates, mode=mode) for mode in MODES],
        ]

    same(program, x, i, updates)


@pytest.mark.parametrize("name", SCATTERS)
def test_scatter(same, name):
    for dtype in (F32, np.dtype("bfloat16"), I32, np.dtype(np.uint8)):
        cases = [*CASES.values(), REPEATED]
        if name == "scatter":  # which of several updates is written is not defined
            cases.pop()
        xs = [draw(case[0], dtype) for case in cases]
        updates = [draw(windows_of(case), dtype, seed=1) for case in cases]

        def program(m, xs, updates, cases=cases):
            return [
                scatter(m, name, case, x, indices_of(case), u, mode=mode)
                for case, x, u in zip(cases, xs, updates)
                for mode in (None, *MODES)
            ]

        same(program, xs, updates, tolerance=1e-2 if dtype.itemsize == 2 else 1e-6)


@pytest.mark.parametrize("name", ["scatter", "scatter_min", "scatter_max"])
def test_scatter_of_booleans(same, name):
    case = CASES["elements"]
    x, u = draw(case[0], np.dtype(bool)), draw(windows_of(case), np.dtype(bool), seed=1)
    same(lambda m, x, u: scatter(m, name, case, x, indices_of(case), u), x, u)


def test_eager(jax):
    case = CASES["windows"]
    x, i, u = draw(case[0]), indices_of(case), draw(windows_of(case))
    assert_same(gather(covector, case, x, i), gather(jax, case, x, i))
    for name in SCATTERS:
        ours, theirs = [scatter(m, name, case, x, i, u) for m in (covector, jax)]
        assert_same(ours, theirs)


def test_weak_types(jax):
    case = CASES["elements"]
    i = indices_of(case)
    for weak in itertools.product((True, False), repeat=2):

        def program(m, weak=weak):
            shapes = case[0], windows_of(case)
            x, u = [m.lax.full(s, 1.0 if w else np.float32(1)) for s, w in zip(shapes, weak)]
            return gather(m, case, x, i), scatter(m, "scatter_add", case, x, i, u)

        ours, theirs = [m.eval_shape(lambda m=m: program(m)) for m in (covector, jax)]
        assert [x.weak_type for x in ours] == [x.weak_type for x in theirs]


def test_scatter_apply(same):
    x = draw((5,))
    numbers = dict(update_shape=(5,))
    i = indices_of(REPEATED)

    def program(m, x):
        elements = m.lax.ScatterDimensionNumbers((), (0,), (0,))
        return [
            m.lax.scatter_apply(x, i, m.lax.sin, elements, mode=mode, **numbers)
            for mode in (None, "clip")
        ]

    same(program, x)


def test_index_take(same):
    x = draw((3, 4, 5))
    i, j = np.array([2, -1, 7]), np.array([0, 9, -6])
    same(lambda m, x: m.lax.index_take(x, (i, j), (0, 2)), x)
    same(lambda m, x: m.lax.index_take(x, (i,), (1,)), x)


# ---------------------------------------------------------------- derivatives


def summed(m, y):
    return m.lax.reduce_sum(m.lax.sin(y), tuple(range(y.ndim)))


def test_gradient_of_gather(same):
    xs = [draw(case[0]) for case in CASES.values()]

    def program(m, xs):
        return [
            m.grad(lambda x, c=case, k=mode: summed(m, gather(m, c, x, indices_of(c), mode=k)))(x)
            for case, x in zip(CASES.values(), xs)
            for mode in ("clip", "fill")
        ]

    # Out of bounds, the mode "fill" reads NaN, which has no part in the gradient.
    same(program, xs, tolerance=1e-5)


@pytest.mark.parametrize("name", SCATTERS)
def test_derivatives_of_scatter(same, name):
    unique = name == "scatter_mul"
    cases = [case for case in CASES.values() if case is not CASES["windows"]]
    xs = [draw(case[0]) for case in cases]
    updates = [draw(windows_of(case), seed=1) for case in cases]

    def program(m, xs, updates):
        results = []
        for case, x, u in zip(cases, xs, updates):

            def run(x, u, case=case):
                return scatter(m, name, case, x, indices_of(case), u, unique_indices=unique)

            results.append(m.jvp(run, (x, u), (x + 1, u - 1)))
            results.append(m.grad(lambda x, u, run=run: summed(m, run(x, u)), (0, 1))(x, u))
        return results

    same(program, xs, updates, tolerance=1e-5)


@pytest.mark.parametrize("name", ["scatter", "scatter_add", "scatter_sub", "scatter_min"])
def test_second_derivative_of_scatter(same, name):
    case = CASES["rows"]
    x, u = draw(case[0]), draw(windows_of(case), seed=1)

    def program(m, x, u):
        def loss(x, u):
            return summed(m, scatter(m, name, case, x * x, indices_of(case), m.lax.sin(u)))

        return m.jvp(m.grad(loss, (0, 1)), (x, u), (x + 1, u - 1))

    same(program, x, u, tolerance=1e-4)


@pytest.mark.parametrize("name", ["scatter_min", "scatter_max"])
def test_ties_share_the_tangent(name):
    """Of n equal ones each has a part of 1/n, be it the element itself or an update."""
    numbers = lax.ScatterDimensionNumbers((), (0,), (0,))
    i = np.array([[0], [0], [1], [1]])
    x, u = np.array([2.0, 5.0], np.float32), np.array([2.0, 2.0, 7.0, 7.0], np.float32)
    if name == "scatter_min":
        x, u = -x, -u

    def loss(x, u):
        out = getattr(lax, name)(x, i, u, numbers)
        return out[0] + 10 * out[1]

    gx, gu = covector.grad(loss, (0, 1))(x, u)
    np.testing.assert_allclose(gx, [1 / 3, 0], rtol=1e-6)
    np.testing.assert_allclose(gu, [1 / 3, 1 / 3, 5, 5], rtol=1e-6)


def test_clipped_extremum_counts_what_it_writes():
    """An update that is moved into the operand takes part like any other."""
    numbers = lax.ScatterDimensionNumbers((), (0,), (0,))
    x, u = np.zeros(2, np.float32), np.array([3.0], np.float32)

    def last(u):
        return lax.scatter_max(x, np.array([[9]]), u, numbers, mode="clip")[1]

    assert covector.grad(last)(u).tolist() == [1.0]


def test_repeated_updates_transpose():
    """The derivative of what is overwritten is zero, also where the map itself is transposed."""
    numbers = lax.ScatterDimensionNumbers((), (0,), (0,))
    i = np.array([[2], [2], [0], [9]])
    x, u = np.arange(3, dtype=np.float32), np.arange(4, dtype=np.float32) + 1

    def write(x, u):
        return lax.scatter(x, i, u, numbers)

    out = np.asarray(write(x, u))
    winner = int(out[2] == 2)
    pulled = covector.linear_transpose(write, x, u)(np.array([1, 10, 100], np.float32))
    assert pulled[0].tolist() == [0, 10, 0]
    want = [0.0, 0.0, 1.0, 0.0]
    want[winner] = 100.0
    assert pulled[1].tolist() == want


def test_factors_that_meet_have_no_derivative(jax):
    case = CASES["elements"]
    for m in (covector, jax):
        with pytest.raises(NotImplementedError, match="unique_indices=True"):
            m.grad(
                lambda u, m=m: summed(
                    m, scatter(m, "scatter_mul", case, draw((5,)), indices_of(case), u)
                )
            )(draw((4,)))


def test_derivative_of_scatter_apply():
    numbers = lax.ScatterDimensionNumbers((), (0,), (0,))
    x, i = np.arange(4, dtype=np.float32), np.array([[2], [0], [9]])

    def apply(x, unique):
        options = dict(update_shape=(3,), unique_indices=unique)
        return lax.scatter_apply(x, i, lambda v: v**3, numbers, **options)

    y, t = covector.jvp(lambda x: apply(x, True), (x,), (np.ones(4, np.float32),))
    assert y.tolist() == [0, 1, 8, 3] and t.tolist() == [0, 1, 12, 1]
    g = covector.grad(lambda x: lax.reduce_sum(apply(x, True), (0,)))(x)
    assert g.tolist() == [0, 1, 12, 1]
    with pytest.raises(NotImplementedError, match="unique_indices=True"):
        covector.jvp(lambda x: apply(x, False), (x,), (x,))


# ---------------------------------------------------------------- batches and programs


def batched(x, axis):
    return x if axis is None else np.stack([x, np.flip(x), x + x], axis)


@pytest.mark.parametrize("name", ["rows", "windows", "batches", "one window", "empty window"])
def test_vmap(same, name):
    case = CASES[name]
    i = indices_of(case)
    x, u = draw(case[0]), draw(windows_of(case), seed=1)
    ways = [axes for axes in itertools.product((None, 0, 1), repeat=3) if any_batched(axes)]

    def program(m, x, u):
        results = []
        for axes in ways:
            args = [batched(v, axis) for v, axis in zip((x, i, u), axes)]
            results.append(
                m.vmap(lambda x, i, u: scatter(m, "scatter_add", case, x, i, u), axes)(*args)
            )
            if any_batched(axes[:2]):
                run = m.vmap(lambda x, i: gather(m, case, x, i, mode="fill"), axes[:2])
                results.append(run(*args[:2]))
        return results

    # The arguments are made of NumPy arrays, and so known to both.
    ours, theirs = [m.jit(lambda m=m: program(m, x, u))() for m in modules()]
    assert_same(ours, theirs, 1e-5)


def any_batched(axes):
    return any(axis is not None for axis in axes)


def modules():
    return covector, pytest.importorskip("jax")


def test_vmap_of_no_examples():
    case = CASES["rows"]
    x, i, u = np.zeros((0, 4, 3)), np.zeros((0, 3, 1), int), np.zeros((0, 3, 3))
    assert covector.vmap(lambda x, i: gather(covector, case, x, i))(x, i).shape == (0, 3, 3)
    out = covector.vmap(lambda x, i, u: scatter(covector, "scatter", case, x, i, u))(x, i, u)
    assert out.shape == (0, 4, 3)


@pytest.fixture
def same_text(jax):
    """A check that a program has the same jaxpr with both modules, but for line breaks.

    JAX prints integers that it has computed with NumPy as `np.int64(3)`; here they are 3.
    """

    def text(m, function, args):
        printed = str(m.make_jaxpr(function(m))(*args))
        printed = re.sub(r"np\.int64\((-?\d+)\)", r"\1", printed)
        return re.sub(r"(?<=\[) | (?=\])", "", re.sub(r"\s+", " ", printed))

    def check(function, *args):
        assert text(covector, function, args) == text(jax, function, args)

    return check


BATCHES = [axes for axes in itertools.product((None, 0), repeat=3) if any_batched(axes)]


@pytest.mark.parametrize("axes", BATCHES, ids=str)
def test_text_of_batches(same_text, axes):
    case = CASES["grid"]
    x, i, u = draw(case[0]), indices_of(case), draw(windows_of(case))
    args = [batched(v, axis) for v, axis in zip((x, i, u), axes)]
    for name in ("scatter", "scatter_max"):
        same_text(
            lambda m, n=name: m.vmap(lambda x, i, u: scatter(m, n, case, x, i, u), axes), *args
        )
    if any_batched(axes[:2]):
        options = dict(unique_indices=True, indices_are_sorted=True)
        same_text(
            lambda m: m.vmap(lambda x, i: gather(m, case, x, i, **options), axes[:2]), *args[:2]
        )


@pytest.mark.parametrize("axes", [axes for axes in BATCHES if axes[1] == 0], ids=str)
def test_text_of_dynamic_slices_at_several_places(same_text, axes):
    x, i, u = draw((3, 4)), np.array(1, np.int32), draw((2, 1))
    args = [batched(v, axis) for v, axis in zip((x, i, u), axes)]
    same_text(
        lambda m: m.vmap(
            lambda x, i, u: (
                m.lax.dynamic_slice(x, (i, 0), (2, 2)),
                m.lax.dynamic_update_slice(x, u, (0, i)),
            ),
            axes,
        ),
        *args,
    )


@pytest.mark.parametrize("name", SCATTERS)
def test_text_of_derivatives(same_text, name):
    case = CASES["elements"]
    x, i, u = draw(case[0]), indices_of(case), draw(windows_of(case))
    unique = name == "scatter_mul"

    def program(m):
        def run(x, u):
            return scatter(m, name, case, x, i, u, unique_indices=unique)

        return lambda x, u: m.jvp(run, (x, u), (x, u))

    if not unique:  # JAX shares the jaxprs of updates between derivatives only sometimes
        same_text(program, x, u)
    same_text(lambda m: lambda x, u: scatter(m, name, case, x, i, u), x, u)
