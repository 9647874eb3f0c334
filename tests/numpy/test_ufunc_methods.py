"""The methods of ufuncs, and ufuncs made of Python functions, against NumPy."""

import operator
import pickle
from functools import partial

import numpy as np
import pytest

import covector
import covector.numpy as jnp

NAMES = [name for name in dir(jnp) if isinstance(getattr(jnp, name), jnp.ufunc)]
BITS = ("bitwise_and", "bitwise_or", "bitwise_xor", "logical_and", "logical_or", "logical_xor")
INTEGERS = (*BITS, "gcd", "lcm", "left_shift", "right_shift")
ARITHMETIC = ("add", "multiply", "subtract", "maximum", "minimum", "logaddexp", "logaddexp2")
BINARY = (*BITS, *ARITHMETIC)  # those whose methods are not all the general ones
OTHERS = [name for name in NAMES if name not in (*BINARY, "negative")]


def values(name, shape, seed=0):
    """Integers for functions of bits, and floats for the others."""
    rng = np.random.default_rng(seed)
    if name in INTEGERS:
        return rng.integers(0, 6, shape).astype(np.int32)
    if "pow" in name:
        return rng.uniform(0.5, 2.0, shape).astype(np.float32)
    return rng.normal(size=shape).astype(np.float32)


def test_names_and_facts(jax):
    theirs = [
        name for name in dir(jax.numpy) if isinstance(getattr(jax.numpy, name), jax.numpy.ufunc)
    ]
    assert set(theirs) <= set(NAMES)
    for name in NAMES:
        ours, other = getattr(jnp, name), getattr(np, name)
        assert (ours.nin, ours.nout, ours.identity) == (other.nin, other.nout, other.identity)
        assert ours.nargs == ours.nin and ours.__name__ == name and ours.__doc__
        assert pickle.loads(pickle.dumps(ours)) is ours
        if name in theirs:
            assert repr(ours) == repr(getattr(jax.numpy, name))


def compare(call, cases):
    """`call(np, f, *case)` is the same for our functions, in one program, and for NumPy's."""
    ours = covector.jit(lambda: [call(jnp, getattr(jnp, name), *case) for name, *case in cases])()
    for (name, *case), got in zip(cases, ours, strict=True):
        want = np.asarray(call(np, getattr(np, name), *case))
        assert got.shape == want.shape, (name, case)
        np.testing.assert_allclose(got, want, rtol=2e-6, atol=1e-6, err_msg=f"{name} {case}")


def test_reduce():
    mask = np.array([True, False, True, True])
    cases, masked = [], []
    for name in BINARY:
        x, ordered = values(name, (3, 4)), getattr(np, name).identity is None
        axes = (0, 1, -1) if ordered else (0, 1, -1, None, (0, 1))
        cases += [(name, x, dict(axis=axis)) for axis in axes]
        cases += [(name, x, dict(axis=axis, keepdims=True, initial=x[0, 0])) for axis in axes[1:]]
        masked += [(name, x, dict(axis=1, where=mask, initial=x[0, 0]))]
        if not ordered:
            cases += [(name, x[:0], dict(axis=0))]
            masked += [(name, x, dict(axis=axis, where=mask)) for axis in (0, 1, None)]
    compare(lambda np, f, x, options: f.reduce(x, **options), cases + masked)
    for name in ("subtract", "maximum", "minimum"):
        with pytest.raises(ValueError, match="identity"):
            getattr(jnp, name).reduce(np.ones((0, 2)))
        with pytest.raises(ValueError, match="initial"):
            getattr(jnp, name).reduce(np.ones((3, 4)), axis=1, where=mask)


def test_accumulate():
    cases = [(name, values(name, (3, 5)), axis) for name in BINARY for axis in (0, 1, -1)]
    cases += [(name, values(name, (0, 5)), 1) for name in BINARY]
    compare(lambda np, f, x, axis: f.accumulate(x, axis=axis), cases)
    assert jnp.maximum.accumulate(np.ones(2), dtype="float16").dtype == jnp.float16


def test_outer():
    cases = [(name, values(name, (2, 3)), values(name, 4, seed=1)) for name in BINARY]
    with covector.numpy_rank_promotion("raise"):
        compare(lambda np, f, x, y: f.outer(x, y), cases)


def test_other_functions():
    cases = [(name, values(name, (2, 3)), values(name, 4, seed=1)) for name in OTHERS]
    compare(lambda np, f, x, y: f.outer(x, y), cases)
    names = ("divide", "gcd", "hypot", "power", "arctan2")
    cases = [(name, values(name, (2, 4)), 1) for name in names]
    compare(lambda np, f, x, axis: f.reduce(x, axis=axis), cases)
    compare(lambda np, f, x, axis: f.accumulate(x, axis=axis), cases)


REPEATED = np.array([0, 2, 2, -1])
INDICES = [
    REPEATED,
    1,
    (slice(None), np.array([1, 1])),
    (0, slice(1, 3)),
    np.array([[0, 0], [3, 0]]),
    (np.array([0, 0]), slice(None, 2)),
    (np.array([[0], [1]]), np.array([1, 1])),
    Ellipsis,
]


def updated(np, f, x, index, *others):
    if np is jnp:
        return f.at(x, index, *others, inplace=False)
    x = x.copy()
    f.at(x, index, *others)
    return x


def test_at():
    cases = []
    for name in (*BINARY, "negative"):
        x = values(name, (4, 3))
        x = x > 2 if name.startswith("logical") else x
        for index in INDICES if name in ("add", "logaddexp", "negative") else INDICES[:1]:
            others = [values(name, x[index].shape, 1).astype(x.dtype)] if name != "negative" else []
            cases.append((name, x, index, *others))
    compare(updated, cases)


def test_reduceat():
    cases = []
    for name in BINARY:
        x = values(name, (4, 5))
        x = x > 2 if name.startswith("logical") else x
        for axis, starts in ((1, [0, 3, 1, 1, 4]), (0, [2]), (0, [])):
            cases.append((name, x, np.array(starts, int), axis))
    compare(lambda np, f, x, starts, axis: f.reduceat(x, starts, axis=axis), cases)
    assert jnp.add.reduceat(np.ones((4, 5)), [0, 2]).shape == (2, 5)


def test_at_with_a_mask_and_out_of_bounds():
    power = jnp.frompyfunc(lambda x, y: x * 10 + y, 2, 1)
    x = np.arange(4)
    mask = np.array([True, False, False, True])
    got = power.at(x, mask, 1, inplace=False)
    assert got.tolist() == [1, 1, 2, 31]
    assert power.at(x, np.array([0, 9]), 1, inplace=False).tolist() == [1, 1, 2, 3]


FUNCTIONS = {
    "add": (operator.add, 0),
    "subtract": (operator.sub, None),
    "of powers": (lambda x, y: 2 * x + y, None),
}


def methods(f, x, y):
    yield f(x, y)
    yield f.outer(x[0], y)
    for axis in (0, 1):
        yield f.reduce(x, axis=axis)
        yield f.accumulate(x, axis=axis)
        yield f.reduceat(x, np.array([0, 2, 1]), axis=axis)


@pytest.mark.parametrize("case", FUNCTIONS)
def test_made_of_python_functions(case):
    function, identity = FUNCTIONS[case]
    ours = jnp.frompyfunc(function, 2, 1, identity=identity)
    theirs = np.frompyfunc(function, 2, 1, identity=identity)
    assert (ours.nin, ours.nout, ours.nargs, ours.identity) == (2, 1, 2, identity)
    assert ours == jnp.frompyfunc(function, nin=2, nout=1, identity=identity)
    assert hash(ours) == hash(jnp.frompyfunc(function, nin=2, nout=1, identity=identity))
    x, y = values("add", (3, 4)), values("add", (3, 1), seed=1)
    changed = x.copy()
    theirs.at(changed, np.array([1, 1, 2]), x[0])
    want = [*methods(theirs, x, y), changed, theirs.reduce(x.ravel()), theirs.reduce(x.T.ravel())]

    @covector.jit
    def all_of_ours(x, y):
        changed = ours.at(x, np.array([1, 1, 2]), x[0], inplace=False)
        return [*methods(ours, x, y), changed, ours.reduce(x, None), ours.reduce(x, (1, 0))]

    for got, expected in zip(all_of_ours(x, y), want, strict=True):
        np.testing.assert_allclose(got, np.asarray(expected, x.dtype), rtol=2e-6, atol=1e-6)


def test_several_results_and_one_argument():
    divmod_ = jnp.frompyfunc(divmod, 2, 2)
    quotient, rest = divmod_(np.array([[7], [8]]), np.array([2, 3]))
    assert quotient.tolist() == [[3, 2], [4, 2]] and rest.tolist() == [[1, 1], [0, 2]]
    for method in ("reduce", "accumulate"):
        with pytest.raises(ValueError, match="two arguments with one result"):
            getattr(divmod_, method)(np.arange(3))
        with pytest.raises(ValueError, match="two arguments with one result"):
            getattr(jnp.negative, method)(np.arange(3))


def test_transformations():
    fold = jnp.frompyfunc(lambda x, y: x * y + y, 2, 1)
    x = np.array([0.5, 2.0, 3.0], np.float32)  # ((x0 x1 + x1) x2 + x2)
    assert float(fold.reduce(x)) == 12.0
    gradient = covector.grad(fold.reduce)(x)
    np.testing.assert_allclose(gradient, [6.0, 4.5, 4.0], rtol=1e-6)
    np.testing.assert_allclose(covector.vmap(fold.reduce)(np.stack([x, x])), [12.0, 12.0])
    np.testing.assert_allclose(covector.jit(fold.accumulate)(x), [0.5, 3.0, 12.0])
    soft = covector.grad(jnp.logaddexp.reduce)(x)
    np.testing.assert_allclose(soft, np.exp(x) / np.exp(x).sum(), rtol=1e-5)
    with covector.enable_x64(True):
        assert jnp.logaddexp.reduce(x.astype(float)).dtype == np.float64

    @partial(covector.jit, static_argnums=0)
    def applied(function, x):
        return function.reduce(x)

    assert float(applied(jnp.add, x)) == 5.5 and float(applied(jnp.maximum, x)) == 3.0


def test_errors():
    x = np.arange(3)
    for call, error, words in [
        (lambda: jnp.add.at(x, 0, 1), NotImplementedError, "inplace=False"),
        (lambda: jnp.add.at(x, 0, inplace=False), ValueError, "takes 2 arguments"),
        (lambda: jnp.negative.at(x, 0, 1, inplace=False), ValueError, "takes 1 arguments"),
        (lambda: jnp.add.reduce(x, out=x), NotImplementedError, "out"),
        (lambda: jnp.add.reduce(x, where=x), ValueError, "booleans"),
        (lambda: jnp.subtract.accumulate(x, axis=None), ValueError, "one integer"),
        (lambda: jnp.add.reduceat(np.int32(1), x), ValueError, "needs a dimension"),
        (lambda: jnp.add.reduceat(x, x[None]), ValueError, "must be a vector"),
        (lambda: jnp.add.reduce([1, 2]), TypeError, "requires ndarray"),
        (lambda: setattr(jnp.add, "nin", 3), AttributeError, "nin"),
    ]:
        with pytest.raises(error, match=words):
            call()


def test_one_program_for_each_type():
    """Folds of concrete arrays are compiled once, not once for each call."""
    traces = 0

    def function(x, y):
        nonlocal traces
        traces += 1
        return x - y

    fold = jnp.frompyfunc(function, 2, 1)
    for _ in range(3):
        fold.reduce(np.arange(4))
    before = traces
    fold.reduce(np.arange(4) + 1)
    assert traces == before
