"""References in functions that are transformed: the results are those of JAX 0.10.2."""

from __future__ import annotations

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp

X = np.array([1.0, 2.0, 3.0], np.float32)


def arithmetic(m, x):
    ref = m.new_ref(x * 2)
    ref[0] += x[1] * x[2]
    ref[1:] = ref[1:] * ref[:2]
    m.ref.addupdate(ref, ..., x)
    old = m.ref.swap(ref, 2, x[0] * 3)
    return m.freeze(ref), old


def chosen(m, x):
    """Branches that write to a reference, one of them with an index that is computed."""
    ref = m.new_ref(x)

    def first():
        ref[0] = x[1] * 7
        return 1.0

    def second():
        i = m.numpy.argmax(x)
        ref[i] = x[0] * x[0]
        return 2.0

    which = m.lax.cond(x[1] > 1.5, first, second)
    m.lax.switch(2, [lambda: 0.0, first, lambda: m.ref.addupdate(ref, ..., x) or 0.0])
    return ref[...], which


def counted(m, x):
    """A `fori_loop`, within it a `jit` that closes over the same reference."""
    ref = m.new_ref(m.numpy.zeros_like(x))
    double = m.jit(lambda: ref.set(ref[...] * 2))

    def body(i, c):
        ref[i] += x[i] ** 2
        double()
        return c + ref[i]

    return m.lax.fori_loop(0, 3, body, 0.0), ref[...]


def scanned(m, x):
    total, steps = m.new_ref(x[0]), m.new_ref(0)

    def body(c, y):
        total[...] = total[...] * y + c
        steps[...] += 1
        return c + y, m.numpy.sin(total[...])

    return m.lax.scan(body, 1.0, x, reverse=True), total[...], steps[...]


def cut(m, x):
    ref = m.new_ref(m.numpy.outer(x, x))
    i = m.numpy.int32(m.lax.stop_gradient(x[0] * 1.2))
    part = ref[m.ds(i, 2), 1]
    ref[0, m.ds(i, 2)] = part
    ref[i, i] += 1.0
    return ref[...], part


def remembered(m, x):
    @m.checkpoint
    def inner(x):
        ref = m.new_ref(x)
        ref[...] *= x
        return m.numpy.sin(ref[...])

    return inner(inner(x))


def passed(m, x):
    """References as arguments of jitted functions, and one made within a jitted function."""

    @m.jit
    def push(ref, other, y):
        ref[0] = other[1] * y
        other[...] += ref[...]
        inner = m.new_ref(y)
        inner[...] *= inner[...]
        return inner[...]

    a, b = m.new_ref(x), m.new_ref(x + 1)
    outs = push(a, b, x[2]), push(b, a, 2.0 * x[0])
    return outs, a[...], b[...]


PROGRAMS = [arithmetic, chosen, counted, scanned, cut, remembered, passed]


def flat(tree):
    return [np.asarray(x) for x in cv.tree.leaves(tree)]


def same(ours, theirs, where):
    ours, theirs = flat(ours), flat(theirs)
    assert len(ours) == len(theirs), where
    for a, b in zip(ours, theirs):
        assert a.dtype == b.dtype, where
        np.testing.assert_allclose(a, b, rtol=1e-5, err_msg=where)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_programs(program, jax):
    theirs = jax.jit(lambda x: program(jax, x))(X)
    same(program(cv, jnp.asarray(X)), theirs, "eager")
    same(cv.jit(lambda x: program(cv, x))(X), theirs, "jit")
    batch = np.stack([X, X[::-1] / 2])
    one_by_one = [flat(cv.jit(lambda x: program(cv, x))(x)) for x in batch]
    stacked = [np.stack(xs) for xs in zip(*one_by_one)]
    same(cv.vmap(lambda x: program(cv, x))(batch), stacked, "vmap")
    same(cv.jit(cv.vmap(lambda x: program(cv, x)))(batch), stacked, "jit of vmap")


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_derivatives_are_those_of_numbers(program):
    def loss(x):
        leaves = [x for x in cv.tree.leaves(program(cv, x)) if x.dtype == np.float64]
        return sum(jnp.sum(jnp.sin(x)) for x in leaves)

    with cv.enable_x64():
        x, v = X.astype(np.float64), np.array([0.3, -0.7, 0.4])
        run, step = cv.jit(loss), 1e-6
        numeric = (float(run(x + step * v)) - float(run(x - step * v))) / (2 * step)
        for grad in (cv.grad(loss), cv.jit(cv.grad(loss)), cv.grad(cv.jit(loss))):
            np.testing.assert_allclose(np.vdot(grad(x), v), numeric, rtol=1e-6)
        tangent = cv.jvp(loss, (x,), (v,))[1]
        np.testing.assert_allclose(tangent, numeric, rtol=1e-6)


def test_references_live_on_between_calls():
    count, total = cv.new_ref(0), cv.new_ref(jnp.zeros(2))
    traced = []

    @cv.jit
    def step(ref, x):
        traced.append(1)
        count[...] += 1
        ref[...] += x
        return ref[...].sum()

    sums = [float(step(total, np.float32([i, 1]))) for i in range(4)]
    assert (int(count[...]), len(traced)) == (4, 1)
    np.testing.assert_array_equal(sums, [1, 3, 6, 10])
    np.testing.assert_array_equal(total[...], [6, 4])
    grad = cv.grad(cv.jit(lambda x: (x * count[...]).sum() + step(total, jnp.ones(2))))
    np.testing.assert_array_equal(grad(jnp.ones(2)), [4, 4])
    assert int(count[...]) == 5


def test_parts_of_references_as_arguments():
    ref = cv.new_ref(jnp.arange(6.0))

    def add(part, i):
        part[i] += 10.0
        return part[...]

    np.testing.assert_array_equal(cv.jit(add)(ref.at[1:4], 0), [11, 2, 3])
    np.testing.assert_array_equal(cv.checkpoint(add)(ref.at[jnp.array([5, 4])], 1), [5, 14])
    np.testing.assert_array_equal(cv.lax.cond(True, add, add, ref.at[:2], 0), [10, 11])
    np.testing.assert_array_equal(ref[...], [10, 11, 2, 3, 14, 5])


def test_programs_compiled_ahead_of_time():
    count, ref = cv.new_ref(0), cv.new_ref(jnp.zeros(3))

    @cv.jit
    def f(ref, x):
        ref[...] += x
        count[...] += 1
        return ref[0]

    traced = f.trace(ref, 1.0)
    assert (traced.out_info.shape, f.eval_shape(ref, 1.0).dtype) == ((), np.float32)
    compiled = traced.lower().compile()
    assert [float(compiled(ref, 2.0)) for _ in range(2)] == [2, 4]
    assert int(count[...]) == 2
    np.testing.assert_array_equal(ref[...], [4, 4, 4])


def test_a_while_loop_whose_condition_reads():
    """The condition sees what the body wrote; the same program does not end in JAX 0.10.2."""

    def program(x):
        left, total = cv.new_ref(3), cv.new_ref(x)

        def body(k):
            left[...] -= 1
            total[...] *= 2
            return k + left[...]

        return cv.lax.while_loop(lambda k: left[...] > 0, body, 0), total[...], left[...]

    for run in (program, cv.jit(program)):
        k, total, left = run(X)
        assert (int(k), int(left)) == (3, 0)
        np.testing.assert_array_equal(total, 8 * X)
    _, tangent = cv.jvp(lambda x: program(x)[1], (X,), (X,))
    np.testing.assert_array_equal(tangent, 8 * X)


def test_the_condition_of_a_while_loop_must_not_write():
    ref = cv.new_ref(0)

    def condition(k):
        ref[...] += 1
        return k < 3

    with pytest.raises(NotImplementedError, match="condition writes"):
        cv.lax.while_loop(condition, lambda k: k + 1, 0)


@pytest.mark.parametrize("jit", [False, True])
def test_a_scan_over_slices_of_a_reference(jit):
    xs = cv.new_ref(jnp.arange(5))

    def body(_, slices):
        i, x = slices
        x[...] += i
        return (), x[...]

    def run():
        return cv.lax.scan(body, (), (jnp.arange(5), xs))[1]

    np.testing.assert_array_equal((cv.jit(run) if jit else run)(), 2 * np.arange(5))
    np.testing.assert_array_equal(xs[...], 2 * np.arange(5))


def test_a_map_that_writes():
    total = cv.new_ref(jnp.zeros(()))

    def f(x):
        total[...] += x
        return total[...] * x

    np.testing.assert_array_equal(cv.lax.map(f, jnp.arange(4.0)), [0, 1, 6, 18])
    assert float(total[...]) == 6.0
    with pytest.raises(NotImplementedError, match="map with batch_size does not support"):
        cv.lax.map(f, jnp.arange(4.0), batch_size=2)


def test_vmap_over_references(jax):
    def program(m):
        rows = m.new_ref(m.numpy.arange(6.0).reshape(2, 3))
        columns = m.new_ref(m.numpy.zeros((3, 2)))

        def f(row, column, x):
            row[...] += x
            column[0] = row[2] * x
            return column[...]

        out = m.vmap(f, (0, 1, 0))(rows, columns, m.numpy.arange(2.0))
        return out, rows[...], columns[...]

    theirs = program(jax)
    same(program(cv), theirs, "eager")
    same(cv.jit(lambda: program(cv))(), theirs, "jit")


def test_cotangents_that_are_added_to_references():
    total = cv.new_ref(jnp.zeros(3))

    def step(_, scale):
        loss, pull = cv.vjp(lambda x, y: (scale * x * x).sum() + y, jnp.asarray(X), 1.0)
        marks = pull.with_refs(total, cv.ad.DontWant())(jnp.ones_like(loss))
        assert [type(mark) for mark in marks] == [cv.ad.GradRef, cv.ad.DidntWant]
        return (), loss

    cv.lax.scan(step, (), np.float32([1, 2]))
    np.testing.assert_allclose(total[...], 6 * X)
    _, pull = cv.vjp(lambda x: x * x, 3.0)
    assert pull.with_refs(cv.ad.GradValue())(1.0)[0] == 6.0
    with pytest.raises(TypeError, match="with_refs"):
        pull.with_refs(3.0)


@pytest.fixture
def stash():
    """The identity of its second argument; its backward rule writes the cotangent to the first."""

    @cv.custom_vjp
    def stash(ref, x):
        return x

    def backward(ref, ct):
        ref[...] = ct
        return None, ct

    stash.defvjp(lambda ref, x: (x, ref), backward)
    return stash


def test_a_backward_rule_that_writes(stash):
    def f(ref, x):
        return jnp.sin(stash(ref, jnp.sin(x)))

    for grad in (cv.grad(f, 1), cv.jit(cv.grad(f, 1)), cv.grad(cv.jit(f), 1)):
        ref = cv.new_ref(jnp.float32(0))
        assert float(cv.jit(f)(ref, 1.0)) == pytest.approx(np.sin(np.sin(1.0)))
        grad(ref, 1.0)
        np.testing.assert_allclose(ref[...], np.cos(np.sin(1.0)), rtol=1e-6)


@pytest.mark.parametrize("jit", [False, True])
def test_a_backward_rule_that_writes_in_a_scan(stash, jit):
    ref = cv.new_ref(jnp.float32(0))

    def loop(x):
        body = cv.checkpoint(lambda c, _: (stash(ref, jnp.sin(c)), None))
        return cv.lax.scan(body, x, None, 2)[0]

    run = cv.jit(loop) if jit else loop
    np.testing.assert_allclose(run(1.0), np.sin(np.sin(1.0)), rtol=1e-6)
    np.testing.assert_allclose(cv.grad(run)(1.0), np.cos(np.sin(1.0)) * np.cos(1), rtol=1e-6)
    np.testing.assert_allclose(ref[...], np.cos(np.sin(1.0)), rtol=1e-6)


def test_a_backward_rule_that_writes_in_a_branch(stash):
    ref = cv.new_ref(jnp.float32(0))

    def branch(x):
        return cv.lax.cond(x > 0, lambda: stash(ref, x), lambda: 0.0)

    assert float(branch(1.0)) == float(cv.jit(branch)(1.0)) == 1.0
    for transformed in (cv.grad(branch), cv.grad(cv.jit(branch))):
        with pytest.raises(NotImplementedError, match=r"stash takes or closes over"):
            transformed(1.0)


def test_a_reference_of_a_kind_gets_values_without_tangents():
    ref = cv.new_ref(1.0, kind="no_grad_no_remat")

    @cv.checkpoint
    def f(y):
        ref[...] += y * y
        return y * y

    for grad in (cv.grad(f), cv.jit(cv.grad(f))):
        assert float(grad(2.0)) == 4.0
    assert float(ref[...]) == 9.0


def test_primitives_that_are_lowered_by_functions_with_references():
    p = cv.extend.core.Primitive("plus_and_minus")
    p.def_abstract_eval(lambda aval: aval)

    def lowering(x):
        ref = cv.new_ref(x)
        ref[...] += 1
        return cv.freeze(ref)

    rule = cv.interpreters.mlir.lower_fun(lowering, multiple_results=False)
    cv.interpreters.mlir.register_lowering(p, rule)
    assert float(cv.jit(p.bind)(3.0)) == 4.0
