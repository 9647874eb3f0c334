"""What is refused is told with the place, the fact and a way out; and nothing is left broken."""

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector import lax

ONES = jnp.ones(3)
STRUCT = cv.ShapeDtypeStruct((3,), jnp.float32)


class Thing:
    pass


async def coroutine(x):
    return x


def deleted():
    x = jnp.ones(3)
    del x[0]


def identity(x):
    return x


# A call, the class of its error, and words that its text must hold.
REFUSED = {
    "an array beyond all addresses": (
        lambda: jnp.ones((2**40, 2**40)),
        (ValueError, "float32[1099511627776,1099511627776]", "addresses"),
    ),
    "one that would only be reduced": (
        lambda: cv.jit(lambda: jnp.ones((2**41, 2**20)).sum())(),
        (ValueError, "float32[2199023255552,1048576]", "[jit]"),
    ),
    "an empty one of huge other sizes": (
        lambda: jnp.ones((2**62, 0, 2**62)),
        (ValueError, "addresses"),
    ),
    "the deletion of an element": (deleted, (TypeError, "immutable", "jnp.delete(x, i)")),
    "a number of a traced value in a text": (
        lambda: cv.jit(lambda x: f"{x:.2f}")(1.0),
        (cv.errors.ConcretizationTypeError, "float32[]", "{x:.2f}", "`debug.print`"),
    ),
    "an integer that does not fit": (
        lambda: jnp.int32(2**31),
        (OverflowError, "2147483648 out of bounds for int32", "wider dtype"),
    ),
    "one that meets an array": (
        lambda: jnp.ones(3, int) + 2**31,
        (OverflowError, "2147483648 out of bounds for int32", "`enable_x64`"),
    ),
    "an operand of cond": (
        lambda: lax.cond(True, identity, identity, "text"),
        (TypeError, "[cond]", "'text'", "valid JAX type"),
    ),
    "an operand of switch": (
        lambda: lax.switch(0, [identity, identity], "text"),
        (TypeError, "[switch]", "'text'"),
    ),
    "what scan slices": (
        lambda: lax.scan(lambda c, x: (c, x), 0, "text"),
        (TypeError, "[scan]", "'text'"),
    ),
    "the carry of scan": (
        lambda: lax.scan(lambda c, x: (c, x), "text", ONES),
        (TypeError, "[scan]", "'text'"),
    ),
    "the carry of while_loop": (
        lambda: lax.while_loop(lambda c: False, identity, "text"),
        (TypeError, "[while_loop]", "'text'"),
    ),
    "what map slices": (lambda: lax.map(identity, "text"), (TypeError, "[map]", "'text'")),
    "elements of associative_scan": (
        lambda: lax.associative_scan(jnp.add, "text"),
        (TypeError, "[associative_scan]", "'text'"),
    ),
    "a bound of fori_loop": (
        lambda: lax.fori_loop("text", 3, lambda i, c: c, 0),
        (TypeError, "[fori_loop]", "'text'"),
    ),
    "bounds of several loops": (
        lambda: lax.fori_loop(0, jnp.arange(2), lambda i, c: c, 0),
        (TypeError, "[fori_loop]", "int32[2]", "`vmap`"),
    ),
    "a tangent of another type": (
        lambda: cv.jvp(identity, (1.0,), (1,)),
        (TypeError, "[jvp]", "primal and tangent arguments", "~int32[]", "float32"),
    ),
    "a description of an array": (
        lambda: cv.jit(identity)(STRUCT),
        (TypeError, "[jit]", "ShapeDtypeStruct(shape=(3,)", "valid JAX type", "`eval_shape`"),
    ),
    "a description given to an operation": (
        lambda: jnp.sin(STRUCT),
        (TypeError, "ShapeDtypeStruct(shape=(3,)", "no elements"),
    ),
    "NumPy's functions under jit": (
        lambda: cv.jit(np.sin)(1.0),
        (cv.errors.TracerArrayConversionError, "`covector.numpy`"),
    ),
    "coroutine functions": (
        lambda: cv.jit(coroutine),
        (TypeError, "[jit]", "coroutine function", "`async`"),
    ),
    "an object that is no tree": (
        lambda: cv.jit(identity)(Thing()),
        (TypeError, "at path x", "Thing", "register_dataclass"),
    ),
    "an array that is donated and read": (
        lambda: cv.jit(lambda x, y: x + y, donate_argnums=0)(ONES, ONES),
        (cv.errors.JaxRuntimeError, "donated", "`x.copy()`"),
    ),
    "keys of a negative number": (
        lambda: cv.random.split(cv.random.key(0), -1),
        (TypeError, "[random.split]", "nonnegative", "(-1,)"),
    ),
    "samples of a negative number": (
        lambda: cv.random.normal(cv.random.key(0), (2, -1)),
        (TypeError, "[random.normal]", "nonnegative", "(2, -1)"),
    ),
    "a leaked value given to jit": (
        lambda: cv.jit(identity)(leaked()),
        (cv.errors.UnexpectedTracerError, "[jit]", "argument x of jit", "test_refusals.py"),
    ),
}


def leaked():
    kept = []
    cv.jit(lambda x: kept.append(x) or x)(1.0)
    return kept[0]


@pytest.mark.parametrize("name", REFUSED)
def test_the_text_tells_where_and_what(name):
    call, (kind, *words) = REFUSED[name]
    with pytest.raises(kind) as caught:
        call()
    assert type(caught.value) is kind
    missing = [word for word in words if word not in str(caught.value)]
    assert not missing, str(caught.value)
    assert cv.jit(lambda x: 2 * x + 1)(3.0) == 7
    assert cv.grad(lambda x: x**3)(2.0) == 12


def test_a_number_that_is_known_is_formatted_where_a_function_is_differentiated():
    texts = []
    cv.grad(lambda x: texts.append(f"{x:.2f}") or x)(1.5)
    assert texts == ["1.50"]


def test_texts_without_a_format_show_the_traced_value():
    texts = []
    cv.jit(lambda x: texts.append(f"{x}") or x)(1.5)
    assert texts == ["JitTracer(~float32[])"]
