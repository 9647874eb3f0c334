"""Reverse mode through loops of any number of steps: values, compositions, memory, errors.

The derivatives are compared with those of Python loops: the reverse sweep written out by hand, or
the imaginary part of f(x + ih) / h, which is the derivative to full precision.
"""

import math

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector import lax
from covector._src.base.config import parity
from covector._src.control.while_tape import Tape, _with_checkpoint

X = np.array([0.7, -0.4, 0.2])
W = np.array([[0.3, -0.5, 0.1], [0.2, 0.4, -0.6], [-0.1, 0.5, 0.3]])
COUNTS = np.array([0, 3, 7])


@pytest.fixture(autouse=True)
def double_precision():
    with cv.enable_x64(True):
        yield


class Plain:
    """Loops of Python, and NumPy."""

    sin, cos, tanh, sum = np.sin, np.cos, np.tanh, np.sum

    @staticmethod
    def fori(n, body, x, **limits):
        for i in range(int(n)):
            x = body(i, x)
        return x

    @staticmethod
    def choose(which, first, second, x):
        return first(x) if which else second(x)

    @staticmethod
    def scan(step, x, slices):
        ys = []
        for part in slices:
            x, y = step(x, part)
            ys.append(y)
        return x, np.stack(ys)


class Ours:
    """Loops of Covector, whose number of steps is never known."""

    sin, cos, tanh, sum = jnp.sin, jnp.cos, jnp.tanh, jnp.sum

    @staticmethod
    def fori(n, body, x, **limits):
        init = (jnp.asarray(0), jnp.asarray(n), x)

        def step(s):
            return (s[0] + 1, s[1], body(s[0], s[2]))

        return lax.while_loop(lambda s: s[0] < s[1], step, init, **limits)[2]

    @staticmethod
    def choose(which, first, second, x):
        return lax.cond(which, first, second, x)

    @staticmethod
    def scan(step, x, slices):
        return lax.scan(step, x, slices)


def complex_step(fun, *args):
    """The derivative of a real analytic function in its first argument."""
    x, *rest = args
    out = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        moved = x.astype(complex)
        moved[i] += 1e-30j
        out[i] = fun(Plain, moved, *rest).imag / 1e-30
    return out


def close(got, want, rtol=1e-12):
    np.testing.assert_allclose(got, want, rtol=rtol, atol=1e-14)


# ---------------------------------------------------------------- numbers of steps


def slow(x, n, **limits):
    """A loop whose derivative stays of order 1 for as long as it goes."""

    def body(i, a):
        return 0.999 * a + 0.01 * jnp.sin(x * a) + 0.001 * x * jnp.cos(0.001 * i)

    return Ours.fori(n, body, x, **limits)


def slow_by_hand(x, n, dtype=np.float64):
    x = dtype(x)
    kept = [x]
    for i in range(n):
        a = kept[-1]
        kept.append(0.999 * a + 0.01 * np.sin(x * a) + 0.001 * x * np.cos(0.001 * i))
    ct, ct_x = 1.0, 0.0
    for i in reversed(range(n)):
        slope = 0.01 * np.cos(x * kept[i])
        ct_x += ct * (slope * kept[i] + 0.001 * np.cos(0.001 * i))
        ct *= 0.999 + slope * x
    return kept[-1], ct + ct_x


NUMBERS = [0, 1, 2, 63, 64, 65, 128, 1000, 4097, 100_000]


def test_any_number_of_steps():
    fun = cv.jit(cv.value_and_grad(slow))
    for n in NUMBERS:
        close(fun(0.7, n), slow_by_hand(0.7, n), 1e-11)


def test_single_precision():
    with cv.enable_x64(False):
        fun = cv.jit(cv.value_and_grad(slow))
        for n in NUMBERS:
            np.testing.assert_allclose(fun(0.7, n), slow_by_hand(0.7, n), rtol=1e-4)


@pytest.mark.parametrize(
    "limits",
    [
        dict(checkpoints=2),
        dict(checkpoints=3),
        dict(checkpoints=3, max_steps=1),
        dict(checkpoints=8, max_steps=5),
        dict(max_steps=65),
    ],
)
def test_limits(limits):
    fun = cv.jit(cv.grad(lambda x, n: slow(x, n, **limits)))
    for n in (0, 1, 2, 3, 5, 16, 65, 66, 200):
        close(fun(0.7, n), slow_by_hand(0.7, n)[1])


def repetitions(places, segments):
    """How often the tape has each segment of a loop run again."""
    zeros = np.zeros(places, np.int32)
    tape = Tape(0, zeros, zeros, [], [])
    for i in range(segments):
        tape = _with_checkpoint(tape, np.int32(i), [])
    counts, end = np.zeros(segments, int), segments
    while end:
        begin = int(np.max(tape.steps)) - 1
        if end < segments:
            for i in range(begin, end):
                tape = _with_checkpoint(tape, np.int32(i), [])
            counts[begin:end] += 1
        latest = int(np.argmax(tape.steps))
        end = int(tape.steps[latest]) - 1
        tape = tape._replace(steps=np.where(np.arange(places) == latest, 0, tape.steps))
    return counts


@pytest.mark.parametrize("places, r", [(3, 2), (4, 2), (4, 3), (5, 2)])
def test_as_few_repetitions_as_can_be(places, r):
    most = math.comb(places - 1 + r, r)
    assert repetitions(places, most).max() == r
    assert repetitions(places, most + 1).max() == r + 1


# ---------------------------------------------------------------- what loops are made of


def closed_over(L, x, w, n):
    """Closes over two arrays with derivatives; the counter plays a part."""
    return L.sum(L.fori(n, lambda i, a: L.tanh(w @ a) + 0.1 * a * L.cos(i * x[0]), x) ** 2)


def of_tuples(L, x, n):
    def body(i, c):
        a, (b, count) = c
        return b * 0.5 + L.sin(a), (a * x, count + 2)

    a, (b, count) = L.fori(n, body, (x, (x * 2, 0)))
    return L.sum(a * b) * count


def nested(L, x, n):
    def outer(i, a):
        def inner(j, b):
            return b * 0.9 + 0.1 * L.sin(b * x + a)

        return L.fori(i + 2, inner, a) + 0.1 * x * a

    return L.sum(L.fori(n, outer, x))


def in_scan(L, x, n):
    def step(c, k):
        return L.fori(k, lambda i, a: L.sin(a) * 1.1 + 0.01 * x, c), L.sum(c)

    c, ys = L.scan(step, x, np.array([2, 0, 3]) + n)
    return L.sum(c) + L.sum(ys**2)


def in_branch(L, x, n):
    def first(x):
        return L.fori(n, lambda i, a: L.sin(a) * x, x)

    def second(x):
        return L.fori(n + 2, lambda i, a: L.cos(a) + 0.1 * x, x)

    return L.sum(L.choose(n > 2, first, second, x))


def scan_in_loop(L, x, n):
    def body(i, a):
        c, ys = L.scan(lambda c, s: (L.sin(c + s), c * s), a, np.array([0.1, 0.2]))
        return c + 0.1 * ys[0] * x

    return L.sum(L.fori(n, body, x))


def unused_parts(L, x, n):
    """One part of the carry has a zero cotangent, another no tangent."""
    out = L.fori(n, lambda i, c: (c[0] * x, c[1] + c[0], c[2] * 1.5), (x, x, 1.0))
    return L.sum(out[0] * out[2])


PROGRAMS = [of_tuples, nested, in_scan, in_branch, scan_in_loop, unused_parts]


@pytest.mark.parametrize("program", PROGRAMS)
def test_programs(program):
    @cv.jit
    def grads(x, n):
        def fun(x, n):
            return program(Ours, x, n)

        def total(x):
            return jnp.sum(cv.vmap(fun, in_axes=(None, 0))(x, n))

        return cv.vmap(cv.grad(fun), in_axes=(None, 0))(x, n), cv.grad(total)(x)

    wants = [complex_step(program, X, n) for n in COUNTS]
    each, all_together = grads(X, COUNTS)
    close(each, wants)
    close(all_together, sum(wants))


def test_closed_over_arrays():
    @cv.jit
    def grads(x, w, n):
        def fun(x, w, n):
            return closed_over(Ours, x, w, n)

        def total(x, w):
            return jnp.sum(cv.vmap(fun, in_axes=(None, None, 0))(x, w, n))

        each = cv.vmap(cv.grad(fun, argnums=(0, 1)), in_axes=(None, None, 0))(x, w, n)
        return each, cv.grad(total, argnums=(0, 1))(x, w)

    def flipped(L, w, x, n):
        return closed_over(L, x, w, n)

    for_x = [complex_step(closed_over, X, W, n) for n in COUNTS]
    for_w = [complex_step(flipped, W, X, n) for n in COUNTS]
    each, all_together = grads(X, W, COUNTS)
    for i, wants in enumerate((for_x, for_w)):
        close(each[i], wants)
        close(all_together[i], sum(wants))


def test_condition_on_the_carry():
    def fun(x):
        return lax.while_loop(lambda y: y > 1.0, lambda y: y * 0.5, x)

    close(cv.vmap(cv.grad(fun))(np.array([0.5, 1.5, 5.0, 40.0])), [1, 0.5, 0.125, 1 / 64])


def test_integers_have_no_cotangents():
    def fun(x, k):
        return lax.while_loop(
            lambda s: s[0] < 5, lambda s: (s[0] + k, s[1] * x, s[2] ^ k), (0, x, k)
        )

    (_, out, bits), pull = cv.vjp(fun, 2.0, 2)
    assert (float(out), int(bits)) == (16.0, 0)
    none = np.zeros((), cv.dtypes.float0)
    ct_x, ct_k = pull((none, 1.0, none))
    assert float(ct_x) == 32.0
    assert ct_k.dtype == cv.dtypes.float0


def test_complex_numbers():
    def fun(z):
        return Ours.fori(5, lambda i, a: a * z, z)

    close(cv.grad(fun, holomorphic=True)(0.3 + 0.8j), 6 * (0.3 + 0.8j) ** 5)


def test_unknown_in_the_bound_alone():
    def fun(x):
        return lax.while_loop(lambda s: s[0] < x, lambda s: (s[0] + 1, s[1] * x), (0, 1.0))[1]

    close(cv.value_and_grad(fun)(2.5), (2.5**3, 3 * 2.5**2))


# ---------------------------------------------------------------- derivatives of derivatives


def power_of_sum(x, n, **limits):
    """s^(n + 1), where s is the sum of x."""
    return jnp.sum(Ours.fori(n, lambda i, a: a * jnp.sum(x), x, **limits))


SECOND_ORDER = {
    "forward over reverse": lambda f: cv.jacfwd(cv.jacrev(f)),
    "reverse over forward": lambda f: cv.jacrev(cv.jacfwd(f)),
    "reverse over reverse": lambda f: cv.jacrev(cv.jacrev(f)),
}


@pytest.mark.parametrize("name", SECOND_ORDER)
def test_second_derivatives(name):
    hessian = cv.jit(SECOND_ORDER[name](lambda x, n: power_of_sum(x, n, checkpoints=3)))
    for n in (0, 1, 4, 11):
        close(hessian(X, n), np.full((3, 3), (n + 1) * n * X.sum() ** (n - 1.0)))


def test_second_derivatives_of_many():
    hessians = cv.jit(cv.vmap(cv.hessian(power_of_sum), in_axes=(None, 0)))(X, COUNTS)
    for n, got in zip(COUNTS, hessians):
        close(got, np.full((3, 3), (n + 1) * n * X.sum() ** (n - 1.0)))


def test_third_derivative():
    third = cv.jit(cv.jacfwd(cv.jacfwd(cv.grad(lambda x, n: Ours.fori(n, lambda i, a: a * x, x)))))
    close([third(1.3, n) for n in (1, 4)], [0, 60 * 1.3**2])


def test_derivative_of_linearization():
    def fun(x):
        return Ours.fori(4, lambda i, a: a * x, x)

    def pushed(x):
        return cv.linearize(fun, x)[1](1.0)

    close(pushed(1.3), 5 * 1.3**4)
    close([cv.grad(pushed)(1.3), cv.jacfwd(pushed)(1.3)], [20 * 1.3**3] * 2)


# ---------------------------------------------------------------- linear programs


def test_linear_maps():
    _, push = cv.linearize(lambda x: Ours.fori(3, lambda i, a: W @ jnp.sin(a), x), X)
    jacobian = np.stack([push(e) for e in np.eye(3)], 1)
    close(cv.linear_transpose(push, X)(X)[0], jacobian.T @ X)
    close(cv.linear_transpose(cv.jit(push), X)(X)[0], jacobian.T @ X)
    rows = np.eye(3)[:2]
    close(cv.vmap(push)(rows), rows @ jacobian.T)
    close(cv.linear_transpose(cv.vmap(push), rows)(rows)[0], rows @ jacobian)


def test_transpose_of_a_loop_that_is_linear():
    def power(x):
        return Ours.fori(3, lambda i, a: W @ a, x)

    close(cv.linear_transpose(power, X)(X)[0], W.T @ W.T @ W.T @ X)
    close(cv.linear_transpose(cv.jit(power), X)(X)[0], W.T @ W.T @ W.T @ X)


def test_tangents_with_their_own_numbers_of_steps():
    def fun(x, n):
        return Ours.fori(n, lambda i, a: a * x, x)

    def pushed(x, n, t):
        return cv.linearize(lambda x: fun(x, n), x)[1](t)

    def of_all(t):
        return cv.vmap(pushed, in_axes=(0, 0, None))(X, COUNTS, t)

    want = (COUNTS + 1) * X**COUNTS
    close(of_all(1.0), want)
    close(cv.linear_transpose(of_all, 1.0)(np.ones(3))[0], want.sum())


def test_condition_on_what_is_transposed():
    def grow(x):
        return lax.while_loop(lambda y: y < 1.0, lambda y: y * 2, x)

    with pytest.raises(ValueError) as caught:
        cv.linear_transpose(grow, 0.1)(1.0)
    assert str(caught.value) == (
        "Reverse-mode differentiation does not work for lax.while_loop where the condition depends "
        "on what is transposed: how many steps a linear function takes cannot depend on its "
        "argument. Close over the values that the condition reads."
    )


def test_parity():
    def fun(x):
        return Ours.fori(3, lambda i, a: a * x, x)

    with parity(True):
        close(cv.jvp(fun, (2.0,), (1.0,)), (16, 32))
        close(cv.linearize(fun, 2.0)[1](1.0), 32)
        with pytest.raises(ValueError, match="Reverse-mode differentiation does not work for lax"):
            cv.grad(fun)(2.0)
    close(cv.grad(fun)(2.0), 32)


# ---------------------------------------------------------------- costs


def loops(fun, *args):
    """How often the text of a program has each of the loops."""
    text = str(cv.make_jaxpr(fun)(*args))
    names = ("while", "while_record", "while_linear", "while_reverse")
    return [text.count(f" {name}[") for name in names]


def test_only_what_is_transposed_is_recorded():
    def fun(x):
        return Ours.fori(3, lambda i, a: jnp.sin(a) * x, x)

    assert loops(fun, 1.0) == [1, 0, 0, 0]
    assert loops(lambda x: cv.jvp(fun, (x,), (x,)), 1.0) == [1, 0, 0, 0]
    assert loops(lambda x: cv.linearize(fun, x)[1](x), 1.0) == [0, 1, 1, 0]
    assert loops(cv.grad(fun), 1.0) == [0, 1, 0, 1]
    # Of two nested loops the inner one is recorded only where a step of the outer one is reversed.
    assert loops(cv.grad(lambda x: nested(Ours, x, 3)), X) == [2, 2, 0, 2]


def test_memory_is_that_of_the_checkpoints():
    x = np.ones(10_000)

    def fun(x, n):
        return jnp.sum(Ours.fori(n, lambda i, a: jnp.sin(a) * x, x, checkpoints=8))

    memory = cv.jit(cv.grad(fun)).lower(x, 3).compile().memory_analysis()
    carries = memory.temp_size_in_bytes / x.nbytes
    assert 16 <= carries < 24
