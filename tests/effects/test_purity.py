"""Side effects of traced functions: what `checking_purity` finds, and what it lets pass."""

import doctest
import functools
import inspect
import itertools
import logging
import random
import re
from collections import deque
from pathlib import Path

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector import lax
from covector.errors import ImpureFunctionError
from covector.experimental import io_callback
from covector.interpreters import batching

X = np.arange(3, dtype=np.float32)
total = 0
history: list = []
table: dict = {}


def line_of(fun, text):
    """The number of the line of a function that contains a text."""
    lines, start = inspect.getsourcelines(fun)
    (found,) = [start + i for i, line in enumerate(lines) if text in line]
    return found


def findings(fun, *args):
    with cv.checking_purity(), pytest.raises(ImpureFunctionError) as error:
        cv.jit(fun)(*args)
    for finding in error.value.findings:
        assert f"  - {finding}" in str(error.value)
    return error.value.findings


# ---------------------------------------------------------------- writes


def writes_global(x):
    global total
    total += 1
    return x


def appends(x):
    history.append(x)
    return x


def sets_item(x):
    y = x + 1
    helper(y)
    return y


def helper(y):
    table["y"] = y


def writes_default(x, seen=[]):  # noqa: B006
    seen.append(1)
    return x


class Model:
    scale = 1.0
    calls = 0

    def __init__(self):
        self.last = None

    def __call__(self, x):
        if self.last is None:
            self.last = x
        return x * self.scale

    def count(self, x):
        Model.calls += 1
        return x


class Slotted:
    __slots__ = ("__weakref__", "value")

    def __call__(self, x):
        self.value = x
        return x


def closure():
    n = 0

    def fun(x):
        nonlocal n
        n = n + 1
        return x

    return fun


def attribute_of_function(x):
    attribute_of_function.calls = 1
    return x


members, queue, buffer = set(), deque([1.0]), np.zeros(2)


def writes_containers(x):
    members.add(3)
    queue.append(x)
    buffer[1] = 7
    return x


WRITES = [
    (writes_global, writes_global, "total += 1", "the global `total` was 0, and is now 1"),
    (appends, appends, "history.", "the list `history` had 0 elements, and now has 1"),
    (sets_item, helper, 'table["y"] =', "`table['y']` was set to a traced float32[3]"),
    (writes_default, writes_default, "seen.append",
     "the list `a default of writes_default` had 0 elements, and now has 1"),
    (Model(), Model.__call__, "self.last =", "`fun.last` was None, and is now a traced float32[3]"),
    (Model().count, Model.count, "calls += 1", "`Model.calls` was 0, and is now 1"),
    (Slotted(), Slotted.__call__, "value =", "`fun.value` was set to a traced float32[3]"),
    (closure(), closure, "n = n + 1", "the closed-over variable `n` was 0, and is now 1"),
    (attribute_of_function, attribute_of_function, "calls = 1",
     "`attribute_of_function.calls` was set to 1"),
]  # fmt: skip


@pytest.mark.parametrize(("fun", "code", "text", "fact"), WRITES, ids=[row[3] for row in WRITES])
def test_writes_are_found_with_their_line(fun, code, text, fact):
    (finding,) = findings(fun, X)
    place, _, found = finding.partition("): ")
    assert found == fact
    assert place.startswith(f"{__file__}:{line_of(code, text)} ({code.__qualname__}")


def test_a_key_that_changes_and_one_that_goes():
    names = {"a": 1, "b": 2}

    def fun(x):
        names["c"] = names.pop("b")
        return x

    found = [finding.partition("): ")[2] for finding in findings(fun, X)]
    assert found == ["`names['b']` was deleted", "`names['c']` was set to 2"]
    assert names == {"a": 1, "b": 2}


def test_every_write_is_listed_and_undone():
    found = [finding.partition("): ")[2] for finding in findings(writes_containers, X)]
    assert sorted(found) == [
        "elements of the NumPy array `buffer` were written",
        "the deque `queue` had 1 elements, and now has 2",
        "the set `members` got 1 new members and lost 0",
    ]
    assert (members, list(queue), buffer.tolist()) == (set(), [1.0], [0.0, 0.0])
    for fun, *_ in WRITES:
        findings(fun, X)
    assert (total, history, table, Model.calls) == (0, [], {}, 0)
    assert not hasattr(attribute_of_function, "calls") and not hasattr(WRITES[6][0], "value")


def test_writes_to_arguments():
    def fun(params, x):
        params["count"] = params["count"] + 1
        params["layers"].pop()
        return x

    params = {"count": 1, "layers": [1.0, 2.0]}
    found = [finding.partition("): ")[2] for finding in findings(fun, params, X)]
    assert found == [
        "`params['count']` was a traced int32[], and is now a traced int32[]",
        "the list `params['layers']` had 2 elements, and now has 1",
    ]
    static = Model()
    with cv.checking_purity(), pytest.raises(ImpureFunctionError, match="last` was None"):
        cv.jit(lambda model, x: model(x), static_argnums=0)(static, X)
    assert static.last is None


# ---------------------------------------------------------------- reads


def test_reads_that_differ():
    counter = itertools.count()
    generator = np.random.default_rng(0)
    (found,) = findings(lambda x: x * next(counter), X)
    assert found.endswith("an operand of `mul` was 0.0 in the first run, and 1.0 in the second")
    assert found.startswith(f"{__file__}:")
    (found,) = findings(lambda x: x + generator.normal(size=3).astype(np.float32), X)
    assert "an operand of `add` was float32[3] of [" in found
    (found,) = findings(lambda x: (x, random.random()), X)
    assert found.startswith("it returned 0.")
    (found,) = findings(lambda x: jnp.sin(x) if next(counter) % 2 else jnp.cos(x), X)
    assert re.search(r"the first run did `(cos|sin)` here, the second `(cos|sin)`", found)
    (found,) = findings(lambda x: lax.slice(x, (next(counter) % 2,), (3,)), X)
    assert "the parameter start_indices of `slice` was (" in found
    (found,) = findings(lambda x: -x if next(counter) % 2 else (-x) * 2, X)
    assert re.search(r"only the (first|second) run did `mul` here", found)
    done = iter([True])
    (found,) = findings(lambda x: (next(done), x)[1], X)
    assert found == "only the second run raised StopIteration: "


# ---------------------------------------------------------------- wherever functions are traced


def traced(body):
    """Programs that trace `body`, an impure function of one array, in one way each."""
    f = cv.custom_jvp(lambda x: x * 2)
    f.defjvp(lambda primals, tangents: (body(primals[0]), tangents[0]))
    g = cv.custom_vjp(lambda x: x * 2)
    g.defvjp(lambda x: (body(x), None), lambda _, ct: (ct,))
    h = cv.custom_vjp(lambda x: x * 2)
    h.defvjp(lambda x: (x, None), lambda _, ct: (body(ct),))
    return {
        "jit": lambda: cv.jit(body)(1.0),
        "jit of jit": lambda: cv.jit(cv.jit(body))(1.0),
        "make_jaxpr": lambda: cv.make_jaxpr(body)(1.0),
        "grad": lambda: cv.grad(body)(1.0),
        "jvp": lambda: cv.jvp(body, (1.0,), (1.0,)),
        "vmap": lambda: cv.vmap(body)(X),
        "vmap of grad": lambda: cv.vmap(cv.grad(body))(X),
        "hessian": lambda: cv.hessian(body)(1.0),
        "checkpoint": lambda: cv.checkpoint(body)(1.0),
        "scan": lambda: lax.scan(lambda c, _: (body(c), None), 1.0, None, length=2),
        "while": lambda: lax.while_loop(lambda c: c < 3, lambda c: body(c) + 1, 1.0),
        "cond": lambda: lax.cond(True, body, lambda x: x, 1.0),
        "map": lambda: lax.map(body, X),
        "custom_jvp": lambda: cv.jit(cv.grad(f))(1.0),
        "custom_vjp forward": lambda: cv.jit(cv.grad(g))(1.0),
        "custom_vjp backward": lambda: cv.jit(cv.grad(h))(1.0),
    }


@pytest.mark.parametrize("kind", traced(None))
def test_in_every_transformation(kind):
    seen = []

    def body(x):
        seen.append(0)
        return x * 1.0

    program = traced(body)[kind]
    with cv.checking_purity(), pytest.raises(ImpureFunctionError) as error:
        program()
    line = line_of(body, "seen.append")
    assert f"{__file__}:{line} (" in str(error.value)
    assert "the list `seen` had 0 elements, and now has 1" in str(error.value)


def test_only_while_the_flag_is_on():
    seen = []
    f = cv.jit(lambda x: seen.append(x) or x)
    f(X)
    with cv.checking_purity(), pytest.raises(ImpureFunctionError):
        f(X)  # traced before, but not under the flag
    with cv.check_purity(False):
        f(X)
    assert len(seen) == 1


# ---------------------------------------------------------------- what is no finding


@functools.lru_cache
def memoized(n):
    return np.arange(n, dtype=np.float32)


class Lazy:
    @functools.cached_property
    def weights(self):
        return np.ones(3, np.float32)

    def __call__(self, x):
        return x * self.weights


inner = cv.jit(lambda x: jnp.sin(x) * 2)
root = cv.custom_vjp(lambda x: jnp.sqrt(x))
root.defvjp(lambda x: (root(x), x), lambda x, ct: (ct / (2 * root(x)),))


def local_state(x):
    parts = []
    for i in range(3):
        parts.append(x * i)
    shapes = {"x": x.shape}
    shapes["y"] = x.dtype
    return sum(parts)


def logs(x):
    logging.getLogger(__name__).debug("traced %s", x)
    return x * memoized(3)


def structured(x):
    def body(c, _):
        return jnp.sin(c) + x, inner(c)

    c, _ = lax.scan(body, x, None, length=3)
    c = lax.while_loop(lambda c: jnp.sum(c) < 10, lambda c: c + 1, c)
    return lax.cond(jnp.sum(c) > 0, root, cv.checkpoint(jnp.cos), c)


def branches_on_values(x):
    return x * 2 if float(x[0]) > 0.5 else jnp.sin(x)


def keys(x):
    return x + cv.random.normal(cv.random.key(1), (3,))


PURE = [Lazy(), local_state, logs, structured, keys]


@pytest.mark.parametrize("fun", PURE)
def test_pure_functions_give_what_they_give_without_the_flag(fun):
    def loss(x):
        return jnp.sum(fun(x))

    x = jnp.array([1.0, 2.0, 3.0])
    for transform in (cv.jit, cv.grad, lambda f: cv.jit(cv.grad(f))):
        plain = transform(loss)
        text = str(cv.make_jaxpr(plain)(x))
        with cv.checking_purity():
            assert str(cv.make_jaxpr(plain)(x)) == text
    plain = cv.jit(loss)
    want = plain(x)
    with cv.checking_purity():
        np.testing.assert_array_equal(plain(x), want)


def test_python_may_branch_on_values_that_grad_knows():
    with cv.checking_purity():
        for x in (0.0, 1.0):
            want = [2.0 if x else 1.0, 0, 0]
            grad = cv.grad(lambda v: branches_on_values(v)[0])(jnp.full(3, x))
            assert grad.tolist() == want


def test_effects_happen_once_and_are_no_findings(capfd):
    seen, told = [], []

    def fun(x):
        cv.debug.print("x = {}", x)
        cv.debug.callback(seen.append, x)
        n = cv.pure_callback(lambda v: told.append(0) or v, cv.ShapeDtypeStruct((), "float32"), 1.0)
        return jnp.sum(x) * n

    with cv.checking_purity():
        cv.grad(fun)(jnp.ones(2))
        cv.jit(cv.grad(fun))(jnp.ones(2))
    cv.effects_barrier()
    assert (len(seen), len(told)) == (2, 2)
    assert capfd.readouterr().out.count("x = [1. 1.]") == 2


def test_io_callbacks_may_write():
    state = {"count": 0}

    def step(n):
        state["count"] += int(n)
        return np.int32(state["count"])

    def fun(n):
        return io_callback(step, cv.ShapeDtypeStruct((), "int32"), n) + 1

    with cv.checking_purity():
        assert int(cv.jit(fun)(5)) == 6
        assert int(cv.jit(lambda n: fun(n) * 2)(5)) == 22


def test_an_error_of_the_function_is_raised_as_it_is():
    def fun(x):
        raise ZeroDivisionError("mine")

    with cv.checking_purity(), pytest.raises(ZeroDivisionError, match="mine"):
        cv.jit(fun)(X)


def test_nested_functions_run_a_few_times_only():
    runs = itertools.count()

    def innermost(x):
        logging.getLogger(f"{__name__}.{next(runs)}")
        return x * 2.0

    fun = innermost
    for _ in range(6):
        fun = cv.vmap(fun)
    with cv.checking_purity():
        fun(np.ones((1,) * 6, np.float32))
    assert next(runs) == 7


def test_with_batches_of_registered_types():
    batching.register_vmappable(Labels, int, int, lambda *_: None, lambda *_: None, None)
    try:
        test_in_every_transformation("vmap")
    finally:
        batching.unregister_vmappable(Labels)


class Labels:
    """A type whose batches are no arrays."""


def test_the_examples_of_the_page():
    page = Path(__file__).parents[2] / "docs" / "purity.md"
    assert doctest.testfile(str(page), module_relative=False).failed == 0
