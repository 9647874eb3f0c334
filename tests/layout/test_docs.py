"""The documents are true: the lesson runs and is short, the page's links and examples work."""

import doctest
import os
import re
import runpy
import subprocess
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

DOCS = Path(__file__).parents[2] / "docs"
LESSON = DOCS / "from_scratch.py"
PAGE = DOCS / "ARCHITECTURE.md"

# Makes jaxlib impossible to find, and runs the file that is given.
WITHOUT_JAXLIB = "import sys, runpy; sys.modules['jaxlib'] = None; runpy.run_path(sys.argv[1])"


def run(*arguments) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-W", "error", *map(str, arguments)],
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )


# ---------------------------------------------------------------- the lesson as a program


def test_the_lesson_has_at_most_600_lines():
    assert len(LESSON.read_text(encoding="utf-8").splitlines()) <= 600


def test_the_lesson_runs_through_xla():
    done = run(LESSON)
    assert done.returncode == 0, done.stderr
    assert "{ lambda ; a:f64[]. let" in done.stdout
    assert "stablehlo.sine" in done.stdout


def test_the_lesson_needs_only_numpy():
    done = run("-c", WITHOUT_JAXLIB, LESSON)
    assert done.returncode == 0, done.stderr
    assert "stablehlo.sine" in done.stdout
    imported = re.findall(r"^(?:import|from) (\w+)", LESSON.read_text(encoding="utf-8"), re.M)
    assert set(imported) - sys.stdlib_module_names == {"numpy"}


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("return neg(mul(t, sin(x)))", "return mul(t, sin(x))"),
        ("return mul(t, y)", "return mul(t, x)"),
        ("if self.owns(x) else (x, Zero", "if isinstance(x, Tracer) else (x, Zero"),
        ("permutation=(0, *shift(permutation))", "permutation=(0, *permutation)"),
        ("axes=shift(axes)", "axes=axes"),
        ("add(ct[atom], c) if atom in ct else c", "c"),
        ("transpose_jaxpr, linear)\n", "jvp_jaxpr)\n"),
        ("x if rs is own else instantiate", "instantiate"),
        ("None, self(which, ct, 0.0), self(which, 0.0, ct)", "None, ct, ct"),
        ("branches[int(pred)]", "branches[1 - int(pred)]"),
        ("staged = cache(partial(stage, f))", "staged = partial(stage, f)"),
    ],
)
def test_the_assertions_of_the_lesson_notice_a_wrong_rule(right, wrong, tmp_path):
    text = LESSON.read_text(encoding="utf-8")
    assert text.count(right) == 1
    broken = tmp_path / "broken.py"
    broken.write_text(text.replace(right, wrong), encoding="utf-8")
    done = run("-c", WITHOUT_JAXLIB, broken)
    assert done.returncode != 0


# ---------------------------------------------------------------- the lesson as a library


@pytest.fixture(scope="module")
def lesson():
    return SimpleNamespace(**runpy.run_path(str(LESSON)))


# For each primitive: a function that applies it, and the shapes of its differentiable operands.
WHICH = np.array([True, False, True])
ROWS = {
    "sin": (lambda n: n.sin, [(3,)]),
    "cos": (lambda n: n.cos, [(3,)]),
    "exp": (lambda n: n.exp, [(2, 3)]),
    "neg": (lambda n: n.neg, [(3,)]),
    "mul": (lambda n: n.mul, [(3,), (3,)]),
    "add": (lambda n: n.add, [(3,), (3,)]),
    "add of a number": (lambda n: n.add, [(2, 3), ()]),
    "gt": (lambda n: lambda x, y: n.select_n(n.gt(x, y), x, y), [(3,), (3,)]),
    "select_n": (lambda n: partial(n.select_n, WHICH), [(3,), (3,)]),
    "transpose": (lambda n: partial(n.permute, permutation=(2, 0, 1)), [(2, 3, 4)]),
    "broadcast_in_dim": (
        lambda n: partial(n.broadcast_in_dim, shape=(4, 3, 2), broadcast_dimensions=(0, 2)),
        [(4, 2)],
    ),
    "reduce_sum": (lambda n: partial(n.reduce_sum, axes=(0, 2)), [(2, 3, 4)]),
    "jit": (lambda n: n.jit(lambda x, y: n.sin(x) * y), [(3,), (3,)]),
    "cond": (
        lambda n: lambda x, y: n.cond(n.dot(x, y) > 0.0, n.mul, lambda x, y: n.exp(x) + y, x, y),
        [(3,), (3,)],
    ),
}


@pytest.fixture(params=ROWS)
def row(request, lesson):
    apply, shapes = ROWS[request.param]
    rng = np.random.default_rng(7)
    return apply(lesson), *[[rng.normal(size=s) for s in shapes] for _ in range(2)], rng


def test_compiled_is_evaluated(lesson, row):
    f, xs, *_ = row
    np.testing.assert_allclose(lesson.jit(f)(*xs), f(*xs), rtol=1e-12)


def test_jvp_is_numeric(lesson, row):
    f, xs, vs, _ = row
    h = 1e-6
    up, down = (f(*[x + s * v for x, v in zip(xs, vs)]) for s in (h, -h))
    for transformed in (f, lesson.jit(f)):
        y, dy = lesson.jvp(transformed, xs, vs)
        np.testing.assert_allclose(y, f(*xs), rtol=1e-12)
        np.testing.assert_allclose(dy, (up - down) / (2 * h), rtol=1e-6, atol=1e-8)


def test_transpose_is_adjoint(lesson, row):
    f, xs, vs, rng = row
    for transformed in (f, lesson.jit(f)):
        y, push = lesson.linearize(transformed, *xs)
        ct = rng.normal(size=np.shape(y))
        cts = lesson.many(lesson.transpose(push)(ct))
        inner = sum(np.vdot(c, v) for c, v in zip(cts, vs))
        np.testing.assert_allclose(np.vdot(ct, push(*vs)), inner, rtol=1e-10)


def test_vmap_is_a_loop_over_each_axis(lesson, row):
    f, xs, _, rng = row
    batches = [rng.normal(size=(5, *x.shape)) for x in xs]
    loop = [f(*examples) for examples in zip(*batches)]
    for axis in range(min(x.ndim for x in xs) + 1):
        moved = [np.moveaxis(x, 0, axis) for x in batches]
        for transformed in (f, lesson.jit(f)):
            np.testing.assert_allclose(lesson.vmap(transformed, axis)(*moved), loop, rtol=1e-12)
    one = [f(batches[0][i], *xs[1:]) for i in range(5)]
    mapped = lesson.vmap(f, (0, *[None] * (len(xs) - 1)))
    np.testing.assert_allclose(mapped(batches[0], *xs[1:]), one, rtol=1e-12)


def _numbers_and_arrays(n, x, m):
    y = n.sin(n.exp(-x) * 0.5) + n.cos(x)
    z = n.mul(y, n.exp(n.neg(y)))
    return z * z + y, n.sin(n.cos(m) + m), z


def _more_variables_than_letters(n, x):
    for _ in range(20):
        x = n.sin(x) + x
    return x


def _moved_and_summed(n, x):
    y = n.permute(n.sin(x), permutation=(2, 0, 1))
    return n.cos(n.exp(y)) * y


def test_the_text_of_a_jaxpr_is_that_of_jax(lesson, jax):
    permute = jax.lax.transpose
    oracle = SimpleNamespace(
        **vars(jax.lax), permute=lambda x, permutation: permute(x, permutation)
    )
    x = np.ones((2, 3, 4))
    for program, args in [
        (_numbers_and_arrays, (1.0, x)),
        (_more_variables_than_letters, (x,)),
        (_moved_and_summed, (x,)),
    ]:
        jaxpr, consts = lesson.stage(partial(program, lesson), *lesson.avals(args))
        with jax.enable_x64(True):
            expected = str(jax.make_jaxpr(partial(program, oracle))(*args))
        assert consts == ()
        assert lesson.show(jaxpr) == expected


def test_the_checker_finds_a_wrong_type_and_an_unbound_variable(lesson):
    number = lesson.typeof(1.0)
    vector = lesson.typeof(np.ones(3))
    jaxpr, _ = lesson.stage(lesson.wave, number)
    lesson.check_jaxpr(jaxpr, number)
    with pytest.raises(TypeError, match="inferred the types of"):
        lesson.check_jaxpr(jaxpr, vector)
    jaxpr.eqns[-1].outvars[0].aval = vector
    with pytest.raises(TypeError, match="inferred the types of"):
        lesson.check_jaxpr(jaxpr, number)
    del jaxpr.eqns[0]
    with pytest.raises(KeyError):
        lesson.check_jaxpr(jaxpr, number)


def test_errors_say_what_to_do(lesson):
    n, x = lesson, np.ones(3)
    with pytest.raises(TypeError, match=r"`if` on bool\[\], whose value is not known: use `cond`"):
        n.jit(lambda x: x if x > 0.0 else -x)(1.0)
    with pytest.raises(TypeError, match=r"shapes \(2,\) and \(3,\) do not agree .* reshape one"):
        n.add(x, np.ones(2))
    with pytest.raises(TypeError, match=r"\[vmap\] the mapped axes have sizes .* one size"):
        n.vmap(n.add)(x, np.ones(2))
    with pytest.raises(TypeError, match=r"\[grad\] f returned f64\[3\], .* sum it, or use `vjp`"):
        n.grad(n.sin)(x)
    with pytest.raises(TypeError, match=r"\[cond\] branches of two types"):
        n.cond(True, n.sin, lambda x: n.dot(x, x), x)


# ---------------------------------------------------------------- the page


def test_the_links_of_the_page_lead_somewhere():
    links = re.findall(r"\]\(([^)#]+)\)", PAGE.read_text(encoding="utf-8"))
    assert len(links) > 30
    assert [link for link in links if not (DOCS / link).exists()] == []


def test_the_examples_of_the_page_are_true():
    failed, tried = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert tried > 0 and failed == 0
