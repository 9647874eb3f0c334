"""Dicts: keys that Python cannot compare, and the order in which keys come back."""

import collections
import enum

import pytest
from hypothesis import given
from hypothesis import strategies as st

import covector
from covector import tree, tree_util
from covector._src.base.tree_order import unflattener
from covector.tree_util import DictKey


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


Point = collections.namedtuple("Point", "x y")
mixed_keys = st.one_of(
    st.integers(0, 3), st.text("ab", max_size=1), st.none(), st.tuples(st.integers(0, 1))
)


def mixed_trees():
    return st.recursive(
        st.integers(),
        lambda t: st.one_of(
            st.dictionaries(mixed_keys, t, max_size=4),
            st.lists(t, max_size=3),
            st.builds(Point, t, t),
        ),
        max_leaves=10,
    )


def reversed_dicts(t):
    if isinstance(t, dict):
        return {key: reversed_dicts(t[key]) for key in reversed(t)}
    if isinstance(t, Point):
        return Point(*map(reversed_dicts, t))
    return [reversed_dicts(child) for child in t] if isinstance(t, list) else t


def test_keys_are_sorted_by_type_and_value():
    leaves, treedef = tree.flatten({"b": 1, 2: 2, "a": 3, None: 4, 1: 5, (0, "x"): 6, 0.5: 7})
    assert leaves == [4, 7, 5, 2, 3, 1, 6]
    assert str(treedef) == ("PyTreeDef({None: *, 0.5: *, 1: *, 2: *, 'a': *, 'b': *, (0, 'x'): *})")
    assert tree.unflatten(treedef, range(7))[None] == 0


def test_keys_that_have_no_order_are_sorted_by_text():
    first = {Colour.RED: 1, Colour.BLUE: 2}
    second = {Colour.BLUE: 2, Colour.RED: 1}
    assert tree.leaves(first) == tree.leaves(second) == [2, 1]
    assert tree.structure(first) == tree.structure(second)
    assert tree.leaves({2j: 1, 1j: 2}) == [2, 1]


def test_keys_inside_of_tuples_may_be_mixed():
    assert tree.leaves({("b", 1): 1, ("b", "a"): 2, (0, "z"): 3}) == [3, 1, 2]


def test_keys_without_order_or_text():
    with pytest.raises(ValueError) as error:
        tree.flatten({object(): 1, object(): 2})
    assert "keys of type object can be neither compared with `<`" in str(error.value)
    assert "use a collections.OrderedDict" in str(error.value)
    assert tree.leaves(collections.OrderedDict([(object(), 1), (object(), 2)])) == [1, 2]


@given(mixed_trees())
def test_all_functions_take_mixed_keys(t):
    leaves, treedef = tree.flatten(t)
    backwards = reversed_dicts(t)
    assert backwards == t
    assert tree.structure(backwards) == treedef and tree.leaves(backwards) == leaves
    assert tree.unflatten(treedef, leaves) == t
    assert [leaf for _, leaf in tree.leaves_with_path(t)] == leaves
    assert tree.map(lambda x, y: x - y, t, backwards) == tree.map(lambda _: 0, t)
    assert tree.broadcast(7, t) == tree.map(lambda _: 7, t)
    assert tree.map_with_path(lambda _, x: x, t) == t


@given(mixed_trees())
def test_order_of_keys_is_that_of_the_first_tree(t):
    backwards = reversed_dicts(t)
    # The same structure in two orders by turns, so that no order may stick to a structure.
    for tree_in_some_order in (t, backwards, t):
        same = tree.map(lambda x: x, tree_in_some_order)
        assert repr(same) == repr(tree_in_some_order)
        assert repr(tree.map(lambda x, y: x, same, backwards)) == repr(same)


@given(mixed_trees())
def test_unflattener_rebuilds_in_order(t):
    leaves, treedef = tree.flatten(t)
    assert repr(unflattener(t, treedef)(leaves)) == repr(t)


def test_unflattener_is_free_for_sorted_keys():
    t = {"a": 1, "b": (2, {"c": 3})}
    assert unflattener(t, tree.structure(t)).__name__ == "unflatten"


def test_order_inside_of_other_nodes():
    @tree_util.dataclass
    class State:
        params: dict

    t = collections.OrderedDict(
        z=Point({"b": 1, "a": 2}, 3), a=State({"d": 4, "c": {"f": 5, "e": 6}})
    )
    assert repr(tree.map(lambda x: x, t)) == repr(t)
    d = collections.defaultdict(int, {"b": {"y": 1, "x": 2}, "a": 3})
    assert repr(tree.map(lambda x: x, d)) == repr(d)


def test_paths_of_mixed_keys():
    pairs = tree.leaves_with_path({"a": 1, 0: 2}, lambda x: False)
    assert pairs == [((DictKey(0),), 2), ((DictKey("a"),), 1)]


def test_is_leaf_sees_the_dict_itself():
    t = [{"a": 1, 0: 2}, 3]
    assert tree.leaves(t, is_leaf=lambda x: isinstance(x, dict)) == t


def test_map_with_a_node_whose_static_data_cannot_be_compared():
    numpy = pytest.importorskip("numpy")

    class Holder:
        def __init__(self, x):
            self.x = x

    tree_util.register_pytree_node(
        Holder, lambda h: ((h.x,), numpy.arange(3)), lambda _, children: Holder(*children)
    )
    for _ in range(2):
        out = tree.map(lambda x: x + 1, {"b": Holder(1), "a": 2})
        assert out["b"].x == 2 and out["a"] == 3


def test_more_structures_than_are_remembered():
    for length in range(600):
        assert list(tree.map(lambda x: x, {"b": (0,) * length, "a": 1})) == ["b", "a"]


def test_a_value_error_of_a_container_reaches_the_user():
    class Broken:
        pass

    def flatten(_):
        raise ValueError("no children today")

    tree_util.register_pytree_node(Broken, flatten, lambda *_: Broken())
    with pytest.raises(ValueError, match="no children today"):
        tree.flatten([Broken()])


def room(thread_limit=3000):
    """How many levels of lists jaxlib's code can still go down in this thread."""
    deep = None
    for levels in range(1, thread_limit):
        deep = [deep]
        if levels % 20 == 0:
            try:
                tree.leaves(deep)
            except RecursionError:
                return levels
    return thread_limit


class Fails(Exception):
    pass


def fail(*_):
    raise Fails


@pytest.mark.parametrize("kind", ["keys", "container", "is_leaf", "keys under jit"])
def test_failures_leave_python_its_depth_of_recursion(kind):
    class Failing:
        pass

    tree_util.register_pytree_node(Failing, fail, fail)
    before = room()
    for _ in range(40):
        for t in ([[[{"a": (1,), 0: 2}]]], [{"b": [{"a": 1, 0: [2, {"c": 0, 1: 2}]}]}]):
            if kind == "keys":
                tree.leaves(t)
                tree.leaves_with_path(t)
            elif kind == "keys under jit":
                covector.jit(lambda t: t)(t)
            elif kind == "container":
                with pytest.raises(Fails):
                    tree.leaves([[[1, (Failing(), 2)]]])
            else:
                with pytest.raises(Fails):
                    tree.leaves(t, is_leaf=lambda x: fail() if x == 2 else False)
    assert room() == before


def test_trees_that_are_too_deep():
    before = room()
    contains_itself = []
    contains_itself.append({"a": contains_itself})
    for function in (tree.leaves, tree.leaves_with_path, covector.jit(lambda t: t)):
        with pytest.raises(RecursionError, match="inside of itself"):
            function(contains_itself)
    assert room() == before
