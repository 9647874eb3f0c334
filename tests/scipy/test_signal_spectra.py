"""Trends and spectra of signals against SciPy in double precision."""

import inspect

import numpy as np
import pytest
import scipy.signal as sp

import covector as cv
import covector.numpy as jnp
from covector._src.base import config
from covector.scipy import signal

RNG = np.random.default_rng(0)
X = RNG.normal(size=(2, 41))
Z = X + 1j * RNG.normal(size=X.shape)


@pytest.fixture(scope="module", autouse=True)
def nothing_implicit():
    with cv.numpy_rank_promotion("raise"), cv.numpy_dtype_promotion("strict"):
        yield


def agree(name, *args, **kwargs):
    with cv.enable_x64(True):
        got = getattr(signal, name)(*args, **kwargs)
    want = getattr(sp, name)(*args, **kwargs)
    if not isinstance(want, tuple):
        got, want = (got,), (want,)
    assert len(got) == len(want)
    for g, w in zip(got, want):
        assert g.dtype == w.dtype
        np.testing.assert_allclose(g, w, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", ["detrend", "csd", "welch", "stft", "istft"])
def test_signatures(jax, name):
    import jax.scipy.signal

    ours = inspect.signature(getattr(signal, name)).parameters
    theirs = inspect.signature(getattr(jax.scipy.signal, name)).parameters
    assert [(p.name, p.default) for p in ours.values()] == [
        (p.name, p.default) for p in theirs.values()
    ]


# ---------------------------------------------------------------- trends


@pytest.mark.parametrize("kind", ["constant", "linear"])
def test_detrend(kind):
    agree("detrend", X, -1, kind)
    agree("detrend", Z, 0, kind)


def test_detrend_with_breakpoints():
    agree("detrend", X, 1, "linear", [7, 8, 30])
    agree("detrend", X.T, 0, bp=np.array([20]))


def test_detrend_of_integers_and_of_little():
    assert signal.detrend(np.arange(5)).dtype == np.float32
    assert np.array_equal(signal.detrend(jnp.array([3.0])), [0])
    assert signal.detrend(jnp.zeros((0, 3)), 0).shape == (0, 3)


def test_errors_of_detrend():
    with pytest.raises(ValueError, match="`type` must be one of"):
        signal.detrend(X, type="quadratic")
    with pytest.raises(ValueError, match=r"Breakpoints .* 41, but are 50"):
        signal.detrend(X, bp=50)
    with pytest.raises(NotImplementedError, match="overwrite_data"):
        signal.detrend(X, overwrite_data=True)


# ---------------------------------------------------------------- spectra


@pytest.mark.parametrize("boundary", [None, "zeros", "even", "odd", "constant"])
def test_stft_boundaries(boundary):
    agree("stft", X, 100.0, nperseg=9, noverlap=5, boundary=boundary)
    agree("stft", X[0], nperseg=8, boundary=boundary, padded=False)


@pytest.mark.parametrize("window", ["hann", "boxcar", ("kaiser", 3.0), np.arange(1.0, 13)])
def test_stft_windows(window):
    agree("stft", X, 2, window, nperseg=12, nfft=17, detrend="linear")


def test_stft_of_other_axes_and_complex_signals():
    agree("stft", X[..., None] * [1.0, 2.0], nperseg=10, axis=1)
    agree("stft", Z.T, nperseg=10, axis=0, return_onesided=False)
    agree("stft", X, nperseg=10, return_onesided=False)


def test_complex_signals_have_twosided_spectra():
    with pytest.warns(UserWarning, match="return_onesided=False"):
        f, _, out = signal.stft(Z, nperseg=8)
    assert f.shape == (8,) and out.shape[-2] == 8


@pytest.mark.parametrize("scaling", ["density", "spectrum"])
@pytest.mark.parametrize("average", ["mean", "median"])
def test_welch(scaling, average):
    agree("welch", X, 10.0, nperseg=8, scaling=scaling, average=average)
    agree("welch", X.T, nperseg=7, noverlap=2, nfft=9, axis=0, scaling=scaling, average=average)


def test_welch_by_default():
    x = RNG.normal(size=600)
    agree("welch", x)
    agree("welch", x, window=np.hanning(100))
    with cv.enable_x64(True), pytest.warns(UserWarning, match="nperseg=500 is greater"):
        f, _ = signal.welch(x[:40], nperseg=500)
    assert f.shape == (21,)


@pytest.mark.parametrize("average", ["mean", "median"])
def test_csd(average):
    agree("csd", X, RNG.normal(size=(1, 41)), nperseg=8, average=average)
    agree("csd", X[:, :20], X[::-1], 3.0, nperseg=6, detrend=False, average=average)
    agree("csd", Z, X + 0j, nperseg=6, return_onesided=False, average=average)


def test_csd_of_one_signal_is_real():
    _, out = signal.csd(X, None, nperseg=8)
    assert out.dtype == np.float32
    assert np.array_equal(out, signal.welch(X, nperseg=8)[1])


def test_a_function_that_detrends():
    shapes = []

    def centred(segments):
        shapes.append(segments.shape)
        return segments - segments.mean(-1, keepdims=True)

    want = signal.welch(X, nperseg=8, noverlap=0)[1]
    np.testing.assert_allclose(
        signal.welch(X, nperseg=8, noverlap=0, detrend=centred)[1], want, rtol=1e-5
    )
    assert shapes == [(2, 5, 8)]


def test_spectra_of_nothing():
    f, t, out = signal.stft(jnp.zeros((0, 5)))
    assert f.shape == t.shape == out.shape == (0, 5) and out.dtype == np.complex64
    f, out = signal.welch(jnp.zeros((2, 0)))
    assert f.shape == out.shape == (2, 0) and out.dtype == np.float32


def test_short_floats_give_float32():
    f, out = signal.welch(jnp.ones(16, jnp.bfloat16), nperseg=8)
    assert f.dtype == out.dtype == np.float32


# ---------------------------------------------------------------- synthesis


@pytest.mark.parametrize("onesided", [True, False])
def test_istft(onesided):
    Zxx = RNG.normal(size=(9, 2, 6)) + 1j * RNG.normal(size=(9, 2, 6))
    count = 16 if onesided else 9
    for nperseg, noverlap, nfft in [(None, None, None), (count, count - 3, 2 * count)]:
        agree(
            "istft",
            Zxx[:, 0],
            nperseg=nperseg,
            noverlap=noverlap,
            nfft=None,
            input_onesided=onesided,
        )
        agree(
            "istft",
            np.resize(Zxx, (17 if onesided else 2 * count, 2, 6)),
            4.0,
            "boxcar",
            nperseg,
            noverlap,
            nfft,
            onesided,
            False,
            -1,
            0,
        )


@pytest.mark.parametrize(
    "args", [{"nperseg": 8}, {"nperseg": 9, "noverlap": 6}, {"nperseg": 8, "noverlap": 5}], ids=str
)
def test_there_and_back(args):
    with cv.enable_x64(True):
        _, _, Zxx = signal.stft(X, **args)
        _, x = signal.istft(Zxx, **args)
        np.testing.assert_allclose(x[:, :41], X, rtol=1e-12, atol=1e-13)


def test_no_overlap_is_none():
    # `noverlap=0` is not the default.
    agree("istft", np.ones((5, 4)) + 0j, window="boxcar", nperseg=8, noverlap=0)


def test_defaults_of_jax(jax):
    import jax.scipy.signal

    x = RNG.normal(size=600).astype(np.float32)
    Zxx = np.ones((5, 4), np.complex64)
    for name, args, kwargs in [("welch", (x,), {}), ("istft", (Zxx,), {"noverlap": 0})]:
        with config.parity(True):
            got = getattr(signal, name)(*args, **kwargs)[1]
        want = getattr(jax.scipy.signal, name)(*args, **kwargs)[1]
        np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-4)


# ---------------------------------------------------------------- transformations


def test_gradient_of_the_total_power():
    # By Parseval, with a boxcar and no overlap: the mean square.
    x = X[0, :40]

    def power(x):
        return signal.welch(x, window="boxcar", nperseg=8, noverlap=0, detrend=False)[1].sum() / 8

    with cv.enable_x64(True):
        np.testing.assert_allclose(power(x), np.mean(x**2), rtol=1e-12)
        np.testing.assert_allclose(cv.jit(cv.grad(power))(x), 2 * x / 40, rtol=1e-12)


def test_jit_and_vmap():
    def spectrum(x, fs, window):
        return signal.stft(x, fs, window, nperseg=8, detrend="constant")

    window = np.hanning(8)
    want = spectrum(X, 2.0, window)
    got = cv.jit(cv.vmap(spectrum, (0, None, None), (None, None, 0)))(X, 2.0, window)
    for g, w in zip(got, want):
        np.testing.assert_allclose(g, w, rtol=1e-5, atol=1e-6)


# ---------------------------------------------------------------- errors


def test_errors_of_spectra():
    x = jnp.ones(40)
    cases = [
        ({"nperseg": 0}, r"\[stft\] `nperseg` must be a positive integer, but is 0"),
        ({"nperseg": 8, "noverlap": 8}, "`noverlap` must be less than nperseg, but is 8 of 8"),
        ({"nperseg": 8, "nfft": 4}, "`nfft` .* but they are 4 and 8"),
        ({"boundary": "mirror"}, "`boundary` must be one of .*, but is 'mirror'"),
        ({"window": np.ones((2, 2))}, r"must be a vector, but has shape \(2, 2\)"),
        ({"window": np.ones(4), "nperseg": 8}, "it has 4 elements, and `nperseg` is 8"),
        ({"window": np.ones(50)}, "of length 50, is longer than the signal, of 40"),
        ({"nperseg": 8, "detrend": "cubic"}, "`detrend` must be one of"),
    ]
    for kwargs, message in cases:
        if "window" in kwargs:
            kwargs = {"nperseg": None, **kwargs}
        with pytest.raises(ValueError, match=message):
            signal.stft(x, **kwargs)
    with pytest.raises(ValueError, match="`scaling` must be one of"):
        signal.welch(x, scaling="power")
    with pytest.raises(ValueError, match="`average` must be one of"):
        signal.welch(x, average="mode")
    with pytest.raises(ValueError, match=r"\(2, 5\) and \(3, 5\)"):
        signal.csd(jnp.ones((2, 5)), jnp.ones((3, 5)))
    with pytest.raises(cv.errors.ConcretizationTypeError, match="nperseg"):
        cv.jit(lambda n: signal.welch(x, nperseg=n))(8)


def test_errors_of_istft():
    with pytest.raises(ValueError, match=r"at least 2 dimensions.*\(3,\)"):
        signal.istft(jnp.ones(3))
    with pytest.raises(ValueError, match="both are dimension 1"):
        signal.istft(jnp.ones((3, 3)), freq_axis=1)
    with pytest.raises(ValueError, match=r"`nfft` .* 2 and 4"):
        signal.istft(jnp.ones((3, 3)), nfft=2)
