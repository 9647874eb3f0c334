"""Pickles of arrays and of jitted functions; traced values cannot be pickled."""

import copy
import pickle
import subprocess
import sys
from functools import partial

import cloudpickle
import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp


@cv.jit
def doubled(x):
    return 2 * x


class Model:
    @staticmethod
    @cv.jit
    def loss(x):
        return x + 1


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "float32", "bfloat16", "complex64", "float8_e5m2"]
)
def test_arrays(dtype):
    x = jnp.asarray(np.arange(6).reshape(2, 3)).astype(dtype)
    y = pickle.loads(pickle.dumps(x))
    assert type(y) is type(x) and y.aval is x.aval
    np.testing.assert_array_equal(np.asarray(y), np.asarray(x))


def test_weak_types():
    y = pickle.loads(pickle.dumps(jnp.asarray(4.0)))
    assert y.weak_type and y == 4.0


def test_64_bits_where_they_do_not_exist():
    with cv.enable_x64(True):
        pickled = [pickle.dumps(x) for x in (jnp.arange(3), jnp.arange(3.0), jnp.arange(3) * 1j)]
    loaded = [pickle.loads(p) for p in pickled]
    assert [str(x.dtype) for x in loaded] == ["int32", "float32", "complex64"]
    assert loaded[1].tolist() == [0.0, 1.0, 2.0]
    with cv.enable_x64(True):
        assert [str(pickle.loads(p).dtype) for p in pickled] == ["int64", "float64", "complex128"]


def test_jitted_functions_of_modules_are_found_by_name():
    assert pickle.loads(pickle.dumps(doubled)) is doubled
    assert pickle.loads(pickle.dumps(Model.loss)) is Model.loss


def test_jitted_functions_by_value():
    @partial(cv.jit, static_argnums=1, donate_argnames="z", keep_unused=True)
    def power(z, n):
        return doubled(z) ** n

    other = pickle.loads(cloudpickle.dumps(power))
    assert other is not power and other.__name__ == "power"
    assert other(3.0, 2) == 36.0
    x = jnp.arange(3.0) + 1
    other(x, 1)
    assert x.is_deleted()
    assert copy.deepcopy(power)(3.0, 2) == 36.0


def test_jitted_functions_of_a_script_travel_to_another_process(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import sys, cloudpickle, covector as cv\n"
        "@cv.jit\n"
        "def f(x): return x + OFFSET\n"
        "OFFSET = 5\n"
        "open(sys.argv[1], 'wb').write(cloudpickle.dumps(f))\n"
    )
    path = tmp_path / "f.pickle"
    subprocess.run([sys.executable, script, path], check=True)
    assert pickle.loads(path.read_bytes())(1) == 6


@pytest.mark.parametrize("transform", [cv.jit, cv.grad, cv.vmap])
def test_traced_values(transform):
    with pytest.raises(cv.errors.ConcretizationTypeError, match="It was to be pickled, but stands"):
        transform(lambda x: pickle.dumps(x))(
            jnp.float32(1) if transform is cv.grad else jnp.ones(2)
        )
