"""The texts of arrays, character for character those of JAX 0.10.2."""

import numpy as np
import pytest

import covector
import covector.numpy as jnp
from tests.numpy.comparing import DTYPES, array

VALUES = {
    "one number": 2.5,
    "integer": 3,
    "truth": True,
    "complex": 1j,
    "empty": np.zeros((2, 0), np.float32),
    "vector": np.arange(3.0, dtype=np.float32),
    "not numbers": np.array([np.nan, np.inf, -np.inf, -0.0], np.float32),
    "magnitudes": np.array([1e-30, 1.0, 1e30], np.float32),
    "one line and a bit": np.arange(13, dtype=np.float32) / 7,
    "several lines": np.linspace(0, 1, 40, dtype=np.float32),
    "matrix": np.arange(6, dtype=np.int32).reshape(2, 3),
    "cube": np.arange(12, dtype=np.uint8).reshape(2, 3, 2),
    "summarized": np.arange(2000, dtype=np.int32),
    "large matrix": np.arange(90000, dtype=np.int32).reshape(300, 300),
    **{f"dtype {dtype}": array((2, 3), dtype) for dtype in DTYPES},
    **{f"width {n}": np.arange(n, dtype=np.int32) for n in range(15, 27)},
    **{f"width of bfloat16 {n}": array((n,), "bfloat16") for n in range(4, 14)},
}


@pytest.mark.parametrize("name", VALUES)
def test_texts(jax, name):
    value = VALUES[name]
    ours, theirs = jnp.asarray(value), jax.numpy.asarray(value)
    assert repr(ours) == repr(theirs)
    assert str(ours) == str(theirs)
    assert f"{ours}" == f"{theirs}"


@pytest.mark.parametrize("options", [dict(linewidth=40), dict(precision=3), dict(threshold=4)])
def test_options(jax, options):
    with jnp.printoptions(**options):
        for value in VALUES.values():
            assert repr(jnp.asarray(value)) == repr(jax.numpy.asarray(value))
    before = jnp.get_printoptions()
    jnp.set_printoptions(**options)
    assert np.get_printoptions()[next(iter(options))] == next(iter(options.values()))
    jnp.set_printoptions(**before)


def test_formats(jax):
    for spec in (".2f", "+.1e", "8.3f", ""):
        assert format(jnp.float32(2.5), spec) == format(jax.numpy.float32(2.5), spec)
    assert f"{jnp.int32(7):03d}" == "007"
    with pytest.raises(TypeError, match="unsupported format string"):
        format(jnp.arange(3), ".2f")


def test_of_tracers():
    texts = []

    @covector.jit
    def f(x):
        texts.append((repr(x), str(x), f"{x}"))
        return x

    f(1.0)
    assert texts == [("JitTracer(~float32[])",) * 3]
