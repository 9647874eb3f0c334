"""What has moved out of `experimental`, and what one process sees of several."""

import inspect

import numpy as np
import pytest

import covector as cv
from covector.experimental import multihost_utils
from covector.experimental.pjit import pjit
from covector.experimental.shard_map import shard_map


def test_pjit_is_jit():
    sharding = cv.sharding.SingleDeviceSharding(cv.devices()[0])
    double = pjit(lambda x: 2 * x, sharding, sharding, donate_argnums=0)
    x = cv.numpy.ones(3)
    np.testing.assert_array_equal(np.asarray(double(x)), np.full(3, 2.0))
    assert x.is_deleted()
    with pytest.raises(TypeError, match="unknown"):
        pjit(lambda x: x, unknown=1)


def test_shard_map_takes_its_old_arguments():
    mesh = cv.make_mesh((1,), ("x",))
    f = shard_map(
        lambda x: cv.lax.psum(x.sum(), "x"), mesh=mesh, in_specs=cv.P("x"), out_specs=cv.P()
    )
    assert f(np.arange(4.0)) == 6


@pytest.mark.parametrize("name", ["process_allgather", "broadcast_one_to_all"])
@pytest.mark.parametrize("options", [{}, {"tiled": True}], ids=["stacked", "tiled"])
def test_values_of_one_process(jax, name, options):
    theirs = pytest.importorskip("jax.experimental.multihost_utils")
    if name == "broadcast_one_to_all":
        options = {"is_source": True} if options else {}
    given = {"a": np.float32([1, 2]), "b": (np.int32(3), np.ones((2, 0)))}
    for values in (given, cv.numpy.arange(3)):
        got = getattr(multihost_utils, name)(values, **options)
        values = cv.tree.map(np.asarray, values)
        want = getattr(theirs, name)(values, **options)
        assert cv.tree.structure(got) == cv.tree.structure(want)
        for x, y in zip(cv.tree.leaves(got), cv.tree.leaves(want)):
            assert isinstance(x, np.ndarray) and x.shape == np.shape(y)
            np.testing.assert_array_equal(x, np.asarray(y))


def test_one_process_waits_for_nobody():
    assert multihost_utils.sync_global_devices("begin") is None
    assert multihost_utils.assert_equal({"a": 1}, "differ") is None
    assert not multihost_utils.reached_preemption_sync_point(3)


def test_signatures_are_those_of_jax():
    theirs = pytest.importorskip("jax.experimental.multihost_utils")
    for name in vars(multihost_utils):
        if not name.startswith("_"):
            ours = inspect.signature(getattr(multihost_utils, name)).parameters
            assert [*ours] == [*inspect.signature(getattr(theirs, name)).parameters], name
