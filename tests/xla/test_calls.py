"""The path of repeated calls, in C and in Python: both do the same."""

import gc
import importlib.util
import sys
import threading
from collections import namedtuple
from unittest import mock

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector._src.base import config
from covector._src.core.trace import eval_trace
from covector._src.ops.arithmetic import add_p
from covector._src.xla import calls
from covector._src.xla.array import ArrayImpl


def in_python():
    """The module as it is where C could not be compiled."""
    spec = importlib.util.spec_from_file_location("covector._src.xla.calls", calls.__file__)
    module = importlib.util.module_from_spec(spec)
    with mock.patch.dict(sys.modules, {"covector._src.xla._calls": None}):
        spec.loader.exec_module(module)
    return module


IMPLEMENTATIONS = {"python": in_python()}
if hasattr(calls, "_calls"):
    IMPLEMENTATIONS["c"] = calls


@pytest.fixture(autouse=True)
def nobody_watches():
    """As if no test before had switched on what looks at all results, for good."""
    with mock.patch.object(calls.watch, "ever_on", False):
        yield


@pytest.fixture(params=IMPLEMENTATIONS)
def module(request):
    return IMPLEMENTATIONS[request.param]


def repeated(module, fun):
    """A jitted function by one of the implementations, which counts the calls that take long."""

    class Repeated(module.RepeatedCalls):
        def __init__(self):
            self._calls = jitted._calls
            self.slow = 0

        def _call(self, *args, **kwargs):
            self.slow += 1
            return jitted._call(*args, **kwargs)

    jitted = cv.jit(fun)
    return Repeated()


Pair = namedtuple("Pair", "a b")

TREES = {
    "array": (lambda x: x + 1, (jnp.arange(3.0),)),
    "two arrays": (lambda x, y: (x * y, x), (jnp.arange(3.0), jnp.ones(()))),
    "nested tuples": (lambda x: (x, ((x + 1, (x * 2,)), x - 1)), (jnp.arange(2.0),)),
    "dict": (lambda d: {"s": d["a"] + d["b"]}, ({"a": jnp.ones(2), "b": jnp.arange(2.0)},)),
    "list and named tuple": (lambda p: [p.a, Pair(p.b, p.a)], (Pair(jnp.ones(2), jnp.zeros(1)),)),
    "tuple with a list": (lambda x: (x, [x]), (jnp.ones(2),)),
    "None": (lambda x, n: (x, n), (jnp.ones(2), None)),
    "nothing": (lambda: (), ()),
    "nothing returned": (lambda x: None, (jnp.ones(2),)),
    "unused": (lambda x, y: y + 1, (jnp.ones(2), jnp.ones(3))),
    "constant": (lambda x: x + np.arange(3000.0), (jnp.ones(3000),)),
    "numbers": (lambda x, y, z, w: x + y * z + w, (1, 2.5, True, 1j)),
    "NumPy": (lambda x, y: x + y, (np.arange(3.0), np.float32(2.0))),
    "NumPy in a tree": (lambda d: d["x"] * d["y"], ({"x": np.arange(3), "y": 2},)),
    "keys without order": (lambda d: d[1] + d["a"], ({1: jnp.ones(2), "a": jnp.ones(2)},)),
    "empty": (lambda x: x.sum(), (jnp.zeros((0, 3)),)),
    "key": (lambda k: cv.random.split(k), (cv.random.key(0),)),
}


def raw(x):
    return cv.random.key_data(x) if jnp.issubdtype(x.dtype, cv.dtypes.prng_key) else x


@pytest.mark.parametrize("name", TREES)
def test_results(module, name):
    fun, args = TREES[name]
    f, first = repeated(module, fun), fun(*args)
    for _ in range(3):
        again = f(*args)
        assert cv.tree.structure(again) == cv.tree.structure(first)
        for x, y in zip(cv.tree.leaves(again), map(jnp.asarray, cv.tree.leaves(first))):
            assert type(x) is ArrayImpl and x.dtype == y.dtype
            np.testing.assert_array_equal(raw(x), raw(y))
    assert f.slow == 1


def test_other_calls_take_the_long_way(module):
    f = repeated(module, lambda x: 2 * x)
    f(jnp.ones(2))
    assert f.slow == 1
    f(x=jnp.ones(2))
    assert f.slow == 2
    cv.grad(lambda x: f(x).sum())(jnp.ones(2))
    assert f.slow == 3
    with mock.patch.object(calls.watch, "ever_on", True), config.debug_nans(True):
        f(jnp.ones(2))
    assert f.slow == 4
    with config.default_matmul_precision("float32"):
        f(jnp.ones(2))
    assert f.slow == 5
    f._calls = None
    f(jnp.ones(2))
    assert f.slow == 6


def test_arguments_that_are_no_arrays(module):
    f = repeated(module, lambda x: x)
    for bad in ("text", object(), np.array(["text"]), 2**100, [1, "a"]):
        with pytest.raises((TypeError, OverflowError)):
            f(bad)
    assert f.slow == 5


def test_a_deleted_argument(module):
    f, x = repeated(module, lambda x: x + 1), jnp.ones(3)
    f(x)
    x.delete()
    with pytest.raises(RuntimeError, match="deleted"):
        f(x)


def test_placements_tell_programs_apart(module):
    f, x = repeated(module, lambda x: x + 1), jnp.ones(3)
    assert not f(x).committed
    put = cv.device_put(x, cv.devices()[0])
    assert f(put).committed and f(put).committed and not f(x).committed
    assert f.slow == 2


@pytest.mark.usefixtures("only_new_garbage")
def test_no_reference_is_lost_or_kept(module):
    f = repeated(module, lambda d, y: (d["x"] + y, {"z": y}))
    args = {"x": jnp.ones(3)}, jnp.ones(3)
    bad = {"x": "text"}, jnp.ones(3)

    def use():
        f(*args)
        f({"x": np.ones(3)}, 2.0)
        with pytest.raises(TypeError):
            f(*bad)
        module.op_again({}, lambda *_: None, eval_trace.backend.to_array, add_p, args[1:] * 2, {})

    use()
    watched = [args[1].aval, args[1]._buffer, args[0]["x"], config.trace_key(), add_p, f._calls]
    watched += [next(iter(f._calls.values())).placements, next(iter(f._calls.values())).out_avals]

    def counts():
        gc.collect()
        return np.array([*map(sys.getrefcount, watched), len(gc.get_objects())])

    changes = []
    for _ in range(3):
        before = counts()
        for _ in range(100):
            use()
        changes.append(abs(counts() - before))
    # Each of a hundred rounds would show, each time; caches elsewhere come and go.
    assert (np.min(changes, axis=0) < 50).all(), changes


def test_ops(module):
    table, slow = {}, []
    backend = eval_trace.backend

    def otherwise(primitive, args, params):
        slow.append(primitive)
        arrays = [backend.to_array(x) for x in args]
        result = backend._execute_op(primitive, arrays, params)
        table.update(backend._calls)
        return result

    def apply(*args, **params):
        return module.op_again(table, otherwise, backend.to_array, add_p, args, params)

    x = jnp.arange(3.0)
    backend.clear()
    for args in [(x, x), (x, jnp.ones(3)), (x, np.ones(3, np.float32))]:
        np.testing.assert_array_equal(apply(*args), args[0] + args[1])
    assert len(slow) == 1
    with pytest.raises(TypeError):
        apply(x, "text")
    apply(x, x, unknown=[1])  # not hashable
    assert len(slow) == 2


@pytest.mark.usefixtures("only_new_garbage")
def test_functions_go(module):
    """Neither tables nor functions hold one another for ever."""
    import weakref

    f = repeated(module, lambda x: x + 1)
    f(jnp.ones(2))
    f.itself = f
    gone = weakref.ref(f)
    del f
    gc.collect()
    assert gone() is None


def test_threads(module):
    f, wrong = repeated(module, lambda x, y: (x + y, x * y)), []

    def work(n):
        x = jnp.full(4, float(n))
        for _ in range(200):
            total, product = f(x, x)
            if float(total[0]) != 2 * n or float(product[0]) != n * n:
                wrong.append(n)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
