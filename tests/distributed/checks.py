"""What two processes of two devices check together; `test_processes.py` runs it in both.

    python checks.py NUMBER_OF_THIS_PROCESS PORT

Each check runs in both processes at once. What went wrong is printed, as JSON: by the names of the
checks the errors, or None.
"""

import copy
import json
import os
import pickle
import sys
import traceback

import numpy as np

import covector as cv
import covector.numpy as jnp
from covector._src.as_jax.private import PRIVATE_MODULES
from covector.experimental import multihost_utils as together
from covector.sharding import Mesh, NamedSharding
from covector.sharding import PartitionSpec as P

ROWS = np.arange(24.0, dtype=np.float32).reshape(8, 3)


def line():
    return Mesh(np.array(cv.devices()), ("x",))


def grid():
    return Mesh(np.array(cv.devices()).reshape(2, 2), ("process", "device"))


def rows():
    return cv.device_put(ROWS, NamedSharding(line(), P("x")))


def whole(x):
    """All elements of an array, in both processes."""
    return together.process_allgather(x, tiled=True)


def me():
    return cv.process_index()


def raises(kind, part, fun, *args, **kwargs):
    """Call a function that must raise this kind of error, with this in its text."""
    try:
        fun(*args, **kwargs)
    except kind as error:
        assert part in str(error), str(error)
    else:
        raise AssertionError(f"no {kind.__name__}")


# ---------------------------------------------------------------- devices


def check_devices():
    assert cv.distributed.is_initialized()
    assert me() == int(sys.argv[1])
    assert cv.process_count() == 2 and cv.process_indices() == [0, 1]
    assert cv.device_count() == 4 and cv.local_device_count() == 2
    assert [d.process_index for d in cv.devices()] == [0, 0, 1, 1]
    assert cv.local_devices() == [d for d in cv.devices() if d.process_index == me()]
    other = cv.local_devices(process_index=1 - me())
    assert [d.process_index for d in other] == [1 - me()] * 2


def check_second_initialize():
    raises(RuntimeError, "in use already", cv.distributed.initialize, "localhost:1", 2, 0)


def check_local_work():
    """What a process does with its own arrays does not concern the other one."""
    if me() == 1:
        x = jnp.arange(5.0)
        assert x.is_fully_addressable and x.devices() == {cv.local_devices()[0]}
        assert float(cv.jit(lambda x: (x * x).sum())(x)) == 30.0
        own = Mesh(np.array(cv.local_devices()), ("x",))
        y = cv.device_put(np.arange(4.0), NamedSharding(own, P("x")))
        assert y.is_fully_addressable and float((y + 1).sum()) == 10.0
        assert cv.device_put(3.0, "cpu").devices() == {cv.local_devices()[0]}


# ---------------------------------------------------------------- arrays


def check_parts():
    x = rows()
    assert not x.is_fully_addressable and not x.is_fully_replicated and x.committed
    assert x.devices() == set(cv.devices())
    assert [shard.device for shard in x.addressable_shards] == cv.local_devices()
    for number, shard in enumerate(x.addressable_shards):
        place = 2 * me() + number
        assert shard.index == (slice(2 * place, 2 * place + 2), slice(None))
        np.testing.assert_array_equal(shard.data, ROWS[2 * place : 2 * place + 2])
        assert shard.data.is_fully_addressable
    here = [shard.data is not None for shard in x.global_shards]
    assert here == [d.process_index == me() for d in cv.devices()]
    np.testing.assert_array_equal(x.addressable_data(1), x.addressable_shards[1].data)
    np.testing.assert_array_equal(whole(x), ROWS)


def check_copies_are_numbered_over_all_processes():
    x = cv.device_put(ROWS, NamedSharding(grid(), P("device", None)))
    assert [shard.replica_id for shard in x.global_shards] == [0, 0, 1, 1]
    assert [shard.replica_id for shard in x.addressable_shards] == [me()] * 2
    # Each process has all of the elements, though not each device.
    assert not x.is_fully_addressable and not x.is_fully_replicated
    np.testing.assert_array_equal(x, ROWS)


def check_elements_elsewhere():
    x = rows()
    for read in (np.asarray, pickle.dumps, lambda x: x.tolist(), cv.device_get):
        raises(RuntimeError, "non-addressable", read, x)
    raises(RuntimeError, "process_allgather(x, tiled=True)", np.asarray, x)


def check_text():
    x = rows()
    text = "Array(shape=(8, 3), dtype=float32)"
    assert repr(x) == str(x) == f"{x}" == text, repr(x)
    same = cv.device_put(np.arange(3.0), NamedSharding(line(), P()))
    assert repr(same) == "Array([0., 1., 2.], dtype=float32)"


def check_replicated():
    x = cv.device_put(np.arange(3.0), NamedSharding(line(), P()))
    assert x.is_fully_replicated and not x.is_fully_addressable
    np.testing.assert_array_equal(x, np.arange(3.0))
    assert float(x.sum()) == 3.0 and bool(x[0] == 0) and len(x.addressable_shards) == 2


def check_copy_and_delete():
    x = rows()
    y = copy.copy(x)
    x.delete()
    raises(RuntimeError, "deleted", lambda: x + 1)
    np.testing.assert_array_equal(whole(y), ROWS)


def check_device_put_compares():
    sharding = NamedSharding(line(), P("x"))
    differs = "passed to device_put is not the same on each process"
    raises(AssertionError, differs, cv.device_put, ROWS + me(), sharding)
    raises(AssertionError, differs, cv.device_put, jnp.full(4, me()), sharding)
    raises(AssertionError, differs, cv.device_put, 1.0 + me(), NamedSharding(line(), P()))
    nan = cv.device_put(np.full(4, np.nan, np.float32), sharding)
    assert np.isnan(whole(nan)).all()
    empty = cv.device_put(np.zeros((0, 4), np.int8), sharding)
    assert whole(empty).shape == (0, 4) and empty.dtype == np.int8
    keys = cv.device_put(cv.random.split(cv.random.key(7), 4), sharding)
    raw = cv.device_put(cv.random.key_data(cv.random.split(cv.random.key(7), 4)), sharding)
    np.testing.assert_array_equal(whole(cv.random.key_data(keys)), whole(raw))


def check_device_put_again():
    x = rows()
    for target in (P(None, None), P("x"), P(), P(("x",), None)):
        y = cv.device_put(x, NamedSharding(line(), target))
        np.testing.assert_array_equal(whole(y), ROWS)
    turned = Mesh(np.array(cv.devices())[::-1], ("x",))
    y = cv.device_put(x, NamedSharding(turned, P("x")))
    np.testing.assert_array_equal(whole(y), ROWS)
    np.testing.assert_array_equal(y.addressable_shards[0].data, ROWS[4 - 4 * me() :][:2])


def check_device_put_elsewhere():
    x, remote = rows(), cv.local_devices(process_index=1 - me())[0]
    raises(ValueError, "must be a fully addressable array or", cv.device_put, x, remote)
    raises(ValueError, "must be a fully addressable", cv.device_put, x, cv.local_devices()[0])
    half = Mesh(np.array(cv.devices())[::2], ("x",))
    raises(ValueError, "same set of devices", cv.device_put, x, NamedSharding(half, P("x")))
    mine = cv.device_put(np.ones(4), cv.local_devices()[0])
    raises(
        ValueError, "device_put's second argument", cv.device_put, mine, NamedSharding(half, P())
    )
    far = cv.device_put(np.arange(3.0), remote)
    assert far.addressable_shards == [] and far.shape == (3,) and "shape=(3,)" in repr(far)
    of_other = Mesh(np.array(cv.local_devices(process_index=1)), ("x",))
    x = cv.device_put(np.arange(4.0) + me(), NamedSharding(of_other, P("x")))
    assert len(x.addressable_shards) == 2 * me()


# ---------------------------------------------------------------- arrays made of parts


def check_array_from_callback():
    asked = []

    def part(index):
        asked.append(index)
        return ROWS[index]

    x = cv.make_array_from_callback((8, 3), NamedSharding(grid(), P("process")), part)
    assert asked == [(slice(4 * me(), 4 * me() + 4), slice(None))]
    np.testing.assert_array_equal(whole(x), ROWS)
    of_first = Mesh(np.array(cv.local_devices(process_index=0)), ("x",))
    x = cv.make_array_from_callback(
        (8, 3), NamedSharding(of_first, P("x")), lambda i: ROWS[i], np.float32
    )
    assert len(x.addressable_shards) == 2 - 2 * me() and x.dtype == np.float32
    if me() == 1:
        sharding = NamedSharding(of_first, P("x"))
        raises(ValueError, "must be provided", cv.make_array_from_callback, (8,), sharding, part)


def check_array_from_arrays():
    pieces = [
        cv.device_put(np.full(2, 10.0 * me() + i), d) for i, d in enumerate(cv.local_devices())
    ]
    sharding = NamedSharding(line(), P("x"))
    x = cv.make_array_from_single_device_arrays((8,), sharding, pieces[::-1])
    np.testing.assert_array_equal(whole(x), [0, 0, 1, 1, 10, 10, 11, 11])
    make = cv.make_array_from_single_device_arrays
    raises(ValueError, "each of the 2 devices", make, (8,), sharding, pieces[:1])


def check_array_from_local_data():
    make, data = cv.make_array_from_process_local_data, np.arange(8.0).reshape(4, 2) + 10 * me()
    both = [np.arange(8.0).reshape(4, 2), np.arange(8.0).reshape(4, 2) + 10]
    for spec, wanted in (
        (P("process"), np.concatenate(both)),
        (P(("process", "device")), np.concatenate(both)),
        (P("device", "process"), np.concatenate(both, axis=1)),
        (P(None, "process"), np.concatenate(both, axis=1)),
    ):
        np.testing.assert_array_equal(whole(make(NamedSharding(grid(), spec), data)), wanted)
    along = NamedSharding(grid(), P("process"))
    np.testing.assert_array_equal(whole(make(along, ROWS, (8, 3))), ROWS)  # all have all
    found = make({"a": along, "b": along}, {"a": data, "b": data[0]})
    assert found["a"].shape == (8, 2) and found["b"].shape == (4,)
    raises(ValueError, "supported", make, along, data, (8, None))
    raises(ValueError, "dimension 0 this process holds 8", make, along, data, (16, 2))
    odd = Mesh(np.array(cv.devices())[[0, 2, 1, 3]].reshape(2, 2), ("a", "b"))
    one = make(NamedSharding(odd, P("a", "b")), np.ones((2, 2), np.float32))
    assert one.shape == (2, 4)  # rows of both are the same, columns are not


# ---------------------------------------------------------------- programs


def check_operations():
    x, sharding = rows(), NamedSharding(line(), P("x"))
    np.testing.assert_allclose(whole(jnp.sin(x) * 2), np.sin(ROWS) * 2, rtol=1e-6)
    np.testing.assert_allclose(float(x.sum()), ROWS.sum())
    np.testing.assert_array_equal(whole(x.sum(axis=0)), ROWS.sum(axis=0))
    np.testing.assert_array_equal(whole(x @ x.T), ROWS @ ROWS.T)
    np.testing.assert_array_equal(whole(x[::2]), ROWS[::2])
    np.testing.assert_array_equal(whole(x.at[5].set(0)), np.where(ROWS // 3 == 5, 0, ROWS))
    np.testing.assert_array_equal(whole(jnp.sort(-x, axis=0)), np.sort(-ROWS, axis=0))
    again = cv.jit(lambda x: x * 2, in_shardings=sharding, out_shardings=sharding)
    for _ in range(20):
        y = again(x)
    np.testing.assert_array_equal(whole(y), ROWS * 2)
    raises(ValueError, "incompatible devices", lambda: x + cv.device_put(1.0, cv.devices()[0]))


def check_uncommitted_and_captured():
    x, table = rows(), np.arange(3.0, dtype=np.float32)
    f = cv.jit(lambda x, y: x * jnp.asarray(table) + y)
    np.testing.assert_array_equal(whole(f(x, jnp.ones(3))), ROWS * table + 1)
    g = cv.jit(lambda y: x + y)  # captures parts on the same devices
    np.testing.assert_array_equal(whole(g(x)), 2 * ROWS)


def check_programs_of_one_process():
    """Programs for the devices of one process; the other one gets arrays without parts."""
    of_first = Mesh(np.array(cv.local_devices(process_index=0)), ("x",))
    x = cv.device_put(ROWS, NamedSharding(of_first, P("x")))
    y, total = cv.jit(lambda x: (x * 2, x.sum()))(x)
    assert y.shape == (8, 3) and y.sharding.has_addressable_devices == (me() == 0)
    assert total.devices() == set(cv.local_devices(process_index=0))
    if me() == 0:
        np.testing.assert_array_equal(y, 2 * ROWS)
        assert float(total) == ROWS.sum()
    else:
        assert y.addressable_shards == [] and repr(y) == "Array(shape=(8, 3), dtype=float32)"
        raises(RuntimeError, "non-addressable", float, total)
        raises(RuntimeError, "non-addressable", y.addressable_data, 0)
    far = cv.device_put(np.arange(3.0), cv.local_devices(process_index=0)[0]) + 1
    assert far.shape == (3,) and len(far.addressable_shards) == 1 - me()


def check_shard_map():
    lax, mesh = cv.lax, line()

    def local(part):
        number = lax.axis_index("x")
        ring = lax.ppermute(part, "x", [(i, (i + 1) % 4) for i in range(4)])
        return (
            lax.psum(part.sum(0), "x"),
            lax.all_gather(part[0], "x", tiled=True),
            ring,
            number[None],
        )

    f = cv.jit(
        cv.shard_map(local, mesh=mesh, in_specs=P("x"), out_specs=(P(), P("x"), P("x"), P("x")))
    )
    total, firsts, ring, numbers = f(rows())
    np.testing.assert_array_equal(total, ROWS.sum(axis=0))
    np.testing.assert_array_equal(whole(firsts), np.tile(ROWS[::2].ravel(), 4))
    np.testing.assert_array_equal(whole(ring), np.roll(ROWS, 2, axis=0))
    np.testing.assert_array_equal(whole(numbers), np.arange(4))


def check_all_to_all_and_scatter():
    def local(part):
        exchanged = cv.lax.all_to_all(part, "x", 1, 0, tiled=True)
        return exchanged, cv.lax.psum_scatter(part, "x", scatter_dimension=1, tiled=True)

    data = np.arange(32.0, dtype=np.float32).reshape(4, 8)
    f = cv.jit(
        cv.shard_map(local, mesh=line(), in_specs=P("x"), out_specs=(P(None, "x"), P(None, "x")))
    )
    exchanged, summed = f(cv.device_put(data, NamedSharding(line(), P("x"))))
    np.testing.assert_array_equal(whole(exchanged), data)
    np.testing.assert_array_equal(whole(summed), data.sum(axis=0, keepdims=True))


def check_training():
    """Steps of gradient descent on both processes' data, as NumPy takes them."""
    w = np.array([0.5, -1.0, 2.0], np.float32)
    local = ROWS[4 * me() : 4 * me() + 4] / 24
    x = cv.make_array_from_process_local_data(NamedSharding(line(), P("x")), local)
    y = cv.jit(lambda x: jnp.cos(x).sum(axis=1))(x)

    @cv.jit(donate_argnums=0)
    def step(w):
        loss, grad = cv.value_and_grad(lambda w: jnp.mean((x @ w - y) ** 2))(w)
        return w - 0.1 * grad, loss

    found = cv.device_put(w, NamedSharding(line(), P()))
    data, target = ROWS / 24, np.cos(ROWS / 24).sum(axis=1)
    for _ in range(20):
        wrong = data @ w - target
        found, loss = step(found)
        np.testing.assert_allclose(float(loss), np.mean(wrong**2), rtol=1e-4)
        w = w - 0.1 * 2 * data.T @ wrong / 8
    np.testing.assert_allclose(found, w, rtol=1e-4)


def check_transformations():
    x = rows()
    grad = cv.grad(lambda x: (jnp.tanh(x) ** 2).sum())(x)
    wanted = 2 * np.tanh(ROWS) * (1 - np.tanh(ROWS) ** 2)
    np.testing.assert_allclose(whole(grad), wanted, atol=1e-6)
    norms = cv.vmap(lambda row: row @ row)(x)
    np.testing.assert_allclose(whole(norms), (ROWS**2).sum(axis=1))
    with cv.enable_x64(True):
        y = cv.device_put(ROWS.astype(np.float64), NamedSharding(line(), P("x")))
        exact = cv.jit(lambda y: jnp.exp(-y).sum())(y)
        np.testing.assert_allclose(float(exact), np.exp(-ROWS.astype(np.float64)).sum(), rtol=1e-14)


def check_pmap():
    f = cv.pmap(lambda x, y: (cv.lax.psum(x, "i"), x + y), axis_name="i", in_axes=(0, None))
    total, sums = f(np.arange(2.0) + 2 * me(), np.float32(1))
    assert total.is_fully_addressable
    np.testing.assert_array_equal(total, [6, 6])
    np.testing.assert_array_equal(sums, [1 + 2 * me(), 2 + 2 * me()])
    raises(ValueError, "of which this one has 2", f, np.arange(4.0), 0.0)
    own = cv.pmap(lambda x: cv.lax.psum(x, "i"), axis_name="i", devices=cv.local_devices())
    np.testing.assert_array_equal(own(np.arange(2.0)), [1, 1])


def check_callback():
    seen = []
    cv.jit(lambda x: cv.debug.callback(lambda y: seen.append(np.asarray(y)), x))(rows())
    cv.effects_barrier()
    together.sync_global_devices("after the callback")
    assert len(seen) == 1 - me()  # once, in the process of the first device
    if seen:
        np.testing.assert_array_equal(seen[0], ROWS)


# ---------------------------------------------------------------- multihost_utils


def check_allgather():
    gather = together.process_allgather
    np.testing.assert_array_equal(gather(np.float32(me())), [0, 1])
    np.testing.assert_array_equal(gather(np.float32(me()), tiled=True), [0, 1])
    np.testing.assert_array_equal(gather(np.arange(2) + me()), [[0, 1], [1, 2]])
    np.testing.assert_array_equal(gather(np.arange(2) + me(), tiled=True), [0, 1, 1, 2])
    np.testing.assert_array_equal(gather([jnp.full(2, bool(me()))])[0], [[False] * 2, [True] * 2])
    assert gather(np.zeros((0, 2), np.int16)).shape == (2, 0, 2)
    assert gather(np.arange(2)).dtype == np.int32  # as everywhere while x64 is off
    raises(ValueError, "only supports tiled=True", gather, rows())


def check_broadcast():
    given = {"a": np.array([me() + 0.5], np.float32), "b": np.array([me() == 0, True]), "c": me()}
    found = together.broadcast_one_to_all(given)
    assert found["a"] == 0.5 and found["b"].tolist() == [True, True] and found["c"] == 0
    assert found["b"].dtype == np.bool_
    assert together.broadcast_one_to_all(me() + 7, is_source=me() == 1) == 8


def check_agreement():
    together.sync_global_devices("one")
    raises(AssertionError, "'two", together.sync_global_devices, f"two{me()}")
    together.assert_equal({"a": np.nan, "b": [jnp.ones(3), 2]})
    together.assert_equal(rows())
    raises(AssertionError, "the seed. ", together.assert_equal, {"a": me()}, "the seed")
    raises(AssertionError, "[assert_equal]", together.assert_equal, [1] * (1 + me()))
    assert together.reached_preemption_sync_point(1) is False


def check_texts_under_keys():
    """What libraries reach through the object that JAX calls `distributed.global_state`."""
    state = PRIVATE_MODULES["jax._src.distributed"]["global_state"]
    assert (state.process_id, state.num_processes) == (me(), 2)
    assert (state.service is None) == (me() == 1) and state.preemption_sync_manager is not None
    state.client.key_value_set(f"from {me()}", f"hello {1 - me()}")
    assert state.client.blocking_key_value_get(f"from {1 - me()}", 10_000) == f"hello {me()}"
    state.client.wait_at_barrier("both", 10_000)


def check_local_and_global():
    mesh = grid()
    assert mesh.local_mesh.shape_tuple == (("process", 1), ("device", 2))
    assert mesh.is_multi_process and not mesh.local_mesh.is_multi_process
    for spec in (
        P("process"),
        P("process", "device"),
        P(("process", "device")),
        P(None, "process"),
    ):
        x = np.arange(16.0).reshape(4, 4) + 100 * me()
        y = together.host_local_array_to_global_array(x, mesh, spec)
        axis = 1 if spec[0] is None else 0
        wanted = np.concatenate([np.arange(16.0).reshape(4, 4) + 100 * i for i in (0, 1)], axis)
        np.testing.assert_array_equal(whole(y), wanted)
        back = together.global_array_to_host_local_array(y, mesh, spec)
        assert back.is_fully_addressable
        np.testing.assert_array_equal(back, x)
        assert together.host_local_array_to_global_array(y, mesh, spec) is y
    scattered = Mesh(np.array(cv.devices())[[0, 2, 3, 1]].reshape(2, 2), ("a", "b"))
    make = together.host_local_array_to_global_array
    raises(ValueError, "no block", make, np.ones(4), scattered, P("a"))


def check_live_devices():
    with together.live_devices(cv.devices()) as devices:
        assert devices == cv.devices()
    raises(ValueError, "no devices", together.live_devices([]).__enter__)


CHECKS = {name: fun for name, fun in globals().items() if name.startswith("check_")}


def main():
    os.environ["COVECTOR_COMPILATION_CACHE_DIR"] = sys.argv[3]
    cv.config.update("jax_compilation_cache_dir", sys.argv[3])
    cv.config.update("jax_num_cpu_devices", 2)
    cv.distributed.initialize(f"localhost:{sys.argv[2]}", 2, int(sys.argv[1]))
    errors = {}
    for name, check in CHECKS.items():
        try:
            check()
            errors[name] = None
        except Exception:
            errors[name] = traceback.format_exc()
            break  # the other process may be somewhere else by now
    print(json.dumps(errors))
    return 1 if any(errors.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
