"""Arrays over several devices: their parts, where they are put, and how they are read."""

import copy
import importlib
import inspect
import itertools
import pickle

import numpy as np
import pytest

X = np.arange(32, dtype=np.float32).reshape(8, 4)
SPECS = [(), ("x",), ("x", "y"), (None, "y"), (("y", "x"),), ("y", "x")]


def mesh_of(m, shape=(4, 2), names=("x", "y"), devices=None):
    types = (m.sharding.AxisType.Auto,) * len(shape)
    return m.make_mesh(shape, names, types, devices=devices)


def named(m, *spec, **options):
    return m.NamedSharding(mesh_of(m, **options), m.P(*spec))


def put(m, *spec):
    return m.device_put(X, named(m, *spec))


# ---------------------------------------------------------------- parts


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_parts_are_those_of_jax(jax, spec):
    import covector as cv

    ours, theirs = (put(m, *spec) for m in (cv, jax))
    assert repr(ours.sharding) == repr(theirs.sharding) == repr(ours.device)
    assert ours.is_fully_replicated == theirs.is_fully_replicated
    assert ours.committed and ours.is_fully_addressable
    assert len(ours.addressable_shards) == len(theirs.addressable_shards) == 8
    for a, b in zip(ours.addressable_shards, theirs.addressable_shards):
        assert (a.device.id, a.index, a.replica_id) == (b.device.id, b.index, b.replica_id)
        np.testing.assert_array_equal(a.data, X[a.index])
        assert a.data.devices() == {a.device}
    assert repr(ours) == repr(theirs) and str(ours) == str(theirs)
    assert {d.id for d in ours.devices()} == set(range(8))
    np.testing.assert_array_equal(ours, X)
    np.testing.assert_array_equal(ours.addressable_data(5), theirs.addressable_data(5))


def all_specs(names):
    """All ways in which axes can divide three dimensions."""
    for count in range(len(names) + 1):
        for chosen in itertools.permutations(names, count):
            for dims in itertools.product(range(3), repeat=count):
                cut = [tuple(n for n, d in zip(chosen, dims) if d == i) for i in range(3)]
                yield tuple(cut)


@pytest.mark.parametrize("shape", [(8,), (4, 2), (2, 2, 2), (1, 8), (2, 1, 4)], ids=str)
def test_shardings_and_the_words_of_the_compiler(shape):
    """The two say the same of parts, and the way back leads to where it began."""
    import covector as cv
    from covector._src.xla.gspmd import GSPMDSharding, named_over

    devices = np.array(cv.devices()).reshape(shape[::-1]).T
    mesh = cv.sharding.Mesh(devices, tuple("xyz"[: len(shape)]))
    whole = (16, 8, 8)
    for spec in {*all_specs(mesh.axis_names)}:
        sharding = cv.NamedSharding(mesh, cv.P(*spec))
        hlo = sharding._to_xla_hlo_sharding(3)
        parts = sharding.devices_indices_map(whole)
        assert GSPMDSharding(list(devices.flat), hlo).devices_indices_map(whole) == parts
        assert named_over(mesh, hlo, 3).devices_indices_map(whole) == parts


def test_what_no_specification_says():
    """Two parts on eight devices of one axis: the compiler may choose that."""
    import covector as cv
    from covector._src.xla.gspmd import GSPMDSharding, named_over
    from covector._src.xla.native import xla_client

    kinds = [xla_client.OpSharding.Type.REPLICATED]
    hlo = xla_client.HloSharding.iota_tile((2, 1, 4), subgroup_types=kinds)
    assert named_over(mesh_of(cv, (8,), ("x",)), hlo, 2) is None
    sharding = GSPMDSharding(cv.devices(), hlo)
    x = cv.device_put(X, sharding)
    assert x.sharding == sharding and x.addressable_shards[4].index == (slice(4, 8), slice(None))
    assert [s.replica_id for s in x.addressable_shards] == [0, 1, 2, 3] * 2
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(x + 1, X + 1)
    np.testing.assert_array_equal(cv.jit(lambda x: x.T @ x)(x), X.T @ X)


# ---------------------------------------------------------------- moves


@pytest.mark.parametrize("first", [None, (), ("x",), ("y", "x")], ids=str)
@pytest.mark.parametrize("second", [None, (), ("x",), ("y", "x")], ids=str)
def test_moves(first, second):
    import covector as cv

    def target(spec):
        return cv.devices()[3] if spec is None else named(cv, *spec)

    x = cv.device_put(cv.device_put(X, target(first)), target(second))
    assert x.sharding == (
        cv.sharding.SingleDeviceSharding(cv.devices()[3]) if second is None else named(cv, *second)
    )
    np.testing.assert_array_equal(x, X)
    assert first != second or cv.device_put(x, target(second)) is x


def test_moves_between_orders_of_devices():
    """The host is not asked."""
    import covector as cv

    devices = np.array(cv.devices())
    turned = cv.sharding.Mesh(devices[::-1].reshape(2, 4), ("x", "y"))
    mixed = cv.sharding.Mesh(devices[[3, 1, 0, 2, 7, 5, 6, 4]], ("q",))
    shardings = [named(cv, "x", "y"), named(cv)]
    shardings += [cv.NamedSharding(turned, cv.P(*s)) for s in [("y", "x"), (None, "x")]]
    shardings += [cv.NamedSharding(mixed, cv.P("q"))]
    arrays = [cv.device_put(X, s) for s in shardings]
    for x, s in itertools.product(arrays, shardings):
        with cv.transfer_guard("disallow_explicit"):
            y = cv.device_put(x, s)
        assert y.sharding == s
        for part in y.addressable_shards:
            np.testing.assert_array_equal(part.data, X[part.index])


def test_moves_to_other_devices():
    import covector as cv

    few = named(cv, "x", shape=(2,), names=("x",), devices=cv.devices()[4:6])
    x = cv.device_put(put(cv, "x", "y"), few)
    assert x.devices() == {*cv.devices()[4:6]}
    np.testing.assert_array_equal(x, X)
    turned = named(cv, "x", shape=(8,), names=("x",), devices=cv.devices()[::-1])
    y = cv.device_put(cv.device_put(X, named(cv, "x", shape=(8,), names=("x",))), turned)
    assert y.addressable_shards[0].device == cv.devices()[7]
    np.testing.assert_array_equal(y, X)
    np.testing.assert_array_equal(cv.jit(lambda y: y.T @ y)(y), X.T @ X)


def test_memory_is_copied_unless_it_may_be_shared():
    import covector as cv

    host = X.copy()
    x = cv.device_put(host, named(cv, "x"))
    host[:] = 0
    np.testing.assert_array_equal(x, X)
    y = cv.device_put(x, named(cv, "x"), may_alias=False)
    assert y is not x
    x.delete()
    assert x.is_deleted()
    with pytest.raises(RuntimeError, match="deleted"):
        np.asarray(x)
    np.testing.assert_array_equal(y, X)


def test_trees_and_donation(same_as_jax):
    def run(m):
        s, whole = named(m, "x"), named(m)
        x = put(m, "y")
        out = m.device_put({"a": X, "b": (x, 1.5)}, {"a": s, "b": (s, whole)})
        return out, m.device_put(x, s, donate=True)

    same_as_jax(run)


def test_copies_and_pickles(same_as_jax):
    def run(m):
        x = put(m, "x", "y")
        jnp = importlib.import_module(m.__name__ + ".numpy")
        copies = copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))
        made = jnp.zeros((8, 4), device=named(m, "y")), jnp.zeros_like(x), jnp.ones_like(x, shape=2)
        return copies, made, x[X > 3], x.tolist(), int(x.sum()), m.device_get(x).tolist()

    same_as_jax(run)


def test_other_libraries_take_parts():
    import covector as cv

    x = put(cv, "x")
    with pytest.raises(BufferError, match="addressable_shards"):
        np.from_dlpack(x)
    np.testing.assert_array_equal(np.from_dlpack(x.addressable_data(1)), X[:2])


def test_living_arrays():
    import covector as cv

    x = cv.device_put(np.ones((8, 123), np.float32), named(cv, "x"))
    (found,) = [y for y in cv.live_arrays() if y.shape == x.shape]
    assert found.sharding.is_equivalent_to(x.sharding, 2)


# ---------------------------------------------------------------- made of parts


def test_made_by_a_callback(same_as_jax):
    def run(m):
        seen = []

        def rows(index):
            seen.append(index)
            return X[index]

        made = [m.make_array_from_callback(X.shape, named(m, *spec), rows) for spec in SPECS]
        return made, m.make_array_from_callback((), named(m), lambda index: np.float32(3))

    same_as_jax(run)


def test_made_of_arrays(same_as_jax):
    def run(m):
        parts = [shard.data for shard in put(m, "x", "y").addressable_shards]
        make = m.make_array_from_single_device_arrays
        local = m.make_array_from_process_local_data
        return (
            make(X.shape, named(m, "x", "y"), parts),
            make(X.shape, named(m, "x", "y"), parts[::-1]),
            local(named(m, "y"), {"a": X, "b": X[:, 0]}),
            local(named(m), X, X.shape),
        )

    same_as_jax(run)


MISTAKES = {
    "parts of another shape": lambda m, s, parts: m.make_array_from_callback(
        X.shape, s, lambda i: X
    ),
    "parts of another dtype": lambda m, s, parts: m.make_array_from_callback(
        X.shape, s, lambda i: X[i], dtype=np.int32
    ),
    "too few": lambda m, s, parts: m.make_array_from_single_device_arrays(X.shape, s, parts[1:]),
    "one twice": lambda m, s, parts: m.make_array_from_single_device_arrays(
        X.shape, s, [*parts[1:], parts[1]]
    ),
    "another shape": lambda m, s, parts: m.make_array_from_single_device_arrays((8, 8), s, parts),
    "no arrays": lambda m, s, parts: m.make_array_from_single_device_arrays(X.shape, s, [X] * 8),
    "no list": lambda m, s, parts: m.make_array_from_single_device_arrays(X.shape, s, parts[0]),
    "not all of it": lambda m, s, parts: m.make_array_from_process_local_data(s, X, (16, 4)),
    "indivisible": lambda m, s, parts: m.make_array_from_callback((3, 4), s, lambda i: X[i]),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(jax, name):
    import covector as cv

    kinds = []
    for m in (jax, cv):
        parts = [shard.data for shard in put(m, "x", "y").addressable_shards]
        with pytest.raises(Exception) as error:
            MISTAKES[name](m, named(m, "x", "y"), parts)
        kinds.append(error.type.__name__)
    assert kinds[0] == kinds[1], error.value


def test_signatures_are_those_of_jax(jax):
    import covector as cv

    for name in (
        *("make_array_from_callback", "make_array_from_single_device_arrays"),
        *("make_array_from_process_local_data", "device_put"),
    ):
        ours, theirs = (inspect.signature(getattr(m, name)).parameters for m in (cv, jax))
        assert [(p.name, p.kind) for p in ours.values()] == [
            (p.name, p.kind) for p in theirs.values()
        ]
