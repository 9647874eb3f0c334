"""The text of programs that index arrays, and that update parts of them."""

from __future__ import annotations

import numpy as np
import pytest

X = np.arange(12, dtype=np.float32).reshape(3, 4)
I = np.array([0, 2], np.int32)
K = np.int32(1)
N = np.array([3, 1, 2], np.int32)

READS = {
    "rows": lambda m, x, i, k: x[i],
    "columns": lambda m, x, i, k: x[:, i],
    "elements": lambda m, x, i, k: x[i, i],
    "rows and a slice": lambda m, x, i, k: x[i, 1:3],
    "rows and a column": lambda m, x, i, k: x[i, 1],
    "a row and columns": lambda m, x, i, k: x[-1, i],
    "steps and columns": lambda m, x, i, k: x[::2, i],
    "reversed and columns": lambda m, x, i, k: x[::-1, i],
    "arrays apart": lambda m, x, i, k: x.reshape(3, 2, 2)[k, :, i],
    "arrays together": lambda m, x, i, k: x.reshape(3, 2, 2)[:, k, i - 1],
    "a new dimension between": lambda m, x, i, k: x[i, None, i],
    "a matrix of indices": lambda m, x, i, k: x[i[:, None], i],
    "a known array": lambda m, x, i, k: x[np.array([0, -1])],
    "a list": lambda m, x, i, k: x[[0, 1], i],
    "a known mask": lambda m, x, i, k: x[np.array([True, False, True])],
    "true": lambda m, x, i, k: x[True],
    "unsigned indices": lambda m, x, i, k: x[i.astype("uint8")],
    "short indices": lambda m, x, i, k: x[i.astype("int8"), i],
    "traced integer": lambda m, x, i, k: x[k],
    "traced integer of a vector": lambda m, x, i, k: x[0][k],
    "traced column": lambda m, x, i, k: x[:, k],
    "traced element": lambda m, x, i, k: x[k, k],
    "traced integer and a slice": lambda m, x, i, k: x[k, 1:3],
    "traced integer, reversed": lambda m, x, i, k: x[k, ::-1],
    "traced integer and steps": lambda m, x, i, k: x[k, ::2],
    "traced integer and a new dimension": lambda m, x, i, k: x[k, None],
    "filled": lambda m, x, i, k: x.at[i].get(mode="fill", fill_value=2),
    "filled row": lambda m, x, i, k: x.at[1].get(mode="fill"),
    "clipped": lambda m, x, i, k: x.at[i].get(mode="clip"),
    "not from the end": lambda m, x, i, k: x.at[i].get(wrap_negative_indices=False),
    "promises": lambda m, x, i, k: x.at[i].get(unique_indices=True, indices_are_sorted=True),
}

UPDATES = {
    "set rows": lambda m, x, i, k: x.at[i].set(1.0),
    "set a row": lambda m, x, i, k: x.at[1].set(2),
    "set slices": lambda m, x, i, k: x.at[1:, ::2].set(1.0),
    "set all": lambda m, x, i, k: x.at[...].set(2),
    "set in a new dimension": lambda m, x, i, k: x.at[None, 1].set(2),
    "set where true": lambda m, x, i, k: x.at[True].set(3),
    "set at a traced integer": lambda m, x, i, k: x.at[k].set(2),
    "set, not from the end": lambda m, x, i, k: x.at[k].set(1, wrap_negative_indices=False),
    "add to rows": lambda m, x, i, k: x.at[i].add(1),
    "add an array": lambda m, x, i, k: x.at[...].add(x),
    "add to an element": lambda m, x, i, k: x.at[k, k].add(2),
    "add floats to integers": lambda m, x, i, k: i.at[0].add(m.numpy.float32(2.5)),
    "add with promises": lambda m, x, i, k: x.at[i].add(
        1.0, indices_are_sorted=True, unique_indices=True, mode="clip"
    ),
    "subtract": lambda m, x, i, k: x.at[i].subtract(x[i]),
    "multiply": lambda m, x, i, k: x.at[i, 1].mul(x[:2, 0]),
    "divide": lambda m, x, i, k: x.at[i].divide(2.0),
    "power": lambda m, x, i, k: x.at[i].power(2.0),
    "min": lambda m, x, i, k: x.at[:, i].min(x[:, :2]),
    "max of a reversed row": lambda m, x, i, k: x.at[1, ::-1].max(1.0),
    "apply": lambda m, x, i, k: x.at[i].apply(m.lax.sin),
}
PROGRAMS = {**READS, **UPDATES}

GRADIENTS = [
    *("rows", "rows and a slice", "a row and columns", "steps and columns", "traced integer"),
    *("filled", "clipped", "set rows", "set a row", "set at a traced integer", "add to rows"),
    *("subtract", "divide"),
]


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.filterwarnings("ignore:scatter inputs have incompatible types")
def test_text(name, same_text):
    same_text(lambda m: m.make_jaxpr(lambda x, i, k: PROGRAMS[name](m, x, i, k))(X, I, K))


@pytest.mark.parametrize("name", GRADIENTS)
def test_text_of_gradient(name, same_text):
    def program(m):
        def loss(x, i, k):
            y = m.lax.sin(PROGRAMS[name](m, x, i, k))
            return m.lax.reduce_sum(y, tuple(range(y.ndim)))

        return m.make_jaxpr(m.grad(loss))(X, I, K)

    same_text(program)
