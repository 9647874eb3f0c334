"""What the structural ops promise beyond plain values: ties, NaN, zeros, precision, no-ops."""

import itertools

import numpy as np
import pytest

import covector
from covector import lax
from covector._src.core.trace import eval_trace
from tests.ops.structural import assert_same

NAN, INF = np.nan, np.inf
F32 = np.float32

# ---------------------------------------------------------------- reductions

ROWS = np.array(
    [
        [1, NAN, 3, NAN],
        [-INF, -INF, -INF, -INF],
        [INF, NAN, -INF, 0],
        [2, 5, 5, -1],
        [-0.0, 0.0, -0.0, 0.0],
        [NAN, NAN, NAN, NAN],
    ],
    F32,
)


@pytest.mark.parametrize("name", ("argmax", "argmin"))
@pytest.mark.parametrize("dtype", ("float32", "bfloat16", "float16"))
def test_index_of_extremum_is_numpys(name, dtype):
    got = getattr(lax, name)(ROWS.astype(dtype), 1, np.int32)
    np.testing.assert_array_equal(got, getattr(np, name)(ROWS.astype(dtype), 1))


@pytest.mark.parametrize("name", ("argmax", "argmin"))
@pytest.mark.parametrize("dtype", ("int8", "uint32", "bool"))
def test_first_of_equal_elements_is_taken(name, dtype):
    rows = np.array(list(itertools.product((0, 1, 2), repeat=4))).astype(dtype)
    got = getattr(lax, name)(rows, 1, np.int32)
    np.testing.assert_array_equal(got, getattr(np, name)(rows, 1))


def test_index_among_many():
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 50, (7, 3000)).astype(F32)
    rows[3, 1234:] = NAN
    for name in ("argmax", "argmin"):
        got = getattr(lax, name)(rows, 1, np.int32)
        np.testing.assert_array_equal(got, getattr(np, name)(rows, 1))


@pytest.mark.parametrize("name", ("reduce_max", "reduce_min"))
def test_extremum_of_nan(name):
    got = getattr(lax, name)(ROWS, (1,))
    np.testing.assert_array_equal(got, getattr(np, name[7:])(ROWS, 1))


@pytest.mark.parametrize("name", ("reduce_max", "reduce_min"))
def test_complex_numbers_are_ordered_by_real_part_first(name):
    x = np.array([[1 + 2j, 1 + 3j, 0j], [-1j, -2j, -1 + 9j]], np.complex64)
    np.testing.assert_array_equal(getattr(lax, name)(x, (1,)), getattr(np, name[7:])(x, 1))


@pytest.mark.parametrize("dtype", ("float8_e4m3fn", "float16", "int8", "uint16", "bool"))
def test_extremum_of_nothing(jax, dtype):
    for name in ("reduce_max", "reduce_min"):
        x = np.zeros((2, 0), dtype)
        assert_same(getattr(lax, name)(x, (1,)), getattr(jax.lax, name)(x, (1,)))


@pytest.mark.parametrize("name", ("reduce_max", "reduce_min"))
@pytest.mark.parametrize("row", ([2, 2, 2, 2], [1, 2, 2, 1], [1, NAN, 2, 1], [1, 2, 3, 4]))
def test_equal_extrema_share_the_derivative(name, row):
    x = np.array(row, F32)
    grad = covector.grad(lambda x: getattr(lax, name)(x, (0,)))(x)
    best = getattr(np, name[7:])(x)
    hits = x == best
    want = hits / hits.sum() if hits.any() else np.full(4, NAN)
    np.testing.assert_array_equal(grad, want.astype(F32))


@pytest.mark.parametrize("row", ([0, 2, 3], [0, 0, 3], [0, 0, 0], [1, -2, 3], [5], [0]))
def test_derivative_of_product_at_zeros(row):
    x = np.array(row, F32)
    want = [np.prod(np.delete(x, i)) for i in range(len(row))]
    np.testing.assert_allclose(covector.grad(lambda x: lax.reduce_prod(x, (0,)))(x), want)


def test_second_derivative_of_product_at_zeros():
    x = np.array([0, 2, 0, 3], F32)
    hessian = covector.hessian(lambda x: lax.reduce_prod(x, (0,)))(x)
    want = [[0 if i == j else np.prod(np.delete(x, (i, j))) for j in range(4)] for i in range(4)]
    np.testing.assert_allclose(hessian, want)


def test_integers_have_no_derivative_but_an_index():
    x = np.array([3.0, 1.0, 2.0], F32)
    index, tangent = covector.jvp(lambda x: lax.argmin(x, 0, np.int32), (x,), (x,))
    assert int(np.asarray(index)) == 1
    assert tangent.dtype == covector.float0


# ---------------------------------------------------------------- dynamic slices

STARTS = (-9, -4, -1, 0, 1, 2, 3, 9)


@pytest.mark.parametrize("allow_negative", (True, False))
def test_dynamic_slice_stays_inside(allow_negative):
    x = np.arange(4, dtype=F32)

    @covector.jit
    def read(start):
        return lax.dynamic_slice(x, (start,), (2,), allow_negative_indices=allow_negative)

    for start in STARTS:
        begin = start + 4 if start < 0 and allow_negative else start
        begin = max(0, min(begin, 2))
        np.testing.assert_array_equal(read(start), x[begin : begin + 2])


def test_dynamic_update_slice_stays_inside():
    x, update = np.zeros(4, F32), np.ones(2, F32)
    write = covector.jit(lambda start: lax.dynamic_update_slice(x, update, (start,)))
    for start in STARTS:
        begin = max(0, min(start + 4 if start < 0 else start, 2))
        want = x.copy()
        want[begin : begin + 2] = 1
        np.testing.assert_array_equal(write(start), want)


WAYS = list(itertools.product((None, 0, 2), (None, 0), (None, 0)))[1:]


@pytest.mark.parametrize("axes", WAYS)
def test_examples_are_read_at_their_own_places(jax, axes):
    shape = (3, 4) if axes[0] is None else (5, 3, 4) if axes[0] == 0 else (3, 4, 5)
    x = np.arange(np.prod(shape), dtype=F32).reshape(shape)
    i, j = [np.array([0, -1, 9, 1, 2], np.int32)[: 5 if a == 0 else 1] for a in axes[1:]]
    i, j = [v if a == 0 else v[0] for v, a in zip((i, j), axes[1:])]

    def read(m):
        sliced = m.vmap(lambda x, i, j: m.lax.dynamic_slice(x, (i, j), (2, 3)), axes)
        total = m.jit(m.grad(lambda x: m.lax.reduce_sum(m.lax.sin(sliced(x, i, j)), (0, 1, 2))))
        return sliced(x, i, j), total(x)

    assert_same(read(covector), read(jax))


@pytest.mark.parametrize("axes", WAYS)
def test_examples_are_written_at_their_own_places(jax, axes):
    shape = (3, 4) if axes[0] is None else (5, 3, 4) if axes[0] == 0 else (3, 4, 5)
    x = np.arange(np.prod(shape), dtype=F32).reshape(shape)
    update = -np.ones((5, 2, 3) if axes[1] == 0 else (2, 3), F32)
    i = np.array([0, -1, 9, 1, 2], np.int32) if axes[2] == 0 else np.int32(1)

    def write(m):
        def run(x, update, i):
            return m.lax.dynamic_update_slice(x, update, (i, 0))

        return m.vmap(run, axes)(x, update, i)

    assert_same(write(covector), write(jax))


@pytest.mark.parametrize("dtype", ("int8", "uint8", "int32", "uint32"))
def test_index_dtypes(dtype):
    x = np.arange(12, dtype=F32).reshape(3, 4)
    starts = np.array([1, 2], dtype)
    for given in (starts, tuple(starts), [starts[0], covector.device_put(starts[1])]):
        got = lax.dynamic_slice(x, given, (1, 2))
        np.testing.assert_array_equal(got, x[1:2, 2:4])


def test_slices_of_one_shape_are_one_program():
    """Eagerly, where a slice begins is an operand: a loop over rows compiles once."""
    x = np.arange(14, dtype=F32).reshape(7, 2)
    lax.slice(x, (0, 0), (1, 2))
    compiled = len(eval_trace.backend._ops)
    for i in range(7):
        np.testing.assert_array_equal(lax.slice(x, (i, 0), (i + 1, 2)), x[i : i + 1])
    assert len(eval_trace.backend._ops) == compiled
    with pytest.raises(TypeError, match=r"lax\.slice"):
        lax.slice(x, (7, 0), (8, 2))


# ---------------------------------------------------------------- products


def test_precision_names():
    pairs = {
        "highest": lax.Precision.HIGHEST,
        "float32": lax.Precision.HIGHEST,
        "high": lax.Precision.HIGH,
        "bfloat16_3x": lax.Precision.HIGH,
        "tensorfloat32": lax.Precision.HIGH,
        "default": lax.Precision.DEFAULT,
        "bfloat16": lax.Precision.DEFAULT,
        "fastest": lax.Precision.DEFAULT,
        None: lax.Precision.DEFAULT,
    }
    for name, member in pairs.items():
        assert lax.Precision(name) is member
    assert repr(lax.Precision.HIGH) == "Precision.HIGH"
    assert str(lax.Precision.HIGH) == "HIGH"


def test_presets_are_jaxs(jax):
    for preset in jax.lax.DotAlgorithmPreset:
        ours = lax.DotAlgorithmPreset[preset.name]
        assert (ours.value, repr(ours), str(ours)) == (preset.value, repr(preset), str(preset))
        assert ours.supported_lhs_types == preset.supported_lhs_types
        assert ours.supported_rhs_types == preset.supported_rhs_types
        assert ours.accumulation_type == preset.accumulation_type
        for dtype in (np.float32, np.float16, "bfloat16"):
            dtype = np.dtype(dtype)
            assert ours.supported_output_types(dtype, dtype) == preset.supported_output_types(
                dtype, dtype
            )


PRECISIONS = [
    None,
    "highest",
    ("default", "high"),
    lambda lax: lax.Precision.HIGH,
    lambda lax: (lax.Precision.HIGH, lax.Precision.HIGHEST),
    "BF16_BF16_F32",
    "F32_F32_F32",
    lambda lax: lax.DotAlgorithmPreset.BF16_BF16_F32_X3,
]


@pytest.mark.parametrize("precision", PRECISIONS, ids=range(len(PRECISIONS)))
@pytest.mark.parametrize("dtype", ("float32", "bfloat16", "float16"))
def test_precisions(jax, precision, dtype):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(3, 4)).astype(dtype), rng.normal(size=(4, 5)).astype(dtype)

    def program(m):
        given = precision(m.lax) if callable(precision) else precision
        run = m.jit(lambda x, y: m.lax.dot(x, y, precision=given))
        gradient = m.jit(m.grad(lambda x: m.lax.reduce_sum(run(x, y), (0, 1))))
        return run(x, y), gradient(x), str(m.make_jaxpr(run)(x, y))

    *ours, our_text = program(covector)
    *theirs, their_text = program(jax)
    assert_same(ours, theirs)
    assert our_text == their_text


def test_default_precision_is_a_flag(jax):
    x = np.ones(3, F32)

    def text(m):
        with m.default_matmul_precision("tensorfloat32"):
            return str(m.make_jaxpr(lambda x: m.lax.dot(x, x))(x))

    assert "precision=(Precision.HIGH, Precision.HIGH)" in text(covector)
    assert text(covector) == text(jax)


MIXED = list(
    itertools.product(("float32", "bfloat16", "float16", "int32", "uint8", "complex64"), repeat=2)
)


@pytest.mark.parametrize(("left", "right"), MIXED)
def test_mixed_dtypes(jax, left, right):
    x = np.arange(6).reshape(2, 3).astype(left)
    y = np.arange(12).reshape(3, 4).astype(right)
    ours, theirs = [m.jit(m.lax.dot)(x, y) for m in (covector, jax)]
    assert_same(ours, theirs)

    def pulled(m):
        ct = np.ones((2, 4), theirs.dtype)
        return m.vjp(m.lax.dot, x, y)[1](ct)

    if "int" not in left + right:
        assert_same(pulled(covector), pulled(jax))


PREFERRED = [
    ("int8", "int32"),
    ("uint8", "uint32"),
    ("int32", "float32"),
    ("float16", "float32"),
    ("bfloat16", "float32"),
    ("float32", "bfloat16"),
    ("float32", "int32"),
    ("float32", "complex64"),
]


@pytest.mark.parametrize(("dtype", "preferred"), PREFERRED)
def test_preferred_dtype(jax, dtype, preferred):
    x = np.arange(6).reshape(2, 3).astype(dtype)
    y = np.arange(12).reshape(3, 4).astype(dtype)

    def program(m):
        run = m.jit(lambda x, y: m.lax.dot(x, y, preferred_element_type=preferred))
        return run(x, y), str(m.make_jaxpr(run)(x, y))

    (ours, our_text), (theirs, their_text) = program(covector), program(jax)
    assert_same(ours, theirs)
    assert our_text == their_text


def test_booleans_multiply_as_and():
    x = np.array([[True, False], [True, True]])
    np.testing.assert_array_equal(lax.dot(x, x), x @ x)


# ---------------------------------------------------------------- shapes

SHAPES = [(), (0,), (1,), (3,), (2, 3), (2, 1), (5, 1, 1), (4, 2, 3)]


@pytest.mark.parametrize("count", (1, 2, 3))
def test_broadcast_shapes(count):
    for shapes in itertools.product(SHAPES, repeat=count):
        try:
            want = np.broadcast_shapes(*shapes)
        except ValueError:
            with pytest.raises(ValueError, match="Incompatible shapes"):
                lax.broadcast_shapes(*shapes)
        else:
            assert lax.broadcast_shapes(*shapes) == want


def test_broadcasting_may_transpose():
    """JAX computes this, but not its gradient."""
    x = np.arange(6, dtype=F32).reshape(2, 3)

    def spread(x):
        return lax.broadcast_in_dim(x, (3, 4, 2), (2, 0))

    np.testing.assert_array_equal(spread(x), np.broadcast_to(x.T[:, None], (3, 4, 2)))
    weights = np.arange(24, dtype=F32).reshape(3, 4, 2)
    grad = covector.grad(lambda x: lax.reduce_sum(lax.mul(spread(x), weights), (0, 1, 2)))(x)
    np.testing.assert_array_equal(grad, weights.sum(1).T)


def test_what_changes_nothing_returns_its_operand():
    x = covector.device_put(np.ones((2, 3), F32))
    for same in (
        lax.reshape(x, (2, 3)),
        lax.reshape(x, (2, 3), (0, 1)),
        lax.transpose(x, (0, 1)),
        lax.squeeze(x, ()),
        lax.broadcast(x, ()),
        lax.broadcast_to_rank(x, 2),
        lax.broadcast_like(x, np.zeros((2, 3))),
        lax.concatenate([x], 0),
    ):
        assert same is x


def test_what_changes_nothing_makes_arrays_of_numpys():
    x = np.ones((2, 3), F32)
    for call in (
        lambda x: lax.reshape(x, (2, 3)),
        lambda x: lax.transpose(x, (0, 1)),
        lambda x: lax.squeeze(x, ()),
        lambda x: lax.broadcast(x, ()),
        lambda x: lax.concatenate([x], 0),
    ):
        assert isinstance(call(x), covector.Array)


@pytest.mark.parametrize("dtype", ("int32", "uint8", "float32", "bfloat16", "complex64"))
def test_iota(jax, dtype):
    for shape, dimension in (((3,), 0), ((2, 3), 1), ((3, 0), 0)):
        assert_same(
            lax.broadcasted_iota(dtype, shape, dimension),
            jax.lax.broadcasted_iota(dtype, shape, dimension),
        )
    assert_same(lax.iota(dtype, 4), jax.lax.iota(dtype, 4))
