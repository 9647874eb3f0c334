"""`vmap` alone: where the axes of arguments and results are, sizes, names, nesting."""

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp


def batch(*shape):
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


@pytest.mark.parametrize("in_axes", [0, 1, -1, (0,), (-2,), [1]])
@pytest.mark.parametrize("out_axes", [0, 1, -1])
def test_axes(in_axes, out_axes, same_as_jax):
    f = lambda x: x * 2 + x[0]  # noqa: E731
    same_as_jax(lambda lib: lib.vmap(f, in_axes, out_axes)(batch(3, 4)))


@pytest.mark.parametrize("in_axes", [(0, None), (None, 0), (0, 0), (1, -1), [None, 1]])
def test_shared_arguments(in_axes, same_as_jax):
    same_as_jax(lambda lib: lib.vmap(lib.numpy.dot, in_axes)(batch(3, 3), batch(3, 3)))


@pytest.mark.parametrize(
    "in_axes",
    [
        ({"a": 0, "b": (1, None)}, 0),
        ({"a": 0, "b": 1}, 0),
        ({"a": None, "b": (None, 0)}, 0),
        (None, 0),
        (0, None),
    ],
)
def test_axes_of_trees(in_axes, same_as_jax):
    def program(lib):
        def f(tree, x):
            first, second = tree["b"]
            return lib.numpy.sum(tree["a"]) * lib.numpy.sum(first) + x * lib.numpy.sum(second)

        tree = {"a": batch(3, 2), "b": (batch(3, 3), batch(3, 3))}
        return lib.vmap(f, in_axes)(tree, batch(3))

    same_as_jax(program)


@pytest.mark.parametrize("out_axes", [0, {"sum": 0, "pair": (1, -1)}, {"sum": 0, "pair": 1}])
def test_axes_of_results(out_axes, same_as_jax):
    def program(lib):
        f = lambda x: {"sum": lib.numpy.sum(x), "pair": (x, 2 * x)}  # noqa: E731
        return lib.vmap(f, out_axes=out_axes)(batch(3, 2))

    same_as_jax(program)


@pytest.mark.parametrize("out_axes", [0, None, 1, -1])
def test_results_that_do_not_depend_on_the_example(out_axes, same_as_jax):
    same_as_jax(lambda lib: lib.vmap(lambda x: batch(2, 2), out_axes=out_axes)(batch(3)))


def test_constants(same_as_jax):
    same_as_jax(lambda lib: lib.vmap(lambda x: (2.0, 3, True, np.float32(1)))(batch(3)))
    same_as_jax(lambda lib: lib.vmap(lambda x, y: y, (0, None), None)(batch(3), 4.0))


def test_keywords_are_mapped_over_axis_0(same_as_jax):
    f = lambda x, *, y, z: x + y * z["a"]  # noqa: E731
    same_as_jax(lambda lib: lib.vmap(f, 1)(batch(2, 3), y=batch(3, 2), z={"a": batch(3)}))


def test_axis_size(same_as_jax):
    same_as_jax(lambda lib: lib.vmap(lambda: 2.0, axis_size=3)())
    same_as_jax(lambda lib: lib.vmap(lambda x: x, None, axis_size=3)(batch(2)))
    same_as_jax(lambda lib: lib.vmap(lambda x: x, axis_size=3)(batch(3)))


def test_no_examples(same_as_jax):
    same_as_jax(lambda lib: lib.vmap(lambda x: lib.numpy.sum(x * x))(np.ones((0, 2))))


def test_arguments_of_any_type_may_be_shared():
    def f(x, how):
        return x * len(how)

    np.testing.assert_array_equal(cv.vmap(f, (0, None))(batch(2), "text"), [0, 4])


def test_shared_numbers_stay_numbers():
    def f(n, x):
        assert type(n) is int
        return sum([x] * n)

    np.testing.assert_array_equal(cv.vmap(f, (None, 0))(3, batch(2)), [0, 3])


def test_float0(same_as_jax):
    """Cotangents of integers are stacked without any computation."""
    same_as_jax(lambda lib: lib.vmap(lambda n: lib.vjp(lambda n: n * 2, n)[1](n))(np.arange(3)))


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint32", "float16", "bfloat16", "complex64"])
def test_dtypes(dtype, same_as_jax):
    def program(lib):
        x = lib.numpy.arange(6).reshape(2, 3).astype(dtype)
        return lib.vmap(
            lambda x: lib.numpy.where(x > x[1], x, x[0]) if dtype != "complex64" else x
        )(x)

    same_as_jax(program)


def test_nested(same_as_jax):
    """All pairs, by a vmap in a vmap, along different axes."""

    def program(lib):
        inner = lib.vmap(lambda x, y: x @ y, (None, 1), 0)
        return lib.vmap(inner, (0, None), 1)(batch(4, 3), batch(3, 5))

    np.testing.assert_allclose(same_as_jax(program), (batch(4, 3) @ batch(3, 5)).T)


def test_a_vmap_that_closes_over_an_outer_example(same_as_jax):
    def program(lib):
        outer = lambda x: lib.vmap(lambda y: x * y + lib.numpy.sum(x))(batch(3))  # noqa: E731
        return lib.vmap(outer)(batch(2))

    same_as_jax(program)


def test_sum_over_unmapped_results(same_as_jax):
    def program(lib):
        return lib.vmap(lambda x: (x, x), out_axes=(None, 0), sum_match=True)(np.ones((3, 2)))

    same_as_jax(program)


def test_is_a_loop():
    f = lambda x, y: jnp.tanh(x) @ y - x[0]  # noqa: E731
    x, y = batch(4, 3) / 10, batch(3, 2)
    expected = [np.tanh(row) @ y - row[0] for row in x]
    np.testing.assert_allclose(cv.vmap(f, (0, None))(x, y), expected, rtol=1e-6)


def test_the_function_runs_once():
    shapes = []

    def f(x):
        shapes.append(x.shape)
        return x

    cv.vmap(f)(batch(5, 2))
    assert shapes == [(2,)]
