"""The public names of `covector.numpy` are among JAX's, and documented."""

import inspect

import numpy as np
import pytest

import covector.numpy as jnp

PUBLIC = [name for name in vars(jnp) if not name.startswith("_") and name != "annotations"]
FUNCTIONS = [name for name in PUBLIC if inspect.isfunction(getattr(jnp, name))]


def test_names(jax):
    assert [name for name in PUBLIC if name not in dir(jax.numpy)] == []


@pytest.mark.parametrize("name", FUNCTIONS)
def test_documented_by_example(name):
    function = getattr(jnp, name)
    if function.__module__.startswith("covector._src.numpy"):
        assert ">>> " in (function.__doc__ or ""), f"{name} has no example"


def test_same_as_numpy():
    assert jnp.pi == np.pi and jnp.newaxis is None and np.isnan(jnp.nan) and jnp.inf == np.inf
    assert jnp.finfo("float32").eps == np.finfo(np.float32).eps and jnp.iinfo("int8").max == 127
