"""Branches by platform."""

import numpy as np

import covector as cv
from covector import lax

V = np.array([0.5, 1.0, 1.5], np.float32)


def by_platform(x):
    return lax.platform_dependent(x, cpu=lax.sin, tpu=lax.tan, default=lax.cos)


def test_the_branch_of_the_platform_is_called():
    np.testing.assert_allclose(by_platform(V), np.sin(V), rtol=1e-6)
    np.testing.assert_allclose(cv.jit(by_platform)(V), np.sin(V), rtol=1e-6)

    def default(x):
        return lax.platform_dependent(x, tpu=lax.tan, default=lax.cos)

    np.testing.assert_allclose(cv.jit(default)(V), np.cos(V), rtol=1e-6)


def test_transformations():
    np.testing.assert_allclose(cv.vmap(by_platform)(V), np.sin(V), rtol=1e-6)
    np.testing.assert_allclose(cv.vmap(cv.jit(by_platform))(V), np.sin(V), rtol=1e-6)
    np.testing.assert_allclose(cv.jit(cv.grad(by_platform))(0.5), np.cos(0.5), rtol=1e-6)
    np.testing.assert_allclose(cv.grad(by_platform)(0.5), np.cos(0.5), rtol=1e-6)


def test_one_function_for_several_platforms():
    def f(x):
        return lax.platform_dependent(x, cuda=lax.tan, cpu=lax.sin, rocm=lax.tan)

    assert "platforms=(('cuda', 'rocm'), ('cpu',))" in str(cv.make_jaxpr(f)(1.0))
    assert cv.jit(f)(0.0) == 0.0


def test_the_program_holds_one_branch():
    text = cv.jit(by_platform).lower(V).as_text()
    assert "sine" in text and "stablehlo.tan" not in text and "case" not in text


def test_a_batched_index_stays_a_choice_by_platform():
    """An index that became part of a batch, as in a loop, is asked for anew."""
    jaxpr = cv.make_jaxpr(by_platform)(1.0)
    choice = jaxpr.eqns[-1]

    def f(i, x):
        return choice.primitive.bind(i, x, **choice.params)[0]

    got = cv.vmap(f)(np.zeros(3, np.int32), V)
    np.testing.assert_allclose(got, np.sin(V), rtol=1e-6)
    assert "select_n" not in str(cv.make_jaxpr(cv.vmap(f))(np.zeros(3, np.int32), V))
