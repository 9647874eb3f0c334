"""What the tests of random numbers share: the same draw with JAX and with Covector."""

import numpy as np

import covector


def draw(library, sampler, seed=7, typed=True, **options):
    """`sampler(random, key, numpy)` with a library's key, as a NumPy array."""
    random = library.random
    key = (random.key if typed else random.PRNGKey)(seed, **options)
    return as_numpy(library, sampler(random, key, library.numpy))


def as_numpy(library, x):
    """An array as NumPy's; of keys, the numbers that they are made of."""
    if "key<" in str(x.dtype):
        x = library.random.key_data(x)
    return np.asarray(x)


def assert_same_stream(jax, sampler, **options):
    """Both libraries draw the same numbers; floats may differ in what XLA leaves open."""
    want = draw(jax, sampler, **options)
    got = draw(covector, sampler, **options)
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    if want.dtype.kind in "fc":
        np.testing.assert_allclose(got, want, rtol=4 * np.finfo(want.dtype).eps)
    elif want.dtype.kind == "V":
        np.testing.assert_array_equal(got.astype("float32"), want.astype("float32"))
    else:
        np.testing.assert_array_equal(got, want)
