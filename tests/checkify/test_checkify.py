"""`checkify` finds the first error of a program, whatever transforms it; messages as in JAX."""

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector import lax
from covector.experimental import checkify
from covector.experimental.checkify import check

WRAPPED = [lambda f: f, cv.jit, cv.checkpoint]
NEGATIVE = "negative: -1.0 (`check` failed)"


def checked(f, errors=checkify.all_checks):
    return checkify.checkify(f, errors=errors)


def message(f, *args, errors=checkify.all_checks):
    """The message, the same whether `checkify` stands inside of `jit` or outside."""
    inside = cv.jit(checked(f, errors))(*args)[0].get()
    outside = checked(cv.jit(f), errors)(*args)[0].get()
    assert checked(f, errors)(*args)[0].get() == inside == outside
    return inside


def sine(x):
    """A function with a check of its own."""
    check(jnp.all(x >= 0), "negative: {x}", x=x)
    return jnp.sin(x)


# ---------------------------------------------------------------- user checks


def test_an_eager_check_raises_at_once_and_names_the_line():
    with pytest.raises(checkify.JaxRuntimeError, match=r"negative: -1.0") as caught:
        sine(jnp.float32(-1))
    assert isinstance(caught.value, ValueError)
    assert "test_checkify.py" in caught.value.__notes__[0] and "(sine)" in caught.value.__notes__[0]
    np.testing.assert_allclose(sine(jnp.float32(1)), np.sin(np.float32(1)), rtol=1e-6)


def test_a_check_cannot_be_compiled():
    with pytest.raises(ValueError, match=r"Cannot abstractly evaluate .*checkify.checkify"):
        cv.jit(sine)(1.0)
    assert cv.eval_shape(sine, 1.0).shape == ()


@pytest.mark.parametrize("wrap", WRAPPED)
def test_a_check_is_a_value(wrap):
    f = checkify.checkify(wrap(sine))
    for g in (f, cv.jit(f)):
        err, out = g(jnp.float32(2))
        assert err.get() is None and err.throw() is None
        np.testing.assert_allclose(out, np.sin(np.float32(2)), rtol=1e-6)
        err, out = g(jnp.float32(-1))
        assert err.get() == NEGATIVE
        np.testing.assert_allclose(out, np.sin(np.float32(-1)), rtol=1e-6)
        with pytest.raises(checkify.JaxRuntimeError, match="negative") as caught:
            err.throw()
        assert "test_checkify.py" in caught.value.__notes__[0]


def test_messages_are_formatted_as_by_jax(jax):
    from jax.experimental import checkify as of_jax

    def program(m, c):
        def f(x, y):
            c.check(x.sum() > 0, "{0:.2f} {a[k]} {b}", x[0], a={"k": y}, b=x > 1)

        return c.checkify(f)(m.numpy.float32([-1.5, 1]), m.numpy.int32([2, 3]))[0].get()

    assert program(cv, checkify) == program(jax, of_jax)


def test_the_text_of_a_check_is_that_of_jax(jax):
    from jax.experimental import checkify as of_jax

    def check_eqn(m, c):
        text = str(m.make_jaxpr(lambda p, x: c.check(p, "{}", x))(True, np.ones(2)))
        (line,) = [line for line in text.splitlines() if "check[" in line]
        return line.split()[:1]

    assert check_eqn(cv, checkify) == check_eqn(jax, of_jax) == ["check[debug=False]"]


def test_debug_checks_are_nothing_without_checkify():
    def f(x):
        checkify.debug_check(x > 0, "not positive: {}", x)
        return x

    for transform in (cv.jit, lambda f: f, cv.grad):
        transform(f)(jnp.float32(-1))
    cv.vmap(f)(jnp.float32([-1, 1]))
    assert message(f, jnp.float32(-1)) == "not positive: -1.0 (`check` failed)"
    assert message(f, jnp.float32(-1), errors=frozenset()) is None


def test_wrong_arguments_of_checks():
    with pytest.raises(TypeError, match=r"^check takes a scalar pred.*jnp.all"):
        check(jnp.ones(3) > 0, "")
    with pytest.raises(TypeError, match=r"^debug_check takes a scalar pred"):
        checkify.debug_check(1.0, "")
    with pytest.raises(TypeError, match=r"Formatting arguments of check .*'hello'"):
        check(False, "{}", "hello")
    with pytest.raises(TypeError, match=r"check_error takes an Error.*3"):
        checkify.check_error(3)
    with pytest.raises(TypeError, match="checkify"):
        checkify.checkify(3)


def test_check_error_is_the_inverse():
    def f(x):
        err, out = cv.jit(checkify.checkify(sine))(x)
        checkify.check_error(err)
        return out

    with pytest.raises(checkify.JaxRuntimeError, match="negative"):
        f(jnp.float32(-1))
    assert checkify.checkify(f)(jnp.float32(-1))[0].get() == NEGATIVE
    assert checkify.checkify(f)(jnp.float32(1))[0].get() is None


def test_check_error_raises_only_what_is_looked_for():
    def inner(x):
        check(x > 0, "not positive")
        return 1 / (x + 1)

    def f(x):
        err, out = checked(inner)(x)
        checkify.check_error(err)
        return out

    minus_one = jnp.float32(-1)
    assert message(f, minus_one, errors=checkify.user_checks) == "not positive (`check` failed)"
    assert message(f, minus_one, errors=checkify.nan_checks) is None


# ---------------------------------------------------------------- automatic checks


NAN_CASES = {
    "sin": (lambda m, x: m.numpy.sin(x), np.inf),
    "log": (lambda m, x: m.numpy.log(x), -1),
    "sqrt": (lambda m, x: m.numpy.sqrt(x), -1),
    "sub": (lambda m, x: x - x, np.inf),
    "mul": (lambda m, x: x * 0.0, np.inf),
    "acos": (lambda m, x: m.numpy.arccos(x), 2),
    "reduce_sum": (lambda m, x: m.numpy.sum(x * m.numpy.float32([1, -1])), np.inf),
    "dot_general": (lambda m, x: m.numpy.float32([0, 1]) @ (x + m.numpy.zeros(2)), np.inf),
    "pow": (lambda m, x: x ** m.numpy.float32(0.5), -1),
}


@pytest.mark.parametrize("case", NAN_CASES)
def test_the_primitive_that_makes_nan_is_named(case, jax):
    from jax.experimental import checkify as of_jax

    fun, bad = NAN_CASES[case]
    want = of_jax.checkify(lambda x: fun(jax, x), of_jax.nan_checks)(jax.numpy.float32(bad))[
        0
    ].get()
    got = message(lambda x: fun(cv, x), jnp.float32(bad), errors=checkify.nan_checks)
    assert got == want == f"nan generated by primitive: {case}."
    assert message(lambda x: fun(cv, x), jnp.float32(0.5), errors=checkify.nan_checks) is None


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "complex64"])
def test_nan_in_every_kind_of_float(dtype):
    f, zero = lambda x: x / x, jnp.zeros(3, dtype)
    assert message(f, zero, errors=checkify.nan_checks) == "nan generated by primitive: div."
    assert message(f, zero, errors=checkify.div_checks) == "division by zero"
    assert message(f, zero + 1) is None


def test_failed_decompositions_are_found():
    assert "cholesky" in message(jnp.linalg.cholesky, -jnp.eye(2), errors=checkify.nan_checks)
    assert message(jnp.linalg.cholesky, jnp.eye(2), errors=checkify.nan_checks) is None


def test_integers_are_divided_by_zero_too():
    assert message(lax.div, jnp.int32([4, 2]), jnp.int32([2, 0])) == "division by zero"
    assert message(lax.div, jnp.int32([4, 2]), jnp.int32([2, 1])) is None


def test_values_that_were_nan_before_are_handed_on():
    nan = jnp.float32([np.nan])
    assert message(lambda x: (x.reshape(1, 1), -x, x[0]), nan, errors=checkify.nan_checks) is None


INDEXING = {
    "get": lambda x, i: x[i],
    "get a row": lambda x, i: x[:, i],
    "pairs": lambda x, i: x[jnp.stack([i, i]), jnp.array([0, 1])],
    "set": lambda x, i: x.at[i].set(1.0),
    "add": lambda x, i: x.at[0, i].add(1.0),
    "subtract": lambda x, i: x.at[0, i].subtract(1.0),
    "multiply": lambda x, i: x.at[i, 0].multiply(2.0),
    "min": lambda x, i: x.at[i].min(2.0),
    "max": lambda x, i: x.at[..., i].max(2.0),
    "take": lambda x, i: jnp.take(x, jnp.stack([i, i]), axis=1),
    "dynamic_slice": lambda x, i: lax.dynamic_slice(x, (0, i), (1, 2)),
    "dynamic_update_slice": lambda x, i: lax.dynamic_update_slice(x, jnp.ones((1, 2)), (i, 0)),
}
ENDS = {"get": (0, 2), "get a row": (1, 3), "pairs": (0, 2), "set": (0, 2), "add": (1, 3),
        "subtract": (1, 3), "multiply": (0, 2), "min": (0, 2), "max": (1, 3), "take": (1, 3),
        "dynamic_slice": (1, 2), "dynamic_update_slice": (0, 2)}  # fmt: skip


@pytest.mark.parametrize("case", INDEXING)
def test_indices_out_of_bounds(case):
    f, (axis, end) = INDEXING[case], ENDS[case]
    x, size = jnp.ones((2, 3)), (2, 3)[axis]
    run = cv.jit(checked(f, checkify.index_checks))
    for i in range(end):
        assert run(x, jnp.int32(i))[0].get() is None
    for i, shown in [(end, end), (end + 7, end + 7), (-size - 1, -1)]:
        text = run(x, jnp.int32(i))[0].get()
        assert text.startswith("out-of-bounds indexing")
        assert f"of shape (2, 3): index {shown} is out of bounds for axis {axis}" in text
        assert text.endswith(f"with size {size}.")


def test_an_empty_set_of_indices_is_within_bounds():
    indices = jnp.zeros((0,), jnp.int32)
    assert message(lambda x: x[indices], jnp.ones(3), errors=checkify.index_checks) is None


@pytest.mark.parametrize(
    ("errors", "start"),
    [
        (checkify.user_checks, "must be negative"),
        (checkify.div_checks, "division by zero"),
        (checkify.nan_checks, "nan generated by primitive: sin"),
        (checkify.index_checks, "out-of-bounds"),
        (checkify.float_checks, "division by zero"),
        (checkify.automatic_checks, "division by zero"),
        (checkify.all_checks, "must be negative"),
        ({}, None),
    ],
)
def test_what_is_looked_for(errors, start):
    def f(x, i):
        check(jnp.all(x < 0), "must be negative")
        return jnp.sin(x / 0)[i]

    text = message(f, jnp.ones(2), jnp.int32(9), errors=errors)
    assert text is start is None or text.startswith(start)


def test_float64():
    with cv.enable_x64(True):
        assert "index 4" in message(lambda x, i: x[i], jnp.ones(3), jnp.int64(4))
        assert message(jnp.log, jnp.float64(-1)) == "nan generated by primitive: log."


# ---------------------------------------------------------------- the first error


def test_the_first_error_in_the_order_of_the_program():
    def f(x, i):
        y = x[i]
        check(y != 2, "two")
        z = 1 / y
        return jnp.log(y) + z

    x = jnp.float32([1, -1, 0, 2])
    texts = [message(f, x, jnp.int32(i)) for i in range(5)]
    assert texts[0] is None
    assert texts[1] == "nan generated by primitive: log."
    assert texts[2] == "division by zero"
    assert texts[3] == "two (`check` failed)"
    assert texts[4].startswith("out-of-bounds")


def test_the_first_error_of_a_loop_is_that_of_the_first_step():
    """Even if the check that fails in a later step stands before it, with other types."""

    def step(carry, x):
        check(x != 1, "one")
        check(x != 2, "two in {}", x)
        return carry, x

    def f(xs):
        return lax.scan(step, 0, xs)

    assert message(f, jnp.int32([0, 2, 1])) == "two in 2 (`check` failed)"
    assert message(f, jnp.int32([1, 2])) == "one (`check` failed)"


def test_tracing_again_changes_nothing():
    """Equal checks have equal codes, so that errors of two traces have one structure."""
    f = checkify.checkify(sine)
    first, second = (f(jnp.float32(x))[0] for x in (-1, 1))
    assert cv.tree.structure(first) == cv.tree.structure(second)


def test_an_inner_function_is_compiled_once():
    f = checkify.checkify(cv.jit(lambda x: jnp.sin(x) ** 2))
    f(3.0)
    with cv._test_event_counter("count_jit_and_pmap_lowerings") as lowered:
        f(3.0)
    assert lowered() == 0
