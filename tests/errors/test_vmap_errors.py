"""Whole texts of the errors of vmap."""

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp


def add(x, y, z=0.0):
    return x + y + z


def identity(x):
    return x


def name(fun):
    """A function as the errors call it."""
    return f"{fun.__name__} ({__file__}:{fun.__code__.co_firstlineno})"


def text_of(kind, fun, *args, **kwargs):
    with pytest.raises(kind) as caught:
        fun(*args, **kwargs)
    assert type(caught.value) is kind
    return str(caught.value)


# ---------------------------------------------------------------- sizes


def sizes(fun, *lines):
    return "\n".join(
        [
            "[vmap] vmap got inconsistent sizes for array axes to be mapped:",
            ";\n".join(lines),
            f"They are arguments of {name(fun)}. Make them equal, or give None in in_axes to what "
            "all examples share.",
        ]
    )


def test_sizes_of_two_arguments():
    assert text_of(ValueError, cv.vmap(add, (0, 1)), jnp.ones(3), jnp.ones((4, 2))) == sizes(
        add,
        "  * one axis had size 3: axis 0 of argument x of type float32[3]",
        "  * one axis had size 2: axis 1 of argument y of type float32[4,2]",
    )


def test_the_unusual_size_comes_last():
    args = jnp.ones(1), jnp.ones(2)
    assert text_of(ValueError, cv.vmap(add), *args, z=jnp.ones(2)) == sizes(
        add,
        "  * most axes (2 of them) had size 2, e.g. axis 0 of argument y of type float32[2]",
        "  * one axis had size 1: axis 0 of argument x of type float32[1]",
    )


def test_sizes_in_trees():
    tree = {"a": np.ones((2, 3)), "b": [np.ones(2), np.ones(4)]}
    assert text_of(ValueError, cv.vmap(identity), tree) == sizes(
        identity,
        "  * most axes (2 of them) had size 2, e.g. axis 0 of argument x['a'] of type float32[2,3]",
        "  * one axis had size 4: axis 0 of argument x['b'][1] of type float32[4]",
    )


def test_many_arguments_of_one_size():
    def f(*xs):
        return xs

    assert text_of(ValueError, cv.vmap(f), *[np.ones(2)] * 7, *[np.ones(3)] * 2) == sizes(
        f,
        "  * most axes (7 of them) had size 2, e.g. axis 0 of argument xs[0] of type float32[2]",
        "  * some axes (2) had size 3, e.g. axis 0 of argument xs[7] of type float32[3]",
    )


def test_an_argument_by_keyword():
    assert text_of(ValueError, cv.vmap(add), np.ones(2), y={"a": np.ones(3)}) == sizes(
        add,
        "  * one axis had size 2: axis 0 of argument x of type float32[2]",
        "  * one axis had size 3: axis 0 of kwargs['y']['a'] of type float32[3]",
    )


def test_axis_size_and_an_argument():
    assert text_of(ValueError, cv.vmap(identity, axis_size=4), np.ones(3)) == sizes(
        identity,
        "  * the `axis_size` argument was 4",
        "  * one axis had size 3: axis 0 of argument x of type float32[3]",
    )


def test_no_size():
    assert text_of(ValueError, cv.vmap(identity, None), 1.0) == (
        "[vmap] vmap must have at least one non-None value in in_axes, which maps none of the "
        f"arguments of {name(identity)}. Map one, or pass axis_size."
    )
    assert text_of(ValueError, cv.vmap(identity), ()) == (
        "[vmap] vmap wrapped function must be passed at least one argument containing an array or "
        "axis_size must be specified, got empty *args=((),) and **kwargs={} for "
        f"{name(identity)}."
    )


# ---------------------------------------------------------------- arguments and in_axes


def test_axes_that_the_argument_lacks():
    assert text_of(ValueError, cv.vmap(add, (0, 2)), np.ones(3), np.ones((3, 2))) == (
        "[vmap] vmap was requested to map its argument along axis 2, which implies that its rank "
        "should be at least 3, but is only 2 (its shape is (3, 2)): the argument y of "
        f"{name(add)}. Give it None in in_axes to pass it whole to every example."
    )
    assert text_of(ValueError, cv.vmap(identity), {"n": 3.0}) == (
        "[vmap] vmap was requested to map its argument along axis 0, which implies that its rank "
        "should be at least 1, but is only 0 (its shape is ()): the argument x['n'] of "
        f"{name(identity)}. Give it None in in_axes to pass it whole to every example."
    )


def test_arguments_that_are_no_arrays():
    assert text_of(TypeError, cv.vmap(add), np.ones(3), "text") == (
        f"[vmap] the argument y of {name(add)}: 'text' of type <class 'str'> is not a valid JAX "
        "type, neither an array nor a number. Close over it, or leave it out of the arguments "
        "that are transformed."
    )


def test_no_function():
    assert text_of(TypeError, cv.vmap, np.ones(2)) == (
        "[vmap] the first argument must be a function, but it is array([1., 1.]). Expected a "
        "callable value, not one of type <class 'numpy.ndarray'>."
    )


@pytest.mark.parametrize("in_axes", ["xy", {"x": 0}, True, 0.0, np.int32(0)])
def test_in_axes_of_another_type(in_axes):
    assert text_of(TypeError, cv.vmap, identity, in_axes) == (
        "[vmap] vmap in_axes must be an int, None, or a tuple of entries corresponding to the "
        f"positional arguments passed to the function, but got {in_axes!r}."
    )


@pytest.mark.parametrize("axes", [("x",), (0, {"a": 1.0}), (True,)])
def test_entries_of_another_type(axes):
    for what in ("in_axes", "out_axes"):
        assert text_of(TypeError, cv.vmap, identity, **{what: axes}) == (
            f"[vmap] vmap {what} must be an int, None, or a tree of these, but it is {axes!r}."
        )


def test_number_of_entries():
    assert text_of(ValueError, cv.vmap(add, (0, None, 0)), np.ones(2), np.ones(2)) == (
        "[vmap] vmap in_axes must be an int, None, or a tuple of entries corresponding to the "
        "positional arguments passed to the function, but got len(in_axes)=3, len(args)=2 for "
        f"{name(add)}: in_axes=(0, None, 0). Arguments passed by keyword are mapped over their "
        "axis 0."
    )


def test_in_axes_that_do_not_fit_the_argument():
    text = text_of(ValueError, cv.vmap(identity, ({"a": 0},)), {"b": np.ones(2)})
    assert text.startswith("vmap in_axes specification must be a tree prefix")
    assert "only in vmap in_axes[0]: 'a'" in text and "only in the value there: 'b'" in text


# ---------------------------------------------------------------- results and out_axes


def test_results_that_differ_between_examples():
    def f(x):
        return {"x": x, "one": 1.0}

    start = f"[vmap] vmap has mapped output ['x'] of {name(f)}"
    end = (
        ", but out_axes is None: the result differs between examples. Give the axis along which "
        "to stack it, such as 0, at vmap out_axes['x']."
    )
    axes = {"x": None, "one": 0}
    assert text_of(ValueError, cv.vmap(f, out_axes=axes), np.ones(2)) == start + end
    assert text_of(ValueError, cv.vmap(f, out_axes=axes, axis_name="i"), np.ones(2)) == (
        start + " with axis_name=i" + end
    )


@pytest.mark.parametrize("axis", [2, -3])
def test_axes_that_the_result_lacks(axis):
    for fun, aval in ((identity, "float32[3]"), (lambda x: np.ones(3), "float32[3]")):
        assert text_of(ValueError, cv.vmap(fun, out_axes=axis), np.ones((2, 3))) == (
            f"[vmap] out_axes: axis {axis} is out of bounds, as that result of {name(fun)} has "
            f"the type {aval} for each example: axes of the stacked result go from -2 to 1."
        )


def test_out_axes_that_do_not_fit_the_result():
    text = text_of(ValueError, cv.vmap(identity, out_axes=(0, 0)), np.ones(2))
    assert text.startswith("vmap out_axes")
    assert "a tuple of length 2" in text


def test_results_that_are_no_arrays():
    def f(x):
        return [x, {"n": "text"}]

    assert text_of(TypeError, cv.vmap(f), np.ones(2)) == (
        f"[vmap] Output from batched function: {name(f)} returned 'text' of type str at [1]['n'], "
        "which is not a valid JAX type. Return arrays only."
    )


# ---------------------------------------------------------------- traced values


def test_conditions_on_an_example():
    def f(x):
        return x if x > 0 else -x

    text = text_of(cv.errors.TracerBoolConversionError, cv.vmap(f), np.ones(2))
    assert "bool[]" in text and f"vmap of the function {name(f)}" in text


def test_numpy_functions_under_grad_and_vmap():
    """NumPy would compute with bare numbers, and the derivative would be lost."""

    def f(x):
        return np.sin(x)

    error = cv.errors.TracerArrayConversionError
    assert f"grad of the function {name(f)}" in text_of(error, cv.grad(f), 1.0)
    assert f"vmap of the function {name(f)}" in text_of(error, cv.vmap(f), np.ones(2))


@pytest.mark.parametrize("transform", ["grad", "vmap", "jvp"])
def test_values_that_outlive_their_transformation(transform):
    bag = []

    def f(x):
        bag.append(x * 2)
        return jnp.sum(x)

    if transform == "jvp":
        cv.jvp(f, (np.ones(3),), (np.ones(3),))
    else:
        getattr(cv, transform)(f)(np.ones((3,)))
    text = text_of(cv.errors.UnexpectedTracerError, lambda: bag[0] + 1)
    assert "a traced value of type float32[" in text
    assert f"{transform} of the function {name(f)}" in text
