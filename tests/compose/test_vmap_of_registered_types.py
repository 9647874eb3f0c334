"""vmap over batches of types that are no arrays: named axes, and a ring that is shifted."""

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector.interpreters import batching


class Named:
    """A matrix or vector whose axes have names."""

    def __init__(self, names, data):
        assert len(names) == data.ndim
        self.names, self.data = tuple(names), data


class Along:
    """The axis that counts the examples: its name, and where it stands."""

    def __init__(self, name, axis):
        self.name, self.axis = name, axis


def to_elt(example, index, batch, spec):
    assert batch.names[spec.axis] == spec.name
    names = [name for name in batch.names if name != spec.name]
    return Named(names, example(batch.data, spec.axis))


def from_elt(batch, size, elt, spec):
    names = list(elt.names)
    names.insert(spec.axis, spec.name)
    return Named(names, batch(size, elt.data, spec.axis))


@pytest.fixture
def named():
    batching.register_vmappable(Named, Along, int, to_elt, from_elt, None)
    yield
    batching.unregister_vmappable(Named)


X = np.arange(6.0, dtype=np.float32).reshape(2, 3)


def test_in_and_out(named):
    def square(x):
        assert x.names == ("j",) and x.data.shape == (3,)
        return Named(x.names, x.data**2)

    out = cv.vmap(square, in_axes=Along("i", 0), out_axes=Along("i", 1), axis_size=2)(
        Named("ij", X)
    )
    assert out.names == ("j", "i")
    np.testing.assert_array_equal(out.data, (X**2).T)


def test_among_arrays(named):
    def f(x, tree):
        return Named(x.names, x.data * tree["y"]), x.data.sum()

    mapped = cv.vmap(f, in_axes=(Along("i", 1), 0), out_axes=(Along("k", 0), 0))
    out, sums = mapped(Named("ji", X.T), {"y": np.array([1.0, 10.0], np.float32)})
    assert out.names == ("k", "j")
    np.testing.assert_array_equal(out.data, X * [[1], [10]])
    np.testing.assert_array_equal(sums, X.sum(1))


def test_under_other_transformations(named):
    def f(x):
        out = cv.vmap(
            lambda n: Named(n.names, jnp.sin(n.data)),
            in_axes=Along("i", 0),
            out_axes=Along("i", 0),
            axis_size=2,
        )(Named("ij", x))
        return out.data.sum()

    for g in (cv.grad(f), cv.jit(cv.grad(f))):
        np.testing.assert_allclose(g(X), np.cos(X), rtol=1e-6)
    batches = jnp.stack([X, 2 * X])
    np.testing.assert_allclose(cv.vmap(f)(batches), [np.sin(X).sum(), np.sin(2 * X).sum()], 1e-5)


def test_result_that_is_no_batch(named):
    constant = Named("j", jnp.ones(3))
    out = cv.vmap(lambda x: constant, out_axes=Along("i", 0))(jnp.zeros(2))
    np.testing.assert_array_equal(out.data, np.ones((2, 3)))


def test_numbers_of_examples():
    """An example of a `Ring` is the sum of an element and its right neighbour."""

    class Ring:
        def __init__(self, data):
            self.data = data

    def elt(example, index, ring, spec):
        whole = example(ring.data, None)
        return whole[index()] + whole[(index() + 1) % len(whole)]

    batching.register_vmappable(Ring, int, int, elt, None, None)
    try:
        ring = Ring(jnp.array([1.0, 2.0, 4.0]))
        np.testing.assert_array_equal(cv.vmap(lambda x: 10 * x, axis_size=3)(ring), [30, 60, 50])
    finally:
        batching.unregister_vmappable(Ring)


def test_sizes_of_ones_own():
    class Size:
        def __init__(self, n):
            self.n = n

    class Lazy:
        def __init__(self, size):
            self.size = size

    def elt(example, index, lazy, spec):
        return index()

    batching.register_vmappable(Lazy, int, Size, elt, None, lambda size: jnp.arange(size.n))
    try:
        size = Size(3)
        out = cv.vmap(lambda i: i * i, axis_size=size)(Lazy(size))
        np.testing.assert_array_equal(out, [0, 1, 4])
    finally:
        batching.unregister_vmappable(Lazy)


def test_mistakes(named):
    batch = Named("ij", X)
    with pytest.raises(ValueError, match="along the axis None"):
        in_axes, out_axes = Along("i", 0), Along("i", 0)

        def broken(make, size, elt, spec):
            return Named(elt.names, make(size, elt.data, None))

        batching.register_vmappable(Named, Along, int, to_elt, broken, None)
        cv.vmap(lambda x: x, in_axes=in_axes, out_axes=out_axes, axis_size=2)(batch)
    batching.unregister_vmappable(Named)
    with pytest.raises(TypeError, match="in_axes"):
        cv.vmap(lambda x: x, in_axes=Along("i", 0))
    with pytest.raises(TypeError, match="Named"):
        cv.vmap(lambda x: x, axis_size=2)(batch)
