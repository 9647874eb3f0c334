"""The public functions of elementwise ops: signatures, docstrings, jaxprs, batches."""

import doctest
import inspect
import pickle

import numpy as np
import pytest

import covector
from covector import lax
from tests.ops.elementwise import FUNCTIONS, accepts

OTHERS = (
    *("conj", "round", "integer_pow", "reciprocal", "reduce_precision", "bitcast_convert_type"),
    *("convert_element_type", "select", "select_n", "clamp", "full", "full_like", "stop_gradient"),
    *("zeta", "igamma", "igammac", "igamma_grad_a", "bessel_i1e"),
    *("stage", "dtype", "AccuracyMode", "Tolerance", "RoundingMethod"),
)


@pytest.mark.parametrize("name", [*FUNCTIONS, *OTHERS])
def test_names_and_signatures(jax, name):
    ours, theirs = getattr(lax, name), getattr(jax.lax, name)
    assert ours.__name__ == name
    if inspect.isclass(ours):
        return
    mine, wanted = inspect.signature(ours).parameters, inspect.signature(theirs).parameters
    assert list(mine) == list(wanted)
    for parameter, other in zip(mine.values(), wanted.values()):
        assert (parameter.kind, parameter.default) == (other.kind, other.default), parameter


@pytest.mark.parametrize("name", [*FUNCTIONS, *OTHERS])
def test_examples(name):
    # The functions are made elsewhere than in the modules that name them, so they are looked up
    # here; the usual collection of doctests goes by modules.
    tests = doctest.DocTestFinder(recurse=False).find(getattr(lax, name), name, globs={})
    assert sum(len(test.examples) for test in tests) >= 2, "there is no example"
    for test in tests:
        runner = doctest.DocTestRunner(optionflags=doctest.FAIL_FAST)
        text = []
        assert runner.run(test, out=text.append).failed == 0, "".join(text)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_know_their_public_place(name):
    function = getattr(lax, name)
    assert pickle.loads(pickle.dumps(function)) is function


def test_the_docstring_of_an_ordinary_function():
    assert (
        lax.log.__doc__
        == """\
Elementwise natural logarithm; NaN of negative floats, -inf of 0.

Args:
  x: an array of floats or complex numbers.
  accuracy: a `lax.Tolerance` or `lax.AccuracyMode` that the values must meet, where
    XLA has a choice.

Returns:
  An array of the shape and dtype of `x`.

Raises:
  TypeError: an operand has another dtype.

>>> from covector import lax
>>> lax.log(2.0)
Array(0.6931472, dtype=float32, weak_type=True)"""
    )


# ---------------------------------------------------------------- jaxprs

X, S = np.ones(3, np.float32), np.float32(0.5)
# Our rule for `rem` computes the quotient once where JAX's computes it twice; those for the others
# are explained where they are tested.
OTHER_FORMULAS = {"div", "pow", "rem"}
FLOATING = [
    name
    for name, p in FUNCTIONS.items()
    if accepts(p, X.dtype) and name not in OTHER_FORMULAS | {"nextafter", "polygamma"}
]


@pytest.mark.parametrize("name", FLOATING)
def test_text_of_derivatives(jax, name):
    arity = FUNCTIONS[name].arity
    for args in {1: [(X,), (S,), (0.5,)], 2: [(X, X), (S, S), (X, S), (2.0, X), (0.5, 0.5)]}[arity]:
        ours, theirs = (texts(m, getattr(m.lax, name), args) for m in (covector, jax))
        assert ours == theirs


def texts(m, function, args):
    """The jaxprs of a function, its tangent and its cotangent."""

    def tangent(xs, ts):
        return m.jvp(function, xs, ts)

    def cotangent(*xs):
        out, pull = m.vjp(function, *xs)
        return pull(m.lax.full_like(out, 1))

    jaxprs = [m.make_jaxpr(function)(*args)]
    if jaxprs[0].out_avals[0].dtype == np.float32:
        jaxprs += [m.make_jaxpr(tangent)(args, args), m.make_jaxpr(cotangent)(*args)]
    return [jaxpr.pretty_print() for jaxpr in jaxprs]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_batch_is_one_op(name):
    p = FUNCTIONS[name]
    dtype = next(d for d in (np.float32, np.int32, np.complex64) if accepts(p, np.dtype(d)))
    x = np.ones((2, 3), dtype)
    operands = {1: [((x,), 0), ((x,), 1)], 2: [((x, x), 0), ((x, x[0, 0]), (1, None))]}[p.arity]
    for args, axes in operands:
        jaxpr = covector.make_jaxpr(covector.vmap(getattr(lax, name), in_axes=axes))(*args)
        assert [eqn.primitive for eqn in jaxpr.eqns][:1] == [p]


SHAPES_AND_AXES = [
    (((3,), (3,)), (0, 0)),
    (((3, 2), (2, 3)), (0, 1)),
    (((3, 2), (2,)), (0, None)),
    (((2,), (2, 3)), (None, 1)),
    (((3,), (2, 4)), (0, None)),
    (((2, 4), (3,)), (None, 0)),
    (((2, 1, 3), (3, 1, 4)), (2, 0)),
    (((), (3, 2)), (None, 0)),
]


@pytest.mark.parametrize(("shapes", "axes"), SHAPES_AND_AXES)
def test_batches_of_two_operands(shapes, axes):
    x, y = (np.arange(np.prod(s, dtype=int)).reshape(s).astype(np.float32) for s in shapes)
    got = covector.vmap(lax.sub, in_axes=axes)(x, y)
    want = [
        np.subtract(*[v if a is None else np.take(v, i, a) for v, a in zip((x, y), axes)])
        for i in range(3)
    ]
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("which_axis", [None, 0, 1])
@pytest.mark.parametrize("axes", [(None, None), (0, None), (1, 0), (None, 1)])
@pytest.mark.parametrize("scalar", [False, True])
def test_batches_of_select(which_axis, axes, scalar):
    if which_axis is None and axes == (None, None):
        return
    rng = np.random.default_rng(0)
    size, example = 3, (2,)
    which_example = () if scalar else example
    if scalar and which_axis == 1:
        return

    def batch(shape, axis):
        return shape if axis is None else (*shape[:axis], size, *shape[axis:])

    which = rng.integers(0, 2, batch(which_example, which_axis)).astype(bool)
    x, y = (rng.uniform(size=batch(example, axis)).astype(np.float32) for axis in axes)
    got = covector.vmap(lax.select_n, in_axes=(which_axis, *axes))(which, x, y)
    for i in range(size):
        args = [
            v if axis is None else np.take(v, i, axis)
            for v, axis in zip((which, x, y), (which_axis, *axes))
        ]
        np.testing.assert_array_equal(np.asarray(got)[i], np.where(args[0], args[2], args[1]))


@pytest.mark.parametrize(
    "axes", [(0, 0, 0), (None, 0, None), (0, None, None), (1, 1, None), (None, 1, 0)]
)
@pytest.mark.parametrize("scalar", [False, True])
def test_batches_of_clamp(axes, scalar):
    rng = np.random.default_rng(0)
    size, example = 3, (2,)

    def batch(shape, axis):
        return shape if axis is None else (*shape[:axis], size, *shape[axis:])

    axes = [min(a, 0) if scalar and a is not None and i != 1 else a for i, a in enumerate(axes)]
    shapes = [() if scalar and i != 1 else example for i in range(3)]
    args = [rng.uniform(-1, 1, batch(s, a)).astype(np.float32) for s, a in zip(shapes, axes)]
    got = covector.vmap(lax.clamp, in_axes=tuple(axes))(*args)
    for i in range(size):
        lower, x, upper = [v if a is None else np.take(v, i, a) for v, a in zip(args, axes)]
        np.testing.assert_array_equal(np.asarray(got)[i], np.minimum(np.maximum(x, lower), upper))
