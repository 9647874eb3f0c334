"""Errors of gathers and scatters: JAX's types, and our texts."""

import numpy as np
import pytest

import covector
from covector import lax
from tests.ops.structural import check_error, outcome

X = np.ones((3, 4), np.float32)


def gather_of(*numbers, sizes=(1, 4), indices=((0,),), **options):
    return lambda lax: lax.gather(
        X, np.array(indices), lax.GatherDimensionNumbers(*numbers), sizes, **options
    )


def scatter_of(*numbers, updates=(1, 4), indices=((0,),), dtype="float32"):
    return lambda lax: lax.scatter_add(
        X, np.array(indices), np.ones(updates, dtype), lax.ScatterDimensionNumbers(*numbers)
    )


ROWS = (1,), (0,), (0,)
# For each call, the error that JAX raises too, and parts of our text.
ERRORS = {
    "float indices": (gather_of(*ROWS, indices=[[0.0]]), ValueError, ["[gather]", "float32"]),
    "scalar indices": (gather_of(*ROWS, indices=0), TypeError, ["indices[None]"]),
    "unsorted": (
        gather_of((1, 0), (), (0,), indices=[0]),
        TypeError,
        ["[gather] offset_dims in gather op must be sorted", "(1, 0)"],
    ),
    "repeated": (gather_of((1,), (0,), (0, 0), indices=[[0, 0]]), TypeError, ["must not repeat"]),
    "outside": (
        gather_of((2,), (0,), (0,)),
        TypeError,
        ["Offset dimension 0", "(2,)", "2 dimensions"],
    ),
    "too few coordinates": (
        gather_of((1,), (0,), (0, 1)),
        TypeError,
        ["start_index_map", "(1, 1)", "size 1"],
    ),
    "overlap": (
        gather_of((), (0, 1), (0,), (1,), (0,)),
        TypeError,
        ["collapsed_slice_dims and operand_batching_dims in gather op must be disjoint"],
    ),
    "batching counts": (
        gather_of((), (0,), (0,), (1,), ()),
        TypeError,
        ["equal numbers of operand_batching_dims", "(1,) and ()"],
    ),
    "batching sizes": (
        gather_of((), (0,), (0,), (1,), (0,), sizes=(1, 1)),
        TypeError,
        ["those have (4,) and these (1,)"],
    ),
    "missing dimension": (
        gather_of((1,), (), (0,)),
        TypeError,
        ["window of size 1", "rank 2", "(3, 4)"],
    ),
    "sizes": (gather_of(*ROWS, sizes=(1,)), TypeError, ["slice_sizes", "(1,)", "(3, 4)"]),
    "large sizes": (gather_of(*ROWS, sizes=(1, 5)), TypeError, ["(1, 5)", "(3, 4)"]),
    "thick slices": (
        gather_of(*ROWS, sizes=(2, 4)),
        TypeError,
        ["A dimension in collapsed_slice_dims has slices of size 1", "(2, 4)"],
    ),
    "unknown mode": (gather_of(*ROWS, mode="wrong"), ValueError, ["no mode 'wrong'"]),
    "scatter unsorted": (
        scatter_of((1,), (1, 0), (0,)),
        TypeError,
        ["[scatter-add] inserted_window_dims in scatter op must be sorted"],
    ),
    "rank of updates": (
        scatter_of(*ROWS, updates=(4,)),
        TypeError,
        ["must be of rank 2; got 1", "(4,)"],
    ),
    "number of updates": (scatter_of(*ROWS, updates=(2, 4)), TypeError, ["(1, 1)", "(2,)"]),
    "large updates": (scatter_of(*ROWS, updates=(1, 5)), TypeError, ["(5,)", "(4,)"]),
    "dtype of updates": (scatter_of(*ROWS, dtype="int32"), TypeError, ["float32", "int32"]),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(jax, name):
    call, kind, parts = ERRORS[name]
    assert outcome(call, jax.lax) is kind
    check_error(lambda: call(lax), kind, parts)


def test_errors_of_scatter_apply():
    elements = lax.ScatterDimensionNumbers((), (0,), (0,))
    i = np.array([[0]])

    def apply(function):
        return lax.scatter_apply(np.ones(3), i, function, elements, update_shape=(1,))

    check_error(lambda: apply(lambda v: v > 0), TypeError, ["[scatter_apply]", "bool[]"])
    captured = covector.jit(lambda y: apply(lambda v: v + y))
    check_error(lambda: captured(1.0), NotImplementedError, ["[scatter_apply]", "float32[]"])


def test_one_hot_is_for_take_along_axis():
    check_error(
        lambda: gather_of(*ROWS, mode="one_hot")(lax), ValueError, ["take_along_axis", "[gather]"]
    )
