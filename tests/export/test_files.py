"""Exported programs written and read: values, trees, derivatives, and bytes that are no program."""

import collections
import subprocess
import sys
import zlib
from typing import NamedTuple

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector import export

X = np.linspace(-1.0, 1.0, 6, dtype=np.float32)


def saved(fun, *args, vjp_order=0, **kwargs):
    return export.export(fun, **kwargs)(*args).serialize(vjp_order=vjp_order)


FIELDS = (
    *("fun_name", "in_tree", "in_avals", "out_tree", "out_avals", "platforms", "nr_devices"),
    *("ordered_effects", "unordered_effects", "disabled_safety_checks"),
    *("calling_convention_version", "module_kept_var_idx", "modules", "mlir_module_serialized"),
)


def test_all_fields_are_read_back():
    fun = cv.jit(lambda x, y: {"b": (x + 1, None), "a": [2.0 * y["k"]]})
    check = export.DisabledSafetyCheck.platform()
    exported = export.export(fun, platforms=["tpu", "cpu"], disabled_checks=[check])(X, {"k": 1.0})
    data = exported.serialize()
    assert isinstance(data, bytearray)
    again = export.deserialize(data)
    for name in FIELDS:
        assert getattr(again, name) == getattr(exported, name), name
    np.testing.assert_array_equal(again.call(X, {"k": 3.0})["a"][0], 6.0)
    assert again.serialize() == data


def test_a_new_process_reads_and_calls(tmp_path):
    path = tmp_path / "program"
    w = np.arange(2000.0, dtype=np.float32)  # a large constant
    fun = cv.jit(lambda x: jnp.sum(jnp.sort(jnp.sin(x))) + w)
    path.write_bytes(saved(fun, X, vjp_order=1))
    np.save(tmp_path / "want.npy", fun(X))
    code = f"""
import numpy as np, covector as cv
from covector import export
read = export.deserialize(open({str(path)!r}, "rb").read())
x = np.linspace(-1.0, 1.0, 6, dtype=np.float32)
np.testing.assert_allclose(read.call(x), np.load({str(tmp_path / "want.npy")!r}), rtol=1e-6)
slope = cv.grad(lambda x: read.call(x)[0])(x)
np.testing.assert_allclose(slope, np.cos(x), rtol=1e-5)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("order", [0, 1, 2])
def test_derivatives_up_to_an_order(order):
    f = export.deserialize(saved(cv.jit(lambda x: jnp.sum(x**3)), X, vjp_order=order)).call
    slopes = [f, cv.grad(f), cv.grad(lambda x: jnp.sum(cv.grad(f)(x)))]
    wants = [np.sum(X**3), 3 * X**2, 6 * X]
    for n, (slope, want) in enumerate(zip(slopes, wants)):
        if n <= order:
            np.testing.assert_allclose(slope(X), want, rtol=1e-5, atol=1e-6)
        else:
            with pytest.raises(ValueError, match="No VJP is available"):
                slope(X)


def test_derivatives_that_are_not_there_cannot_be_written():
    read = export.deserialize(saved(jnp.sin, X))
    assert not read.has_vjp()
    with pytest.raises(ValueError, match="has no VJP, or none of so high an order"):
        read.serialize(vjp_order=1)


# ---------------------------------------------------------------- trees


class Point(NamedTuple):
    x: object
    y: object


@cv.tree_util.register_pytree_node_class
class Named:
    """A node whose static data must fit its child."""

    def __init__(self, array, names):
        assert len(names) == array.shape[0]
        self.array, self.names = array, names

    def tree_flatten(self):
        return (self.array,), self.names

    @classmethod
    def tree_unflatten(cls, names, children):
        made = object.__new__(cls)
        made.names, (made.array,) = names, children
        return made


export.register_namedtuple_serialization(Point, serialized_name="tests.export.Point")
export.register_pytree_node_serialization(
    Named,
    serialized_name="tests.export.Named",
    serialize_auxdata=lambda names: "/".join(names).encode(),
    deserialize_auxdata=lambda data: tuple(data.decode().split("/")),
)

TREES = [
    {"b": 1.0, "a": (2.0, [None, 3.0])},
    Point(1.0, Point([2.0], {})),
    collections.OrderedDict([("z", 1.0), ("a", (2.0,))]),
    [Named(X, tuple("abcdef")), Point(Named(X[:2], ("p", "q")), ())],
    (),
    {"ключ": 1.0, 'quo"te\n': 2.0},
]


@pytest.mark.parametrize("number", range(len(TREES)))
def test_trees(number):
    given = TREES[number]
    exported = export.export(cv.jit(lambda t: (t, t)))(given)
    read = export.deserialize(exported.serialize())
    assert read.in_tree == exported.in_tree and read.out_tree == exported.out_tree
    back, _ = read.call(given)
    assert cv.tree.structure(back) == cv.tree.structure(given)
    for x, y in zip(cv.tree.leaves(back), cv.tree.leaves(given)):
        np.testing.assert_array_equal(x, y)


class Unknown(NamedTuple):
    x: object


def test_trees_that_cannot_be_written():
    identity = cv.jit(lambda t: t)
    with pytest.raises(TypeError, match="only for dictionaries with string keys"):
        saved(identity, {(0, 1): 1.0})
    with pytest.raises(TypeError, match="only for dictionaries with string keys"):
        saved(identity, collections.OrderedDict([(1, 1.0)]))
    with pytest.raises(ValueError, match=r"Cannot serialize .* unregistered type .*Unknown"):
        saved(identity, Unknown(1.0))
    with pytest.raises(ValueError, match=r"unregistered type .*defaultdict"):
        saved(identity, collections.defaultdict(list, a=1.0))


def test_registering_twice_or_wrongly():
    with pytest.raises(ValueError, match="Duplicate serialization registration for type"):
        export.register_namedtuple_serialization(Point, serialized_name="tests.export.Other")
    with pytest.raises(ValueError, match=r"registration for serialized_name `tests.export.Point`"):
        export.register_namedtuple_serialization(Unknown, serialized_name="tests.export.Point")
    with pytest.raises(ValueError, match=r"Use `export.register_pytree_node_serialization`"):
        export.register_namedtuple_serialization(Named, serialized_name="n")
    none = dict(serialize_auxdata=lambda _: b"", deserialize_auxdata=lambda _: None)
    with pytest.raises(ValueError, match=r"If `from_children` is not present.*must call"):
        export.register_pytree_node_serialization(Unknown, serialized_name="n", **none)


def test_children_may_be_put_together_by_hand():
    class Pair(NamedTuple):
        first: object
        second: object

    export.register_pytree_node_serialization(
        Pair,
        serialized_name="tests.export.Pair",
        serialize_auxdata=lambda _: b"two",
        deserialize_auxdata=bytes.decode,
        from_children=lambda static, children: Pair(*children) if static == "two" else None,
    )
    read = export.deserialize(saved(cv.jit(lambda p: p.first), Pair(X, (X, X))))
    np.testing.assert_array_equal(read.call(Pair(X, (X, X))), X)


# ---------------------------------------------------------------- types, keys


def test_types_keep_being_weak_or_not():
    read = export.deserialize(saved(cv.jit(lambda x, y: (x, y, x + y)), 1.0, np.float32(1)))
    assert [a.weak_type for a in (*read.in_avals, *read.out_avals)] == [1, 0, 1, 0, 0]


@pytest.mark.parametrize("impl", ["threefry2x32", "rbg", "unsafe_rbg"])
def test_random_keys(impl):
    key = cv.random.key(42, impl=impl)
    read = export.deserialize(saved(cv.jit(lambda k: k), key))
    assert (read.call(key) == key).all() and read.out_avals[0].dtype == key.dtype


# ---------------------------------------------------------------- bytes that are no program


def test_foreign_bytes():
    for data in (b"", b"hello", b"ML\xefR" + bytes(40), bytes(1000)):
        with pytest.raises(ValueError, match="These bytes are no exported program of Covector"):
            export.deserialize(data)


def test_damaged_bytes():
    data = saved(cv.jit(lambda x: x + 1), X)
    for length in (8, 12, 19, 23, 100, len(data) - 1):
        with pytest.raises(ValueError, match="The exported program is damaged"):
            export.deserialize(data[:length])
    for position in range(8, len(data), 37):
        changed = bytearray(data)
        changed[position] ^= 0x10
        with pytest.raises(ValueError, match=r"damaged|has version"):
            export.deserialize(changed)


def sealed(data):
    """The bytes with the checksum that they should have."""
    return bytes(data[:-4]) + zlib.crc32(bytes(data[:-4])).to_bytes(4, "little")


def test_later_versions_and_headers():
    data = saved(cv.jit(lambda x: x + 1), X)
    newer = bytearray(data)
    newer[8:12] = (2).to_bytes(4, "little")
    with pytest.raises(ValueError, match=r"version 2 of the format.*reads versions up to 1"):
        export.deserialize(sealed(newer))
    renamed = data.replace(b'"in_avals"', b'"IN_AVALS"')
    with pytest.raises(ValueError, match=r"damaged: its header lacks something.*in_avals"):
        export.deserialize(sealed(renamed))
    more = data.replace(b'"nr_devices":1', b'"nr_devices":1,"later":[2]')
    length = int.from_bytes(more[12:20], "little") + len(',"later":[2]')
    more[12:20] = length.to_bytes(8, "little")
    np.testing.assert_array_equal(export.deserialize(sealed(more)).call(X), X + 1)


def test_names_that_are_not_known_here():
    data = saved(cv.jit(lambda p: p.x), Point(X, X))
    with pytest.raises(ValueError, match=r"registered as 'tests.export.Poinz'.*registered here"):
        export.deserialize(sealed(data.replace(b"export.Point", b"export.Poinz")))


def test_a_program_that_this_jaxlib_cannot_read():
    exported = export.export(jnp.sin)(X)
    data = exported.serialize().replace(b"ML\xefR", b"ML\xefS")
    with pytest.raises(ValueError, match=r"This jaxlib cannot read the exported program of sin"):
        export.deserialize(sealed(data)).call(X)
