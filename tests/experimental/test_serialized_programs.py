"""Compiled programs as bytes, and the folder that keeps them."""

import inspect
import subprocess
import sys

import jax.experimental.serialize_executable as in_jax
import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector.experimental.compilation_cache import compilation_cache
from covector.experimental.serialize_executable import deserialize_and_load, serialize


def compiled_of(fun, *args, **options):
    return cv.jit(fun, **options).lower(*args).compile()


def test_a_program_comes_back():
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    compiled = compiled_of(lambda x, y: {"sum": x + y, "product": x * y}, x, x)
    loaded = deserialize_and_load(*serialize(compiled))
    out = loaded(x, x)
    np.testing.assert_array_equal(out["sum"], 2 * x)
    np.testing.assert_array_equal(out["product"], x * x)
    assert loaded.in_avals == compiled.in_avals and loaded.out_info == compiled.out_info
    assert loaded.input_formats == compiled.input_formats
    with pytest.raises(TypeError, match="Argument 'y' compiled with float32"):
        loaded(x, 1.0)


def test_unused_arguments_captured_arrays_and_keys():
    captured = jnp.arange(1000.0)
    compiled = compiled_of(lambda unused, x: x + captured[-1] + captured.sum(), 1.0, 2.0)
    assert deserialize_and_load(*serialize(compiled))(1.0, 2.0) == 999.0 + 499500.0 + 2.0
    key = cv.random.key(3)
    split = deserialize_and_load(*serialize(compiled_of(cv.random.split, key)))(key)
    assert split.dtype == key.dtype
    np.testing.assert_array_equal(
        cv.random.key_data(split), cv.random.key_data(cv.random.split(key))
    )


def test_what_was_loaded_can_be_written_again(tmp_path):
    """XLA itself loses functions of a program when it writes one that it has read."""
    before = cv.config.jax_compilation_cache_dir
    compilation_cache.set_cache_dir(tmp_path)
    try:
        key = cv.random.key(3)
        for _ in range(2):  # the second one comes from the folder
            compiled = compiled_of(lambda k: cv.random.split(k, 5), key)
            once = deserialize_and_load(*serialize(compiled))
            twice = deserialize_and_load(*serialize(once))
            np.testing.assert_array_equal(
                cv.random.key_data(twice(key)), cv.random.key_data(cv.random.split(key, 5))
            )
            del compiled, once, twice
            cv.clear_caches()
        compiled = compiled_of(lambda k: cv.random.split(k, 5), key)
        for file in tmp_path.iterdir():
            file.unlink()
        with pytest.raises(ValueError, match="its file is gone"):
            serialize(compiled)
    finally:
        cv.config.update("jax_compilation_cache_dir", before)


def test_donation():
    compiled = compiled_of(lambda x: x + 1, np.zeros(3, np.float32), donate_argnums=0)
    loaded = deserialize_and_load(*serialize(compiled))
    assert loaded.args_info[0][0].donated and loaded.donate_argnums == (0,)
    x = jnp.zeros(3)
    assert loaded(x).tolist() == [1, 1, 1] and x.is_deleted()


def test_nan_of_a_loaded_program():
    with cv.debug_nans(True):
        loaded = deserialize_and_load(*serialize(compiled_of(jnp.log, 1.0)))
        with pytest.raises(FloatingPointError, match="nan"):
            loaded(-1.0)


SEVERAL = """
import covector as cv, numpy as np
from covector.experimental.serialize_executable import deserialize_and_load, serialize
mesh = cv.make_mesh((2, 2), ("x", "y"))
spread = cv.NamedSharding(mesh, cv.P("x", "y"))
x = cv.device_put(np.arange(8.0, dtype=np.float32).reshape(4, 2), spread)
compiled = cv.jit(lambda x: (2 * x, x.sum(0))).lower(x).compile()
loaded = deserialize_and_load(*serialize(compiled))
doubled, summed = loaded(x)
assert doubled.sharding == spread and summed.tolist() == [12, 16], (doubled, summed)
assert loaded.output_shardings == compiled.output_shardings
backwards = cv.devices()[::-1]
other = deserialize_and_load(*serialize(compiled), execution_devices=backwards)
assert list(other.input_shardings[0][0].mesh.devices.flat) == list(backwards)
y = cv.device_put(np.ones((4, 2), np.float32), other.input_shardings[0][0])
assert other(y)[1].tolist() == [4, 4]
one = serialize(cv.jit(lambda x: x + 1).lower(1.0).compile())
moved = deserialize_and_load(*one, execution_devices=backwards[:1])(1.0)
assert moved.devices() == {backwards[0]} and moved == 2
try:
    deserialize_and_load(*one, execution_devices=backwards)
except ValueError as error:
    assert "compiled for 1 devices, and execution_devices names 4" in str(error), error
else:
    assert False
"""


def test_several_devices(monkeypatch):
    monkeypatch.setenv("XLA_FLAGS", "--xla_force_host_platform_device_count=4")
    subprocess.run([sys.executable, "-c", SEVERAL], check=True)


def test_mistakes():
    with pytest.raises(TypeError, match=r"\[serialize\] takes what .* got a function"):
        serialize(lambda x: x)
    compiled = compiled_of(lambda x: cv.debug.print("{}", x), 1.0)
    with pytest.raises(ValueError, match="calls functions of this Python process"):
        serialize(compiled)


def test_signatures_are_those_of_jax():
    for name in ("serialize", "deserialize_and_load"):
        ours, theirs = (
            inspect.signature(f).parameters for f in (globals()[name], getattr(in_jax, name))
        )
        assert list(ours) == list(theirs)
        assert [p.default for p in ours.values()] == [p.default for p in theirs.values()]


def test_folder_of_programs(tmp_path):
    before = cv.config.jax_compilation_cache_dir
    shortest = cv.config.jax_persistent_cache_min_compile_time_secs
    try:
        compilation_cache.set_cache_dir(tmp_path)
        compilation_cache.reset_cache()
        cv.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
        compiled_of(lambda x: x * 3.25 + 17, 1.0)
        assert len(list(tmp_path.iterdir())) == 1
    finally:
        cv.config.update("jax_compilation_cache_dir", before)
        cv.config.update("jax_persistent_cache_min_compile_time_secs", shortest)
