"""`jacfwd`, `jacrev`, `jacobian`, `hessian`: blocks of trees, shapes, types."""

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp

BOTH = pytest.mark.parametrize("mode", ["jacfwd", "jacrev"])


def f_of_tree(lib):
    def f(p, x):
        a, b = p["a"], p["b"]
        return {"outer": lib.numpy.outer(a, x) * b, "sum": (lib.numpy.sum(a) * b, x)}

    return f


def tree_and_array():
    p = {"a": np.arange(2, dtype=np.float32) + 1, "b": np.float32(3)}
    return p, np.arange(3, dtype=np.float32)


@BOTH
@pytest.mark.parametrize("argnums", [0, 1, -1, (0,), (1, 0)])
def test_trees(mode, argnums, same_as_jax):
    same_as_jax(lambda lib: getattr(lib, mode)(f_of_tree(lib), argnums)(*tree_and_array()))


@pytest.mark.parametrize("argnums", [0, 1, (0, 1)])
def test_hessians_of_trees(argnums, same_as_jax):
    same_as_jax(lambda lib: lib.hessian(f_of_tree(lib), argnums)(*tree_and_array()))


@BOTH
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (1,), (0,), (2, 0)])
def test_shapes(mode, shape, same_as_jax):
    x = np.ones(shape, np.float32)
    same_as_jax(lambda lib: getattr(lib, mode)(lambda x: lib.numpy.sin(x) * x)(x))
    same_as_jax(lambda lib: getattr(lib, mode)(lambda x: lib.numpy.sum(x * x))(x))


@BOTH
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_dtypes(mode, dtype, same_as_jax):
    def program(lib):
        x = lib.numpy.arange(3).astype(dtype)
        f = lambda x: (x * x, x.astype("float32") * 2)  # noqa: E731
        return getattr(lib, mode)(f)(x)

    same_as_jax(program, rtol=1e-2)


@BOTH
def test_mixed_dtypes(mode, same_as_jax):
    def program(lib):
        p = {"a": lib.numpy.ones(2), "b": lib.numpy.ones(2, "bfloat16")}
        f = lambda p: {"product": p["a"] * p["b"], "b": p["b"]}  # noqa: E731
        return getattr(lib, mode)(f)(p)

    same_as_jax(program)


@BOTH
def test_weak_types(mode, same_as_jax):
    same_as_jax(lambda lib: getattr(lib, mode)(lambda x: x * 2.0)(1.0))
    same_as_jax(lambda lib: getattr(lib, mode)(lambda x: x * np.ones(2, np.float32))(1.0))


@BOTH
def test_aux(mode, same_as_jax):
    def program(lib):
        return getattr(lib, mode)(lambda x: (x * x, {"x": 2 * x}), has_aux=True)(np.ones(2))

    same_as_jax(program)


@BOTH
def test_aux_may_hold_any_objects(mode):
    _, aux = getattr(cv, mode)(lambda x: (x * x, ["text", x]), has_aux=True)(jnp.ones(2))
    assert aux[0] == "text"
    np.testing.assert_array_equal(aux[1], [1, 1])


def test_aux_of_hessian(same_as_jax):
    def program(lib):
        return lib.hessian(lambda x: (lib.numpy.sum(x**3), {"x": 2 * x}), has_aux=True)(np.ones(2))

    same_as_jax(program)


@BOTH
def test_holomorphic(mode, same_as_jax):
    z = np.array([1 + 2j, 0.5j], np.complex64)
    same_as_jax(lambda lib: getattr(lib, mode)(lambda z: z * z[0], holomorphic=True)(z))


def test_holomorphic_hessian(same_as_jax):
    z = np.array([1 + 2j, 0.5j], np.complex64)
    same_as_jax(lambda lib: lib.hessian(lambda z: z**3, holomorphic=True)(z))


def test_complex_results_in_forward_mode(same_as_jax):
    same_as_jax(lambda lib: lib.jacfwd(lambda x: x * 1j)(np.ones(2, np.float32)))


def test_complex_arguments_in_reverse_mode(same_as_jax):
    z = np.array([1 + 2j, 0.5j], np.complex64)
    same_as_jax(lambda lib: lib.jacrev(lib.numpy.abs)(z))


def test_integer_arguments_have_zeros(same_as_jax):
    def program(lib):
        f = lambda n, x: n * x  # noqa: E731
        args = np.arange(2), np.ones(2, np.float32)
        return lib.jacrev(f, (0, 1), allow_int=True)(*args)

    same_as_jax(program)


def test_integer_results_have_zeros_in_forward_mode(same_as_jax):
    same_as_jax(lambda lib: lib.jacfwd(lambda x: (x, 1))(np.ones(2, np.float32)))


@BOTH
def test_results_without_a_derivative(mode, same_as_jax):
    same_as_jax(lambda lib: getattr(lib, mode)(lambda x: (x, np.ones(3, np.float32)))(2.0))


def test_nothing_to_differentiate():
    assert cv.jacfwd(lambda x: x)(()) == () and cv.jacrev(lambda x: x)(()) == ()
    assert cv.jacrev(lambda x: None)(1.0) is None


def test_both_modes_agree():
    f = lambda x: jnp.stack([jnp.sin(x[0] * x[1]), x[1] / x[2], jnp.exp(x[2])])  # noqa: E731
    x = jnp.array([0.5, 1.5, -0.3])
    np.testing.assert_allclose(cv.jacfwd(f)(x), cv.jacrev(f)(x), rtol=1e-5)
    np.testing.assert_allclose(cv.jacobian(f)(x), cv.jacrev(f)(x))


def test_hessian_is_symmetric_and_that_of_a_quadratic_form():
    a = jnp.array([[2.0, 1.0], [3.0, -4.0]])
    h = cv.hessian(lambda x: x @ a @ x)(jnp.array([0.1, 0.2]))
    np.testing.assert_allclose(h, a + a.T, rtol=1e-6)


@BOTH
def test_under_jit_and_vmap(mode, same_as_jax):
    def program(lib):
        jacobian = getattr(lib, mode)(lambda x: lib.numpy.outer(x, lib.numpy.sin(x)))
        x = np.arange(6, dtype=np.float32).reshape(3, 2)
        return lib.jit(jacobian)(x[0]), lib.vmap(jacobian)(x), lib.jit(lib.vmap(jacobian))(x)

    same_as_jax(program)


def test_third_derivatives(same_as_jax):
    def program(lib):
        f = lambda x: x[0] ** 3 * x[1] ** 2  # noqa: E731
        return lib.jacfwd(lib.hessian(f))(np.array([2.0, 3.0]))

    same_as_jax(program)
