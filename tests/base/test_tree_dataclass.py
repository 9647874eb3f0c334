"""Dataclasses as nodes of trees."""

import copy
import dataclasses
import pickle
from typing import Generic, TypeVar

import numpy as np
import pytest

from covector import tree, tree_util
from covector.tree_util import GetAttrKey, keystr

T = TypeVar("T")


@tree_util.dataclass
class Layer:
    weight: object
    bias: object = 0.0
    activation: str = tree_util.field(static=True, default="relu")


@tree_util.dataclass
class Scaled(Layer):
    scale: object = 1.0
    mode: tuple = tree_util.field(static=True, default_factory=lambda: ("a", 1))


def test_fields_are_children_or_static():
    layer = Layer([1, 2], activation="tanh")
    leaves, treedef = tree.flatten(layer)
    assert leaves == [1, 2, 0.0]
    assert tree.unflatten(treedef, leaves) == layer
    assert treedef == tree.structure(Layer([5, 6], 7, "tanh"))
    assert hash(treedef) == hash(tree.structure(Layer([5, 6], 7, "tanh")))
    assert treedef != tree.structure(Layer([1, 2]))
    assert [keystr(path) for path, _ in tree.leaves_with_path({"l": layer})] == [
        "['l'].weight[0]",
        "['l'].weight[1]",
        "['l'].bias",
    ]
    assert tree.leaves_with_path(Layer(1))[0] == ((GetAttrKey("weight"),), 1)


def test_instances_are_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Layer(1).weight = 2
    assert dataclasses.is_dataclass(Layer) and Layer(1) == Layer(1) != Layer(2)
    with pytest.raises(TypeError) as error:
        tree_util.dataclass(frozen=False)(type("Loose", (), {}))
    assert str(error.value) == (
        "tree_util.dataclass(Loose): frozen=False is not possible, since a node of a tree must not "
        "change. Use .replace(...) to make changed copies."
    )


def test_replace():
    layer = Layer(1, 2).replace(bias=3, activation="tanh")
    assert layer == Layer(1, 3, "tanh")
    with pytest.raises(TypeError):
        layer.replace(unknown=1)


def test_replace_of_the_class_or_of_a_field_is_kept():
    @tree_util.dataclass
    class Text:
        replace: str = "field"

    assert Text().replace == "field"


def test_inheritance():
    scaled = Scaled(1, 2, "tanh", 3)
    assert tree.leaves(scaled) == [1, 2, 3]
    assert tree.structure(scaled) != tree.structure(scaled.replace(activation="relu"))
    assert tree.structure(scaled) != tree.structure(scaled.replace(mode=("b", 1)))
    negative = tree.map(lambda x: -x, scaled)
    assert type(negative) is Scaled and negative == Scaled(-1, -2, "tanh", -3)
    with pytest.raises(TypeError, match=r"Scaled\.activation is a static field"):
        Scaled(1, activation=[])


def test_generic_classes():
    @tree_util.dataclass
    class Cell(Generic[T]):
        content: T
        name: str = tree_util.field(static=True, default="c")

    cell = Cell[int](3)
    assert type(cell) is Cell and tree.leaves(cell) == [3]
    assert tree.map(lambda x: x + 1, cell) == Cell(4)

    @tree_util.dataclass
    class IntCell(Cell[int]):
        extra: int = 0

    assert tree.leaves(IntCell(1, extra=2)) == [1, 2]


def test_kw_only_and_default_factory():
    @tree_util.dataclass(kw_only=True)
    class Config:
        table: list = tree_util.field(default_factory=lambda: [1, 2])
        name: str = tree_util.field(static=True)

    assert tree.leaves(Config(name="n")) == [1, 2]
    with pytest.raises(TypeError):
        Config([1], "n")


def test_slots():
    @tree_util.dataclass(slots=True)
    class Slotted:
        x: int
        tag: str = tree_util.field(static=True, default="t")

    assert not hasattr(Slotted(1), "__dict__")
    assert tree.map(lambda x: x + 1, Slotted(1)) == Slotted(2)


def test_rebuilding_runs_no_code_of_the_class():
    @tree_util.dataclass
    class Positive:
        x: float
        squared: float = tree_util.field(init=False)

        def __post_init__(self):
            if self.x <= 0:
                raise ValueError("not positive")
            object.__setattr__(self, "squared", self.x**2)

    leaves, treedef = tree.flatten(Positive(3.0))
    assert leaves == [3.0, 9.0]
    marker = object()
    rebuilt = tree.unflatten(treedef, [marker, -1])
    assert rebuilt.x is marker and rebuilt.squared == -1
    with pytest.raises(ValueError, match="not positive"):
        rebuilt.replace(x=0.0)
    assert Positive(2.0).replace(x=4.0).squared == 16.0


def test_pickle_and_copy():
    layer = Scaled([1], 2, "tanh", 3)
    assert pickle.loads(pickle.dumps(layer)) == layer == copy.deepcopy(layer)
    treedef = tree.structure(layer)
    assert pickle.loads(pickle.dumps(treedef)) == treedef


def test_a_static_value_without_hash():
    with pytest.raises(TypeError) as error:
        Layer(1, activation=["relu"])
    assert str(error.value) == (
        "Layer.activation is a static field, but its value has no hash (unhashable type: 'list'): "
        "['relu']. Static fields are compared and hashed as part of the tree's structure. Use a "
        "hashable value, such as a tuple for a list, or make it an ordinary field."
    )


def test_a_static_array():
    with pytest.raises(TypeError) as error:
        Layer(1, activation=np.zeros((2, 3), np.float32))
    assert str(error.value) == (
        "Layer.activation is a static field, but holds an array of type ndarray with shape (2, 3) "
        "and dtype float32. Static fields are compared and hashed as part of the tree's structure. "
        "Make it an ordinary field, or pass a tuple of numbers."
    )
    assert Layer(1, activation=np.float32(2.5)).activation == 2.5


def test_a_static_field_that_is_set_late():
    @tree_util.dataclass
    class Base:
        kind: str = tree_util.field(static=True)

    @tree_util.dataclass
    class Late(Base):
        x: int = 0
        size: int = tree_util.field(static=True, default=0)

        def __init__(self, x):
            super().__init__("late")
            object.__setattr__(self, "x", x)
            object.__setattr__(self, "size", [x])

    with pytest.raises(TypeError, match=r"Late\.size is a static field"):
        Late(1)


def test_metadata_and_static():
    metadata = {"unit": "m"}
    option = tree_util.field(static=True, metadata=metadata)
    assert dict(option.metadata) == {"unit": "m", "static": True} and metadata == {"unit": "m"}
    assert dict(tree.static(default=1, metadata=metadata).metadata) == {"unit": "m", "static": True}
    assert dict(tree.static(metadata={"static": False}).metadata) == {"static": False}
    assert tree.static(default=1).default == 1
    assert dict(tree_util.field().metadata) == {}


# ---------------------------- register_dataclass ----------------------------


def plain_class():
    @dataclasses.dataclass
    class Plain:
        x: object
        y: object
        name: str = dataclasses.field(metadata={"static": True}, default="n")
        cache: object = dataclasses.field(default=None, init=False)

    return Plain


def test_register_dataclass_finds_the_fields():
    jax = pytest.importorskip("jax")
    Plain = plain_class()
    assert tree_util.register_dataclass(Plain) is Plain
    ours = tree.flatten(Plain(1, (2, 3), "m"))
    other = plain_class()
    jax.tree_util.register_dataclass(other, ["x", "y"], ["name"])
    theirs = jax.tree.flatten(other(1, (2, 3), "m"))
    assert ours[0] == theirs[0] == [1, 2, 3] and str(ours[1]) == str(theirs[1])
    assert tree.unflatten(*reversed(ours)) == Plain(1, (2, 3), "m")
    assert [keystr(path) for path, _ in tree.leaves_with_path(Plain(1, 2))] == [".x", ".y"]
    assert repr(tree.map(lambda v: v, Plain({"b": 1, "a": 2}, 3))) == repr(
        Plain({"b": 1, "a": 2}, 3)
    )


def test_register_dataclass_with_given_fields():
    Plain = plain_class()
    tree_util.register_dataclass(Plain, ["y"], ["x"], drop_fields=["name"])
    assert tree.leaves(Plain(1, 2, "other")) == [2]
    assert tree.map(lambda v: v, Plain(1, 2, "other")) == Plain(1, 2, "n")


def test_register_dataclass_may_drop_fields():
    Plain = plain_class()
    tree_util.register_dataclass(Plain, drop_fields=("name",))
    assert tree.leaves(Plain(1, 2, "other")) == [1, 2]
    assert tree.map(lambda v: v, Plain(1, 2, "other")).name == "n"


def test_register_dataclass_takes_other_classes():
    class Bag:
        def __init__(self, items, tag):
            self.items, self.tag = items, tag

    tree_util.register_dataclass(Bag, data_fields=["items"], meta_fields=["tag"])
    assert tree.map(lambda x: x + 1, Bag([1], "t")).items == [2]


WRONG_FIELDS = [
    (
        {"data_fields": ["x", "y"]},
        TypeError,
        "got data_fields=['x', 'y'] and meta_fields=None. Give both of them, or neither to take "
        "them from the class.",
    ),
    (
        {"data_fields": ["x", "y"], "meta_fields": ["name", "x"]},
        ValueError,
        "data_fields and meta_fields must not overlap, so that each field is in one of them. "
        "Overlapping fields: {'x'}",
    ),
    (
        {"data_fields": ["x"], "meta_fields": []},
        ValueError,
        "data_fields and meta_fields must include all dataclass fields that __init__ takes, but "
        "for drop_fields. Missing fields: {'name', 'y'}",
    ),
    (
        {"data_fields": ["x", "y", "z"], "meta_fields": ["name"]},
        ValueError,
        "data_fields and meta_fields must include all dataclass fields that __init__ takes, but "
        "for drop_fields: {'name', 'x', 'y'}, and no others. Unexpected fields: {'z'}",
    ),
]


@pytest.mark.parametrize(("arguments", "kind", "text"), WRONG_FIELDS)
def test_register_dataclass_checks_the_fields(arguments, kind, text):
    Plain = plain_class()
    with pytest.raises(kind) as error:
        tree_util.register_dataclass(Plain, **arguments)
    assert str(error.value) == f"register_dataclass(Plain): {text}"
    assert not tree_util.is_tree_node(Plain)


def test_register_dataclass_of_no_dataclass():
    bare = type("Bare", (), {})
    with pytest.raises(TypeError) as error:
        tree_util.register_dataclass(bare)
    assert str(error.value) == (
        "register_dataclass: data_fields and meta_fields are required when nodetype is not a "
        f"dataclass. Got nodetype={bare}. Pass them, or put @dataclass below."
    )
