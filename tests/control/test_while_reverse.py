"""Reverse mode through loops: what they are made of, compositions, second derivatives.

The derivatives are compared with closed forms, or with those of Python loops.
"""

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector import lax
from covector._src.base.config import parity
from covector._src.core.effects import Effect
from covector.extend.core import Primitive
from tests.control.plain_loops import Ours, Plain, close, complex_step

X = np.array([0.7, -0.4, 0.2])
W = np.array([[0.3, -0.5, 0.1], [0.2, 0.4, -0.6], [-0.1, 0.5, 0.3]])
COUNTS = np.array([0, 3, 7])


@pytest.fixture(autouse=True)
def double_precision():
    with cv.enable_x64(True):
        yield


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


def in_jitted_step(L, x, n):
    """A loop in a jitted function in a scan; another one that is the same in each step."""

    def step(c, k):
        same = L.fori(2, lambda i, a: L.sin(a) * x, x)
        solve = L.jit(lambda c, k: L.fori(k, lambda i, a: L.sin(a) * 1.1 + 0.01 * x, c))
        return solve(c, k) * same, L.sum(c)

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


PROGRAMS = [of_tuples, nested, in_scan, in_jitted_step, in_branch, scan_in_loop, unused_parts]


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


def test_batches_of_batches():
    """Numbers of steps that differ along two axes, of which one or both are inside of `grad`."""
    numbers = np.add.outer(np.arange(3), np.arange(3))
    want = (numbers + 1) * X**numbers

    def total(x, numbers):
        def power(x, n):
            return Ours.fori(n, lambda i, a: a * x, x)

        return jnp.sum(cv.vmap(power)(x, numbers))

    def total_of_all(x, numbers):
        return jnp.sum(cv.vmap(total, in_axes=(None, 0))(x, numbers))

    close(cv.jit(cv.vmap(cv.grad(total), in_axes=(None, 0)))(X, numbers), want)
    close(cv.jit(cv.grad(total_of_all))(X, numbers), want.sum(0))


def test_steps_that_act_over_an_axis(jax):
    def loop(m, fori, x):
        def step(i, a):
            return 0.5 * a + m.lax.pmean(a, "i") * m.numpy.sin(a)

        return m.vmap(lambda x: fori(3, step, x), axis_name="i")(x)

    def grad(m, fori):
        return m.grad(lambda x: m.numpy.sum(loop(m, fori, x) * x))

    np.testing.assert_allclose(grad(cv, Ours.fori)(X), grad(jax, Plain.fori)(X), rtol=1e-5)


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


# ---------------------------------------------------------------- rules of the user's


@cv.custom_jvp
def sine(x):
    return jnp.sin(x)


sine.defjvp(lambda primals, tangents: (sine(*primals), 3 * tangents[0]))


@cv.custom_vjp
def product(x, y):
    return x * y


product.defvjp(lambda x, y: (x * y, (x, y)), lambda kept, ct: (5 * kept[1] * ct, 7 * kept[0] * ct))


def test_rules_of_the_users():
    fun = cv.grad(lambda x, n: Ours.fori(n, lambda i, a: sine(a), x))
    close(cv.vmap(fun, in_axes=(None, 0))(0.5, COUNTS), 3.0**COUNTS)
    fun = cv.grad(lambda x: Ours.fori(2, lambda i, a: product(a, x), x))
    # x -> p = x x -> q = p x: q' = 5 x p' + 7 p, where p' = 5 x + 7 x
    close(fun(0.5), 5 * 0.5 * 12 * 0.5 + 7 * 0.25)


def test_solution_of_a_system_that_is_a_loop():
    third = np.linalg.matrix_power(W + 2 * np.eye(3), 3)

    def solved(b):
        return lax.custom_linear_solve(
            lambda v: Ours.fori(3, lambda i, a: (W + 2 * np.eye(3)) @ a, v),
            b,
            lambda _, b: np.linalg.inv(third) @ b,
            transpose_solve=lambda _, b: np.linalg.inv(third).T @ b,
        )

    close(cv.grad(lambda b: jnp.sum(solved(b) * X))(X), np.linalg.solve(third.T, X))
    close(cv.jacfwd(solved)(X), np.linalg.inv(third))


def test_effects_are_not_repeated():
    class Noise(Effect):
        pass

    noise = Primitive("noise")
    noise.multiple_results = True
    noise.def_effectful_abstract_eval(lambda i: ([], {Noise()}))

    def body(i, a):
        noise.bind(i)
        return jnp.sin(a)

    text = str(cv.make_jaxpr(cv.grad(lambda x: Ours.fori(3, body, x)))(1.0))
    record, sweep = text.split("while_reverse[")
    assert (record.count("noise"), sweep.count("noise")) == (1, 0)


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

    def number(x):
        return Ours.fori(3, lambda i, k: k + (x > 0), 0)

    assert loops(cv.grad(lambda x: x * number(x)), 1.0) == [1, 0, 0, 0]
    # Of two nested loops the inner one is recorded only where a step of the outer one is reversed.
    assert loops(cv.grad(lambda x: nested(Ours, x, 3)), X) == [2, 2, 0, 2]
    # No tapes are stacked by a scan: only the second of its scans makes them.
    assert loops(cv.grad(lambda x: in_scan(Ours, x, 3)), X) == [1, 1, 0, 1]
    assert loops(cv.grad(lambda x: in_jitted_step(Ours, x, 3)), X) == [1, 2, 0, 2]
