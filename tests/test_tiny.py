"""The whole system in a minute: every layer once, without the oracle."""

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp


def test_arrays():
    x = jnp.arange(6.0).reshape(2, 3)
    assert x.shape == (2, 3) and x.dtype == np.float32
    np.testing.assert_array_equal(np.asarray(x + 1), [[1, 2, 3], [4, 5, 6]])


def test_grad():
    assert float(cv.grad(jnp.sin)(1.0)) == pytest.approx(np.cos(1.0), rel=1e-6)


def test_grad_of_python_control_flow():
    def f(x):
        y = x
        while y < 10:
            y = y * x
        return y

    assert float(cv.grad(f)(3.0)) == pytest.approx(27.0)


def test_vmap():
    x = jnp.arange(6.0).reshape(2, 3)
    np.testing.assert_allclose(np.asarray(cv.vmap(jnp.sum)(x)), [3, 12])


def test_jit_traces_once():
    traces = []

    @cv.jit
    def f(x):
        traces.append(x)
        return x * 2

    assert float(f(2.0)) == 4 and float(f(3.0)) == 6
    assert len(traces) == 1


def test_jit_of_vmap_of_grad():
    f = cv.jit(cv.vmap(cv.grad(lambda x: jnp.sum(jnp.tanh(x) * x))))
    x = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)
    expected = np.tanh(x) + x / np.cosh(x) ** 2
    np.testing.assert_allclose(np.asarray(f(x)), expected, rtol=1e-5)


def test_nested_derivatives_do_not_mix():
    # d/dx [x * d/dy (x + y)] = 1: the inner derivative is 1 whatever x is.
    assert float(cv.grad(lambda x: x * cv.grad(lambda y: x + y)(2.0))(3.0)) == 1.0


def test_hessian():
    h = cv.hessian(lambda x: jnp.sum(x**3))(jnp.array([1.0, 2.0]))
    np.testing.assert_allclose(np.asarray(h), [[6, 0], [0, 12]], atol=1e-5)


def test_jaxpr_text():
    text = str(cv.make_jaxpr(lambda x: jnp.sin(x) * 2.0)(1.0))
    assert text == "{ lambda ; a:f32[]. let b:f32[] = sin a; c:f32[] = mul b 2.0:f32[] in (c,) }"


def test_trees():
    tree = {"a": (1.0, None), "b": [2.0]}
    assert cv.tree.map(lambda x: x + 1, tree) == {"a": (2.0, None), "b": [3.0]}


def test_stages():
    compiled = cv.jit(jnp.sin).lower(jnp.ones(3)).compile()
    np.testing.assert_allclose(np.asarray(compiled(jnp.zeros(3))), 0)
    assert "sine" in cv.jit(jnp.sin).lower(jnp.ones(3)).as_text()


def test_reference_mode():
    with cv.reference_mode():
        assert float(cv.jit(lambda x: jnp.sin(x) ** 2)(0.5)) == pytest.approx(np.sin(0.5) ** 2)


def test_x64():
    with cv.enable_x64(True):
        assert jnp.arange(3.0).dtype == np.float64


def test_leaked_tracer():
    kept = []
    cv.jit(lambda x: kept.append(x) or x)(1.0)
    with pytest.raises(cv.errors.UnexpectedTracerError):
        kept[0] + 1
