"""`cond` and `switch` under every transformation, against JAX."""

import numpy as np
import pytest

import covector as cv
import covector.tree

V = np.array([0.5, -1.0, 2.0], np.float32)
W = np.array([[1.0, 2.0, 3.0], [-1.0, 0.5, 0.25]], np.float32)


def leaves_like_jax(program, jax):
    got, want = program(cv), jax.jit(lambda: program(jax))()
    got_leaves, got_tree = cv.tree.flatten(got)
    want_leaves, want_tree = jax.tree.flatten(want)
    assert str(got_tree) == str(want_tree)
    for x, y in zip(got_leaves, want_leaves, strict=True):
        assert np.shape(x) == np.shape(y)
        if np.asarray(y).dtype.kind == "V":
            assert np.asarray(x).dtype.kind == "V"
            continue
        assert (x.dtype, x.weak_type) == (y.dtype, y.weak_type)
        np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-6)
    return got


def rational(m, x):
    """A function with branches that keep different residuals."""
    return m.lax.cond(
        x > 0, lambda x: m.lax.sin(x) * x + 1.0, lambda x: m.lax.exp(x) / (2.0 + x * x), x
    )


def closing(m, x, y):
    """Branches that close over traced values, each over others."""
    z = x * y
    return m.lax.cond(x < y, lambda: z * x, lambda: m.lax.cos(y) + z)


def three(m, i, x):
    return m.lax.switch(i, [m.lax.sin, lambda x: x * x * x, lambda x: m.lax.exp(x) * 2.0], x)


def tree_valued(m, x):
    """Branches of trees: an output that passes through, an integer, one that is constant."""
    return m.lax.cond(
        x > 1.0,
        lambda x: {"same": x, "number": 3, "pair": (x * 2.0, 1.0)},
        lambda x: {"same": x, "number": 4, "pair": (m.lax.sin(x), x)},
        x,
    )


def nested(m, x, y):
    def inner(x, y):
        return m.lax.cond(y > x, lambda x, y: m.lax.sin(x) * y, lambda x, y: x / y, x, y)

    return m.lax.cond(x > 0.3, inner, lambda x, y: m.lax.cond(x > 0, inner, inner, y, x), x, y)


PROGRAMS = {
    "value": lambda m: [rational(m, x) for x in (0.3, -0.3)],
    "jit": lambda m: [m.jit(lambda x: rational(m, x))(x) for x in (0.3, -0.3)],
    "grad": lambda m: [m.grad(lambda x: rational(m, x))(x) for x in (0.3, -0.3)],
    "grad of jit": lambda m: [m.grad(m.jit(lambda x: rational(m, x)))(x) for x in (0.3, -0.3)],
    "jit of grad": lambda m: [m.jit(m.grad(lambda x: rational(m, x)))(x) for x in (0.3, -0.3)],
    "jvp": lambda m: m.jvp(lambda x: rational(m, x), (0.3,), (2.0,)),
    "hessian": lambda m: [m.hessian(lambda x: rational(m, x))(x) for x in (0.3, -0.3)],
    "third derivative": lambda m: m.grad(m.grad(m.grad(lambda x: rational(m, x))))(0.4),
    "vmap": lambda m: m.vmap(lambda x: rational(m, x))(V),
    "vmap of grad": lambda m: m.vmap(m.grad(lambda x: rational(m, x)))(V),
    "grad of vmap": lambda m: m.grad(lambda x: m.vmap(lambda x: rational(m, x))(x).sum())(V),
    "vmap of hessian": lambda m: m.vmap(m.hessian(lambda x: rational(m, x)))(V),
    "jacobians": lambda m: [
        j(lambda x: m.lax.cond(x[0] > 0, m.lax.sin, lambda x: x * x[1], x))(V)
        for j in (m.jacfwd, m.jacrev)
    ],
    "one predicate for a batch": lambda m: m.vmap(
        lambda p, x: m.lax.cond(p, m.lax.sin, lambda x: x, x), (None, 0)
    )(True, V),
    "batch in another dimension": lambda m: m.vmap(
        lambda x: m.lax.cond(x[0] > 0, lambda x: x * 2, lambda x: x[::-1], x), 1, 1
    )(W),
    "one output is the same for all": lambda m: m.vmap(
        lambda p, x: m.lax.cond(p, lambda x: (x, 1.0), lambda x: (x * 2.0, 2.0), x), (None, 0)
    )(False, V),
    "two vmaps": lambda m: m.vmap(m.vmap(lambda x: rational(m, x)))(W),
    "closures": lambda m: [closing(m, 1.0, 2.0), m.jit(lambda x, y: closing(m, x, y))(2.0, 1.0)],
    "grad of closures": lambda m: m.grad(lambda x, y: closing(m, x, y), (0, 1))(1.0, 2.0),
    "vmap of closures": lambda m: m.vmap(lambda x, y: closing(m, x, y))(V, 2 * V - 1),
    "closure over a batch": lambda m: m.vmap(
        lambda x: m.vmap(lambda y: closing(m, x, y))(V)
    )(V + 1),
    "switch": lambda m: [three(m, i, 0.5) for i in (-1, 0, 1, 2, 7)],
    "switch in jit": lambda m: [m.jit(lambda i, x: three(m, i, x))(i, 0.5) for i in (-3, 1, 9)],
    "grad of switch": lambda m: [m.grad(lambda x, i=i: three(m, i, x))(0.5) for i in range(3)],
    "vmap of switch": lambda m: m.vmap(lambda i, x: three(m, i, x))(np.array([2, 0, 1]), V),
    "vmap over the index": lambda m: m.vmap(lambda i: three(m, i, V))(np.array([2, -1, 5, 1])),
    "grad of vmap of switch": lambda m: m.grad(
        lambda x: m.vmap(lambda i: three(m, i, x))(np.array([2, 0, 1])).sum()
    )(0.7),
    "unsigned index": lambda m: three(m, np.uint8(1), 0.5),
    "one branch": lambda m: m.lax.switch(5, [m.lax.sin], 0.5),
    "trees": lambda m: [tree_valued(m, 0.5), m.jit(lambda x: tree_valued(m, x))(2.0)],
    "jvp of trees": lambda m: m.jvp(lambda x: tree_valued(m, x), (0.5,), (1.0,)),
    "vmap of trees": lambda m: m.vmap(lambda x: tree_valued(m, x))(V),
    "nested": lambda m: [nested(m, x, y) for x in (-1.0, 0.1, 1.0) for y in (0.05, 2.0)],
    "grad of nested": lambda m: [
        m.grad(lambda x, y: nested(m, x, y), (0, 1))(x, y) for x in (-1.0, 0.1, 1.0) for y in (2.0,)
    ],
    "vmap of grad of nested": lambda m: m.vmap(m.grad(lambda x: nested(m, x, 0.7)))(V),
    "linearize": lambda m: m.linearize(lambda x: rational(m, x), 0.3)[1](2.0),
    "linear transpose": lambda m: m.linear_transpose(
        lambda x: m.lax.cond(True, lambda x: (x * 2.0, x), lambda x: (x, x * 0), x), 1.0
    )((3.0, 5.0)),
    "no operands": lambda m: m.lax.cond(np.float32(0.0), lambda: 1.0, lambda: 2.0),
    "operand": lambda m: m.lax.cond(
        1, lambda x: x["a"], lambda x: x["b"], operand={"a": 1, "b": 2}
    ),
    "operand None": lambda m: m.lax.switch(1, [lambda _: 1, lambda _: 2], operand=None),
    "each branch its operand": lambda m: m.lax.cond(
        False, 1.0, lambda x: x + 1, 2.0, lambda x: x * 7
    ),
    "integers": lambda m: m.lax.cond(True, lambda i, x: i * 2, lambda i, x: i, 3, 1.5),
    "grad beside integers": lambda m: m.grad(
        lambda x, i: m.lax.cond(i > 2, lambda i, x: x * i, lambda i, x: m.lax.sin(x), i, x)
    )(1.5, 3),
    "zero tangent in one branch": lambda m: m.grad(
        lambda x: m.lax.cond(x > 2, lambda x: x * 2.0, lambda x: 1.0, x)
    )(3.0),
    "zero tangents in all": lambda m: m.grad(
        lambda x: m.lax.cond(x > 2, lambda x: 3.0, lambda x: 1.0, x)
    )(3.0),
    "weak type of the first branch": lambda m: [
        m.lax.cond(p, lambda: 1.0, lambda: m.numpy.float32(2)) for p in (True, False)
    ],
    "empty arrays": lambda m: m.lax.cond(True, lambda x: x + 1, lambda x: x, V[:0]),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_like_jax(name, jax):
    leaves_like_jax(PROGRAMS[name], jax)


def test_gradient_of_a_guard_is_finite_in_a_batch():
    """The branch that is not chosen has an infinite derivative, which must not leak out."""

    def safe(x):
        return cv.lax.cond(x > 0, cv.lax.sqrt, lambda x: x * 0, x)

    got = cv.vmap(cv.grad(safe))(np.array([4.0, 0.0, -1.0], np.float32))
    np.testing.assert_allclose(got, [0.25, 0.0, 0.0])


def test_only_the_chosen_branch_runs():
    """A branch that would divide by zero in integers, or read NaN, is not run."""
    with cv.debug_nans(True):
        out = cv.lax.cond(True, lambda x: x, lambda x: cv.lax.log(-x), 1.0)
    assert out == 1.0


def test_python_predicates_and_arrays_agree():
    for pred in (True, 1, 2.5, np.bool_(True), np.float32(3), cv.numpy.array(1), np.array(True)):
        assert cv.lax.cond(pred, lambda: "t" and 1, lambda: 0) == 1
    for pred in (False, 0, 0.0, -0.0, np.int8(0), cv.numpy.array(0.0)):
        assert cv.lax.cond(pred, lambda: 1, lambda: 0) == 0
    assert cv.lax.cond(float("nan"), lambda: 1, lambda: 0) == 1


def test_branches_are_traced_once():
    """Functions that are called again with the same types are not traced, nor compiled, again."""
    traced = []

    def one(x):
        traced.append("one")
        return x + 1

    def two(x):
        traced.append("two")
        return x - 1

    for x in range(5):
        assert cv.lax.cond(x > 2, one, two, x) == (x + 1 if x > 2 else x - 1)
    assert traced == ["one", "two"]
    cv.grad(lambda x: cv.lax.cond(True, one, two, x))(1.0)
    cv.grad(lambda x: cv.lax.cond(True, one, two, x))(2.0)
    assert traced == ["one", "two", "one", "two"]


def test_disable_jit_calls_the_branch():
    def fail():
        raise RuntimeError("not to be called")

    with cv.disable_jit():
        assert cv.lax.cond(True, lambda: 1, fail) == 1
        assert cv.lax.switch(7, [fail, lambda: 2]) == 2
        assert cv.grad(lambda x: cv.lax.cond(x > 1, lambda: x * 3, lambda: fail()))(2.0) == 3.0


def test_custom_trees():
    class Point:
        def __init__(self, x, y):
            self.x, self.y = x, y

    cv.tree_util.register_pytree_node(Point, lambda p: ((p.x, p.y), None), lambda _, xs: Point(*xs))

    def swap(p):
        return Point(p.y, p.x)

    out = cv.jit(lambda q, p: cv.lax.cond(q, swap, lambda p: p, p))(True, Point(1, 2))
    assert (out.x, out.y) == (2, 1)
    assert isinstance(out, Point)


def test_float0_in_and_out(jax):
    """Tangents of integers pass through derivatives as nothing."""

    def program(m):
        return m.jvp(
            lambda i, x: m.lax.cond(x > 0, lambda i, x: (i, x * i), lambda i, x: (i + 1, x), i, x),
            (3, 2.0),
            (np.zeros((), m.dtypes.float0), 1.0),
        )

    leaves_like_jax(program, jax)


def test_pruning_drops_what_no_branch_needs():
    """Residuals and inputs of results that nobody uses leave the program of a derivative."""

    def f(x, y):
        a, _ = cv.lax.cond(x > 0, lambda: (cv.lax.sin(x), cv.lax.exp(y)), lambda: (x, y))
        return a

    text = str(cv.make_jaxpr(cv.jit(cv.grad(cv.jit(f))))(1.0, 2.0))
    assert "cos" in text and "exp" not in text


def test_jaxprs_pass_the_verifier():
    def f(x):
        return cv.grad(lambda x: cv.vmap(lambda x: rational(cv, x))(x).sum())(x)

    with cv.enable_checks(True):
        cv.make_jaxpr(cv.jit(f))(V)
        cv.make_jaxpr(cv.hessian(lambda x: closing(cv, x, x * 2)))(1.0)
        cv.extend.core.check_jaxpr(cv.make_jaxpr(lambda i: three(cv, i, 0.5))(1))
