"""Specifications, meshes, and the shardings made of them, against JAX."""

import copy
import importlib
import pickle

import numpy as np
import pytest

import covector as cv
from covector.sharding import AbstractMesh, AxisType, Mesh, NamedSharding
from covector.sharding import PartitionSpec as P

ENTRIES = [
    (),
    ("x",),
    (None,),
    ((),),
    (("x",),),
    (["x"],),
    (("x", "y"), None),
    (None, "y", "x"),
    (P.UNCONSTRAINED, "x"),
]


def jax_entries(jax, entries):
    return [jax.P.UNCONSTRAINED if e is P.UNCONSTRAINED else e for e in entries]


# ---------------------------------------------------------------- specifications


@pytest.mark.parametrize("entries", ENTRIES, ids=str)
def test_a_spec_is_as_in_jax(jax, entries):
    ours, theirs = P(*entries), jax.P(*jax_entries(jax, entries))
    assert repr(ours) == repr(theirs)
    assert str(ours.partitions) == str(theirs.partitions)
    assert len(ours) == len(theirs)
    assert repr(ours + P("z")) == repr(theirs + jax.P("z"))
    assert repr(("z",) + ours) == repr(("z",) + theirs)
    assert ours.count("x") == theirs.count("x")


@pytest.mark.parametrize("marks", [{"unreduced": {"z"}}, {"reduced": {"z"}, "unreduced": {"y"}}])
def test_a_spec_with_marks_is_as_in_jax(jax, marks):
    for entries in ((), ("x",), ("x", None)):
        ours, theirs = P(*entries, **marks), jax.P(*entries, **marks)
        assert ours != P(*entries)
        assert (ours.unreduced, ours.reduced) == (theirs.unreduced, theirs.reduced)
        for name, axes in marks.items():
            assert f"{name}={axes}" in repr(ours)


def test_specs_are_values_and_leaves():
    assert P("x", ("y",)) == P("x", "y") != P("x")
    assert hash(P(["x", "y"])) == hash(P(("x", "y")))
    assert P("x") != ("x",)
    assert cv.tree.leaves({"a": P("x"), "b": P()}) == [P("x"), P()]
    for other in (pickle.loads(pickle.dumps(P("x", P.UNCONSTRAINED))), copy.deepcopy(P("x", None))):
        assert isinstance(other, P) and other[0] == "x"
    assert pickle.loads(pickle.dumps(P(P.UNCONSTRAINED))) == P(P.UNCONSTRAINED)


# ---------------------------------------------------------------- meshes


def meshes(m):
    mesh = m.sharding.AbstractMesh((2, 3), ("x", "y"))
    explicit = m.sharding.AbstractMesh((4,), ("x",), m.sharding.AxisType.Explicit)
    return [
        mesh,
        explicit,
        mesh.update(axis_sizes=(1, 1)),
        mesh.update_axis_types({"y": m.sharding.AxisType.Manual}),
        m.sharding.Mesh(np.array(m.devices()[:1]).reshape(1, 1), ("x", "y")),
        m.sharding.Mesh(m.devices()[:1], "x"),
        m.make_mesh((1,), ("x",)),
        m.make_mesh((1, 1), ("x", "y"), (m.sharding.AxisType.Auto,) * 2),
        m.sharding.get_abstract_mesh(),
        m.sharding.get_mesh(),
    ]


NAMES = [
    *("shape", "axis_names", "axis_sizes", "size", "empty", "shape_tuple"),
    *("axis_types", "auto_axes", "explicit_axes", "manual_axes"),
    *("are_all_axes_auto", "are_all_axes_explicit", "are_all_axes_manual"),
]


def test_meshes_are_as_in_jax(jax):
    for ours, theirs in zip(meshes(cv), meshes(jax)):
        assert repr(ours) == repr(theirs)
        assert str(ours) == str(theirs)
        for name in NAMES:
            assert str(getattr(ours, name)) == str(getattr(theirs, name)), name
        assert repr(ours.abstract_mesh) == repr(theirs.abstract_mesh)


def test_meshes_are_values():
    mesh = cv.make_mesh((1,), ("x",))
    assert mesh == cv.make_mesh((1,), ("x",)) != cv.make_mesh((1,), ("y",))
    assert hash(mesh) == hash(mesh.update())
    assert mesh.update(axis_names=("z",)).axis_names == ("z",)
    assert mesh != mesh.abstract_mesh
    assert mesh.device_ids.tolist() == [0] and mesh.local_devices == cv.devices()[:1]
    assert not mesh.is_multi_process


def test_arrays_of_devices(jax):
    for m in (cv, jax):
        create = importlib.import_module(f"{m.__name__}.experimental.mesh_utils").create_device_mesh
        assert create((1, 1)).shape == (1, 1)
        assert create((1,), m.devices()[:1]).tolist() == m.devices()[:1]
        with pytest.raises(ValueError):
            create((2,), m.devices()[:1])


WRONG = {
    "names": (lambda: Mesh(cv.devices()[:1], ("x", "y")), ValueError, "2|1 dimensions"),
    "None": (lambda: Mesh(cv.devices()[:1], (None,)), ValueError, "None is no name"),
    "types": (lambda: Mesh(cv.devices()[:1], "x", ("Auto",)), TypeError, "AxisType"),
    "count": (lambda: AbstractMesh((2,), ("x",), (AxisType.Auto,) * 2), ValueError, "one axis"),
    "devices": (lambda: AbstractMesh((2,), ("x",)).devices, ValueError, "no devices"),
    "too many": (lambda: cv.make_mesh((2,), ("x",)), ValueError, "more devices than there are: 1"),
    "set_mesh": (lambda: cv.set_mesh(3), ValueError, "must be a `sharding.Mesh`, not 3"),
    "axis": (lambda: NamedSharding(AbstractMesh((2,), ("x",)), P("z")), ValueError, "'z'"),
    "mesh": (lambda: NamedSharding("x", P()), TypeError, "must be a `sharding.Mesh`"),
    "spec": (lambda: NamedSharding(AbstractMesh((2,), ("x",)), ("x",)), TypeError, "needed"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said(name):
    make, kind, text = WRONG[name]
    with pytest.raises(kind, match=text):
        make()


def test_an_axis_may_divide_one_dimension_only(jax):
    for m in (cv, jax):
        with pytest.raises(Exception) as found:
            m.NamedSharding(m.sharding.AbstractMesh((2,), ("x",)), m.P("x", "x"))
        assert found.type.__name__ == "DuplicateSpecError"


# ---------------------------------------------------------------- shardings


CUTS = [P(), P("x"), P("y", "x"), P(("x", "y")), P(None, ("y", "x")), P(None, "y")]


@pytest.mark.parametrize("spec", CUTS, ids=str)
def test_parts_are_those_of_jax(jax, spec):
    """Of meshes that are no more than numbers: the parts that their devices would hold."""
    ours = NamedSharding(AbstractMesh((2, 3), ("x", "y")), spec)
    theirs = jax.NamedSharding(jax.sharding.AbstractMesh((2, 3), ("x", "y")), jax.P(*spec))
    for shape in [(12, 6), (6, 12, 5), (0, 0)]:
        assert ours.shard_shape(shape) == theirs.shard_shape(shape)
    assert repr(ours) == repr(theirs)
    assert ours.is_fully_replicated == theirs.is_fully_replicated
    assert ours.num_devices == theirs.num_devices == 6
    assert ours.replicated_axes == theirs.replicated_axes


def test_a_dimension_that_cannot_be_cut(jax):
    for m in (cv, jax):
        sharding = m.NamedSharding(m.sharding.AbstractMesh((2,), ("x",)), m.P("x"))
        with pytest.raises(ValueError) as found:
            sharding.shard_shape((3,))
        assert found.type.__name__ == "IndivisibleError"


def test_parts_of_many_devices():
    """Each part stands where the place of its device in the mesh says."""
    names = np.array([f"device {i}" for i in range(6)], object).reshape(2, 3)
    mesh = Mesh.__new__(Mesh)
    mesh.devices, mesh.axis_names, mesh.axis_sizes = names, ("x", "y"), (2, 3)
    mesh.axis_types = (AxisType.Auto,) * 2
    x = np.arange(72).reshape(6, 12)
    for spec in CUTS:
        sharding = NamedSharding(mesh, spec, memory_kind="device")
        parts = sharding.devices_indices_map(x.shape)
        assert {x[index].shape for index in parts.values()} == {sharding.shard_shape(x.shape)}
        for (i, j), name in np.ndenumerate(names):
            expected = x
            for dimension in range(2):
                for axis in spec.axes_of(dimension):
                    place, size = {"x": (i, 2), "y": (j, 3)}[axis]
                    expected = np.split(expected, size, dimension)[place]
            np.testing.assert_array_equal(x[parts[name]], expected)


def test_shardings_of_one_device_are_as_in_jax(jax):
    for spec in [P(), P("x"), P(None, "x")]:
        ours = NamedSharding(cv.make_mesh((1,), ("x",)), spec)
        theirs = jax.NamedSharding(jax.make_mesh((1,), ("x",)), jax.P(*spec))
        assert repr(ours) == repr(theirs)
        names = "memory_kind num_devices is_fully_replicated is_fully_addressable device_set"
        for name in [*names.split(), "addressable_devices", "_device_assignment"]:
            assert str(getattr(ours, name)) == str(getattr(theirs, name)), name
        assert str(ours.devices_indices_map((4, 2))) == str(theirs.devices_indices_map((4, 2)))


def test_shardings_are_values():
    mesh = cv.make_mesh((1,), ("x",))
    s = NamedSharding(mesh, P("x"))
    assert s == NamedSharding(mesh, P("x")) != NamedSharding(mesh, P("x", None))
    assert hash(s) == hash(s.update())
    assert s.update(spec=("x", None)).spec == P("x", None)
    assert s.with_memory_kind("device").memory_kind == "device"
    assert s.is_equivalent_to(NamedSharding(mesh, P(None)), 2)
    assert s.is_equivalent_to(cv.sharding.SingleDeviceSharding(cv.devices()[0]), 2)
    assert cv.tree.leaves({"a": s}) == [s]


def test_names_within_names(jax):
    for m in (cv, jax):
        with pytest.raises(ValueError, match="tuple"):
            m.P("x", ("y", ("z",)))


def test_a_type_says_nothing_of_devices(jax):
    for shape in [(), (2,), (2, 3)]:
        ours, theirs = (m.typeof(np.ones(shape, np.float32)).sharding for m in (cv, jax))
        assert repr(ours) == repr(theirs)
        x = cv.random.uniform(cv.random.key(0), shape, out_sharding=ours)
        assert x.shape == shape and not x.committed
        assert cv.jit(lambda x, s=ours: cv.device_put(x, s))(x).sharding == x.sharding
