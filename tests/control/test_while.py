"""`while_loop` and `fori_loop`: values, forward mode, vmap, and what they refuse."""

import numpy as np
import pytest

import covector as cv
import covector.tree
from covector import lax
from covector._src.transforms.simplify import drop_dead_code

A = np.array([0.5, -1.0, 2.0], np.float32)


def same_leaves(got, want, jax):
    """Equal trees of arrays, in values, shapes, dtypes and weakness."""
    got_leaves, got_tree = cv.tree.flatten(got)
    want_leaves, want_tree = jax.tree.flatten(want)
    assert str(got_tree) == str(want_tree)
    for x, y in zip(got_leaves, want_leaves, strict=True):
        assert kind(x) == kind(y)
        if x.dtype != cv.dtypes.float0:  # which holds nothing
            np.testing.assert_allclose(x, y, rtol=1e-6)


def kind(x):
    """The type of an array; what goes through a loop unchanged may be one of NumPy's."""
    return np.shape(x), x.dtype, getattr(x, "weak_type", False)


def halve(m, x):
    return m.lax.while_loop(lambda y: y > 1.0, lambda y: y * 0.5, x)


def collatz(m, n):
    """Counts the steps; the carry is a dict of integers."""

    def step(s):
        return {
            "n": m.lax.select(s["n"] % 2 == 0, s["n"] // 2, 3 * s["n"] + 1),
            "steps": s["steps"] + 1,
        }

    return m.lax.while_loop(lambda s: s["n"] > 1, step, {"n": n, "steps": 0})


def growing(m, x, y):
    """A tangent reaches one part of the carry after the other."""

    def body(s):
        i, a, b, _ = s
        return i + 1, a, a * a, b * y

    return m.lax.while_loop(lambda s: s[0] < 4, body, (0, x, y, y))


def passed_on(m, x, w):
    """Parts of the carry that no step changes, and that change places."""

    def body(s):
        i, a, b, w = s
        return i + 1, b, a * w, w

    return m.lax.while_loop(lambda s: s[0] < 3, body, (0, x, x + 1.0, w))


def nested(m, x, n):
    def outer(s):
        i, a = s
        inner = m.lax.while_loop(lambda t: t[0] < i, lambda t: (t[0] + 1, m.lax.sin(t[1])), (0, a))
        return i + 1, inner[1] * 1.5

    return m.lax.while_loop(lambda s: s[0] < n, outer, (0, x))


def counted(m, x, n):
    return m.lax.fori_loop(0, n, lambda i, y: y * x + i, x)


def counted_to_a_constant(m, x):
    return m.lax.fori_loop(2, 6, lambda i, y: {"a": y["a"] * i, "b": y["a"]}, {"a": x, "b": x})


PROGRAMS = {
    "halve": lambda m: halve(m, 10.0),
    "no step": lambda m: halve(m, 0.5),
    "collatz": lambda m: collatz(m, 27),
    "growing": lambda m: growing(m, A, A),
    "passed on": lambda m: passed_on(m, A, A),
    "nested": lambda m: nested(m, 0.5, 4),
    "weak carry": lambda m: m.lax.while_loop(lambda s: s < 9, lambda s: s * A[2], 1),
    "empty carry": lambda m: m.lax.while_loop(lambda s: False, lambda s: s, ()),
    "counted": lambda m: counted(m, 0.5, np.int32(4)),
    "down": lambda m: counted(m, 0.5, np.int32(-4)),
    "between traced": lambda m: m.jit(
        lambda x, n: m.lax.fori_loop(n, 7, lambda i, y: y * x + i, 1.0)
    )(0.5, np.int16(3)),
    "constant bounds": lambda m: counted_to_a_constant(m, A),
    "jvp": lambda m: m.jvp(lambda x: halve(m, x), (10.0,), (2.0,)),
    "jvp of a growing part": lambda m: m.jvp(lambda x: growing(m, x, A), (A,), (A,)),
    "jvp of constants": lambda m: m.jvp(lambda w: passed_on(m, A, w), (A,), (A,)),
    "jvp of jvp": lambda m: m.jvp(
        lambda x: m.jvp(lambda x: counted(m, x, np.int32(4)), (x,), (1.0,))[1], (0.5,), (1.0,)
    ),
    "vmap": lambda m: m.vmap(lambda x: halve(m, x))(A * 9),
    "vmap along 1": lambda m: m.vmap(lambda x, w: passed_on(m, x, w), in_axes=(1, None))(
        A[:, None], A
    ),
    "vmap of integers": lambda m: m.vmap(lambda n: collatz(m, n))(np.arange(1, 9)),
    "vmap of the bound": lambda m: m.vmap(lambda x, n: counted(m, x, n))(A, np.arange(3)),
    "vmap of all but the bound": lambda m: m.vmap(lambda x, n: counted(m, x, n), in_axes=(0, None))(
        A, 3
    ),
    "vmap twice": lambda m: m.vmap(m.vmap(lambda x: halve(m, x)))(np.outer(A, A) * 9),
    "vmap of nested": lambda m: m.vmap(lambda x, n: nested(m, x, n))(A, np.arange(3)),
    "jacfwd of vmap": lambda m: m.jacfwd(m.vmap(lambda x: halve(m, x)))(A * 9),
    "linearize": lambda m: m.linearize(lambda x: growing(m, x, A)[3], A)[1](A),
    "linearize of jit": lambda m: m.linearize(m.jit(lambda x: growing(m, x, A)[3]), A)[1](A),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_like_jax(name, jax):
    program = PROGRAMS[name]
    same_leaves(program(cv), program(jax), jax)


def test_with_numpy():
    with cv.reference_mode():
        assert float(halve(cv, 10.0)) == 0.625
        np.testing.assert_allclose(cv.vmap(lambda x: halve(cv, x))(A * 9), [0.5625, -9, 0.5625])
        out, tangent = cv.jvp(lambda x: counted(cv, x, np.int32(4)), (0.5,), (1.0,))
        np.testing.assert_allclose([out, tangent], [4.28125, 3.3125])


def test_without_jit_it_is_a_loop_of_python():
    seen = []

    def body(x):
        seen.append(float(x))
        return x * 2

    with cv.disable_jit():
        assert float(lax.while_loop(lambda x: x < 10, body, 1.0)) == 16.0
        # A traced condition cannot be decided by Python.
        out = cv.vmap(lambda n: lax.while_loop(lambda s: s < n, lambda s: s * 2, 1))(np.arange(4))
        assert lax.fori_loop(3, 3, lambda i, x: 1 / 0, "nothing") == "nothing"
    assert seen == [1.0, 2.0, 4.0, 8.0]
    assert out.tolist() == [1, 1, 2, 4]


def test_functions_are_staged_once():
    calls = []

    def body(x):
        calls.append(x)
        return x + 1

    for start in (0, 3, 5):
        assert int(lax.while_loop(lambda x: x < 7, body, start)) == 7
    assert len(calls) == 1
    calls.clear()
    for stop in (3, 5):
        fun = cv.jit(lambda n: lax.fori_loop(0, n, step, 0))
        assert int(fun(stop)) == sum(range(stop))


def step(i, x):
    return x + i


@pytest.mark.parametrize(
    "make",
    [
        lambda m: (lambda x: halve(m, x), (1.0,)),
        lambda m: (lambda x, n: counted(m, x, n), (1.0, 3)),
        lambda m: (m.vmap(lambda x, w: passed_on(m, x, w), in_axes=(0, None)), (A, 2.0)),
        lambda m: (lambda x, n: nested(m, x, n), (1.0, 3)),
    ],
)
def test_lowered_like_jax(make, jax):
    texts = []
    for m in (cv, jax):
        fun, args = make(m)
        lines = m.jit(fun).lower(*args).as_text().splitlines()
        texts.append([line for line in lines if "func" not in line and "module" not in line])
    assert texts[0] == texts[1]


def test_unused_parts_are_dropped():
    def loop(x, y):
        def step(s):
            return (s[0] + 1, s[1] * 2.0, s[2] + s[1] * y)

        return lax.while_loop(lambda s: s[0] < 3, step, (0, x, x))[1]

    jaxpr, kept = drop_dead_code(cv.make_jaxpr(loop)(1.0, 1.0).jaxpr, deep=True)
    (eqn,) = jaxpr.eqns
    assert kept == [0]
    assert (len(eqn.invars), len(eqn.outvars), eqn.params["body_nconsts"]) == (2, 2, 0)


# ---------------------------------------------------------------- errors


def refusal(error, fun, *args, **kwargs):
    with pytest.raises(error) as caught:
        fun(*args, **kwargs)
    return str(caught.value)


def test_condition_of_another_type():
    text = refusal(TypeError, lax.while_loop, lambda x: x, lambda x: x, np.float32(1))
    assert text == (
        "[while_loop] cond_fun must return a boolean scalar, but got output type(s) "
        "[ShapedArray(float32[])]. Compare, or reduce with `all` or `any`, to get one bool."
    )
    text = refusal(TypeError, lax.while_loop, lambda x: x > 0, lambda x: x, A)
    assert "[ShapedArray(bool[3])]" in text
    text = refusal(TypeError, lax.while_loop, lambda x: (True, x), lambda x: x, 1.0)
    assert text.startswith(
        "[while_loop] cond_fun must return a boolean scalar, but got pytree PyTreeDef((*, *)). "
    )


def test_carry_of_another_type():
    text = refusal(TypeError, lax.while_loop, lambda c: True, lambda c: (c, c), 0.0)
    assert text.startswith(
        "while_loop body function carry input and carry output must have the same pytree "
        "structure, but they differ:\n\nThe input carry c is a "
    )
    text = refusal(TypeError, lax.while_loop, lambda c: True, lambda c: c[:2], A)
    assert "has type float32[3]" in text and "type float32[2], so the shapes do not match" in text


def test_no_functions():
    text = refusal(TypeError, lax.while_loop, True, lambda x: x, 0)
    assert text == "lax.while_loop: cond_fun and body_fun arguments should be callable."
    text = refusal(TypeError, lax.fori_loop, 0, 3, 4, 0)
    assert text == "lax.fori_loop: body_fun argument should be callable."


def test_bounds_of_two_types():
    text = refusal(TypeError, lax.fori_loop, np.int8(0), np.int16(3), step, 0)
    assert text == (
        "[fori_loop] lower and upper arguments to fori_loop must have equal types, got int8 and "
        "int16. Convert one of them."
    )
    assert "int32 and float32" in refusal(TypeError, lax.fori_loop, 0, 1.5, step, 0)


def test_unrolled_to_a_traced_bound():
    fun = cv.jit(lambda n: lax.fori_loop(0, n, step, 0, unroll=2))
    assert refusal(ValueError, fun, 3) == (
        "[fori_loop] Can only use `unroll` in `fori_loop` if the loop bounds are statically known, "
        "but got unroll=2 and a bound that is traced. Leave `unroll` out."
    )


@pytest.mark.parametrize(
    "name, value, least", [("checkpoints", 1, 2), ("max_steps", 0, 1), ("max_steps", 2.5, 1)]
)
def test_limits(name, value, least):
    for where, args in [
        ("while_loop", (lambda x: x < 1, lambda x: x, 0)),
        ("fori_loop", (0, 3, step, 0)),
    ]:
        assert refusal(ValueError, getattr(lax, where), *args, **{name: value}) == (
            f"[{where}] {name} must be an integer of at least {least}, but got {value!r}."
        )
