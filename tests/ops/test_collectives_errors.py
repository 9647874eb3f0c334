"""The texts of what collectives refuse."""

import numpy as np
import pytest

import covector as cv
from covector import lax

X = np.ones((4, 6), np.float32)


def under_i(f):
    return lambda: cv.vmap(f, axis_name="i")(X)


ERRORS = {
    "an unbound axis": (
        NameError,
        "Found an unbound axis name: k. To fix this, please call psum under "
        "`vmap(..., axis_name='k')` or under `shard_map` over a mesh that has it. Axes in scope: "
        "'i' of size 4.",
        under_i(lambda x: lax.psum(x, "k")),
    ),
    "no axis at all": (
        NameError,
        "Found an unbound axis name: i. To fix this, please call pmax under "
        "`vmap(..., axis_name='i')` or under `shard_map` over a mesh that has it. Axes in scope: "
        "none.",
        lambda: lax.pmax(X, "i"),
    ),
    "the index along an unbound axis": (
        NameError,
        "Found an unbound axis name: i. To fix this, please call axis_index under "
        "`vmap(..., axis_name='i')` or under `shard_map` over a mesh that has it. Axes in scope: "
        "none.",
        lambda: cv.jit(lambda: lax.axis_index("i"))(),
    ),
    "the size of an unbound axis": (
        NameError,
        "Found an unbound axis name: i. To fix this, please call axis_size under "
        "`vmap(..., axis_name='i')` or under `shard_map` over a mesh that has it. Axes in scope: "
        "none.",
        lambda: lax.axis_size("i"),
    ),
    "the groups are no partition": (
        ValueError,
        "[psum] axis_index_groups must cover all indices exactly once, got ((0, 1), (1, 3)). Give "
        "each index from 0 on in one group.",
        under_i(lambda x: lax.psum(x, "i", axis_index_groups=[[0, 1], [1, 3]])),
    ),
    "the groups are not of all indices": (
        ValueError,
        "[pmax] axis_index_groups must cover all indices exactly once of an axis of size 4, got "
        "((0, 1),). Give each index from 0 on in one group.",
        under_i(lambda x: lax.pmax(x, "i", axis_index_groups=[[0, 1]])),
    ),
    "the groups differ in size": (
        NotImplementedError,
        "[psum] all axis_index_groups must have the same size, got ((0, 1, 2), (3,)).",
        under_i(lambda x: lax.psum(x, "i", axis_index_groups=[[0, 1, 2], [3]])),
    ),
    "groups of a dimension": (
        ValueError,
        "[psum] axis_index_groups can only be used with reductions over named axes, but got: "
        "('i', 0). Reduce over the positional axes first.",
        under_i(lambda x: lax.psum(x, ("i", 0), axis_index_groups=[[0, 1], [2, 3]])),
    ),
    "a size that is not the axis'": (
        ValueError,
        "[all_to_all] dimension 0 of an array of shape (6,) is split over the axis i of size 4, "
        "and 6 is not 4. With tiled=True it need only be a multiple of it.",
        under_i(lambda x: lax.all_to_all(x, "i", 0, 0)),
    ),
    "a size that is no multiple of it": (
        ValueError,
        "[psum_scatter] dimension 0 of an array of shape (6,) is split over the axis ('i',) of "
        "size 4: 6 has to be divisible by 4. Pad the array first.",
        under_i(lambda x: lax.psum_scatter(x, "i", tiled=True)),
    ),
    "a source twice": (
        ValueError,
        "[ppermute] `perm` does not represent a permutation: ((0, 1), (0, 2)), since an index is a "
        "source more than once.",
        under_i(lambda x: lax.ppermute(x, "i", [(0, 1), (0, 2)])),
    ),
    "an index out of range": (
        ValueError,
        "[ppermute] `perm` does not represent a permutation: ((0, 5),), since indices of the axis "
        "go from 0 to 3.",
        under_i(lambda x: lax.ppermute(x, "i", [(0, 5)])),
    ),
    "no permutation": (
        ValueError,
        "[pshuffle] `perm` does not represent a permutation: [0, 0, 1, 2], since it does not hold "
        "each of 0 to 3 once.",
        under_i(lambda x: lax.pshuffle(x, "i", [0, 0, 1, 2])),
    ),
    "a source out of range": (
        ValueError,
        "[pbroadcast] the source 4 is no index of the axis 'i' of size 4: indices go from 0 to 3.",
        under_i(lambda x: lax.pbroadcast(x, "i", 4)),
    ),
    "a kind of gathering": (
        ValueError,
        "[all_gather] Got unexpected `to` value 'nowhere'. Results are 'varying', or within "
        "`shard_map` 'invarying'.",
        under_i(lambda x: lax.all_gather(x, "i", to="nowhere")),
    ),
    "a cast along an unbound axis": (
        NameError,
        "Found an unbound axis name: k. To fix this, please call pcast under "
        "`vmap(..., axis_name='k')` or under `shard_map` over a mesh that has it. Axes in scope: "
        "'i' of size 4.",
        under_i(lambda x: lax.pcast(x, "k", to="varying")),
    ),
    "a kind of values": (
        ValueError,
        "[pcast] Got unexpected `to` value 'invarying'. Allowed `to` values are: ('varying', "
        "'reduced', 'unreduced').",
        under_i(lambda x: lax.pcast(x, "i", to="invarying")),
    ),
    "a cast between devices": (
        NotImplementedError,
        "[pcast] There are no values that are reduced. Cast to 'varying', and add up by `lax.psum` "
        "what is to be the same.",
        under_i(lambda x: lax.pcast(x, "i", to="reduced")),
    ),
    "names in a set": (
        TypeError,
        "[pcast] axis_name={'i'} must be a tuple or a str: a set has no order.",
        under_i(lambda x: lax.pcast(x, {"i"}, to="varying")),
    ),
    "running a program that was traced for an axis": (
        NameError,
        "[psum] the program to compile acts over the axes ('i',), which nothing maps over. Axes "
        "given by `axis_env` of `make_jaxpr` serve for tracing alone; map over them with "
        "`vmap(..., axis_name=...)` to run the function.",
        lambda: run_traced_for_axis(),
    ),
}


def run_traced_for_axis():
    jaxpr = cv.make_jaxpr(lambda x: lax.psum(x, "i"), axis_env=[("i", 4)])(1.0)
    cv.make_jaxpr(
        lambda x: cv.jit(cv.extend.core.jaxpr_as_fun(jaxpr)).lower(x), axis_env=[("i", 4)]
    )(1.0)


@pytest.mark.parametrize("name", ERRORS)
def test_texts(name):
    kind, text, call = ERRORS[name]
    with pytest.raises(kind) as raised:
        call()
    assert str(raised.value) == text


def test_axes_of_make_jaxpr_are_in_scope():
    jaxpr = cv.make_jaxpr(lambda x: lax.all_gather(x, ("i", "j")), axis_env=[("i", 2), ("j", 3)])
    assert jaxpr(X).out_avals[0].shape == (6, 4, 6)
    effects = jaxpr(X).effects
    assert sorted(map(str, effects)) == ["NamedAxisEffect(name='i')", "NamedAxisEffect(name='j')"]
