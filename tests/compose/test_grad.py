"""`grad` and `value_and_grad` alone: arguments, results, types, Python control flow."""

import functools

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp


def test_of_one_argument(same_as_jax):
    same_as_jax(lambda lib: lib.grad(lambda x: lib.numpy.sum(lib.numpy.tanh(x) * x))(np.ones(3)))


@pytest.mark.parametrize("argnums", [0, 1, 2, -1, -3, (0,), (2, 0), [1, 2], (-1, 0), np.int32(1)])
def test_argnums(argnums, same_as_jax):
    def program(lib):
        def f(x, y, z):
            return lib.numpy.sum(x * y["a"] * z[0] + lib.numpy.sin(z[1]) * y["b"])

        args = (2.0, {"a": np.arange(3.0), "b": np.float32(0.5)}, [np.ones(3), 3.0])
        return lib.value_and_grad(f, argnums)(*args)

    same_as_jax(program)


def test_no_argnums():
    value, gradient = cv.value_and_grad(lambda x: x * x, argnums=())(3.0)
    assert float(value) == 9.0 and gradient == ()


def test_keywords_are_held_fixed(same_as_jax):
    same_as_jax(lambda lib: lib.grad(lambda x, *, y, n: (x * y) ** n)(2.0, y=3.0, n=2))


def test_other_arguments_may_be_any_objects():
    def f(x, name, settings):
        assert name == "name" and settings == {"mode": object}
        return x * x

    assert float(cv.grad(f)(3.0, "name", {"mode": object})) == 6.0


def test_aux(same_as_jax):
    def program(lib):
        def f(x):
            return lib.numpy.sum(x**2), {"double": x * 2, "none": None, "constant": 3}

        return lib.grad(f, has_aux=True)(np.arange(2.0)), lib.value_and_grad(f, has_aux=True)(
            np.arange(2.0)
        )

    same_as_jax(program)


def test_aux_may_hold_any_objects():
    gradient, aux = cv.grad(lambda x: (x * x, ["text", (x, object)]), has_aux=True)(3.0)
    assert float(gradient) == 6.0
    assert aux[0] == "text" and aux[1][1] is object and float(aux[1][0]) == 3.0


def test_aux_of_nested_grad_loses_only_the_inner_tangent(same_as_jax):
    # d/dx (2x * x^2) at 3, where the square comes out of the inner gradient as an aux
    def program(lib):
        def outer(x):
            slope, square = lib.grad(lambda y: (y * y, y * y), has_aux=True)(x)
            return slope * square

        return lib.grad(outer)(3.0)

    assert float(same_as_jax(program)) == pytest.approx(54.0)


def test_aux_under_jit(same_as_jax):
    same_as_jax(lambda lib: lib.jit(lib.grad(lambda x: (x**3, x * 2), has_aux=True))(2.0))


@pytest.mark.parametrize(
    "x", [1.5, np.float32(1.5), np.float16(1.5), np.full((), 1.5), np.complex64(1.5)]
)
def test_gradients_have_the_type_of_the_argument(x, same_as_jax):
    same_as_jax(lambda lib: lib.grad(lambda x: lib.numpy.real(x * x))(x), rtol=1e-3)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "complex64"])
def test_dtypes(dtype, same_as_jax):
    def program(lib):
        x = lib.numpy.arange(3).astype(dtype)
        return lib.grad(lambda x: lib.numpy.sum(lib.numpy.abs(x * x + 1)))(x)

    same_as_jax(program, rtol=1e-2)


def test_holomorphic(same_as_jax):
    same_as_jax(lambda lib: lib.grad(lib.numpy.sin, holomorphic=True)(1 + 2j))


def test_integers_have_gradients_of_float0(same_as_jax):
    def program(lib):
        def f(i, x):
            return lib.numpy.sum(x * i["n"])

        return lib.grad(f, argnums=(0, 1), allow_int=True)({"n": np.arange(3), "b": True}, 2.0)

    gradient = same_as_jax(program)
    assert gradient[0]["n"].dtype == cv.dtypes.float0 and gradient[0]["n"].shape == (3,)


def test_zero_gradients_are_arrays(same_as_jax):
    def program(lib):
        tree = {"w": np.ones((2, 3), np.float32), "b": 2.0, "none": None}
        return lib.grad(lambda p, x: x)(tree, 1.0), lib.grad(lambda x: 3.0)(2.0)

    zeros, zero = same_as_jax(program)
    assert all(isinstance(x, cv.Array) for x in (zeros["w"], zeros["b"], zero))


def test_identity_has_an_array_for_gradient():
    assert isinstance(cv.grad(lambda x: x)(1.0), cv.Array)
    assert isinstance(cv.grad(lambda x: x)(np.float32(1)), cv.Array)


def test_an_argument_used_twice_in_a_tree():
    x = jnp.ones(2)
    first, second = cv.grad(lambda pair: jnp.sum(pair[0] * pair[1] ** 2))((x, x))
    np.testing.assert_array_equal(first, [1, 1])
    np.testing.assert_array_equal(second, [2, 2])


def test_metadata_of_the_function():
    def loss(x: float) -> float:
        """How bad x is."""
        return x * x

    for transform in (cv.grad, cv.value_and_grad, cv.jacfwd, cv.jacrev, cv.vmap):
        transformed = transform(loss)
        assert transformed.__name__ == "loss" and transformed.__wrapped__ is loss
        assert "loss" in transformed.__doc__ and transformed.__doc__.endswith("How bad x is.")


def test_callables_of_every_kind():
    class Power:
        def __init__(self, n):
            self.n = n

        def __call__(self, x):
            return x**self.n

        def method(self, x):
            return x * self.n

    partial = functools.partial(lambda n, x: x**n, 3)
    for fun, expected in [
        (Power(2), 6.0),
        (Power(2).method, 2.0),
        (partial, 27.0),
        (jnp.sin, np.cos(3.0)),
        (cv.jit(jnp.sin), np.cos(3.0)),
        (cv.grad(lambda x: x**3), 18.0),
    ]:
        assert float(cv.grad(fun)(3.0)) == pytest.approx(expected, rel=1e-6)


# ---------------------------------------------------------------- Python control flow


def test_conditions_and_loops_on_the_value():
    def f(x):
        y = x
        while y < 100.0:
            y = y * x if float(y) < 20.0 else y + x
        return y if bool(y > 0) else -y

    # 3 -> 9 -> 27 -> 30 -> ... -> 102: the cube, and then 25 additions
    assert float(cv.grad(f)(3.0)) == pytest.approx(3 * 3.0**2 + 25)


def test_recursion():
    def power(x, n):
        return x * power(x, n - 1) if n else 1.0

    assert float(cv.grad(power)(2.0, 5)) == pytest.approx(5 * 2.0**4)
    assert float(cv.grad(cv.grad(power))(2.0, 5)) == pytest.approx(20 * 2.0**3)


def test_values_as_indices_and_numbers():
    table = [1.0, 10.0, 100.0]
    assert float(cv.grad(lambda x: table[x.astype(int)] * x)(1.5)) == 10.0
    assert float(cv.grad(lambda x: x * int(x))(2.5)) == 2.0
    assert float(cv.grad(lambda x: x * float(x))(2.5)) == 2.5


def test_control_flow_in_a_gradient_of_a_gradient():
    def f(x):
        return x**3 if x > 0 else x**2

    assert float(cv.grad(cv.grad(f))(2.0)) == pytest.approx(12.0)
    assert float(cv.grad(cv.grad(f))(-2.0)) == pytest.approx(2.0)


def test_functions_with_effects_run_once_per_call():
    calls = []

    def f(x):
        calls.append(x.shape)
        return x.sum()

    cv.grad(f)(jnp.ones(3))
    cv.value_and_grad(f)(jnp.ones(2))
    assert calls == [(3,), (2,)]
