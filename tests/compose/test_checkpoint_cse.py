"""`prevent_cse` of checkpoint: for which arguments the second computation is kept apart."""

import re

import numpy as np
import pytest

import covector as cv

MATRIX, VECTOR = np.ones((3, 3), np.float32), np.ones(3, np.float32)


def gradient(lib, prevent_cse):
    layer = lib.checkpoint(
        lambda tree, scale: (tree["x"] @ tree["w"]) * scale, prevent_cse=prevent_cse
    )

    def loss(w, x):
        for _ in range(2):
            x = layer({"w": w, "x": x}, 2.0)
        return (x**2).sum()

    return lib.grad(loss, (0, 1))


@pytest.mark.parametrize(
    "prevent_cse, hidden",
    [
        (True, 4),  # w, x, scale and the cotangent, for which it is always on
        (False, 0),
        ((True, False), 3),
        (({"w": False, "x": True}, False), 2),
        (({"w": True, "x": False}, True), 3),
    ],
)
def test_trees_of_flags(jax, prevent_cse, hidden):
    ours, theirs = (
        str(lib.make_jaxpr(gradient(lib, prevent_cse))(MATRIX, VECTOR)) for lib in (cv, jax)
    )
    flags = [re.findall(r"prevent_cse=(.*)", text) for text in (ours, theirs)]
    assert flags[0] == flags[1]
    text = cv.jit(gradient(cv, prevent_cse)).lower(MATRIX, VECTOR).as_text()
    barriers = re.findall(r"optimization_barrier (.*) :", text)
    assert [len(operands.split(",")) for operands in barriers] == ([hidden] * 2 if hidden else [])
    got = gradient(cv, prevent_cse)(MATRIX, VECTOR)
    for x, y in zip(got, gradient(jax, prevent_cse)(MATRIX, VECTOR)):
        np.testing.assert_allclose(x, y)


def test_flags_that_do_not_fit():
    layer = cv.checkpoint(lambda tree: tree["x"], prevent_cse=({"y": True},))
    with pytest.raises(ValueError, match="checkpoint prevent_cse specification must be a tree"):
        layer({"x": VECTOR})


def test_a_transposed_call_gives_no_operand_away():
    """What a jitted linear function may destroy belongs to its caller once it is transposed."""
    scale = cv.jit(lambda w, x: w * x, donate_argnums=0)
    transposed = cv.linear_transpose(lambda x: scale(VECTOR, x), VECTOR)
    text = str(cv.make_jaxpr(lambda ct: transposed(ct))(VECTOR))
    assert "donated_invars" not in text or "True" not in re.findall(r"donated_invars=.*", text)[0]
