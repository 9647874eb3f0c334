"""Arrays over several devices: their parts, where they are put, and how they are read."""

import numpy as np
import pytest

X = np.arange(32, dtype=np.float32).reshape(8, 4)
SPECS = [(), ("x",), ("x", "y"), (None, "y"), (("x", "y"),), (("y", "x"),), ("y", "x"), (None, "x")]


def mesh_of(m, shape=(4, 2), names=("x", "y"), devices=None):
    types = (m.sharding.AxisType.Auto,) * len(shape)
    return m.make_mesh(shape, names, types, devices=devices)


def named(m, *spec, **options):
    return m.NamedSharding(mesh_of(m, **options), m.P(*spec))


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_parts_are_those_of_jax(jax, spec):
    import covector as cv

    ours, theirs = (m.device_put(X, named(m, *spec)) for m in (cv, jax))
    assert repr(ours.sharding) == repr(theirs.sharding)
    assert ours.is_fully_replicated == theirs.is_fully_replicated
    assert ours.committed and ours.is_fully_addressable
    assert len(ours.addressable_shards) == len(theirs.addressable_shards) == 8
    for a, b in zip(ours.addressable_shards, theirs.addressable_shards):
        assert (a.device.id, a.index, a.replica_id) == (b.device.id, b.index, b.replica_id)
        np.testing.assert_array_equal(a.data, b.data)
        assert a.data.devices() == {a.device}
        np.testing.assert_array_equal(a.data, X[a.index])
    np.testing.assert_array_equal(ours, X)
    assert repr(ours) == repr(theirs) and str(ours) == str(theirs)
    assert {d.id for d in ours.devices()} == set(range(8))
    assert ours.sharding.shard_shape(X.shape) == theirs.sharding.shard_shape(X.shape)
    np.testing.assert_array_equal(ours.addressable_data(5), theirs.addressable_data(5))
