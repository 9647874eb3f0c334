"""What keys and samplers refuse, and what they say then."""

import inspect

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector import random

KEY = random.key(0)
KEYS = random.split(KEY, 3)

REFUSED = {
    "seed is a float": (lambda: random.key(1.5), TypeError, "seed must be an integer.*float32"),
    "seed is a key": (lambda: random.key(KEY), TypeError, "key accepts a scalar seed"),
    "seed is an array": (
        lambda: random.PRNGKey(np.arange(2)), TypeError, "PRNGKey accepts a scalar.*vmap"
    ),
    "unknown generator": (
        lambda: random.key(0, impl="dice"), ValueError, 'unrecognized PRNG implementation "dice"'
    ),
    "no generator": (lambda: random.key(0, impl=3), TypeError, "unrecognized type .* for a PRNG"),
    "two generators": (
        lambda: random.key(0, impl="rbg", dtype="rbg"), ValueError, "both `impl` and `dtype`"
    ),
    "raw key of wrong shape": (
        lambda: random.uniform(jnp.zeros(3, "uint32")), TypeError, r"ends with \(2,\).*\(3,\)"
    ),
    "raw key of wrong dtype": (
        lambda: random.uniform(jnp.zeros(2, "int32")), TypeError, "dtype uint32, but got int32"
    ),
    "key is a number": (lambda: random.uniform(3), TypeError, "an array of dtype uint32.*got 3"),
    "key is a list": (lambda: random.uniform([0, 1]), TypeError, "unexpected PRNG key type"),
    "batch of keys": (
        lambda: random.normal(KEYS), ValueError, r"normal accepts a single key.*\(3,\) != \(\)"
    ),
    "batch split": (lambda: random.split(KEYS), ValueError, "split accepts a single key"),
    "fold_in array": (lambda: random.fold_in(KEY, np.arange(2)), TypeError, "accepts a scalar"),
    "bits of floats": (lambda: random.bits(KEY, (), "float32"), ValueError, "an unsigned int"),
    "uniform integers": (lambda: random.uniform(KEY, (), int), ValueError, "a float dtype"),
    "normal integers": (lambda: random.normal(KEY, (), "int8"), ValueError, "float or complex"),
    "randint floats": (
        lambda: random.randint(KEY, (), 0, 2, "float32"), TypeError, "only accepts integer dtypes"
    ),
    "bernoulli of 1": (lambda: random.bernoulli(KEY, 1), TypeError, "floating dtype, got int32"),
    "mode": (lambda: random.gumbel(KEY, mode="loud"), ValueError, "mode='loud', expected"),
    "shape": (lambda: random.normal(KEY, (2.5,)), TypeError, "random.normal"),
    "shape too small": (
        lambda: random.gamma(KEY, jnp.ones((2, 3)), (3,)), ValueError, r"\(3,\).*\(2, 3\)"
    ),
    "narrow dtype": (
        lambda: random.pareto(KEY, jnp.ones(2), dtype="float16"), cv.dtypes.TypePromotionError,
        "cannot safely cast argument of type float32 to float16",
    ),
    "permutation of a float": (lambda: random.permutation(KEY, 2.0), TypeError, "an integer"),
    "permutation of a list": (lambda: random.permutation(KEY, [1, 2]), TypeError, "permutation"),
    "axis": (lambda: random.permutation(KEY, 5, axis=3), ValueError, "axis 3 is out of bounds"),
    "choice of a number of shape": (lambda: random.choice(KEY, 5, 2), TypeError, r"\(2,\)"),
    "choice of nothing": (lambda: random.choice(KEY, 0, (2,)), ValueError, "greater than 0"),
    "choice of too much": (
        lambda: random.choice(KEY, 3, (4,), replace=False), ValueError, "larger sample.*4.*3"
    ),
    "probabilities": (
        lambda: random.choice(KEY, 3, (4,), p=jnp.ones(2)), ValueError, r"the 3 elements.*\(2,\)"
    ),
    "categories": (
        lambda: random.categorical(KEY, jnp.zeros(3), shape=(4,), replace=False),
        ValueError, "samples without replacement",
    ),
    "covariance": (
        lambda: random.multivariate_normal(KEY, jnp.zeros(3), jnp.eye(2)), ValueError, "n=3"
    ),
    "factor": (
        lambda: random.multivariate_normal(KEY, jnp.zeros(3), jnp.eye(3), method="qr"),
        ValueError, "method must be one of.*'qr'",
    ),
    "dirichlet of a scalar": (lambda: random.dirichlet(KEY, 1.0), ValueError, "alpha.ndim >= 1"),
    "poisson": (
        lambda: random.poisson(random.key(0, impl="rbg"), 1.0), NotImplementedError, "threefry2x32"
    ),
    "geometric floats": (lambda: random.geometric(KEY, 0.5, (), float), ValueError, "an int dtype"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_errors(name):
    call, kind, text = REFUSED[name]
    with pytest.raises(kind, match=text):
        call()


def test_traced_sizes_are_named():
    with pytest.raises(cv.errors.ConcretizationTypeError):
        cv.jit(random.permutation)(KEY, 5)


def test_raw_keys_are_allowed_discouraged_or_refused():
    raw = random.PRNGKey(0)
    with cv.legacy_prng_key("allow"):
        random.uniform(raw)
    with cv.legacy_prng_key("warn"), pytest.warns(UserWarning, match="Legacy uint32 key array"):
        random.uniform(raw)
    with cv.legacy_prng_key("error"):
        random.uniform(KEY)
        with pytest.raises(ValueError, match="Legacy uint32 key array"):
            random.uniform(raw)


def test_typed_keys_by_default():
    with cv.enable_custom_prng(True):
        assert random.PRNGKey(0).dtype == KEY.dtype
        with pytest.warns(FutureWarning, match="Raw arrays as random keys"):
            random.uniform(np.zeros(2, "uint32"))


def test_places():
    device = cv.devices()[0]
    assert random.normal(KEY, (2,), out_sharding=cv.sharding.SingleDeviceSharding(device)).committed
    on_device = cv.device_put(KEY, device)
    assert random.normal(on_device, (2,)).committed


def test_the_namespace_is_that_of_jax(jax):
    for name in [name for name in dir(jax.random) if not name.startswith("_")]:
        theirs = getattr(jax.random, name)
        if not inspect.isfunction(theirs):
            assert hasattr(random, name) or inspect.ismodule(theirs)
            continue
        ours = inspect.signature(getattr(random, name)).parameters
        wanted = inspect.signature(theirs).parameters
        assert [(p.name, p.kind) for p in ours.values()] == [
            (p.name, p.kind) for p in wanted.values()
        ]
        assert [p.default for p in ours.values()] == [p.default for p in wanted.values()], name
