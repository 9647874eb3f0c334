"""debug.print and debug.callback: what they show, when, and in which order; against JAX."""

import contextlib
import io
import logging

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp

X = np.arange(3, dtype=np.float32)


def lines_of(m, program):
    """What a program prints."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        program(m)
        m.effects_barrier()
    return text.getvalue().splitlines()


def printing_scan(m, x, **options):
    def step(carry, slice_):
        m.debug.print("step {} {y}", carry, y=slice_, **options)
        return carry + slice_, carry

    return m.lax.scan(step, x, X)[0]


def printing_while(m, x, **options):
    def condition(carry):
        m.debug.print("condition {}", carry, **options)
        return carry < 3

    def step(carry):
        m.debug.print("step {}", carry, **options)
        return carry + 1

    return m.lax.while_loop(condition, step, x)


def printing_cond(m, x):
    def positive(x):
        m.debug.print("positive {}", x, ordered=True)
        return x

    def negative(x):
        m.jit(lambda x: m.debug.print("negative {}", x, ordered=True))(x)
        return -x

    return m.lax.cond(x > 0, positive, negative, x)


def with_rule(m):
    @m.custom_jvp
    def f(x):
        m.debug.print("value {}", x, ordered=True)
        return m.numpy.sin(x)

    @f.defjvp
    def f_jvp(primals, tangents):
        m.debug.print("rule {}", primals[0], ordered=True)
        return f(*primals), tangents[0]

    return f


def nested(m, x):
    """Ordered effects in a scan of a cond of a while loop of a jit."""

    @m.jit
    def inner(x):
        m.debug.print("inner {}", x, ordered=True)
        return x + 1

    def step(carry, _):
        loop = lambda c: m.lax.while_loop(lambda c: c < 2, inner, c)  # noqa: E731
        return m.lax.cond(carry < 1, loop, inner, carry), None

    return m.lax.scan(step, x, None, length=3)[0]


ORDERED = {
    "eager": lambda m: m.debug.print("{} and {x}", 1.0, x=X),
    "no fields": lambda m: m.debug.print("hello"),
    "braces": lambda m: m.debug.print("{{}} {:.2f} {!r}", 0.125, "text"),
    "static values": lambda m: m.jit(lambda x: m.debug.print("{a} {b}", a=x, b="text"))(1),
    "trees": lambda m: m.jit(lambda t: m.debug.print("{t[x]} {}", (1, t), t=t))({"x": 2}),
    "two calls": lambda m: m.debug.print(ordered=True)("{ordered}", ordered=3),
    "jit": lambda m: m.jit(lambda x: m.debug.print("{}", x))(X),
    "print options": lambda m: _with_precision(m),
    "order of programs": lambda m: [
        m.jit(lambda x: m.debug.print("{}", x, ordered=True))(i) for i in range(20)
    ],
    "order in a program": lambda m: m.jit(
        lambda x: [m.debug.print("{} {}", i, x * i, ordered=True) for i in range(8)] and x
    )(1),
    "scan": lambda m: m.jit(lambda x: printing_scan(m, x, ordered=True))(1.0),
    "eager scan": lambda m: printing_scan(m, 1.0, ordered=True),
    "while": lambda m: m.jit(lambda x: printing_while(m, x, ordered=True))(0),
    "eager while": lambda m: printing_while(m, 0, ordered=True),
    "vmapped while, one condition": lambda m: m.vmap(
        lambda x: m.lax.fori_loop(
            0, 2, lambda i, c: m.debug.print("{} {}", i, x, ordered=True) or c + x, x
        )
    )(X),
    "cond": lambda m: [m.jit(lambda x: printing_cond(m, x))(x) for x in (1.0, -1.0)],
    "nested": lambda m: m.jit(lambda x: nested(m, x))(0),
    "unrolled scan": lambda m: m.lax.scan(
        lambda c, x: (m.debug.print("{}", x, ordered=True) or c, None), 0.0, X, unroll=2
    ),
    "vmap": lambda m: m.vmap(lambda x: m.debug.print("{} {}", x, 5, ordered=True))(X),
    "vmap of vmap": lambda m: m.vmap(
        lambda x: m.vmap(lambda y: m.debug.print("{} {}", x, y, ordered=True), 0)(X)
    )(X),
    "jvp": lambda m: m.jvp(lambda x: printing_scan(m, x, ordered=True), (1.0,), (2.0,)),
    "grad": lambda m: m.grad(lambda x: printing_scan(m, x, ordered=True))(1.0),
    "grad of jit": lambda m: m.grad(m.jit(lambda x: printing_scan(m, x, ordered=True)))(1.0),
    "custom_jvp": lambda m: (with_rule(m)(1.0), m.grad(with_rule(m))(2.0)),
    "custom_jvp in jit": lambda m: m.jit(m.grad(with_rule(m)))(2.0),
    "checkpoint": lambda m: m.grad(
        m.checkpoint(lambda x: m.debug.print("{}", x, ordered=True) or m.numpy.sin(x))
    )(3.0),
    "unused outputs": lambda m: m.jit(lambda x: [printing_while(m, x, ordered=True), 0][1])(1),
}


def _with_precision(m):
    with np.printoptions(precision=2):
        f = m.jit(lambda x: m.debug.print("{}", x)).lower(X).compile()
    f(X / 3)


@pytest.mark.parametrize("name", ORDERED)
def test_ordered_lines_are_those_of_jax(jax, name):
    wanted = lines_of(jax, ORDERED[name])
    assert wanted and lines_of(cv, ORDERED[name]) == wanted


# Programs whose text differs in other things than effects.
OTHER_TEXT = {"print options", "grad", "grad of jit"}


@pytest.mark.parametrize("name", [name for name in ORDERED if name not in OTHER_TEXT])
def test_text_of_effectful_programs_is_that_of_jax(jax, name):
    got, wanted = [str(m.make_jaxpr(lambda: (ORDERED[name](m), 0)[1])()) for m in (cv, jax)]  # noqa: B023
    assert "debug_print" in wanted and got == wanted


UNORDERED = {
    "scan": lambda m: printing_scan(m, 1.0),
    "while": lambda m: m.jit(lambda x: printing_while(m, x))(0),
    "vmapped while": lambda m: m.vmap(lambda x: printing_while(m, x))(X),
    "vmapped cond": lambda m: m.vmap(
        lambda x: m.lax.cond(
            x > 1,
            lambda x: m.debug.print("a {}", x) or x,
            lambda x: m.debug.print("b {}", x) or -x,
            x,
        )
    )(X),
}


@pytest.mark.parametrize("name", UNORDERED)
def test_unordered_lines_are_those_of_jax(jax, name):
    wanted = lines_of(jax, UNORDERED[name])
    assert wanted and sorted(lines_of(cv, UNORDERED[name])) == sorted(wanted)


def test_an_ordered_condition_of_a_vmapped_loop():
    """Examples whose loop has ended keep their carry."""
    outs = []
    lines = lines_of(
        cv, lambda m: outs.append(m.vmap(lambda x: printing_while(m, x, ordered=True))(X))
    )
    np.testing.assert_array_equal(outs[0], [3, 3, 3])
    conditions = [line for line in lines if line.startswith("condition")]
    assert conditions == [f"condition {min(x + i, 3):.1f}" for i in range(4) for x in range(3)]


@pytest.mark.parametrize("options", [{}, {"ordered": True}, {"partitioned": True}])
def test_program_text(jax, options):
    def f(m):
        return m.make_jaxpr(lambda x: m.debug.print("x {} {} {y}", x, "text", y=x, **options))(X)

    assert str(f(cv)) == str(f(jax))
    effects = f(cv).effects
    assert [str(e) for e in effects] == ["OrderedDebug" if "ordered" in options else "Debug"]


def test_callback_sees_arrays_and_objects():
    seen = []
    thing = object()
    f = cv.jit(
        lambda x: cv.debug.callback(lambda *args, **kw: seen.append((args, kw)), x, thing, z=x)
    )
    f(X)
    cv.effects_barrier()
    (((array, other), keywords),) = seen
    assert isinstance(array, cv.Array) and other is thing and list(keywords) == ["z"]
    np.testing.assert_array_equal(array + keywords["z"], 2 * X)


def test_long_batches():
    """A compiled program calls in a loop where there are many examples, in their order."""
    xs = np.arange(200, dtype=np.int32)
    f = lambda m: m.vmap(lambda x, y: m.debug.print("{} {}", x, y, ordered=True), (0, None))  # noqa: E731
    wanted = [f"{x} 7" for x in xs]
    assert lines_of(cv, lambda m: f(m)(xs, 7)) == wanted
    assert lines_of(cv, lambda m: m.jit(f(m))(xs, 7)) == wanted


def test_two_call_form():
    seen = []
    cv.jit(
        lambda x: cv.debug.callback(ordered=True)(lambda ordered: seen.append(ordered), ordered=x)
    )(4)
    cv.effects_barrier()
    assert seen == [4]


def test_a_key():
    key = cv.random.key(1)
    assert (
        lines_of(cv, lambda m: m.jit(lambda k: m.debug.print("{}", k))(key))
        == str(key).splitlines()
    )


def test_derivatives_and_values_are_unchanged():
    f = lambda x: cv.debug.callback(lambda _: None, x) or jnp.sin(x)  # noqa: E731
    np.testing.assert_allclose(cv.vmap(cv.grad(f))(X), np.cos(X), rtol=1e-6)
    np.testing.assert_allclose(cv.jit(cv.jacrev(f))(X), np.diag(np.cos(X)), rtol=1e-6)


def test_log():
    records = []
    handler = logging.Handler()
    handler.emit = records.append
    logger = logging.getLogger("covector")
    logger.addHandler(handler)
    try:
        cv.jit(lambda x: cv.debug.log("x={}", x))(2)
        cv.effects_barrier()
    finally:
        logger.removeHandler(handler)
    (record,) = records
    assert record.msg == "x=2" and record.levelno == logging.INFO
    assert record.filename == "test_debug.py"


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda: cv.debug.print("x", 1), ValueError, r"Unused positional arguments .*\[1\]"),
        (lambda: cv.debug.print("x", y=1), ValueError, "f-string"),
        (lambda: cv.debug.print("{} {}", 1), IndexError, "index"),
        (lambda: cv.debug.print("{y}", 1), KeyError, "y"),
        (lambda: cv.debug.print(x=1), TypeError, "two-call form"),
        (lambda: cv.debug.callback(3), TypeError, "must be callable"),
        (lambda: cv.debug.callback(x=3), TypeError, "two-call form"),
        (lambda: cv.debug.breakpoint(backend="web"), ValueError, "no debugger 'web'"),
        (lambda: cv.debug.breakpoint(token=X, ordered=True), ValueError, "mutually exclusive"),
    ],
)
def test_errors(call, kind, text):
    with pytest.raises(kind, match=text):
        call()
