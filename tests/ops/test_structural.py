"""Structural ops against JAX 0.10.2: values, types, derivatives, batches and printed programs."""

import itertools
import re

import numpy as np
import pytest

import covector
from tests.ops.structural import (
    CASES,
    DTYPES,
    STEPS,
    assert_same,
    distinct,
    flat,
    operands,
    outcome,
)

ALL = {**CASES, **STEPS}
F32, C64, INT = np.dtype(np.float32), np.dtype(np.complex64), np.dtype(np.int32)


@pytest.fixture
def same(jax):
    """A check that a program, which takes a module, gives the same with both; it is jitted."""

    def check(program, *args, tolerance=1e-6):
        ours, theirs = [m.jit(lambda *xs, m=m: program(m, *xs))(*args) for m in (covector, jax)]
        assert_same(ours, theirs, tolerance)

    return check


def accepted(jax, case, args):
    """Whether JAX accepts operands of these dtypes; if not, so must we refuse them."""
    theirs, ours = [
        outcome(m.eval_shape, lambda *xs, m=m: case.run(m.lax, *xs), *args) for m in (jax, covector)
    ]
    refused = isinstance(theirs, type)
    assert isinstance(ours, type) == refused
    assert not refused or ours is theirs
    return not refused


@pytest.mark.parametrize("name", ALL)
def test_values(jax, same, name):
    case = ALL[name]
    ordered = name.startswith("arg")  # JAX refuses complex numbers only when it compiles
    lists = [operands(name, case, d) for d in DTYPES if not (ordered and d.kind == "c")]
    lists = [args for args in lists if accepted(jax, case, args)]
    assert lists
    same(lambda m, *lists: [case.run(m.lax, *xs) for xs in lists], *lists, tolerance=1e-2)


@pytest.mark.parametrize("name", ALL)
def test_eager(jax, name):
    case = ALL[name]
    args = operands(name, case, INT)
    assert_same(case.run(covector.lax, *args), jax.jit(lambda *xs: case.run(jax.lax, *xs))(*args))


@pytest.mark.parametrize("name", CASES)
def test_weak_types(jax, name):
    case = CASES[name]
    strong = operands(name, case, F32)
    for weak in itertools.product((True, False), repeat=len(strong)):

        def program(m, *xs, weak=weak):
            mixed = [m.lax.broadcast(1.0, np.shape(x)) if w else x for x, w in zip(xs, weak)]
            return case.run(m.lax, *mixed)

        ours = covector.eval_shape(lambda *xs: program(covector, *xs), *strong)
        theirs = jax.eval_shape(lambda *xs: program(jax, *xs), *strong)
        for x, y in zip(flat(ours), flat(theirs), strict=True):
            assert (x.shape, x.dtype, x.weak_type) == (y.shape, y.dtype, y.weak_type)


# ---------------------------------------------------------------- derivatives


@pytest.mark.parametrize("name", CASES)
def test_jvp(same, name):
    """In all operands together, and in each alone; of real and of complex numbers."""
    case = CASES[name]

    def program(m, primals, tangents):
        results = [m.jvp(lambda *xs: case.run(m.lax, *xs), primals, tangents)]
        for i, (primal, tangent) in enumerate(zip(primals, tangents)):

            def run(x, i=i):
                return case.run(m.lax, *primals[:i], x, *primals[i + 1 :])

            results.append(m.jvp(run, (primal,), (tangent,)))
        return results

    pairs = [(distinct(name, case, dtype), operands(name, case, dtype)) for dtype in (F32, C64)]
    same(lambda m, pairs: [program(m, *pair) for pair in pairs], pairs, tolerance=1e-5)


@pytest.mark.parametrize("name", CASES)
def test_vjp(same, name):
    case = CASES[name]

    def program(m, primals):
        out, pullback = m.vjp(lambda *xs: case.run(m.lax, *xs), *primals)
        cts = [np.asarray(np.arange(x.size).reshape(x.shape) - 1, x.dtype) for x in flat(out)]
        return pullback(type(out)(cts) if isinstance(out, (list, tuple)) else cts[0])

    lists = [distinct(name, case, dtype) for dtype in (F32, C64)]
    same(lambda m, lists: [program(m, primals) for primals in lists], lists, tolerance=1e-5)


@pytest.mark.parametrize("name", CASES)
def test_derivative_of_gradient(same, name):
    case = CASES[name]

    def program(m, primals, tangents):
        def loss(*xs):
            outs = flat(case.run(m.lax, *xs))
            squares = [m.lax.reduce_sum(m.lax.mul(y, y), tuple(range(y.ndim))) for y in outs]
            return m.lax.reduce_sum(m.lax.stack(squares), (0,))

        return m.jvp(m.grad(loss, tuple(range(len(primals)))), primals, tangents)

    same(program, distinct(name, case, F32), operands(name, case, F32), tolerance=1e-4)


# ---------------------------------------------------------------- batches


def batches(case):
    """Ways to map over operands: for each operand an axis or None, not None for all."""
    ways = itertools.product(*[{None, 0, len(shape)} for shape in case.shapes])
    return [axes for axes in ways if any(axis is not None for axis in axes)]


@pytest.mark.parametrize("name", ALL)
def test_vmap(same, name):
    case = ALL[name]
    dtype = F32 if name in CASES else INT
    ways = batches(case)
    lists = []
    for axes in ways:
        shapes = [
            shape if axis is None else (*shape[:axis], 3, *shape[axis:])
            for shape, axis in zip(case.shapes, axes)
        ]
        lists.append(operands(name, case, dtype, shapes))

    def program(m, lists):
        return [
            m.vmap(lambda *xs: case.run(m.lax, *xs), axes)(*args) for args, axes in zip(lists, ways)
        ]

    same(program, lists)


# ---------------------------------------------------------------- printed programs


@pytest.fixture
def same_text(jax):
    """A check that a function has the same jaxpr with both modules, but for the line breaks.

    JAX prints some integers that it has computed with NumPy as `np.int64(3)`; here they are 3.
    """

    def text(m, function, args):
        printed = str(m.make_jaxpr(function(m))(*args))
        printed = re.sub(r"np\.int64\((-?\d+)\)", r"\1", printed)
        return re.sub(r"(?<=\[) | (?=\])", "", re.sub(r"\s+", " ", printed))

    def check(function, args):
        assert text(covector, function, args) == text(jax, function, args)

    return check


@pytest.mark.parametrize("name", ALL)
def test_text(same_text, name):
    case = ALL[name]
    same_text(lambda m: lambda *xs: case.run(m.lax, *xs), operands(name, case, INT))


@pytest.mark.parametrize("name", sorted(set(CASES) - {"reduce_prod of none"}))
def test_text_of_gradient(same_text, name):
    case = CASES[name]
    args = distinct(name, case, F32)

    def gradient(m):
        def loss(*xs):
            y = flat(case.run(m.lax, *xs))[-1]
            return m.lax.reduce_sum(m.lax.sin(y), tuple(range(y.ndim)))

        return m.grad(loss, tuple(range(len(args))))

    same_text(gradient, args)


@pytest.mark.parametrize("name", [name for name in ALL if not name.startswith("dynamic")])
def test_text_of_batch(same_text, name):
    # A dynamic slice at one place of all examples stays one; JAX gathers from each example.
    case = ALL[name]
    args = operands(name, case, INT, [(3, *shape) for shape in case.shapes])
    same_text(lambda m: m.vmap(lambda *xs: case.run(m.lax, *xs)), args)
