"""A jitted function is traced again exactly when JAX traces it again."""

from functools import partial

import numpy as np
import pytest

import covector as cv

F32 = np.float32(2)
X = np.arange(3, dtype=np.float32)
I = np.arange(3, dtype=np.int32)


class Config:
    """A static argument that is compared by value."""

    def __init__(self, n):
        self.n = n

    def __hash__(self):
        return hash(self.n)

    def __eq__(self, other):
        return isinstance(other, Config) and self.n == other.n


class Identical:
    """A static argument that is compared by identity."""


# name: (options of jit, calls). A call is (args, kwargs), or a function of the library that makes
# them, or of the library and the jitted function that does the call itself.
SEQUENCES = {
    "numbers of one type": ({}, [((1.0,), {}), ((2.0,), {}), ((-0.0,), {}), ((np.nan,), {})]),
    "kinds of numbers": ({}, [((1.0,), {}), ((1,), {}), ((True,), {}), ((1j,), {}), ((2,), {})]),
    "numpy scalars are not weak": ({}, [((1.0,), {}), ((F32,), {}), ((np.float64(1),), {})]),
    "numpy and device arrays": ({}, [((X,), {}), lambda m: ((m.numpy.asarray(X),), {})]),
    "array scalars": ({}, [((F32,), {}), lambda m: ((m.numpy.float32(2),), {}), ((X[0],), {})]),
    "weak arrays": (
        {},
        [
            ((1.0,), {}),
            lambda m: ((m.numpy.asarray(1.0),), {}),
            lambda m: ((m.jit(lambda x: x)(1.0),), {}),
            lambda m: ((m.numpy.asarray(1.0) + 1,), {}),
            lambda m: ((m.numpy.ones(()) + 1,), {}),
        ],
    ),
    "shapes": ({}, [((X,), {}), ((X[:2],), {}), ((X,), {}), ((X[:, None],), {})]),
    "64-bit numpy arrays are 32-bit": (
        {},
        [((X,), {}), ((X.astype(np.float64),), {}), ((I,), {}), ((I.astype(np.int64),), {})],
    ),
    "dtypes": (
        {},
        [((X.astype(t),), {}) for t in (np.float32, np.float16, np.int8, np.uint8, bool)],
    ),
    "order of dict keys": ({}, [(({"a": 1.0, "b": X},), {}), (({"b": X, "a": 2.0},), {})]),
    "other dict keys": ({}, [(({"a": 1.0},), {}), (({"b": 1.0},), {}), (({},), {})]),
    "lists and tuples": ({}, [(([1.0, X],), {}), (((1.0, X),), {}), (([2.0, X],), {})]),
    "None": ({}, [((None,), {}), ((1.0,), {}), ((None,), {}), (((None, None),), {})]),
    "positional and keyword": (
        {},
        [((1.0,), {}), ((), {"x": 1.0}), ((2.0,), {}), ((), {"x": 2.0})],
    ),
    "order of keywords": (
        {},
        [((1.0,), {"y": 1.0, "z": 2.0}), ((1.0,), {"z": 1.0, "y": 2.0}), ((1.0, 1.0, 2.0), {})],
    ),
    "defaults": ({}, [((1.0,), {}), ((1.0, None), {}), ((1.0,), {"y": None})]),
    "static values": (
        {"static_argnums": 1},
        [((1.0, 2), {}), ((1.0, 3), {}), ((1.0, 2), {}), ((X, 2), {}), ((1.0, "a"), {})],
    ),
    "static values of equal numbers": (
        {"static_argnums": 1},
        [((1.0, 2), {}), ((1.0, 2.0), {}), ((1.0, True), {}), ((1.0, 1), {})],
    ),
    "static by name": (
        {"static_argnames": "y"},
        [((1.0, 2), {}), ((1.0,), {"y": 2}), ((1.0, 2), {}), ((1.0,), {"y": 3})],
    ),
    "static objects": (
        {"static_argnums": 1},
        [((1.0, Config(1)), {}), ((1.0, Config(1)), {}), ((1.0, Config(2)), {})],
    ),
    "static objects without equality": (
        {"static_argnums": 1},
        [((1.0, Identical()), {}), ((1.0, Identical()), {})],
    ),
    "static default": (
        {"static_argnames": "y"},
        [((1.0,), {}), ((1.0, None), {}), ((1.0,), {"y": None})],
    ),
    "static tuples": (
        {"static_argnums": 1},
        [((1.0, (1, 2)), {}), ((1.0, (1, 2)), {}), ((1.0, (2, 1)), {})],
    ),
    "donation": ({"donate_argnums": 0}, [((X,), {}), ((X,), {}), ((1.0,), {}), ((2.0,), {})]),
    "x64": (
        {},
        [
            ((1.0,), {}),
            lambda m, f: with_x64(m, f, 1.0),
            ((1.0,), {}),
            lambda m, f: with_x64(m, f, 2.0),
            lambda m, f: with_x64(m, f, X),
            ((X,), {}),
        ],
    ),
    "default precision": (
        {},
        [((X,), {}), lambda m, f: with_precision(m, f, "highest"), ((X,), {})],
    ),
    "default device": (
        {},
        [((X,), {}), lambda m, f: with_device(m, f), ((X,), {}), lambda m, f: with_device(m, f)],
    ),
    "committed arrays": ({}, [((X,), {}), lambda m: ((m.device_put(X, m.devices()[0]),), {})]),
    "under jit": (
        {},
        [
            ((X,), {}),
            lambda m, f: m.jit(lambda x: f(x))(X),
            lambda m, f: m.jit(lambda x: f(x) + f(x))(X),
            lambda m, f: m.jit(lambda x: f(x[:2]))(X),
            lambda m, f: m.jit(lambda x: f(x * 1.0))(1.0),
            ((X[:2],), {}),
        ],
    ),
    "under other transformations": (
        {},
        [
            ((X,), {}),
            lambda m, f: m.vmap(f)(X),
            lambda m, f: m.vmap(f)(X),
            lambda m, f: m.jvp(f, (X,), (X,)),
            lambda m, f: m.grad(lambda x: m.numpy.sum(f(x)))(X),
            lambda m, f: m.grad(lambda x: m.numpy.sum(f(x)))(X),
            ((F32,), {}),
            lambda m, f: m.make_jaxpr(f)(X),
            lambda m, f: f.lower(X),
            lambda m, f: f.trace(X),
            lambda m, f: m.eval_shape(f, X),
            lambda m, f: f.eval_shape(X),
        ],
    ),
    "abstract arguments": (
        {},
        [
            lambda m, f: f.lower(m.ShapeDtypeStruct((3,), np.float32)),
            ((X,), {}),
            lambda m, f: f.eval_shape(m.ShapeDtypeStruct((3,), np.float32)),
        ],
    ),
    "jit of jit": ({}, [((X,), {}), lambda m, f: m.jit(f)(X), lambda m, f: m.jit(f)(X)]),
    "cleared": (
        {},
        [
            ((X,), {}),
            lambda m, f: f.clear_cache(),
            ((X,), {}),
            lambda m, f: m.clear_caches(),
            ((X,), {}),
        ],
    ),
    "disabled": ({}, [((X,), {}), lambda m, f: without_jit(m, f), ((X,), {})]),
}


def with_x64(m, f, x):
    with m.enable_x64(True):
        f(x)


def with_precision(m, f, precision):
    with m.default_matmul_precision(precision):
        f(X)


def with_device(m, f):
    with m.default_device(m.devices()[0]):
        f(X)


def without_jit(m, f):
    with m.disable_jit():
        f(X)


def traces(m, options, calls):
    """How often the function had been traced after each of the calls."""
    count, history = [0], []

    @partial(m.jit, **options)
    def f(x, y=None, z=None):
        count[0] += 1
        return m.numpy.sin(x) if hasattr(x, "dtype") else 0.0

    for call in calls:
        if isinstance(call, tuple):
            f(*call[0], **call[1])
        elif call.__code__.co_argcount == 1:
            args, kwargs = call(m)
            f(*args, **kwargs)
        else:
            call(m, f)
        history.append(count[0])
    return history


@pytest.mark.filterwarnings("ignore:.*donated")  # JAX warns of donations that save nothing
@pytest.mark.parametrize("name", SEQUENCES)
def test_as_often_as_jax(jax, name):
    options, calls = SEQUENCES[name]
    assert traces(cv, options, calls) == traces(jax, options, calls)


class Layer:
    """Functions of every kind that `jit` meets."""

    def __init__(self, w):
        self.w = w

    def method(self, x):
        COUNT[0] += 1
        return x * self.w

    def __call__(self, x):
        COUNT[0] += 1
        return x * self.w

    @staticmethod
    def static(x):
        COUNT[0] += 1
        return x


COUNT = [0]


def twice(x, n=2):
    COUNT[0] += 1
    return x * n


def jitted_method(m):
    class Model:
        w = 2.0

        @partial(m.jit, static_argnums=0)
        def f(self, x):
            COUNT[0] += 1
            return x * self.w

    model, other = Model(), Model()
    return [lambda: model.f(X), lambda: model.f(X), lambda: other.f(X), lambda: Model.f(model, X)]


def one_function(m):
    def f(x):
        COUNT[0] += 1
        return x

    return [lambda: m.jit(f)(X), lambda: m.jit(f)(X)]


def options(m):
    """Options concern the compiled program; the trace is shared."""

    def f(x, y=1):
        COUNT[0] += 1
        return x * y

    keywords = [
        {"keep_unused": True}, {"inline": True}, {"donate_argnums": 0}, {"donate_argnames": "x"},
        {"device": m.devices()[0]}, {"compiler_options": {"xla_cpu_enable_fast_math": False}},
        {"static_argnums": 1}, {"static_argnames": "y"},
    ]  # fmt: skip
    calls = [lambda: m.jit(f)(X)]
    calls += [lambda k=k: m.jit(f, **k)(m.numpy.asarray(X)) for k in keywords]
    return [*calls, lambda: m.jit(lambda x: m.jit(f, inline=True)(x) + m.jit(f)(x))(X)]


def lambdas(m):
    def made(n):
        return m.jit(lambda x: twice(x, n))

    first = made(2)
    return [lambda: first(X), lambda: made(2)(X), lambda: first(X)]


def partials(m):
    f, g = partial(twice, n=2), partial(twice, n=2)
    return [lambda: m.jit(f)(X), lambda: m.jit(f)(X), lambda: m.jit(g)(X)]


def methods(m):
    layer = Layer(2.0)
    f = m.jit(layer.method)
    return [lambda: f(X), lambda: f(X), lambda: m.jit(layer.method)(X)]


def callables(m):
    layer = Layer(2.0)
    return [lambda: m.jit(layer)(X), lambda: m.jit(layer)(X), lambda: m.jit(Layer(2.0))(X)]


def static_methods(m):
    return [lambda: m.jit(Layer.static)(X), lambda: m.jit(Layer(1.0).static)(X)]


def closures(m):
    """What a function closes over is looked at once."""
    w = [2.0]

    def f(x):
        COUNT[0] += 1
        return x * w[0]

    jitted = m.jit(f)

    def changed():
        w[0] = 3.0
        return jitted(X)

    return [lambda: jitted(X), changed]


def closures_of_tracers(m):
    """An inner function that closes over a tracer is traced with each outer one."""

    def outer(x):
        def inner(y):
            COUNT[0] += 1
            return x + y

        jitted = m.jit(inner)
        return jitted(1.0) + jitted(2.0)

    f = m.jit(outer)
    return [lambda: f(1.0), lambda: f(2.0), lambda: f(X)]


def closures_under_transformations(m):
    """A trace that captured a tracer serves as long as that tracer's trace runs."""

    def outer(x):
        def inner(y):
            COUNT[0] += 1
            return x * y

        jitted = m.jit(inner)
        return m.numpy.sum(m.vmap(jitted)(X)) + jitted(1.0) + m.jit(lambda z: jitted(z))(2.0)

    return [
        lambda: m.grad(outer)(1.0),
        lambda: m.vmap(outer)(X),
        lambda: m.jvp(outer, (F32,), (F32,)),
    ]


def grad_of_jit(m):
    f = m.jit(twice)
    loss = lambda x: m.numpy.sum(f(x))  # noqa: E731
    return [
        lambda: m.grad(loss)(X),
        lambda: m.value_and_grad(loss)(X),
        lambda: m.jit(m.grad(loss))(X),
        lambda: m.hessian(loss)(X),
        lambda: m.vmap(m.grad(lambda x: f(x)))(X),
    ]


def jit_of_grad(m):
    g = m.jit(m.grad(lambda x: m.numpy.sum(twice(x))))
    return [lambda: g(X), lambda: g(X), lambda: g(X[:2])]


@pytest.mark.parametrize(
    "make",
    [
        jitted_method, one_function, options, lambdas, partials, methods, callables, static_methods,
        closures, closures_of_tracers, closures_under_transformations, grad_of_jit, jit_of_grad,
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:backend and device argument on jit is deprecated")
def test_kinds_of_functions_as_often_as_jax(jax, make):
    histories = []
    for m in (cv, jax):
        COUNT[0], history = 0, []
        for call in make(m):
            call()
            history.append(COUNT[0])
        histories.append(history)
    assert histories[0] == histories[1]


def test_a_function_that_captured_a_tracer_is_traced_again_when_that_is_gone():
    held = [None]

    @cv.jit
    def inner(y):
        return held[0] * y

    @cv.jit
    def outer(x):
        held[0] = x
        return inner(2.0)

    assert float(outer(np.float32(3))) == 6.0
    assert outer(X).tolist() == [0.0, 2.0, 4.0]
    assert cv.explain_retraces(inner).reasons == [
        "the first call", "what was traced before is gone, or was tied to an outer trace",
    ]  # fmt: skip
