"""What is traced and compiled lives as long as the function, and no longer."""

import gc
import weakref

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp

pytestmark = pytest.mark.usefixtures("only_new_garbage")

TRANSFORMS = {
    "jit": cv.jit,
    "jit of jit": lambda f: cv.jit(cv.jit(f)),
    "grad": lambda f: cv.grad(cv.jit(f)),
    "jit of grad": lambda f: cv.jit(cv.grad(cv.jit(f))),
    "vmap": lambda f: cv.vmap(cv.jit(f), axis_size=2, in_axes=None),
    "jit of vmap": lambda f: cv.jit(cv.vmap(cv.jit(f), axis_size=2, in_axes=None)),
    "hessian": lambda f: cv.hessian(cv.jit(f)),
    "linearize": lambda f: lambda x: cv.linearize(cv.jit(f), x)[1](x),
    "make_jaxpr": lambda f: cv.make_jaxpr(cv.jit(f)),
    "lower": lambda f: lambda x: cv.jit(f).lower(x).compile()(x),
}


def times_sum_of_sines(captured):
    return lambda x: jnp.sum(jnp.sin(captured) * x)


@pytest.mark.parametrize("name", TRANSFORMS)
def test_what_a_function_closes_over_goes_with_it(name):
    captured = jnp.arange(300.0)
    transformed = TRANSFORMS[name](times_sum_of_sines(captured))
    transformed(1.0)
    gone = weakref.ref(captured)
    del captured
    transformed(1.0)
    assert gone() is not None
    del transformed
    gc.collect()
    assert gone() is None


def test_without_waiting_for_the_garbage_collector():
    x = jnp.arange(300.0)
    f = (lambda x: lambda: x)(x)
    g = cv.jit(f)
    g(), g()
    gone = weakref.ref(x)
    del x, f
    assert gone() is not None
    gc.disable()
    try:
        del g
        assert gone() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("forget", [lambda f: f.clear_cache(), lambda f: cv.clear_caches()])
def test_compiled_programs_go_when_they_are_forgotten(forget):
    f = cv.jit(lambda x, y: x + y)
    client = cv.devices()[0].client
    f(np.ones(7), 1.0)  # so that everything around it is compiled
    forget(f)
    gc.collect()
    before = len(client.live_executables())
    f(np.ones(7), 1.0)
    assert len(client.live_executables()) == before + 1
    forget(f)
    gc.collect()
    assert len(client.live_executables()) <= before


def test_new_lambdas_of_each_round_leave_nothing():
    def live():
        gc.collect()
        return len(cv.devices()[0].client.live_executables())

    before = live()
    for i in range(5):
        cv.jit(lambda x, i=i: x * i)(1.0)
    assert live() <= before + 1


@pytest.mark.parametrize("size", [10, 1000])
def test_numpy_arrays_are_freed_once_they_are_on_the_device(size):
    host = np.arange(size, dtype=np.int32)
    x = cv.device_put(host)
    gone = weakref.ref(host)
    del host, x
    gc.collect()
    assert gone() is None


def test_captured_tracers_do_not_outlive_their_trace():
    seen = []

    @cv.jit
    def outer(x):
        inner = cv.jit(lambda y: x + y)
        seen.append(weakref.ref(x))
        return inner(1.0) + inner(2.0)

    outer(1.0)
    gc.collect()
    assert seen[0]() is None
