"""What a user reads when two trees do not match: the whole text."""

import collections

import pytest

from covector import tree, tree_util
from covector._src.base.tree import broadcast_prefix, flatten_axes, key_path_of_leaves
from covector._src.base.tree_errors import describe, mismatches, prefix_errors
from covector.tree_util import keystr

Point = collections.namedtuple("Point", "x y")

MAP_ADVICE = (
    "Give every tree the same containers, with the same keys and lengths, down to the leaves of "
    "tree 1."
)
PREFIX_ADVICE = (
    "Use the same containers in both, down to where one entry stands for a whole subtree of the "
    "value."
)

MAP_MISMATCHES = [
    (
        ({"a": 1, "b": 2}, {"a": 1, "c": 2}),
        "tree.map: pytree structure error, tree 2 "
        "does not have the structure of tree 1 at its root.\n"
        "  tree 1: a dict with the keys 'a', 'b', PyTreeDef({'a': *, 'b': *})\n"
        "  tree 2: a dict with the keys 'a', 'c', PyTreeDef({'a': *, 'c': *})\n"
        "  only in tree 1: 'b'\n"
        "  only in tree 2: 'c'\n",
    ),
    (
        ({"a": [1, (2, 3)]}, {"a": [1, (2, 3)]}, {"a": [1, (2, 3, 4)]}),
        "tree.map: pytree structure error, tree 3 "
        "does not have the structure of tree 1 at ['a'][1].\n"
        "  tree 1: a tuple of length 2, PyTreeDef((*, *))\n"
        "  tree 3: a tuple of length 3, PyTreeDef((*, *, *))\n",
    ),
    (
        (Point(1, None), Point(1, 2)),
        "tree.map: pytree structure error, tree 2 does not have the structure of tree 1 at .y.\n"
        "  tree 1: None, PyTreeDef(None)\n"
        "  tree 2: a leaf, PyTreeDef(*)\n",
    ),
    (
        ([Point(1, 2)], [(1, 2)]),
        "tree.map: pytree structure error, tree 2 "
        "does not have the structure of tree 1 at [0].\n"
        "  tree 1: a Point with 2 children, PyTreeDef(CustomNode(namedtuple[Point], [*, *]))\n"
        "  tree 2: a tuple of length 2, PyTreeDef((*, *))\n",
    ),
    (
        (collections.OrderedDict(a=1, b=2), collections.OrderedDict(b=1, a=2)),
        "tree.map: pytree structure error, tree 2 "
        "does not have the structure of tree 1 at its root.\n"
        "  tree 1: an OrderedDict with the keys 'a', 'b', "
        "PyTreeDef(CustomNode(OrderedDict[('a', 'b')], [*, *]))\n"
        "  tree 2: an OrderedDict with the keys 'b', 'a', "
        "PyTreeDef(CustomNode(OrderedDict[('b', 'a')], [*, *]))\n",
    ),
    (
        ({"a": 1}, {"a": 1, 2: 3}),
        "tree.map: pytree structure error, tree 2 "
        "does not have the structure of tree 1 at its root.\n"
        "  tree 1: a dict with the keys 'a', PyTreeDef({'a': *})\n"
        "  tree 2: a dict with the keys 2, 'a', PyTreeDef({2: *, 'a': *})\n"
        "  only in tree 2: 2\n",
    ),
]


@pytest.mark.parametrize(("given", "text"), MAP_MISMATCHES)
def test_map_over_trees_that_differ(given, text):
    with pytest.raises(ValueError) as error:
        tree.map(lambda *xs: xs, *given)
    assert str(error.value) == text + MAP_ADVICE
    with pytest.raises(ValueError) as error:
        tree.map_with_path(lambda *xs: xs, *given)
    assert str(error.value) == text.replace("tree.map", "tree.map_with_path") + MAP_ADVICE
    assert error.value.__cause__ is None and error.value.__suppress_context__


def test_static_data_that_differ():
    @tree_util.dataclass
    class Layer:
        weight: object
        name: str = tree_util.field(static=True)

    with pytest.raises(ValueError) as error:
        tree.map(max, {"l": [Layer(1, "a")]}, {"l": [Layer(1, "b")]})
    assert str(error.value) == (
        "tree.map: pytree structure error, tree 2 "
        "does not have the structure of tree 1 at ['l'][0].\n"
        "  tree 1: a Layer with 1 child and static data ('a',), "
        "PyTreeDef(CustomNode(Layer[('a',)], [*]))\n"
        "  tree 2: a Layer with 1 child and static data ('b',), "
        "PyTreeDef(CustomNode(Layer[('b',)], [*]))\n" + MAP_ADVICE
    )


def test_static_data_that_cannot_be_compared():
    numpy = pytest.importorskip("numpy")

    class Holder:
        pass

    data = iter([numpy.arange(2), numpy.arange(2)])
    tree_util.register_pytree_node(Holder, lambda _: ((), next(data)), lambda *_: Holder())
    (found,) = mismatches(tree.structure([Holder()]), tree.structure([Holder()]), prefix=True)
    assert keystr(found.path) == "[0]"


def test_paths_through_registered_nodes():
    @tree_util.dataclass
    class Keyed:
        weight: object

    class Plain:
        def __init__(self, x):
            self.x = x

    class Choosy(Plain):
        pass

    def choosy(_, children):
        raise TypeError("only numbers, please")

    tree_util.register_pytree_node(Plain, lambda p: ((p.x,), None), lambda _, c: Plain(*c))
    tree_util.register_pytree_node(Choosy, lambda p: ((p.x,), None), choosy)
    first, second = (tree.structure(Keyed(Plain(Choosy(x)))) for x in ([1], (1,)))
    (found,) = mismatches(first, second, prefix=True)
    assert keystr(found.path) == ".weight[<flat index 0>][<flat index 0>]"


def test_long_structures_are_cut():
    big = {f"key{i:03}": i for i in range(100)}
    text = describe(tree.structure(big))
    assert text.startswith("a dict with the keys 'key000', ") and text.endswith(" ...")
    assert len(text) == len("a dict with the keys ") + 200


@pytest.mark.parametrize(
    ("t", "text"),
    [
        ({}, "a dict with no keys"),
        (collections.defaultdict(int, a=1), "a defaultdict(<class 'int'>) with the keys 'a'"),
        ([], "a list of length 0"),
    ],
)
def test_describe(t, text):
    assert describe(tree.structure(t)) == text


def test_broadcast_of_a_tree_that_is_no_prefix():
    with pytest.raises(ValueError) as error:
        tree.broadcast({"a": [1]}, {"a": (1, 2)})
    assert str(error.value) == (
        "tree.broadcast: prefix specification must be a tree prefix of the corresponding value; it "
        "is none. Mismatch details (1 found):\n"
        "tree.broadcast: prefix['a']: pytree structure error, different types or sizes of "
        "containers.\n"
        "  tree.broadcast: prefix['a']: a list of length 1, PyTreeDef([*])\n"
        "  the value there: a tuple of length 2, PyTreeDef((*, *))\n" + PREFIX_ADVICE
    )


def test_prefix_errors_finds_every_place():
    first, second = tree.structure([(1,), {"a": 1}, 2, 3]), tree.structure([1, {"b": 1}, [4], ()])
    errors = prefix_errors(first, second)
    assert [str(make("in_axes")).splitlines()[0].split(":")[0] for make in errors] == [
        "in_axes[0]",
        "in_axes[1]",
    ]
    assert prefix_errors(tree.structure(0), second) == []
    assert len(list(mismatches(first, second, prefix=False))) == 4


# ---------------------------- in_axes and the like ----------------------------


@pytest.mark.parametrize(
    ("axes", "value", "expected"),
    [
        (0, (1, {"a": 2, "b": [3]}), [0, 0, 0]),
        (None, [1, 2], [None, None]),
        ((0, None), ([1, 2], {"a": 3}), [0, 0, None]),
        ((None, {"b": 1, "a": 0}), (5, {"a": [6, 7], "b": 8}), [None, 0, 0, 1]),
        ((0, None, 1), (5, None, 6), [0, 1]),
        ((0, ()), (5, ()), [0]),
        ({"x": 1, 0: 0}, {0: (5, 6), "x": 7}, [0, 0, 1]),
        ((0, 1), (5, 6), [0, 1]),
    ],
)
def test_flatten_axes(axes, value, expected):
    assert flatten_axes("vmap in_axes", tree.structure(value), axes) == expected


def test_flatten_axes_agrees_with_broadcasting():
    value = {"a": [1, (2, 3)], "b": Point(4, {"c": 5})}
    axes = {"a": [0, 1], "b": Point(2, 3)}
    assert flatten_axes("in_axes", tree.structure(value), axes) == broadcast_prefix(axes, value)


def test_flatten_axes_names_the_place():
    value = ({"weight": 1, "bias": 2}, [3])
    with pytest.raises(ValueError) as error:
        flatten_axes("vmap in_axes", tree.structure(value), ({"weight": 0, "b": 1}, (0,)))
    assert str(error.value) == (
        "vmap in_axes specification must be a tree prefix of the corresponding value; it is none. "
        "Mismatch details (2 found):\n"
        "vmap in_axes[0]: pytree structure error, different types or sizes of "
        "containers.\n"
        "  vmap in_axes[0]: a dict with the keys 'b', 'weight', PyTreeDef({'b': *, 'weight': *})\n"
        "  the value there: a dict with the keys 'bias', 'weight', "
        "PyTreeDef({'bias': *, 'weight': *})\n"
        "  only in vmap in_axes[0]: 'b'\n"
        "  only in the value there: 'bias'\n"
        f"{PREFIX_ADVICE}\n"
        "vmap in_axes[1]: pytree structure error, different types or sizes of "
        "containers.\n"
        "  vmap in_axes[1]: a tuple of length 1, PyTreeDef((*,))\n"
        "  the value there: a list of length 1, PyTreeDef([*])\n" + PREFIX_ADVICE
    )


def test_flatten_axes_suggests_a_tuple_of_arguments():
    with pytest.raises(ValueError) as error:
        flatten_axes("vmap in_axes", tree.structure(({"a": 1},)), {"a": None})
    assert str(error.value).splitlines()[-1] == (
        "A tuple of length 1 around it fits: vmap in_axes may lack the tuple of arguments."
    )


def test_flatten_axes_counts_further_places():
    with pytest.raises(ValueError) as error:
        flatten_axes("in_axes", tree.structure([1] * 5), [()] * 5)
    assert str(error.value).splitlines()[-1] == "(2 more places differ.)"


def test_key_paths_of_leaves():
    assert key_path_of_leaves({"b": [1, None], "a": Point(2, 3)}) == [
        "['a'].x",
        "['a'].y",
        "['b'][0]",
    ]
