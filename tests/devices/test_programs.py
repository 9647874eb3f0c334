"""Programs on arrays over several devices: values and shardings are those of JAX."""

import importlib

import numpy as np
import pytest

X = np.linspace(-2, 2, 32, dtype=np.float32).reshape(8, 4)
KERNEL = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 2, 2, 1)


def named(m, *spec):
    types = (m.sharding.AxisType.Auto,) * 2
    return m.NamedSharding(m.make_mesh((4, 2), ("x", "y"), types), m.P(*spec))


def put(m, x=X, spec=("x", "y")):
    return m.device_put(x, named(m, *spec))


def numpy_of(m):
    return importlib.import_module(m.__name__ + ".numpy")


# Functions of the module, its NumPy, and an array of shape (8, 4) that is cut into 4 by 2 parts.
PROGRAMS = {
    "elementwise": lambda m, jnp, x: jnp.sin(x) * 2 + x**2,
    "with a number": lambda m, jnp, x: 3.0 - x,
    "with a NumPy array": lambda m, jnp, x: x + X,
    "sum": lambda m, jnp, x: (x.sum(), x.sum(0), x.max(1), jnp.mean(x, 0, keepdims=True)),
    "product": lambda m, jnp, x: (x @ x.T, x.T @ x, jnp.einsum("ij,kj->ki", x, x)),
    "transpose": lambda m, jnp, x: (x.T, jnp.expand_dims(x, 1), x.reshape(-1), x.reshape(4, 2, 4)),
    "index": lambda m, jnp, x: (x[0], x[0, 0], x[1:3], x[jnp.array([5, 0])], x[..., -1]),
    "update": lambda m, jnp, x: (x.at[2].set(0.0), x.at[:, 1].add(x[:, 0])),
    "join": lambda m, jnp, x: (jnp.concatenate([x, x]), jnp.stack([x, 2 * x]), jnp.pad(x, 1)),
    "choose": lambda m, jnp, x: (jnp.where(x > 0, x, 0), jnp.argmax(x, 0), jnp.sort(x, 0)),
    "scan": lambda m, jnp, x: m.lax.scan(lambda c, row: (c + row, c * row), x[0], x),
    "while": lambda m, jnp, x: m.lax.while_loop(lambda c: c.sum() < 50, lambda c: c + 1, x),
    "cond": lambda m, jnp, x: m.lax.cond(x[0, 0] < 0, lambda c: c * 2, lambda c: c, x),
    "cumsum": lambda m, jnp, x: (jnp.cumsum(x, 0), jnp.cumsum(x, 1)),
    "softmax": lambda m, jnp, x: m.nn.softmax(x, axis=0),
    "grad": lambda m, jnp, x: m.grad(lambda x: jnp.sum(jnp.tanh(x @ x.T)))(x),
    "vmap": lambda m, jnp, x: m.vmap(lambda row: row * row.sum())(x),
    "remat": lambda m, jnp, x: m.grad(m.checkpoint(lambda x: jnp.sum(jnp.sin(jnp.sin(x)))))(x),
    "nested jit": lambda m, jnp, x: m.jit(lambda x: x.T)(x) @ x,
    "fft": lambda m, jnp, x: jnp.abs(jnp.fft.fft(x, axis=0)),
    "cholesky": lambda m, jnp, x: jnp.linalg.cholesky(x.T @ x + jnp.eye(4)),
    "solve": lambda m, jnp, x: jnp.linalg.solve(x.T @ x + jnp.eye(4), x.T),
    "convolution": lambda m, jnp, x: m.lax.conv(x.reshape(8, 2, 2, 1), KERNEL, (1, 1), "SAME"),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(same_as_jax, name):
    def run(m):
        return m.jit(lambda x: PROGRAMS[name](m, numpy_of(m), x))(put(m))

    same_as_jax(run, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("name", ["elementwise", "with a number", "sum", "index", "scan", "cond"])
def test_one_operation_after_another(same_as_jax, name):
    same_as_jax(lambda m: PROGRAMS[name](m, numpy_of(m), put(m)), rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("shape", [(), (0, 4), (8, 0), (8, 1)], ids=str)
def test_unusual_shapes(same_as_jax, shape):
    x = np.full(shape, np.nan, np.float32)
    spec = ("x",) if shape[:1] == (8,) else ()

    def run(m):
        y = put(m, x, spec)
        return y, y + 1, m.jit(lambda y: (y.T, y.sum()))(y)

    same_as_jax(run)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint32", "float16", "bfloat16", "complex64"])
def test_dtypes(same_as_jax, dtype):
    def run(m):
        y = put(m, numpy_of(m).asarray(X > 0, dtype=dtype))
        return [x.astype("complex64") for x in (y, m.jit(lambda y: y.T)(y))]

    same_as_jax(run)


def test_64_bits(same_as_jax):
    def run(m):
        with m.enable_x64(True):
            y = put(m, X.astype(np.float64))
            return m.jit(lambda y: y @ y.T)(y)

    same_as_jax(run, rtol=1e-12)


def test_random_keys(same_as_jax):
    def run(m):
        keys = m.device_put(m.random.split(m.random.key(3), 8), named(m, "x"))
        draw = m.jit(m.vmap(lambda k: m.random.normal(k, (4,))))
        shown = [repr(k.sharding) for k in (keys, keys[::2], m.jit(lambda k: k)(keys))]
        data = np.asarray(m.random.key_data(keys)).tolist()
        return shown, data, draw(keys), m.random.bits(keys[1], (8,))

    same_as_jax(run)


def test_random_numbers_do_not_depend_on_the_devices():
    import covector as cv

    draw = lambda k: cv.random.normal(k, (8, 4))  # noqa: E731
    spread = cv.jit(draw, out_shardings=named(cv, "x", "y"))(cv.random.key(1))
    np.testing.assert_allclose(spread, draw(cv.random.key(1)), rtol=1e-6)
    assert spread.sharding.shard_shape(spread.shape) == (2, 2)


def test_custom_derivatives(same_as_jax):
    def run(m):
        @m.custom_vjp
        def f(x):
            return x**2

        f.defvjp(lambda x: (x**2, x), lambda x, ct: (3 * x * ct,))
        loss = lambda x: numpy_of(m).sum(f(x))  # noqa: E731
        return m.jit(m.grad(loss))(put(m)), m.grad(loss)(put(m))

    same_as_jax(run)


def test_callbacks(same_as_jax):
    def run(m):
        seen = []
        jnp = numpy_of(m)
        io_callback = importlib.import_module(m.__name__ + ".experimental").io_callback

        def f(x):
            m.debug.callback(lambda v: seen.append(v.shape), x)
            double = lambda v: 2 * np.asarray(v)  # noqa: E731
            y = m.pure_callback(double, m.ShapeDtypeStruct(x.shape, x.dtype), x)
            z = io_callback(double, m.ShapeDtypeStruct(x.shape, x.dtype), x, ordered=True)
            return jnp.sum(y + z, 1)

        out = m.jit(f)(put(m))
        m.effects_barrier()
        return np.asarray(out).tolist(), seen

    same_as_jax(run)


def test_captured_arrays(same_as_jax):
    """They do not say where a program runs, but may lie where it does already."""
    large = np.ones((8, 512), np.float32)

    def run(m):
        y = put(m, large)
        f = m.jit(lambda x: (x[:, :1] + y).sum(1))
        return f(put(m)), f(X)

    same_as_jax(run)


def test_captured_arrays_stay_cut():
    import covector as cv

    y = put(cv, np.ones((8, 512), np.float32))
    text = cv.jit(lambda x: x[:, :1] + y).lower(put(cv)).as_text()
    assert '%arg1: tensor<8x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}' in text


def test_donation(same_as_jax):
    def run(m):
        x = put(m)
        f = m.jit(lambda x: 2 * x, donate_argnums=0)
        out = f(f(x))
        return out, x.is_deleted()

    same_as_jax(run)


@pytest.mark.parametrize("size", [16, 80000])
@pytest.mark.parametrize("place", [0, -1])
def test_extrema_keep_nan(size, place):
    """What XLA puts maxima together with, of parts on several CPUs, loses it."""
    import covector as cv

    x = np.arange(size, dtype=np.float32)
    outs = [cv.jit(f)(put(cv, x, ("x",))) for f in (cv.numpy.max, cv.numpy.min)]
    assert [float(out) for out in outs] == [size - 1, 0]
    x[place] = np.nan
    outs = [cv.jit(f)(put(cv, x, ("x",))) for f in (cv.numpy.max, cv.numpy.min)]
    assert np.isnan(outs).all()


def test_reductions_that_devices_cannot_put_together():
    import covector as cv

    n = np.arange(1, 9, dtype=np.int32)
    z = (n - 3j * n).astype(np.complex64)

    def f(n, z):
        reduced = [r(n, (0,)) for r in (cv.lax.reduce_and, cv.lax.reduce_or, cv.lax.reduce_xor)]
        own = cv.lax.reduce(n, np.int32(0), lambda x, y: cv.numpy.maximum(x, y) + 0, (0,))
        return *reduced, own, z.max(), z.prod()

    outs = cv.jit(f)(put(cv, n, ("x",)), put(cv, z, ("x",)))
    ufuncs = np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.maximum
    expected = [*(u.reduce(n) for u in ufuncs), z[-1], z.prod()]
    for ours, right in zip(outs, expected):
        np.testing.assert_allclose(ours, right, rtol=1e-5)


def test_kernels_of_ours_are_not_used():
    """The compiler does not know how to cut what they do."""
    import covector as cv

    text = cv.jit(lambda x: cv.numpy.sort(x, 0)).lower(put(cv)).as_text()
    assert "covector_" not in text
