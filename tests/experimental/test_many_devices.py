"""Meshes of groups of devices, and what programs for many processes ask of one."""

import jax.experimental.mesh_utils as in_jax
import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector.experimental import mesh_utils, multihost_utils

P = cv.P


class Device:
    """A device as meshes see one."""

    platform, device_kind = "cpu", "cpu"

    def __init__(self, number, group):
        self.id = number
        self.process_index = self.slice_index = group

    def __repr__(self):
        return f"Device({self.id})"


@pytest.mark.parametrize("order", [True, False])
@pytest.mark.parametrize(
    "shape, groups", [((2, 3), (4, 1)), ((3, 2), (2, 2)), ((1, 6), (1, 4)), ((2, 3), (1, 4))]
)
def test_meshes_of_groups(shape, groups, order):
    devices = [Device(6 * g + i, g) for g in (2, 0, 3, 1) for i in range(6)]
    for of_processes in (True, False):
        options = dict(process_is_granule=of_processes, should_sort_granules_by_key=order)
        ours, theirs = (
            m.create_hybrid_device_mesh(shape, groups, devices, **options)
            for m in (mesh_utils, in_jax)
        )
        assert ours.tolist() == theirs.tolist()


def test_no_groups():
    with pytest.raises(ValueError, match="does not have attribute slice_index"):
        mesh_utils.create_hybrid_device_mesh((1,), (1,))
    with pytest.raises(ValueError, match=r"1 groups of devices, and dcn_mesh_shape \(2,\) takes 2"):
        mesh_utils.create_hybrid_device_mesh((1,), (2,), process_is_granule=True)


def test_one_process_has_the_whole():
    mesh = cv.make_mesh((1,), ("x",))
    given = {"a": np.arange(4), "b": (np.ones(2, np.float32), np.zeros(3, cv.float0))}
    specs = {"a": P("x"), "b": P()}
    made = multihost_utils.host_local_array_to_global_array(given, mesh, specs)
    assert made["a"].sharding.spec == P("x") and made["b"][0].sharding.spec == P()
    assert made["a"].tolist() == [0, 1, 2, 3] and made["b"][1].dtype == bool
    back = multihost_utils.global_array_to_host_local_array(made, mesh, specs)
    assert back["a"] is made["a"]
    spread = multihost_utils.global_array_to_host_local_array(np.arange(2), mesh, P("x"))
    assert spread.sharding.spec == P("x")

    def doubled(x):
        x = multihost_utils.host_local_array_to_global_array(x, mesh, P("x"))
        return 2 * multihost_utils.global_array_to_host_local_array(x, mesh, P("x"))

    x = jnp.arange(3.0)
    assert cv.jit(doubled)(x).tolist() == [0, 2, 4]
    assert cv.grad(lambda x: doubled(x).sum())(x).tolist() == [2, 2, 2]
    assert cv.vmap(doubled)(x[None]).tolist() == [[0, 2, 4]]
    for name in ("host_local_array_to_global_array", "global_array_to_host_local_array"):
        with pytest.raises(ValueError, match="`None` is not a valid input to the pspecs"):
            getattr(multihost_utils, name)(np.arange(2), mesh, None)
