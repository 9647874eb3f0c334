"""`debug_nans` and `debug_infs`: the error names the op that made the bad value, and its place."""

import inspect

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector import lax

ZERO = np.float32(0)


@pytest.fixture(autouse=True)
def watched():
    with cv.debug_nans(True):
        yield


def message(fun, *args):
    with pytest.raises(FloatingPointError) as error:
        fun(*args)
    return str(error.value)


def line_of(text):
    """`file:line` of the first line of the calling test that has `text` in it."""
    frame = inspect.currentframe().f_back
    lines, first = inspect.getsourcelines(frame.f_code)
    return f"{__file__}:{first + next(i for i, line in enumerate(lines) if text in line)}"


def test_eager_op():
    text = message(lambda: lax.log(jnp.float32(-1)))
    assert text.startswith(f"invalid value (nan) encountered in log at {line_of('lax.log(')}")
    assert text.endswith("\n  operand 0: float32[] = -1.0")


def test_eager_function_of_several_ops_names_the_op_within():
    text = message(lambda: jnp.divide(0, 0))
    assert text.startswith(f"invalid value (nan) encountered in div at {line_of('jnp.divide')}")
    assert text.endswith("\n  operand 0: float32[] = 0.0\n  operand 1: float32[] = 0.0")


def test_the_line_is_that_of_this_call_and_not_of_the_first_one():
    message(lambda: jnp.divide(0, 0))
    text = message(lambda: jnp.divide(0, 0))  # again
    assert f"in div at {line_of('# again')}" in text


def test_operator():
    x = jnp.zeros(())
    assert "encountered in div at" in message(lambda: x / x)


def test_jit_names_the_op_and_the_line_in_the_function():
    @cv.jit
    def f(x, y):
        z = x + y
        z = z / x  # the culprit
        return jnp.sin(z) + 1

    text = message(f, np.zeros(3, np.float32), np.array([1, 0, -1], np.float32))
    assert text.startswith(f"invalid value (nan) encountered in div at {line_of('the culprit')}")
    assert text.endswith(
        "\n  operand 0: float32[3], from -1 to 1, with 1 zero\n"
        "  operand 1: float32[3], from 0 to 0, with 3 zero"
    )


def test_jit_of_one_op():
    text = message(cv.jit(lambda x: 0.0 / x), ZERO)
    assert text.startswith("invalid value (nan) encountered in div at ")
    assert "operand 0: float32[] = 0.0" in text


def test_nested_jit():
    inner = cv.jit(lambda x: jnp.log(x))  # the culprit
    text = message(cv.jit(lambda x: inner(x - 1) * 2), ZERO)
    assert text.startswith(f"invalid value (nan) encountered in log at {line_of('the culprit')}")


@pytest.mark.parametrize("wrap", [lambda f: f, cv.jit])
def test_derivatives(wrap):
    f = wrap(lambda x: cv.jvp(lambda x: jnp.sqrt(x) * jnp.sqrt(x), (x,), (x + 1,)))
    assert "encountered in mul" in message(f, ZERO)


@pytest.mark.parametrize("wrap", [lambda f: f, cv.jit])
def test_batches(wrap):
    text = message(wrap(cv.vmap(lambda x: jnp.log(x))), np.array([1, -1], np.float32))
    assert "encountered in log" in text and "operand 0: float32[2], from -1 to 1" in text


def test_what_is_in_the_input_is_blamed_on_no_op():
    text = message(cv.jit(lambda x: x * 3.0), np.float32(np.nan))
    assert text == (
        "invalid value (nan) encountered in <lambda>. Run op by op, the de-optimized function did "
        "not make the value: it is in the input.\n  operand 0: float32[] = nan"
    )


def test_what_is_a_literal_is_blamed_on_no_op():
    text = message(cv.jit(lambda x: (np.float32(np.nan), x + 1)), ZERO)
    assert "the de-optimized function did not make the value: it is a constant or a lit" in text


def test_a_bad_value_that_is_not_returned_is_no_error():
    f = cv.jit(lambda x: jnp.where(x > 0, jnp.log(x), 0.0))
    assert f(ZERO) == 0


def test_donated_arguments():
    f = cv.jit(lambda x: jnp.log(x - 5), donate_argnums=0)
    with cv.debug_nans(False):  # the check of a result keeps a view of it, which cannot be donated
        x = jnp.arange(4.0)
    text = message(f, x)
    assert text.startswith(
        "invalid value (nan) encountered in <lambda>. Its arguments were donated"
    )


def test_infinities_are_looked_for_by_their_own_flag():
    f = cv.jit(lambda x: 1.0 / x)
    assert np.isinf(f(ZERO))
    with cv.debug_infs(True):
        assert message(f, ZERO).startswith("invalid value (inf) encountered in div at ")
        with cv.debug_infs(False):
            assert np.isinf(f(ZERO))


def test_off_again():
    f = cv.jit(lambda x: jnp.log(x))
    with cv.debug_nans(False):
        assert np.isnan(f(np.float32(-1)))
    message(f, np.float32(-1))
    with cv.debug_nans(False):
        assert np.isnan(f(np.float32(-1)))


def test_low_precision_and_complex():
    assert "bfloat16[2]" in message(lambda: jnp.log(jnp.array([-1.0, 1.0], jnp.bfloat16)))
    message(lambda: jnp.zeros(2, np.complex64) / 0)
    assert jnp.arange(3) // 1 is not None


def test_loops_and_choices_name_the_op_within():
    """Also which operands it had, in the step in which it happened."""
    steps = np.arange(4, dtype=np.float32)

    def scanned(c):
        return lax.scan(lambda c, x: (jnp.log(c - x), None), c, steps)[0]  # in a scan

    text = message(scanned, 1.0)
    assert text.startswith(f"invalid value (nan) encountered in log at {line_of('in a scan')}")
    assert text.endswith("\n  operand 0: float32[] = -1.0")
    assert message(cv.jit(scanned), 1.0) == text
    in_turn = lambda x: lax.while_loop(lambda y: y == y, lambda y: jnp.log(y - 1), x)  # noqa: E731
    assert "in log at" in message(in_turn, 2.0)
    chosen = lambda x: lax.cond(x > 0, lambda: jnp.sqrt(-x), lambda: x)  # noqa: E731
    assert "in sqrt at" in message(chosen, 2.0)
    backward = cv.grad(lambda c: lax.scan(lambda c, x: (jnp.sqrt(c * x), None), c, steps)[0])
    assert "operand 0: float32[] = inf\n  operand 1: float32[] = 0.0" in message(backward, 1.0)


@pytest.mark.parametrize("jit", [lambda f: f, cv.jit], ids=["eager", "jit"])
def test_random_keys_are_no_numbers(jit):
    def draw(seed):
        first, second = cv.random.split(cv.random.key(seed))
        return first, cv.random.uniform(second, (3,)), cv.random.PRNGKey(seed)

    key, x, _ = jit(draw)(3)
    assert np.isfinite(x).all()
    shares = jit(lambda key: (key, jnp.zeros(()) / 0.0))
    assert "nan" in message(shares, key)
