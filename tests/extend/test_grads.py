"""`check_grads` and its parts accept right derivatives and refuse wrong ones."""

from functools import partial

import numpy as np
import pytest

import covector as cv
from covector import lax
from covector.extend import primitive
from covector.interpreters import ad
from covector.test_util import check_grads, check_jvp, check_vjp

X = np.array([0.5, 1.0, 2.0], np.float32)


def sine_with(jvp):
    """A sine with another derivative."""
    return primitive(type("sine", (), {"decompose": lambda self, x: lax.sin(x), "jvp": jvp}))


def right(self, primals, tangents):
    (x,), (t,) = primals, tangents
    return self(x), lax.mul(t, lax.cos(x))


def off_by_five_percent(self, primals, tangents):
    out, t = right(self, primals, tangents)
    return out, lax.mul(t, lax.full_like(t, 1.05))


def constant_slope(self, primals, tangents):
    (x,), _ = primals, tangents
    return right(self, (lax.stop_gradient(x),), tangents)


# ---------------------------------------------------------------- right derivatives


@pytest.mark.parametrize("modes", [("fwd", "rev"), "fwd", ["rev"]])
def test_right_derivatives_up_to_the_third(modes):
    check_grads(lambda x, y: lax.mul(lax.sin(x), lax.exp(y)), (X, X[::-1]), 3, modes)


def test_trees():
    def fun(params, x):
        return {"out": lax.mul(params["w"], x), "rest": (lax.sin(params["b"]),)}

    check_grads(fun, ({"w": X, "b": np.float32(1.0)}, X), 2)


def test_integers_do_not_move():
    check_grads(
        lambda x, n: lax.mul(x, lax.convert_element_type(n, np.float32)), (X, np.arange(3)), 2
    )


def test_results_that_are_no_floats():
    check_grads(lambda x: (lax.mul(x, x), lax.gt(x, x), lax.sign(np.int32(2))), (X,), 1)


def test_complex_numbers():
    z = np.array([1 + 2j, -0.5 + 0.1j], np.complex64)
    check_grads(lambda z: lax.mul(z, lax.exp(z)), (z,), 2)
    check_grads(lambda z: lax.real(lax.mul(z, lax.conj(z))), (z,), 1)


def test_precision_follows_the_dtype():
    check_grads(lax.sin, (X.astype(cv.dtypes.bfloat16),), 1)
    with cv.enable_x64(True):
        check_grads(lax.sin, (X.astype(np.float64),), 2)
        # In 64 bits an error of one in a million is seen.
        fun = sine_with(
            lambda self, primals, tangents: (
                self(*primals),
                lax.mul(right(self, primals, tangents)[1], np.float64(1 + 1e-6)),
            )
        )
        with pytest.raises(AssertionError, match="jvp of f"):
            check_grads(fun, (X.astype(np.float64),), 1)


# ---------------------------------------------------------------- wrong derivatives


@pytest.mark.parametrize("mode", ["fwd", "rev"])
def test_a_wrong_derivative(mode):
    check_grads(sine_with(right), (X,), 2, mode)
    with pytest.raises(AssertionError) as error:
        check_grads(sine_with(off_by_five_percent), (X,), 1, mode)
    start = "jvp of f: the tangent" if mode == "fwd" else "vjp of f: <J^T ct, v> compared"
    assert str(error.value).startswith(start)


@pytest.mark.parametrize("mode", ["fwd", "rev"])
def test_a_wrong_second_derivative(mode):
    fun = sine_with(constant_slope)
    check_grads(fun, (X,), 1, mode)
    name = "jvp" if mode == "fwd" else "vjp"
    with pytest.raises(AssertionError, match=rf"^{name} of \({name} of f\)"):
        check_grads(fun, (X,), 2, mode)


def test_a_wrong_transpose_is_found_by_the_reverse_mode_alone():
    doubled = primitive(
        type(
            "doubled",
            (),
            {
                "decompose": lambda self, x: lax.add(x, x),
                "jvp": lambda self, primals, tangents: (self(*primals), self(*tangents)),
                "transpose": lambda self, ct, x: (ct,),
            },
        )
    )
    check_grads(doubled, (X,), 1, "fwd")
    with pytest.raises(AssertionError, match=r"^vjp of f"):
        check_grads(doubled, (X,), 1, "rev")


def test_tolerances_and_steps_are_the_callers_if_given():
    fun = sine_with(off_by_five_percent)
    check_grads(fun, (X,), 1, atol=0.1, rtol=0.1)
    with pytest.raises(AssertionError):
        check_grads(fun, (X,), 1, atol=0.0, rtol=0.02)
    # With a wide step the difference of a cubic is off by h^2.
    with pytest.raises(AssertionError):
        check_grads(lambda x: lax.mul(x, lax.mul(x, x)), (X,), 1, eps=1.0)


# ---------------------------------------------------------------- the parts


def test_check_jvp_and_check_vjp_take_the_derivative_from_outside():
    check_jvp(lax.sin, partial(cv.jvp, lax.sin), (X,))
    check_vjp(lax.sin, partial(cv.vjp, lax.sin), (X,))
    with pytest.raises(AssertionError, match=r"^jvp: the result"):
        check_jvp(lax.sin, partial(cv.jvp, lax.cos), (X,))
    with pytest.raises(AssertionError, match=r"^mine: the result"):
        check_vjp(lax.sin, partial(cv.vjp, lax.cos), (X,), err_msg="mine")
    wrong = lambda *args: (lax.sin(*args), lambda ct: (ct,))  # noqa: E731
    with pytest.raises(AssertionError, match="compared with <ct, J v>"):
        check_vjp(lax.sin, wrong, (X,))


def test_a_tangent_of_another_structure():
    with pytest.raises(AssertionError, match="has the structure"):
        check_jvp(lambda x: (x, x), lambda primals, tangents: ((primals[0],) * 2, tangents), (X,))


def test_modes_and_orders_that_do_not_exist():
    with pytest.raises(ValueError) as error:
        check_grads(lax.sin, (X,), 0, "forward")
    assert str(error.value) == (
        "[check_grads] modes are 'fwd' and 'rev', and the order is at least 1; but got the modes "
        "('forward',) and the order 0."
    )


def test_zero_tangents_of_primitives_count_as_zero():
    step = primitive(
        type(
            "step",
            (),
            {
                "decompose": lambda self, x: lax.sign(x),
                "jvp": lambda self, primals, tangents: (
                    self(*primals),
                    ad.Zero.from_primal_value(primals[0]),
                ),
            },
        )
    )
    check_grads(step, (X,), 2)


def test_tolerances_may_be_given_by_dtype():
    x = (np.float32(0.5),)
    check_grads(lax.sin, x, 1, atol={np.float32: 1e-2}, rtol={np.float64: 1e-9})
    with pytest.raises(AssertionError):
        check_grads(lax.sin, x, 1, atol={np.float32: 1e-9}, rtol={np.float32: 1e-9})
