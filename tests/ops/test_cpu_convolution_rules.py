"""Convolutions written on CPUs as products, and as simpler ones, against their definition."""

import itertools

import numpy as np
import pytest

import covector as cv
from covector._src.ops import convolution_on_cpu
from covector._src.ops.convolution_on_cpu import OPTION
from covector._src.ops.thresholds import CONVOLUTION_LIBRARY

LAST = ("NHWC", "HWIO", "NHWC")

# For each case: shapes of lhs and rhs, options, and the rules of the convolution and of what its
# cotangents are, which are those for lhs and for rhs; None where XLA's own is taken.
CASES = {
    "plain": (
        (2, 4, 9, 8),
        (6, 4, 3, 2),
        dict(padding=((1, 0), (0, 1)), rhs_dilation=(2, 1)),
        [None, None, None],
    ),
    "one element": ((4, 8, 6, 6), (16, 8, 1, 1), {}, ["by_window", "by_window", "by_places"]),
    "one element, strides": (
        (2, 8, 9, 7),
        (32, 8, 1, 1),
        dict(window_strides=(2, 3), padding=((1, 0), (-1, 2))),
        ["by_window", "by_window", "by_places"],
    ),
    "one element, features last": (
        (4, 6, 6, 8),
        (1, 1, 8, 16),
        dict(window_strides=(2, 2), lhs_dilation=(1, 2), dimension_numbers=LAST),
        ["by_window", "by_window", "by_places"],
    ),
    "one element, groups": (
        (2, 24, 3, 5),
        (48, 2, 1, 1),
        dict(feature_group_count=12),
        ["by_window", "by_window", "by_places"],
    ),
    "few features": (
        (2, 3, 30, 20),
        (8, 3, 3, 3),
        dict(window_strides=(2, 1), padding="SAME"),
        ["sum_of_shifted", None, None],
    ),
    "a large image": (
        (1, 2, 131, 130),
        (9, 2, 3, 3),
        dict(padding=((0, 1), (1, 0))),
        ["sum_of_shifted", None, "by_places"],
    ),
    "few groups": (
        (4, 6, 33, 32),
        (16, 3, 3, 2),
        dict(feature_group_count=2, window_strides=(1, 2), padding=((1, 1), (2, 0))),
        ["by_groups", "by_groups", "by_groups"],
    ),
    "few groups of batches": (
        (6, 3, 9),
        (64, 3, 3),
        dict(batch_group_count=2, padding=((2, -1),)),
        ["by_groups", None, "by_places"],
    ),
    "groups of few features": (
        (4, 18, 8, 8),
        (18, 2, 3, 3),
        dict(feature_group_count=9, rhs_dilation=(2, 1), padding="SAME"),
        ["sum_of_shifted", "sum_of_shifted", "by_places"],
    ),
    "three dimensions": (
        (2, 3, 6, 7, 5),
        (4, 3, 3, 2, 2),
        dict(window_strides=(2, 1, 2), rhs_dilation=(1, 2, 1), padding="SAME"),
        ["by_first_dimension"] * 3,
    ),
    "three dimensions, dilated": (
        (2, 5, 4, 4, 3),
        (3, 2, 3, 3, 4),
        dict(
            lhs_dilation=(2, 1, 3),
            padding=((1, 1), (-1, 2), (0, 1)),
            dimension_numbers=("NDHWC", "DHWIO", "NCDHW"),
        ),
        ["by_first_dimension"] * 3,
    ),
}


def direct(x, y, options):
    """A convolution by its definition: sums over the elements of the window, group by group."""
    ndim = x.ndim - 2
    names = options.get("dimension_numbers", ("NCDHW"[: x.ndim], "OIDHW"[: x.ndim]) * 2)
    order = [[names[1].index(c) for c in "OI"], [names[0].index(c) for c in "NC"]]
    spatial = [c for c in names[1] if c not in "OI"]
    x = x.transpose(*order[1], *[names[0].index(c) for c in spatial])
    y = y.transpose(*order[0], *[names[1].index(c) for c in spatial])
    ones = (1,) * ndim
    steps = [options.get(f"{of}_dilation", ones) for of in ("lhs", "rhs")]
    strides, pads = options.get("window_strides", ones), options.get("padding", ((0, 0),) * ndim)
    x = spread(x, steps[0])
    if pads == "SAME":
        sizes = [(k - 1) * d + 1 for k, d in zip(y.shape[2:], steps[1])]
        total = [
            max((-(-n // s) - 1) * s + k - n, 0) for n, s, k in zip(x.shape[2:], strides, sizes)
        ]
        pads = [(t // 2, t - t // 2) for t in total]
    for dim, (low, high) in enumerate(pads, 2):
        x = np.pad(x, [(max(low, 0), max(high, 0)) if i == dim else (0, 0) for i in range(x.ndim)])
        x = np.take(x, range(max(-low, 0), x.shape[dim] - max(-high, 0)), dim)
    features, batches = options.get("feature_group_count", 1), options.get("batch_group_count", 1)
    xs = np.split(x, features, 1) if features > 1 else np.split(x, batches, 0)
    parts = [sums(x, y, strides, steps[1]) for x, y in zip(xs, np.split(y, len(xs), 0))]
    out = np.concatenate(parts, 1)
    canonical = ["N", "C", *spatial]
    return out.transpose([canonical.index(c) for c in names[2]])


def spread(x, steps):
    sizes = [max((n - 1) * s + 1, 0) for n, s in zip(x.shape[2:], steps)]
    out = np.zeros((*x.shape[:2], *sizes), x.dtype)
    out[(..., *[slice(None, None, s) for s in steps])] = x
    return out


def sums(x, y, strides, steps):
    window = [(k - 1) * d + 1 for k, d in zip(y.shape[2:], steps)]
    counts = [(n - k) // s + 1 for n, k, s in zip(x.shape[2:], window, strides)]
    total = 0
    for place in itertools.product(*map(range, y.shape[2:])):
        starts = [i * d for i, d in zip(place, steps)]
        covered = [slice(i, i + (n - 1) * s + 1, s) for i, n, s in zip(starts, counts, strides)]
        total = total + np.einsum("nc...,oc->no...", x[(..., *covered)], y[(..., *place)])
    return total


@pytest.fixture
def rules(monkeypatch):
    """The names of the rules that convolutions are written by, as they are chosen."""
    real, chosen = convolution_on_cpu.rule_of, []

    def record(kind):
        rule = real(kind)
        chosen.append(getattr(rule, "__name__", None))
        return rule

    monkeypatch.setattr(convolution_on_cpu, "rule_of", record)
    return chosen


def convolve(x, y, options):
    ones = (1,) * (x.ndim - 2)
    options = {"window_strides": ones, "padding": ((0, 0),) * len(ones)} | options
    return cv.lax.conv_general_dilated(x, y, **options)


def with_cotangents(options):
    """The function of x, y and cotangents that gives the convolution and their pullback."""

    def run(x, y, ct):
        out, pullback = cv.vjp(lambda x, y: convolve(x, y, options), x, y)
        return out, *pullback(ct)

    return cv.jit(run)


def check(case, dtype, tolerance):
    x_shape, y_shape, options, _ = CASES[case]
    rng = np.random.default_rng(0)
    x, y = [rng.integers(-8, 9, shape) / 4 for shape in (x_shape, y_shape)]
    expected = direct(x, y, options)
    ct, u, v = [rng.integers(-8, 9, a.shape) / 4 for a in (expected, x, y)]
    out, ct_x, ct_y = with_cotangents(options)(*[a.astype(dtype) for a in (x, y, ct)])
    assert out.dtype == ct_x.dtype == ct_y.dtype == np.dtype(dtype)
    scale = tolerance * max(np.abs(expected).max(), 1)
    np.testing.assert_allclose(np.asarray(out, np.float64), expected, rtol=tolerance, atol=scale)
    # A convolution is linear in each operand: <ct, f(u)> = <f^T(ct), u>.
    for got, direction, image in [
        (ct_x, u, direct(u, y, options)),
        (ct_y, v, direct(x, v, options)),
    ]:
        got = np.asarray(got, np.float64)
        size = np.linalg.norm(got) * np.linalg.norm(direction)
        assert abs(np.vdot(got, direction) - np.vdot(ct, image)) <= tolerance * size


@pytest.mark.parametrize("case", CASES)
def test_values_and_cotangents(case, rules):
    check(case, np.float32, 1e-5)
    assert rules[0] == CASES[case][3][0]
    assert set(CASES[case][3]) - {None} <= set(rules)


@pytest.mark.parametrize("case", ["one element, strides", "few groups of batches"])
def test_narrow_floats(case):
    check(case, "bfloat16", 1e-2)


def test_64_bits_without_a_library_are_products(rules):
    with cv.enable_x64(True):
        check("plain", np.float64, 1e-13)
        lowered = cv.jit(lambda x, y: convolve(x, y, {})).lower(
            np.ones((4, 3, 9, 8)), np.ones((CONVOLUTION_LIBRARY, 3, 3, 2))
        )
    assert sorted(rules[:3]) == ["by_places", "by_window", "by_window"] and rules[3] is None
    assert "stablehlo.convolution" in lowered.as_text()


def test_complex_numbers_are_real_ones():
    x_shape, y_shape, options, _ = CASES["one element, strides"]
    rng = np.random.default_rng(0)
    x, y = [
        (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(np.complex64)
        for shape in (x_shape, y_shape)
    ]
    convolved = cv.jit(lambda x, y: convolve(x, y, options))
    np.testing.assert_allclose(convolved(x, y), direct(x, y, options), rtol=1e-4, atol=1e-4)
    assert "stablehlo.convolution" not in convolved.lower(x, y).as_text()


@pytest.mark.parametrize("dtype, asks", [("float32", True), ("float64", False), ("int32", False)])
def test_only_floats_that_xla_knows_ask_for_its_own(dtype, asks):
    with cv.enable_x64(True):
        x, y = np.ones((8, 32, 16, 16), dtype), np.ones((32, 32, 3, 3), dtype)
        lowered = cv.jit(lambda x, y: convolve(x, y, {"padding": "SAME"})).lower(x, y)
    assert (OPTION[0] in lowered._module.module_context.compile_options) == asks


def test_empty_arrays_and_small_ones_are_left_to_xla(rules):
    out = cv.jit(lambda x, y: convolve(x, y, {}))(np.ones((0, 8, 6, 6)), np.ones((16, 8, 1, 1)))
    assert out.shape == (0, 16, 6, 6)
    small = cv.jit(lambda x, y: convolve(x, y, {}))(np.ones((1, 2, 3, 3)), np.ones((2, 2, 1, 1)))
    np.testing.assert_array_equal(small, np.full((1, 2, 3, 3), 2))
    assert rules == [None]


def test_an_infinite_weight_spoils_what_it_meets():
    x, y = np.ones((1, 64, 4, 4), np.float32), np.ones((2, 64, 1, 1), np.float32)
    x[0, 3, 1, 2], y[1, 5] = np.nan, np.inf
    out = np.asarray(cv.jit(lambda x, y: convolve(x, y, {}))(x, y))
    assert np.isnan(out[0, :, 1, 2]).all() and np.isnan(out).sum() == 2
    assert np.isinf(out[0, 1]).sum() == 15


def test_batches_with_windows_of_their_own():
    """Which are convolutions of as many groups as there are examples."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((10, 2, 8, 7, 6)).astype(np.float32)
    y = rng.standard_normal((10, 4, 8, 3, 2)).astype(np.float32)

    def loss(x, y):
        return (convolve(x, y, {}) ** 2).sum()

    got = np.asarray(cv.jit(cv.vmap(cv.grad(loss, 1)))(x, y), np.float64)
    direction = rng.standard_normal(y.shape)
    for i in range(10):  # the derivative of <f, f> along v is 2 <f, f(v)>
        slope = 2 * np.vdot(direct(x[i], y[i], {}), direct(x[i], direction[i], {}))
        np.testing.assert_allclose(np.vdot(got[i], direction[i]), slope, rtol=1e-3, atol=1e-2)
