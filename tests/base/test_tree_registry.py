"""Types that become nodes of trees."""

import collections
import functools
import pickle

import pytest

from covector import tree, tree_util
from covector.tree_util import DictKey, FlattenedIndexKey, GetAttrKey, Partial, SequenceKey, keystr

Point = collections.namedtuple("Point", "x y")


def box_class():
    class Box:
        def __init__(self, content, label):
            self.content, self.label = content, label

    return Box


def test_register_pytree_node():
    Box = box_class()
    assert tree.leaves(Box(1, "a"))[0].content == 1
    tree_util.register_pytree_node(
        Box, lambda b: ((b.content,), b.label), lambda label, c: Box(*c, label)
    )
    box = Box({"k": (1, 2)}, "a")
    assert tree.leaves(box) == [1, 2]
    doubled = tree.map(lambda x: 2 * x, box)
    assert type(doubled) is Box and doubled.content == {"k": (2, 4)} and doubled.label == "a"
    assert tree.structure(Box(1, "a")) == tree.structure(Box(2, "a")) != tree.structure(Box(1, "b"))
    assert tree.leaves_with_path(box)[0] == (
        (FlattenedIndexKey(0), DictKey("k"), SequenceKey(0)),
        1,
    )
    assert len(tree.leaves(type("SubBox", (Box,), {})(1, "a"))) == 1
    assert tree_util.is_tree_node(Box)


def test_register_with_keys():
    Box = box_class()
    tree_util.register_pytree_with_keys(
        Box,
        lambda b: ([(GetAttrKey("content"), b.content)], b.label),
        lambda label, c: Box(*c, label),
    )
    assert keystr(tree.leaves_with_path([Box({"k": 1}, "a")])[0][0]) == "[0].content['k']"
    assert tree.leaves(Box((1, 2), "a")) == [1, 2]


@pytest.mark.parametrize("with_plain", [False, True])
def test_register_classes(with_plain):
    class Base:
        plain_calls = 0

        def __init__(self, a, b):
            self.a, self.b = a, b

        @classmethod
        def tree_unflatten(cls, static, children):
            assert static == "s"
            return cls(*children)

    class Keyed(Base):
        def tree_flatten_with_keys(self):
            return [(GetAttrKey("a"), self.a), (GetAttrKey("b"), self.b)], "s"

    def tree_flatten(self):
        Keyed.plain_calls += 1
        return (self.a, self.b), "s"

    if with_plain:
        Keyed.tree_flatten = tree_flatten
    assert tree_util.register_pytree_with_keys_class(Keyed) is Keyed
    assert [keystr(path) for path, _ in tree.leaves_with_path(Keyed(1, Keyed(2, 3)))] == [
        ".a",
        ".b.a",
        ".b.b",
    ]
    assert tree.map(lambda x: -x, Keyed(1, 2)).b == -2
    assert bool(Keyed.plain_calls) is with_plain

    class Plain(Base):
        pass

    Plain.tree_flatten = tree_flatten
    assert tree_util.register_pytree_node_class(Plain) is Plain
    assert tree.leaves(Plain(1, (2, 3))) == [1, 2, 3]


def test_register_static():
    @tree_util.register_static
    class Mode(str):
        __slots__ = ()

    t = {"mode": Mode("train"), "x": 1}
    leaves, treedef = tree.flatten(t)
    assert leaves == [1] and tree.unflatten(treedef, leaves)["mode"] is t["mode"]
    assert treedef == tree.structure({"mode": Mode("train"), "x": 5})
    assert treedef != tree.structure({"mode": Mode("test"), "x": 1})


@pytest.mark.parametrize("kind", [list, type(None), collections.OrderedDict, Partial])
def test_a_type_is_registered_once(kind):
    with pytest.raises(ValueError) as error:
        tree_util.register_pytree_node(kind, lambda x: ((), None), lambda *_: None)
    assert str(error.value).startswith(
        f"{kind.__module__}.{kind.__qualname__} is already a node of trees, and a type can be "
        "registered only once."
    )


def test_a_namedtuple_may_be_registered_with_another_meaning():
    class Tagged(collections.namedtuple("Tagged", "value tag")):
        pass

    tree_util.register_pytree_node(
        Tagged, lambda t: ((t.value,), t.tag), lambda tag, c: Tagged(*c, tag)
    )
    assert tree.leaves(Tagged(1, "t")) == [1]
    assert tree.map(lambda x: x + 1, {"b": Tagged(1, "t"), "a": 0}) == {"b": (2, "t"), "a": 1}
    assert tree_util.flatten_one_level(Tagged(1, "t")) == ([1], "t")


def test_is_tree_node():
    nodes = [tuple, list, dict, type(None), collections.OrderedDict, collections.defaultdict, Point]
    assert all(map(tree_util.is_tree_node, nodes))
    assert not any(map(tree_util.is_tree_node, [int, str, object, set, type("D", (dict,), {})]))


ONE_LEVEL = [
    [1, (2, 3)],
    (1, [2]),
    {"b": 1, "a": (2,)},
    None,
    collections.OrderedDict(z=1, a=2),
    collections.defaultdict(list, b=1, a=2),
    Point(1, (2, 3)),
]


@pytest.mark.parametrize("t", ONE_LEVEL, ids=repr)
def test_flatten_one_level_agrees_with_jax(t):
    jax = pytest.importorskip("jax")
    children, static = tree_util.flatten_one_level(t)
    expected, expected_static = jax.tree_util.flatten_one_level(t)
    assert list(children) == list(expected) and static == expected_static
    pairs, static = tree_util.flatten_one_level_with_keys(t)
    assert [child for _, child in pairs] == list(expected) and static == expected_static
    # The keys are those of the paths of a tree in which each child is a leaf.
    paths = tree.leaves_with_path(t, is_leaf=lambda x: x is not t)
    assert [(key,) for key, _ in pairs] == [path for path, _ in paths]


def test_flatten_one_level_of_a_leaf():
    for function in (tree_util.flatten_one_level, tree_util.flatten_one_level_with_keys):
        with pytest.raises(ValueError) as error:
            function(1.5)
        assert str(error.value) == (
            "flatten_one_level: can't tree-flatten type float, whose instances are leaves without "
            "children. Ask tree_util.is_tree_node(type(x)) first, or register the type as a node."
        )


def test_default_registry_has_the_methods_of_jax():
    jax = pytest.importorskip("jax")
    ours, theirs = tree_util.default_registry, jax.tree_util.default_registry
    assert {name for name in dir(theirs) if name[0] != "_"} <= set(dir(ours))
    assert ours.flatten({"b": 1, "a": 2}) == (
        [2, 1],
        tree.structure({"a": 0, "b": 0}),
    )


def test_partial_is_a_node():
    def affine(scale, x, *, shift):
        return scale * x + shift

    partial = Partial(affine, 2, shift=3)
    assert partial(5) == 13 and isinstance(partial, functools.partial)
    leaves, treedef = tree.flatten(partial)
    assert leaves == [2, 3] and treedef == tree.structure(Partial(affine, 0, shift=0))
    assert treedef != tree.structure(Partial(max, 0, shift=0))
    assert tree.map(lambda v: 10 * v, partial)(5) == 130


def test_partial_keeps_the_arguments_of_another_partial_apart():
    inner = functools.partial(max, 10)
    for _ in range(2):
        partial = Partial(inner, 3)
        assert partial(4) == 10 and partial(40) == 40
        assert tree.leaves(partial) == [3]
        assert tree.map(lambda _: 20, partial)(4) == 20
    assert partial.func == inner and inner == partial.func
    assert Partial(inner, 1).func == Partial(inner, 2).func
    assert hash(Partial(inner, 1).func) == hash(partial.func)
    assert tree.structure(Partial(inner, 1)) == tree.structure(partial)
    assert tree.leaves(Partial(Partial(max, 1), 2)) == [2]


def test_partial_is_pickled():
    assert pickle.loads(pickle.dumps(Partial(max, 3)))(2) == 3
