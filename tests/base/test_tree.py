"""Flattening, rebuilding and mapping agree with JAX on trees of every built-in kind."""

import collections
import pickle
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covector import tree, tree_util
from covector.tree_util import DictKey, GetAttrKey, SequenceKey, keystr

Pair = collections.namedtuple("Pair", "first second")

EXAMPLES = [
    1.0,
    None,
    (),
    [],
    {},
    (1, None, (2, {})),
    {"b": [1, 2], "a": (3, None), "c": {}},
    collections.OrderedDict([("z", 1), ("a", (2, 3))]),
    collections.defaultdict(list, {"q": [1], "p": 2}),
    Pair(1, Pair(None, [2])),
    {2: "two", 1: "one", 3.5: None},
    [("text", b"bytes"), {("k", 1): 0, ("k", 0): 1}],
]


def trees(leaves):
    keys = st.text("abc", min_size=1, max_size=2)
    return st.recursive(
        leaves | st.none(),
        lambda t: st.one_of(
            st.lists(t, max_size=3),
            st.lists(t, max_size=3).map(tuple),
            st.dictionaries(keys, t, max_size=3),
            st.dictionaries(keys, t, max_size=3).map(collections.OrderedDict),
            st.builds(Pair, t, t),
        ),
        max_leaves=12,
    )


@pytest.fixture(scope="module")
def jax():
    return pytest.importorskip("jax")


@pytest.mark.parametrize("example", EXAMPLES, ids=repr)
def test_flatten_agrees_with_jax(jax, example):
    leaves, treedef = tree.flatten(example)
    expected, expected_def = jax.tree.flatten(example)
    assert leaves == expected == tree.leaves(example)
    assert str(treedef) == str(expected_def) == str(tree.structure(example))
    assert tree.flatten_with_path(example)[0] == jax.tree.flatten_with_path(example)[0]
    assert tree.leaves_with_path(example) == jax.tree.leaves_with_path(example)


@given(trees(st.integers()))
def test_flatten_of_random_trees_agrees_with_jax(t):
    jax = pytest.importorskip("jax")
    leaves, treedef = tree.flatten(t)
    expected, expected_def = jax.tree.flatten(t)
    assert leaves == expected and str(treedef) == str(expected_def)
    paths = [(keystr(path), leaf) for path, leaf in tree.leaves_with_path(t)]
    assert paths == [
        (jax.tree_util.keystr(path), leaf) for path, leaf in jax.tree.leaves_with_path(t)
    ]


@given(trees(st.integers()))
def test_rebuilding_gives_the_tree_back(t):
    leaves, treedef = tree.flatten(t)
    rebuilt = tree.unflatten(treedef, leaves)
    assert rebuilt == t and type(rebuilt) is type(t)
    assert tree.structure(rebuilt) == treedef
    assert hash(tree.structure(rebuilt)) == hash(treedef)


@given(trees(st.integers()))
def test_map_agrees_with_jax_and_keeps_the_order_of_keys(t):
    jax = pytest.importorskip("jax")
    expected = jax.tree.map(lambda x, y: (x, y), t, t)
    assert tree.map(lambda x, y: (x, y), t, t) == expected
    # The identity gives back a tree that even reads the same: dict keys are where they were.
    assert repr(tree.map(lambda x: x, t)) == repr(t)


def test_map_visits_leaves_in_sorted_order():
    calls = []
    tree.map(calls.append, {"b": 1, "a": {"d": 2, "c": 3}})
    assert calls == [3, 2, 1]


def test_map_stops_at_is_leaf():
    t = {"b": (1, 2), "a": [3]}
    doubled = tree.map(lambda x: x * 2, t, is_leaf=lambda x: isinstance(x, tuple))
    assert doubled == {"b": (1, 2, 1, 2), "a": [6]}
    assert list(doubled) == ["b", "a"]


def test_map_puts_a_container_in_the_place_of_a_leaf():
    inner = {"z": 1, "a": 2}
    assert tree.map(lambda _: inner, {"y": 0, "x": 0})["y"] is inner


def test_map_takes_subtrees_of_further_trees():
    assert tree.map(lambda x, sub: (x, sub), [1, 2], [{"a": 3}, None]) == [(1, {"a": 3}), (2, None)]


def test_map_passes_on_what_the_function_raises():
    with pytest.raises(ZeroDivisionError):
        tree.map(lambda x: 1 / x, [1, 0])


def test_map_over_an_iterator_that_ends_early_says_so():
    values = iter([1])
    with pytest.raises(RuntimeError) as error:
        tree.map(lambda _: next(values), [0, 0])
    assert str(error.value) == (
        "tree.map: the function raised StopIteration at leaf 1. If it takes values from an "
        "iterator, give the iterator as many values as the tree has leaves."
    )


def test_none_is_a_node_unless_is_leaf_says_otherwise():
    assert tree.leaves([1, None, (2, {})]) == [1, 2]
    assert tree.leaves([1, None], is_leaf=lambda x: x is None) == [1, None]


def test_is_leaf_is_asked_from_the_root_down():
    seen = []
    tree.leaves([{"a": (1,)}], is_leaf=lambda x: seen.append(x) or isinstance(x, dict))
    assert seen == [[{"a": (1,)}], {"a": (1,)}]


def test_is_leaf_may_take_the_path():
    def at_second(path, _):
        return path == (SequenceKey(1),)

    pairs, treedef = tree.flatten_with_path([1, (2, 3)], at_second, is_leaf_takes_path=True)
    assert pairs == [((SequenceKey(0),), 1), ((SequenceKey(1),), (2, 3))]
    assert str(treedef) == "PyTreeDef([*, *])"
    out = tree.map_with_path(
        lambda path, x: (keystr(path), x), [1, (2, 3)], is_leaf=at_second, is_leaf_takes_path=True
    )
    assert out == [("[0]", 1), ("[1]", (2, 3))]


def test_map_with_path_over_several_trees():
    out = tree.map_with_path(
        lambda p, x, y: (keystr(p), x + y), {"b": [1], "a": 2}, {"a": 3, "b": [4]}
    )
    assert out == {"b": [("['b'][0]", 5)], "a": ("['a']", 5)} and list(out) == ["b", "a"]


def test_unflatten_counts_the_leaves():
    treedef = tree.structure([0, 0])
    for wrong in ([1], [1, 2, 3]):
        with pytest.raises(ValueError):
            tree.unflatten(treedef, wrong)


def test_unflatten_takes_any_iterable():
    assert tree.unflatten(tree.structure([0, 0]), iter([1, 2])) == [1, 2]


@pytest.mark.parametrize("example", EXAMPLES, ids=repr)
def test_treedefs_are_pickled(example):
    treedef = tree.structure(example)
    assert pickle.loads(pickle.dumps(treedef)) == treedef


def test_all_and_reduce():
    assert tree.all(()) is True and tree.all([1, {"a": 0}]) is False
    assert tree.all([None, 1], is_leaf=lambda x: x is None) is False
    assert tree.reduce(lambda x, y: f"({x}{y})", list("abc")) == "((ab)c)"
    assert tree.reduce(lambda x, y: f"({x}{y})", list("abc"), "z") == "(((za)b)c)"
    assert tree.reduce(lambda x, y: x + y, (), None) is None


def test_reduce_associative_groups_as_jax_does(jax):
    for length in range(1, 18):
        items = [chr(ord("a") + i) for i in range(length)]
        combine = lambda x, y: f"({x}{y})"  # noqa: E731
        expected = jax.tree.reduce_associative(combine, items)
        assert tree.reduce_associative(combine, items) == expected
    assert tree.reduce_associative(max, [None], identity=-1) == -1


@pytest.mark.parametrize(
    ("call", "argument"),
    [(tree.reduce, "initializer"), (tree.reduce_associative, "identity")],
)
def test_nothing_to_reduce(call, argument):
    with pytest.raises(TypeError) as error:
        call(max, {"a": None})
    assert str(error.value) == (
        f"tree.{call.__name__}: the tree has no leaves, so there is nothing to combine. "
        f"Pass {argument}=... for the result in that case."
    )


def test_transpose_inverts_itself():
    t = {"x": [1, (2, 3)], "y": [4, (5, 6)]}
    outer, inner = tree.structure({"x": 0, "y": 0}), tree.structure([0, (0, 0)])
    turned = tree.transpose(outer, inner, t)
    assert turned == [{"x": 1, "y": 4}, ({"x": 2, "y": 5}, {"x": 3, "y": 6})]
    assert tree.transpose(inner, outer, turned) == t
    assert tree.transpose(outer, None, t) == turned


def test_transpose_of_another_size():
    with pytest.raises(TypeError) as error:
        tree.transpose(tree.structure([0, 0]), tree.structure((0, 0)), [(1, 2), (3,)])
    assert str(error.value) == (
        "tree.transpose: Mismatch, the tree has 3 leaves, but outer_treedef has 2 and "
        "inner_treedef 2, together 4.\n"
        "  tree: PyTreeDef([(*, *), (*,)])\n"
        "  expected: PyTreeDef([(*, *), (*, *)])\n"
        "Pass tree.structure of the outer tree with a leaf in the place of each inner one."
    )


def test_treedef_functions():
    first, second = tree.structure([1, 2]), tree.structure({"a": 3})
    both = tree_util.treedef_tuple(iter([first, second]))
    assert both == tree.structure(([1, 2], {"a": 3}))
    assert tree_util.treedef_children(both) == [first, second]
    assert tree_util.treedef_is_leaf(tree.structure(0))
    assert tree_util.treedef_is_leaf(tree.structure(None))
    assert not tree_util.treedef_is_leaf(first)


def test_all_leaves():
    assert tree_util.all_leaves(iter([1, "x"])) and not tree_util.all_leaves([None])
    assert not tree_util.all_leaves([[1]])
    assert tree_util.all_leaves([(1,)], is_leaf=lambda x: isinstance(x, tuple))


def test_keystr_in_both_forms(jax):
    path = (DictKey("a"), SequenceKey(1), GetAttrKey("w"), tree_util.FlattenedIndexKey(2), "own")
    for options in ({}, {"simple": True}, {"simple": True, "separator": "/"}, {"separator": "-"}):
        assert keystr(path, **options) == jax.tree_util.keystr(path, **options)


PROGRAM_WITH_BOTH = """
import {}, {}
import covector, jax
class Box:
    def __init__(self, x): self.x = x
for library in (covector, jax):
    library.tree_util.register_pytree_node(Box, lambda b: ((b.x,), None), lambda _, c: Box(*c))
    assert library.tree.leaves([Box(1), {{"b": 2, "a": 3}}]) == [1, 3, 2]
@covector.tree_util.register_static
class Ours: pass
assert len(jax.tree.leaves(Ours())) == 1 and covector.tree.leaves(Ours()) == []
assert covector.tree_util.default_registry is not jax.tree_util.default_registry
"""


@pytest.mark.parametrize("order", [("covector", "jax"), ("jax", "covector")])
def test_registries_of_jax_stay_apart(jax, order):
    subprocess.run([sys.executable, "-c", PROGRAM_WITH_BOTH.format(*order)], check=True)
