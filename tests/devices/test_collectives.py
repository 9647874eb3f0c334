"""Collectives between devices, against JAX on eight of them, and against sums over all parts."""

import numpy as np
import pytest

import covector as cv

X = np.random.RandomState(0).randn(8, 8).astype(np.float32)
INTEGERS = np.arange(64, dtype=np.int32).reshape(8, 8)


def mesh_of(m, shape=(4, 2), names=("x", "y"), order=slice(None)):
    return m.sharding.Mesh(np.array(m.devices())[order].reshape(shape), names)


def mapped(m, f, in_specs, out_specs, **options):
    mesh = options.pop("mesh", None) or mesh_of(m)
    return m.shard_map(f, mesh=mesh, in_specs=in_specs, out_specs=out_specs, **options)


# The function of a device's part, given the module; the specifications of argument and result.
COLLECTIVES = {
    "psum": (lambda m, x: m.lax.psum(x, "x"), ("x",), ()),
    "psum over two axes": (lambda m, x: m.lax.psum(x, ("x", "y")), ("x", "y"), ()),
    "psum of bools": (lambda m, x: m.lax.psum(x > 0, "x"), ("x",), ()),
    "psum of a number": (lambda m, x: x * m.lax.psum(2, ("y", "x")), ("x",), ("x",)),
    "pmean": (lambda m, x: x - m.lax.pmean(x, "y"), ("x", "y"), ("x", "y")),
    "pmax": (lambda m, x: m.lax.pmax(x, "x"), ("x", "y"), (None, "y")),
    "pmin": (lambda m, x: m.lax.pmin(x, ("y", "x")), ("x", "y"), ()),
    "ppermute": (
        lambda m, x: m.lax.ppermute(x, "x", [(0, 1), (1, 2), (3, 0)]),
        ("x", "y"),
        ("x", "y"),
    ),
    "ppermute over two axes": (
        lambda m, x: m.lax.ppermute(x, ("y", "x"), [(i, (i + 3) % 8) for i in range(8)]),
        ("x", "y"),
        ("x", "y"),
    ),
    "pshuffle": (lambda m, x: m.lax.pshuffle(x, "x", [3, 1, 0, 2]), ("x",), ("x",)),
    "pswapaxes": (lambda m, x: m.lax.pswapaxes(x[:, :4], "x", 1), ("x",), ("x",)),
    "all_gather": (lambda m, x: m.lax.all_gather(x, "x", axis=1), ("x",), ("x",)),
    "all_gather, tiled": (
        lambda m, x: m.lax.all_gather(x, ("y", "x"), axis=1, tiled=True),
        ("x", "y"),
        (("x", "y"),),
    ),
    "all_gather, for all": (
        lambda m, x: m.lax.all_gather(x, ("x", "y"), tiled=True, to="invarying"),
        (("x", "y"),),
        (),
    ),
    "all_to_all": (lambda m, x: m.lax.all_to_all(x[:, :4], "x", 1, 0), ("x",), ("x",)),
    "all_to_all, tiled": (
        lambda m, x: m.lax.all_to_all(x, ("x", "y"), 1, 0, tiled=True),
        ("x",),
        ("x", "y"),
    ),
    "psum_scatter": (lambda m, x: m.lax.psum_scatter(x[:4], "x"), (), ("x",)),
    "psum_scatter, tiled": (
        lambda m, x: m.lax.psum_scatter(x, "x", scatter_dimension=1, tiled=True),
        ("y",),
        ("y", "x"),
    ),
    "all_to_all, axes reversed": (
        lambda m, x: m.lax.all_to_all(x, ("y", "x"), 1, 0, tiled=True),
        ("x",),
        ("x", "y"),
    ),
    "psum_scatter, axes reversed": (
        lambda m, x: m.lax.psum_scatter(m.numpy.tile(x, (4, 1)), ("y", "x"), tiled=True),
        ("y", "x"),
        (("y", "x"),),
    ),
    "axis_index": (lambda m, x: x * m.lax.axis_index(("y", "x")), ("x", "y"), ("x", "y")),
    "axis_size": (lambda m, x: x * m.lax.axis_size(("y", "x")), ("x", "y"), ("x", "y")),
    "pcast": (lambda m, x: m.lax.pcast(x, "y", to="varying"), ("x",), ("x", "y")),
}
GROUPS = {
    "psum": (lambda m, x: m.lax.psum(x, "x", axis_index_groups=[[0, 2], [3, 1]]), ("x",), ("x",)),
    "psum in unequal groups": (
        lambda m, x: m.lax.psum(x, "x", axis_index_groups=[[0, 2, 3], [1]]),
        ("x",),
        ("x",),
    ),
    "pmax": (lambda m, x: m.lax.pmax(x, "x", axis_index_groups=[[0, 1], [3, 2]]), ("x",), ("x",)),
    "all_gather": (
        lambda m, x: m.lax.all_gather(x, "x", axis_index_groups=[[2, 0], [1, 3]]),
        ("x",),
        ("x",),
    ),
    "all_to_all": (
        lambda m, x: m.lax.all_to_all(x, "x", 1, 0, axis_index_groups=[[2, 0], [1, 3]], tiled=True),
        ("x",),
        ("x",),
    ),
    "psum_scatter": (
        lambda m, x: m.lax.psum_scatter(x, "x", axis_index_groups=[[0, 1], [2, 3]], tiled=True),
        (None, "y"),
        ("x", "y"),
    ),
}


@pytest.mark.parametrize("name", COLLECTIVES)
def test_values(same_as_jax, name):
    f, in_spec, out_spec = COLLECTIVES[name]
    x = INTEGERS if name in ("pmax", "all_to_all") else X
    same_as_jax(
        lambda m: mapped(m, lambda x: f(m, x), (m.P(*in_spec),), m.P(*out_spec))(x), atol=1e-5
    )


@pytest.mark.parametrize("name", GROUPS)
def test_groups(same_as_jax, name):
    f, in_spec, out_spec = GROUPS[name]

    def run(m):
        specs = (m.P(*in_spec),), m.P(*out_spec)
        return mapped(m, lambda x: f(m, x), *specs, check_vma=False)(X)

    same_as_jax(run, atol=1e-5)


def test_the_order_of_devices_in_the_mesh(same_as_jax):
    """XLA numbers devices as the program does; the mesh may have them in another order."""

    def run(m):
        def f(x):
            first = m.lax.ppermute(x, "x", [(0, 1), (1, 3)])
            return x + m.lax.axis_index("x") * 10, first, m.lax.all_gather(x, "y", tiled=True)

        mesh = mesh_of(m, order=[5, 2, 7, 0, 1, 6, 3, 4])
        return m.jit(mapped(m, f, m.P("x", "y"), m.P("x", "y"), mesh=mesh))(X)

    same_as_jax(run)


def test_pbroadcast():
    part = X.reshape(4, 2, 8)
    for source in (0, 3):
        f = mapped(cv, lambda x, s=source: cv.lax.pbroadcast(x, "x", s), cv.P("x"), cv.P("x"))
        np.testing.assert_array_equal(f(X), np.tile(part[source], (4, 1)))
        ct = np.zeros_like(part)
        ct[source] = 4.0
        np.testing.assert_array_equal(cv.grad(lambda x, f=f: f(x).sum())(X), ct.reshape(X.shape))
    with pytest.raises(ValueError, match="the source 4 is no index of the axis 'x' of size 4"):
        mapped(cv, lambda x: cv.lax.pbroadcast(x, "x", 4), cv.P("x"), cv.P("x"))(X)


def test_one_gathered_value_has_one_cotangent(same_as_jax):
    def run(m):
        def f(x):
            return m.lax.all_gather(x, "x", axis=1, to="invarying")

        g = mapped(m, f, m.P("x", "y"), m.P(None, None, "y"))
        return m.grad(lambda x: (g(x) ** 2).sum())(X)

    same_as_jax(run, rtol=1e-5)


def test_ragged_all_to_all():
    """Each device sends slices of different lengths; the same as the exchange under `vmap`."""
    rng = np.random.RandomState(0)
    sizes = rng.randint(0, 3, (8, 8)).astype(np.int32)  # by sender and receiver
    starts = np.cumsum(sizes, 1).astype(np.int32) - sizes
    targets = np.cumsum(sizes, 0).astype(np.int32) - sizes
    x, out = rng.randn(8, 16, 3).astype(np.float32), np.zeros((8, 20, 3), np.float32)

    def send(*args):
        return cv.lax.ragged_all_to_all(*args, axis_name="i")

    args = x, out, starts, sizes, targets, sizes.T.copy()
    mesh = mesh_of(cv, (8,), ("i",))
    f = cv.shard_map(
        lambda *parts: send(*[part[0] for part in parts])[None],
        mesh=mesh,
        in_specs=cv.P("i"),
        out_specs=cv.P("i"),
    )
    right = cv.vmap(send, axis_name="i")(*args)
    np.testing.assert_array_equal(f(*args), right)
    assert np.count_nonzero(right) == 3 * sizes.sum()
    grads = [
        cv.grad(lambda x, g=g: (g(x, *args[1:]) ** 2).sum())(x)
        for g in (f, cv.vmap(send, axis_name="i"))
    ]
    np.testing.assert_allclose(*grads, rtol=1e-6)


def test_pmax_has_a_derivative():
    f = mapped(cv, lambda x: cv.lax.pmax(x, "x"), cv.P("x"), cv.P())
    is_max = X.reshape(4, 2, 8) == X.reshape(4, 2, 8).max(0)
    np.testing.assert_array_equal(cv.grad(lambda x: f(x).sum())(X), is_max.reshape(8, 8))


def test_sums_over_axes_and_dimensions_together():
    f = mapped(cv, lambda x: cv.lax.psum(x, ("x", 0)), cv.P("x"), cv.P())
    np.testing.assert_allclose(f(X), X.sum(0), rtol=1e-5)
    np.testing.assert_array_equal(
        cv.grad(lambda x: f(x)[0])(X), np.eye(8)[:, [0]].T * np.ones((8, 1))
    )


def test_collectives_of_few_bits_and_of_complex_numbers(same_as_jax):
    def run(m):
        f = lambda x, z: (m.lax.psum(x, "x"), m.lax.psum(z, "x"), m.lax.pmax(x, "x"))  # noqa: E731
        x, z = m.numpy.asarray(INTEGERS, "bfloat16"), m.numpy.asarray(X + 1j)
        return mapped(m, f, m.P("x"), m.P())(x, z)

    same_as_jax(run, rtol=1e-5)


def test_empty_parts():
    empty = np.zeros((8, 0), np.float32)  # of which JAX gives arrays of wrong parts
    f = lambda x: (cv.lax.psum(x, "x"), cv.lax.all_gather(x, "x"))  # noqa: E731
    total, gathered = mapped(cv, f, cv.P("x"), (cv.P(), cv.P("x")))(empty)
    assert (np.asarray(total).shape, np.asarray(gathered).shape) == ((2, 0), (16, 2, 0))


def test_axes_that_nothing_maps_over():
    with pytest.raises(NameError, match="unbound axis name: z"):
        mapped(cv, lambda x: cv.lax.psum(x, "z"), cv.P("x"), cv.P())(X)
    with pytest.raises(NameError, match="unbound axis name: y"):  # it belongs to the compiler
        mapped(cv, lambda x: cv.lax.psum(x, "y"), cv.P("x"), cv.P("x"), axis_names={"x"})(X)


def test_sizes_of_axes_belong_to_the_place(jax):
    """The same collective on parts of the same type, over axes of two sizes."""
    for sizes in ((4, 2), (2, 4)):
        mesh = mesh_of(cv, sizes)
        f = lambda x: cv.lax.all_to_all(x, "x", 1, 0, tiled=True)  # noqa: E731
        part = cv.eval_shape(mapped(cv, f, cv.P(), cv.P("x"), mesh=mesh), X)
        assert part.shape == (8 * sizes[0] * sizes[0], 8 // sizes[0])
