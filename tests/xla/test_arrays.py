"""Arrays as objects: copies, pickles, views of their memory, deletion."""

import copy
import gc
import pickle
import weakref

import ml_dtypes
import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp

DTYPES = [np.float32, np.int8, np.uint32, np.complex64, np.bool_, np.float16, ml_dtypes.bfloat16]


def arrays():
    for dtype in DTYPES:
        for shape in ((), (3,), (2, 0), (2, 3)):
            yield jnp.asarray(np.arange(np.prod(shape)).reshape(shape).astype(dtype))
    yield cv.jit(lambda x: x)(2.5)  # weakly typed


def assert_same(x, y):
    assert type(x) is type(y) and isinstance(y, cv.Array)
    assert (x.shape, x.dtype, x.weak_type) == (y.shape, y.dtype, y.weak_type)
    np.testing.assert_array_equal(np.asarray(x), np.asarray(y))


@pytest.mark.parametrize(
    "copied",
    [
        copy.copy,
        copy.deepcopy,
        lambda x: pickle.loads(pickle.dumps(x)),
        lambda x: pickle.loads(pickle.dumps(x, protocol=5)),
        jnp.array,
    ],
    ids=["copy", "deepcopy", "pickle", "pickle5", "array"],
)
def test_copies(copied):
    for x in arrays():
        y = copied(x)
        if copied is not jnp.array:
            assert_same(x, y)
        host = np.array(x)
        x.delete()
        assert not y.is_deleted()
        np.testing.assert_array_equal(np.asarray(y), host)


def test_deepcopy_of_a_tree_keeps_shared_arrays_shared():
    x = jnp.arange(3.0)
    a, b = copy.deepcopy([x, x])
    assert a is b and a is not x


def test_the_elements_are_not_copied_on_the_way_to_numpy():
    x = jnp.arange(1000.0) + 1
    host = np.asarray(x)
    assert host.ctypes.data == x.unsafe_buffer_pointer()
    assert np.asarray(x) is host or np.asarray(x).ctypes.data == host.ctypes.data
    assert np.asarray(x, np.float32).ctypes.data == host.ctypes.data
    assert memoryview(host).readonly


def test_views_cannot_be_written():
    x = jnp.arange(3.0)
    host = np.asarray(x)
    with pytest.raises(ValueError, match="read-only"):
        host[0] = 7
    with pytest.raises(ValueError, match=r"WRITEABLE|writeable"):
        host.flags.writeable = True
    assert np.array(x).flags.writeable


@pytest.mark.usefixtures("only_new_garbage")
def test_a_view_outlives_its_array():
    x = jnp.arange(100_000.0) * 2
    host = np.asarray(x)
    want = host.copy()
    x.delete()
    del x
    gc.collect()
    filler = [jnp.ones(100_000) * i for i in range(8)]
    np.testing.assert_array_equal(host, want)
    del filler


def test_conversion_to_numpy():
    x = jnp.asarray([1.5, 2.5])
    assert np.asarray(x, np.int32).tolist() == [1, 2]
    assert x.__array__(copy=True).flags.writeable
    with pytest.raises(ValueError, match=r"float32 as float64 needs a copy"):
        x.__array__(np.dtype(np.float64), copy=False)
    assert np.add(x, x).tolist() == [3.0, 5.0]
    assert np.asarray(jnp.asarray([1], ml_dtypes.bfloat16)).dtype == ml_dtypes.bfloat16


def test_deleted():
    x = jnp.arange(3.0)
    assert not x.is_deleted()
    np.asarray(x)  # what was read before is gone, too
    x.delete()
    assert x.is_deleted()
    x.delete()
    for use in (
        np.asarray,
        lambda x: x + 1,
        lambda x: cv.jit(lambda y: y)(x),
        lambda x: cv.grad(jnp.sum)(x),
        lambda x: x.block_until_ready(),
        copy.copy,
        pickle.dumps,
        list,
        np.from_dlpack,
    ):
        with pytest.raises(RuntimeError, match="deleted"):
            use(x)
    assert x.shape == (3,) and x.dtype == np.float32 and x.ndim == 1
    assert repr(x) == "Array(<deleted>, shape=(3,), dtype=float32)"


@pytest.mark.usefixtures("only_new_garbage")
def test_dlpack_to_numpy():
    for dtype in (np.float32, np.int8, np.uint16, np.complex64):
        x = jnp.asarray(np.arange(6).reshape(2, 3).astype(dtype))
        host = np.from_dlpack(x)
        assert host.dtype == dtype and host.ctypes.data == x.unsafe_buffer_pointer()
        np.testing.assert_array_equal(host, np.asarray(x))
    want = host.copy()
    del x
    gc.collect()
    np.testing.assert_array_equal(host, want)


def test_dlpack_from_numpy():
    for dtype in (np.float32, np.int8, np.uint16, np.complex64):
        host = np.arange(6).reshape(2, 3).astype(dtype)
        x = cv.dlpack.from_dlpack(host)
        assert isinstance(x, cv.Array) and x.dtype == dtype
        np.testing.assert_array_equal(np.asarray(x), host)
        np.testing.assert_array_equal(np.asarray(x + x), host + host)
    with pytest.raises(TypeError, match="enable_x64"):
        cv.dlpack.from_dlpack(np.arange(3.0))
    with pytest.raises(TypeError, match=r"__dlpack__.*list"):
        cv.dlpack.from_dlpack([1, 2])


def test_dlpack_there_and_back():
    x = jnp.arange(6.0)
    y = cv.dlpack.from_dlpack(x)
    assert_same(x, y)
    assert y.unsafe_buffer_pointer() == x.unsafe_buffer_pointer()
    assert cv.dlpack.from_dlpack(x, copy=True).unsafe_buffer_pointer() != x.unsafe_buffer_pointer()


def aligned(count, dtype=np.float32):
    """A NumPy array whose memory XLA could take over without copying."""
    raw = np.zeros(count * np.dtype(dtype).itemsize + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + count * np.dtype(dtype).itemsize].view(dtype)


@pytest.mark.parametrize(
    "take",
    [
        jnp.asarray,
        jnp.array,
        cv.device_put,
        lambda host: jnp.sin(host),
        lambda host: cv.jit(lambda x: jnp.sin(jnp.exp(x)) * 2)(host),
        lambda host: cv.jit(lambda x, y: x)(host, 1.0),
        lambda host: cv.vmap(lambda x: x)(host),
        lambda host: jnp.add(host, host),
        lambda host: cv.grad(lambda x: jnp.sum(x * x))(host),
        lambda host: cv.vjp(lambda x: x * x, host)[1](jnp.ones_like(host))[0],
        lambda host: cv.linearize(lambda x: x * x, host)[1](jnp.ones_like(host)),
    ],
)
def test_numpy_arrays_may_be_overwritten_at_once(take):
    """Computations run while Python goes on; what it does to an argument must not reach them."""
    host = aligned(200_000)
    for value in range(1, 6):
        host[:] = value
        result = take(host)
        host[:] = -1
        expected = take(np.full_like(host, value))
        np.testing.assert_array_equal(np.asarray(result), np.asarray(expected))
        assert host[0] == -1


def test_captured_numpy_arrays_are_taken_as_they_are_at_tracing():
    host = np.ones(2000, np.float32)
    f = cv.jit(lambda x: x + host)
    first = f(jnp.zeros(2000))
    host[:] = 5
    assert float(first[0]) == 1 and float(f(jnp.zeros(2000))[0]) == 1


def test_arrays_have_no_hash():
    with pytest.raises(TypeError, match="unhashable"):
        hash(jnp.ones(2))
    with pytest.raises(TypeError, match="unhashable"):
        {jnp.ones(2): 1}


@pytest.mark.usefixtures("only_new_garbage")
def test_arrays_are_freed():
    x = jnp.arange(10.0)
    buffer = weakref.ref(x._buffer)
    np.asarray(x)
    del x
    gc.collect()
    assert buffer() is None


def test_waiting():
    x = jnp.ones(10)
    assert x.block_until_ready() is x and x.is_ready()
    assert cv.block_until_ready({"a": x, "b": 1})["a"] is x
    x.copy_to_host_async()
    assert np.asarray(x).tolist() == [1.0] * 10


def test_types():
    x = jnp.ones((2, 3))
    assert isinstance(x, cv.Array) and not isinstance(np.ones(2), cv.Array)
    assert x.nbytes == 24 and x.itemsize == 4 and x.size == 6
    assert x.devices() == {cv.devices()[0]} and x.device == cv.devices()[0]
    assert x.on_device_size_in_bytes() >= 24
    seen = []
    cv.jit(lambda y: seen.append(isinstance(y, cv.Array)))(x)
    assert seen == [True]


def test_shards():
    x = jnp.arange(6).reshape(2, 3)
    (shard,) = x.addressable_shards
    assert isinstance(shard, cv.Shard) and shard.device in x.devices()
    assert (shard.index, shard.replica_id) == ((slice(None), slice(None)), 0)
    assert shard.data is x is x.addressable_data(0)
    assert len(x.global_shards) == 1
    with pytest.raises(IndexError):
        x.addressable_data(1)


@pytest.mark.skipif(cv.default_backend() == "gpu", reason="GPUs have it")
def test_no_cuda_interface():
    assert not hasattr(jnp.ones(2), "__cuda_array_interface__")
    with pytest.raises(AttributeError, match="only defined for unsharded GPU buffers"):
        jnp.ones(2).__cuda_array_interface__  # noqa: B018
