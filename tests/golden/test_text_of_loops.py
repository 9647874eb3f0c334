"""The text of `while_loop` and `fori_loop`, and of what forward mode and vmap make of them."""

import numpy as np
import pytest

A = np.arange(3, dtype=np.float32)
N = np.arange(3, dtype=np.int32)


def halve(m, x):
    return m.lax.while_loop(lambda y: y > 1.0, lambda y: y * 0.5, x)


def cube(m, x):
    return m.lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] * x), (0, 1.0))[1]


def all_kinds(m, x, y, w):
    """Constants of both functions; parts that change, swap, stay as they are, and come to vary."""

    def body(s):
        i, a, b, c, w = s
        return i + 1, a * b + w, a, c, w

    return m.lax.while_loop(lambda s: s[0] < y[0], body, (0, x, x + 1, x * 2, w))


def nested(m, x, n):
    def inner(i, a):
        return m.lax.while_loop(lambda b: b < i, lambda b: b * x, a)

    return m.lax.fori_loop(0, n, inner, x)


def counted(m, x, n):
    return m.lax.fori_loop(0, n, lambda i, y: y * x + i, x)


PROGRAMS = {
    "halve": lambda m: m.make_jaxpr(lambda x: halve(m, x))(2.0),
    "cube": lambda m: m.make_jaxpr(lambda x: cube(m, x))(2.0),
    "all kinds": lambda m: m.make_jaxpr(lambda *s: all_kinds(m, *s))(A, A, A),
    "nested": lambda m: m.make_jaxpr(lambda *s: nested(m, *s))(2.0, 3),
    "promoted": lambda m: m.make_jaxpr(
        lambda y: m.lax.while_loop(lambda s: s[1] < 3, lambda s: (s[0] * y, s[1] + 1), (0, 1))
    )(2.0),
    "counted": lambda m: m.make_jaxpr(lambda *s: counted(m, *s))(2.0, 3),
    "counted in int16": lambda m: m.make_jaxpr(lambda *s: counted(m, *s))(2.0, np.int16(3)),
    "constant bounds": lambda m: m.make_jaxpr(
        lambda x: m.lax.fori_loop(1, 4, lambda i, y: (y[0] * i, y[0]), (x, x))
    )(2.0),
    "unrolled": lambda m: m.make_jaxpr(
        lambda x: m.lax.fori_loop(1, 4, lambda i, y: y * i, x, unroll=2)
    )(2.0),
    "grad with constant bounds": lambda m: m.make_jaxpr(
        m.grad(lambda x: m.lax.fori_loop(0, 5, lambda i, y: y * x + i, x))
    )(2.0),
    "jvp": lambda m: m.make_jaxpr(lambda x: m.jvp(lambda x: cube(m, x), (x,), (x,)))(2.0),
    "jvp of all": lambda m: m.make_jaxpr(lambda *s: m.jvp(lambda *s: all_kinds(m, *s), s, s))(
        A, A, A
    ),
    "jvp of one": lambda m: m.make_jaxpr(
        lambda x: m.jvp(lambda x: all_kinds(m, x, A, A), (x,), (x,))
    )(A),
    "jvp of nested": lambda m: m.make_jaxpr(
        lambda x, n: m.jvp(lambda x: nested(m, x, n), (x,), (x,))
    )(2.0, 3),
    "jvp of jvp": lambda m: m.make_jaxpr(
        lambda x: m.jvp(lambda x: m.jvp(lambda x: cube(m, x), (x,), (x,)), (x,), (x,))
    )(2.0),
    "vmap, one condition": lambda m: m.make_jaxpr(m.vmap(lambda x: cube(m, x)))(A),
    "vmap, many conditions": lambda m: m.make_jaxpr(m.vmap(lambda x: halve(m, x)))(A),
    "vmap of vmap": lambda m: m.make_jaxpr(m.vmap(m.vmap(lambda x: halve(m, x))))(A[None]),
    "vmap of the bound": lambda m: m.make_jaxpr(m.vmap(lambda *s: counted(m, *s)))(A, N),
    "vmap of jvp": lambda m: m.make_jaxpr(
        m.vmap(lambda x: m.jvp(lambda x: halve(m, x), (x,), (x,)))
    )(A),
    "jvp of vmap": lambda m: m.make_jaxpr(
        lambda x: m.jvp(m.vmap(lambda x: halve(m, x)), (x,), (x,))
    )(A),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_text(name, same_text):
    same_text(PROGRAMS[name])
