"""Whole texts of the errors of jit, and of what is done with arrays at its border."""

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp


def f(x, n=2, *, key=None):
    return x * n


def text_of(kind, fun, *args, **kwargs):
    with pytest.raises(kind) as caught:
        fun(*args, **kwargs)
    assert type(caught.value) is kind
    return str(caught.value)


# ---------------------------------------------------------------- what is jitted


@pytest.mark.parametrize("wrong", [3, "f", {}])
def test_no_function(wrong):
    assert text_of(TypeError, cv.jit, wrong) == (
        f"[jit] the first argument must be a function, but it is {wrong!r}. Expected a callable "
        f"value, not one of type {type(wrong)}."
    )


def test_generator_functions():
    def items(x):
        yield x

    text = text_of(TypeError, cv.jit, items)
    assert text.startswith("[jit] Expected a function, got a generator function: <function ")
    assert text.endswith(" Return a list or tuple instead of yielding its items.")


def test_static_methods():
    assert text_of(TypeError, cv.jit, staticmethod(f)) == (
        "[jit] staticmethod arguments are not supported, as they cannot be called while their "
        "class is made. Write `@staticmethod` above `@jit`."
    )
    assert "Expected a callable value" in text_of(TypeError, cv.jit, classmethod(f))


# ---------------------------------------------------------------- static and donated arguments


@pytest.mark.parametrize(
    "options, error, text",
    [
        (dict(static_argnums=5), ValueError, "[jit] static_argnums"),
        (dict(static_argnums="n"), TypeError, "[jit] static_argnums must be integers"),
        (dict(static_argnums=1.5), TypeError, "[jit] static_argnums must be"),
        (dict(static_argnames="m"), ValueError, "[jit] static_argnames names 'm', but f(x, n=2, *"),
        (dict(static_argnames=[1]), TypeError, "[jit] static_argnames must be strings"),
        (dict(donate_argnums=-4), ValueError, "[jit] donate_argnums"),
        (dict(donate_argnames="y"), ValueError, "[jit] donate_argnames names 'y'"),
        (
            dict(static_argnums=1, donate_argnames="n"),
            ValueError,
            "[jit] static_argnames and donate_argnames cannot intersect, nor can their argnums, "
            "but ['n'] are in both: a static argument is no array whose memory could be reused.",
        ),
    ],
)
def test_arguments_that_do_not_exist(options, error, text):
    with pytest.raises((ValueError, TypeError)) as caught:
        cv.jit(f, **options)
    assert type(caught.value) is error and str(caught.value).startswith(text), str(caught.value)


def test_names_that_cannot_be_keywords():
    def g(a, /, b, *rest):
        return a

    for name in ("a", "rest"):
        assert f"names {name!r}" in text_of(ValueError, cv.jit, g, static_argnames=name)
    cv.jit(g, static_argnames="b")


def test_functions_without_a_signature():
    class Odd:
        __name__ = "odd"

        @property
        def __signature__(self):
            raise TypeError("none")

        def __call__(self, *args):
            return args[0]

    assert text_of(ValueError, cv.jit, Odd(), donate_argnames="a") == (
        "[jit] Getting the signature of function odd failed. Pass donate_argnums instead of "
        "donate_argnames."
    )
    assert cv.jit(Odd(), donate_argnums=())(1.0) == 1.0


def test_unhashable_static_arguments():
    assert text_of(ValueError, cv.jit(f, static_argnums=1), 1.0, [2]) == (
        "[jit] Non-hashable static arguments are not supported, but got a value of type "
        "<class 'list'>: [2]. Static arguments are compared between calls to decide whether to "
        "trace again: pass a tuple instead of a list, or pass arrays as ordinary arguments."
    )


# ---------------------------------------------------------------- arguments and results


@pytest.mark.parametrize("transform", ["jit", "make_jaxpr", "eval_shape"])
def test_arguments_that_are_no_arrays(transform):
    def call(*args, **kwargs):
        if transform == "eval_shape":
            return cv.eval_shape(f, *args, **kwargs)
        return getattr(cv, transform)(f)(*args, **kwargs)

    tail = (
        "pass it as a static argument (static_argnums or static_argnames of jit), or close over it."
    )
    assert text_of(TypeError, call, {"w": [1.0, "text"]}) == (
        f"[{transform}] Error interpreting argument to f as an abstract array. The problematic "
        f"value is of type <class 'str'> and was passed to the function at path x['w'][1]. It is "
        f"'text': {tail}"
    )
    assert "at path key. It is <object" in text_of(TypeError, call, 1.0, key=object())


def test_results_that_are_no_arrays():
    def g(x):
        return {"a": x, "b": "text"}

    place = f"{__file__}:{g.__code__.co_firstlineno}"
    assert text_of(TypeError, cv.jit(g), 1.0) == (
        f"[jit of the function g at {place}] the function returned a value of type <class 'str'> "
        "at output component ['b'], which is not a valid JAX type: 'text'. Return arrays and "
        "Python numbers, in tuples, lists and dicts."
    )


def test_masked_arrays():
    x = np.ma.array([1.0, 2.0], mask=[True, False])
    text = "numpy masked arrays are not supported as arguments: their masks would be lost."
    for take in (cv.jit(lambda x: x), cv.device_put, cv.grad(jnp.sum), jnp.sin):
        assert text_of(ValueError, take, x).startswith(text)
    np.testing.assert_array_equal(jnp.asarray(x), x.data)  # as JAX takes them


def test_numpy_arrays_of_dtypes_that_do_not_exist_here():
    for x in (np.array(["a"], object), np.array("2020", "datetime64"), np.zeros(2, "f4,i4")):
        with pytest.raises(TypeError, match=r"not supported|not a valid"):
            cv.jit(lambda x: x)(x)


def test_device_put():
    assert text_of(ValueError, cv.device_put, 1.0, may_alias=True, donate=True) == (
        "[device_put] may_alias and donate cannot be True at the same time: memory that is given "
        "away cannot be shared with its owner. Leave one of them out."
    )
    with pytest.raises(TypeError, match="'text' of type <class 'str'> is not a valid JAX type"):
        cv.device_put({"a": "text"})


def test_the_number_of_cpus_after_the_start():
    cv.devices()
    before = cv.config.jax_num_cpu_devices
    assert text_of(RuntimeError, cv.config.update, "jax_num_cpu_devices", before + 3) == (
        "[config.update] jax_num_cpu_devices config should be updated before backends are "
        "initialized: set it before the first array is made, or in the environment."
    )
    assert cv.config.jax_num_cpu_devices == before


def test_a_failing_function_can_be_called_again():
    fail = [True]

    @cv.jit
    def g(x):
        if fail[0]:
            raise ValueError("mine")
        return x + 1

    assert text_of(ValueError, g, 1.0) == "mine"
    fail[0] = False
    assert g(1.0) == 2.0 and cv.grad(g)(1.0) == 1.0


def test_repr_never_fails():
    class Bad:
        def __call__(self, x):
            return x

        def __repr__(self):
            raise ValueError

    assert repr(cv.jit(f)) == f"<PjitFunction of {f!r}>"
    assert repr(cv.jit(Bad())) == "<PjitFunction>"


def test_integers_that_are_too_large():
    def f(x, tree):
        return x

    assert text_of(OverflowError, cv.jit(f), 1, {"n": 2**31}) == (
        "[jit] An overflow of the argument to f whose argument path is tree['n']: the integer "
        "2147483648 has more bits than integers have here. Pass a NumPy array or number of a "
        "wider dtype while `covector.enable_x64` is on, or a float."
    )
    with cv.enable_x64(True):
        assert cv.jit(f)(2**31, 1) == 2**31
        assert "argument path is x" in text_of(OverflowError, cv.jit(f), 2**63, 1)
