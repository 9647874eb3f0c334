"""The public names of `covector.numpy`: JAX's, with its parameters; and their documentation."""

import inspect

import numpy as np
import pytest

import covector.numpy as jnp

PUBLIC = [name for name in vars(jnp) if not name.startswith("_") and name != "annotations"]
FUNCTIONS = [name for name in PUBLIC if inspect.isfunction(getattr(jnp, name))]
# JAX's are objects of their own kind, or are written with `*args`.
OTHERWISE = {
    *("add", "subtract", "multiply", "negative", "maximum", "minimum", "logaddexp", "logaddexp2"),
    *("bitwise_and", "bitwise_or", "bitwise_xor", "logical_and", "logical_or", "logical_xor"),
    *("array", "set_printoptions", "result_type", "einsum_path", "einsum", "issubdtype"),
}


def test_names(jax):
    assert [name for name in PUBLIC if name not in dir(jax.numpy)] == []


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - OTHERWISE))
def test_parameters(jax, name):
    ours = inspect.signature(getattr(jnp, name)).parameters.values()
    theirs = inspect.signature(getattr(jax.numpy, name)).parameters.values()
    for mine, other in zip(ours, theirs):
        positional = mine.kind is inspect.Parameter.POSITIONAL_ONLY
        assert mine.kind is other.kind and (positional or mine.name == other.name)
        assert mine.default is other.default or mine.default == other.default
    assert len(ours) == len(theirs)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_documented_by_example(name):
    function = getattr(jnp, name)
    if function.__module__.startswith("covector._src.numpy"):
        assert ">>> " in (function.__doc__ or ""), f"{name} has no example"


def test_same_as_numpy():
    assert jnp.pi == np.pi and jnp.newaxis is None and np.isnan(jnp.nan) and jnp.inf == np.inf
    assert jnp.finfo("float32").eps == np.finfo(np.float32).eps and jnp.iinfo("int8").max == 127
