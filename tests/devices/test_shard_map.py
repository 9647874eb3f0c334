"""`shard_map` over eight devices, and its derivatives, against JAX and against the whole arrays."""

import numpy as np
import pytest

import covector as cv

X = np.random.RandomState(0).randn(8, 4).astype(np.float32)
W = np.random.RandomState(1).randn(4, 4).astype(np.float32)


def mesh_of(m, shape=(4, 2), names=("x", "y")):
    return m.sharding.Mesh(np.array(m.devices()).reshape(shape), names)


def mapped(m, f, in_specs, out_specs, **options):
    return m.shard_map(f, mesh=mesh_of(m), in_specs=in_specs, out_specs=out_specs, **options)


checks = pytest.mark.parametrize("check_vma", [True, False], ids=["checked", "unchecked"])


# ---------------------------------------------------------------- values and texts


def test_jaxprs_read_as_jaxs(jax):
    """The types tell which values vary, and casts stand where JAX has them."""

    def texts(m):
        def f(w, x):
            return m.lax.psum(m.lax.sin(x) * w, "x")

        specs = (m.P(), m.P("x", "y")), m.P(None, "y")
        for check_vma in (True, False):
            g = mapped(m, f, *specs, check_vma=check_vma)
            yield str(m.make_jaxpr(g)(W[0, 0], X))
        part = mapped(m, lambda x: m.lax.psum(x, "x"), m.P("x"), m.P(), axis_names={"x"})
        yield str(m.make_jaxpr(m.vmap(part))(X[None]))

    for ours, theirs in zip(texts(cv), texts(jax)):
        assert ours == theirs


def test_parts_and_wholes(same_as_jax):
    def run(m):
        def f(tree, s):
            assert tree["a"].shape == (2, 2) and tree["b"].shape == (8, 1) and s.shape == ()
            return {"c": tree["a"] * s, "d": tree["b"].sum()[None]}, s

        in_specs = ({"a": m.P("x", "y"), "b": m.P(None, ("y", "x"))}, m.P())
        out_specs = ({"c": m.P("x", "y"), "d": m.P(("x", "y"))}, m.P())
        g = mapped(m, f, in_specs, out_specs)
        wide = m.numpy.tile(X, (1, 2))
        return g({"a": X, "b": wide}, 2.0), m.jit(g)({"a": X, "b": wide}, m.numpy.float32(3.0))

    same_as_jax(run)


def test_arguments_that_lie_otherwise_are_moved():
    mesh = mesh_of(cv)
    f = cv.shard_map(lambda x: 2 * x, mesh=mesh, in_specs=cv.P("x"), out_specs=cv.P("x"))
    for spec in (cv.P("y"), cv.P(None, "x"), cv.P()):
        out = f(cv.device_put(X, cv.NamedSharding(mesh, spec)))
        assert out.sharding.spec == cv.P("x")
        np.testing.assert_array_equal(out, 2 * X)


def test_specs_of_arguments_are_as_they_lie():
    mesh = mesh_of(cv)
    x = cv.device_put(X, cv.NamedSharding(mesh, cv.P(None, "y")))
    f = cv.shard_map(
        lambda x, y: (x.shape, y.shape) and x + y.sum(), mesh=mesh, out_specs=cv.P("x", "y")
    )
    assert cv.eval_shape(f, X, X).shape == (32, 8)  # whole on each device
    assert f(x, 0.0).shape == (32, 4)


def test_arguments_that_are_no_arrays():
    f = mapped(cv, lambda x, n, s: x[:n] * len(s), (cv.P("x"), None, None), cv.P("x"))
    np.testing.assert_array_equal(f(X, 1, "abc"), 3 * X[::2])


def test_nested_over_the_other_axis():
    def inner(x):
        return cv.lax.psum(cv.numpy.sin(x), ("x", "y"))

    def outer(x):
        g = cv.shard_map(inner, in_specs=cv.P(None, "y"), out_specs=cv.P(), axis_names={"y"})
        return g(x) * 2.0

    f = mapped(cv, outer, cv.P("x"), cv.P(), axis_names={"x"})
    total = 2 * np.sin(X).reshape(4, 2, 2, 2).sum((0, 2))
    for transform in (lambda f: f, cv.jit):
        np.testing.assert_allclose(transform(f)(X), total, rtol=1e-5, atol=1e-6)
        grad = transform(cv.grad(lambda x: f(x).sum()))(X)
        np.testing.assert_allclose(grad, 2 * np.cos(X), rtol=1e-5, atol=1e-6)


def test_axes_left_to_the_compiler(same_as_jax):
    def run(m):
        def f(w, x):
            return m.lax.psum(m.numpy.tanh(x @ w), "x") + m.lax.axis_index("x") * 0

        g = m.jit(mapped(m, f, (m.P(), m.P("x")), m.P("x"), axis_names={"x"}, check_vma=False))
        loss = m.grad(lambda w: (g(w, X) ** 2).sum())
        return [m.numpy.asarray(np.asarray(x)) for x in (g(W, X), m.jit(loss)(W))]

    same_as_jax(run, atol=1e-5)


def test_smap(same_as_jax):
    def run(m):
        with m.set_mesh(m.sharding.Mesh(np.array(m.devices()), ("x",))):
            f = m.smap(
                lambda a, b: (a + b.sum(), m.lax.psum(a, "x")),
                in_axes=(1, None),
                out_axes=(0, None),
                axis_name="x",
            )
            return f(X.T, X[0])

    same_as_jax(run)


def test_abstract_mesh_stands_for_the_arguments_mesh():
    mesh = mesh_of(cv)
    x = cv.device_put(X, cv.NamedSharding(mesh, cv.P("x")))
    f = cv.shard_map(
        lambda x: cv.lax.psum(x, "x"), mesh=mesh.abstract_mesh, in_specs=cv.P("x"), out_specs=cv.P()
    )
    total = X.reshape(4, 2, 4).sum(0)
    np.testing.assert_allclose(f(x), total, rtol=1e-6)
    np.testing.assert_allclose(cv.jit(f)(x), total, rtol=1e-6)
    with pytest.raises(ValueError, match="has no devices to run on"):
        f(X)


def test_the_mesh_within():
    seen = []

    def f(x):
        mesh = cv.sharding.get_abstract_mesh()
        seen.append((mesh.manual_axes, mesh.auto_axes))
        return x

    mapped(cv, f, cv.P("x"), cv.P("x"))(X)
    cv.jit(mapped(cv, f, cv.P("x"), cv.P("x"), axis_names={"x"}))(X)
    assert seen == [(("x", "y"), ()), (("x",), ("y",))]
    assert cv.sharding.get_abstract_mesh().empty


# ---------------------------------------------------------------- derivatives


def loss_of(m, w, x):
    return m.lax.pmean(m.numpy.mean(m.numpy.tanh(x @ w) ** 2), ("x", "y"))


def whole_loss(w, x):
    return cv.numpy.mean(cv.numpy.tanh(x @ w) ** 2)


@checks
def test_gradients_are_those_of_the_whole(check_vma):
    specs = (cv.P(), cv.P(("x", "y"))), cv.P()
    f = mapped(cv, lambda w, x: loss_of(cv, w, x), *specs, check_vma=check_vma)
    for transform in (cv.grad, lambda g, n: cv.jit(cv.grad(g, n)), cv.jacfwd):
        for ours, right in zip(transform(f, (0, 1))(W, X), cv.grad(whole_loss, (0, 1))(W, X)):
            np.testing.assert_allclose(ours, right, rtol=1e-4, atol=1e-6)
    hessians = [cv.jit(cv.hessian(g))(W, X) for g in (f, whole_loss)]
    np.testing.assert_allclose(*hessians, rtol=1e-3, atol=1e-5)


@checks
def test_gradients_within(same_as_jax, check_vma):
    """Checked, the cotangent of what all devices share is the sum over the devices; else it is each
    device's own."""

    def run(m):
        def f(w, x):
            loss, grad = m.value_and_grad(lambda w: m.numpy.mean(m.numpy.tanh(x @ w) ** 2))(w)
            return m.lax.pmean(loss, ("x", "y")), m.lax.pmean(grad, ("x", "y"))

        return mapped(m, f, (m.P(), m.P(("x", "y"))), m.P(), check_vma=check_vma)(W, X)

    same_as_jax(run, atol=1e-5)
    _, grad = run(cv)
    factor = 8 if check_vma else 1
    np.testing.assert_allclose(grad, factor * cv.grad(whole_loss)(W, X), rtol=1e-4, atol=1e-6)


@checks
def test_a_ring(same_as_jax, check_vma):
    """Parts go round by `ppermute` in a scan; each device sums them all."""

    def ring(m, x):
        def step(carry, _):
            total, part = carry
            part = m.lax.ppermute(part, "x", [(i, (i + 1) % 4) for i in range(4)])
            return (total + part, part), part.sum(0)

        (total, _), sums = m.lax.scan(step, (x, x), None, length=3)
        return total, sums

    def run(m):
        specs = m.P("x", "y"), m.P("x", "y")
        f = mapped(m, lambda x: ring(m, x), *specs, check_vma=check_vma)
        return f(X), m.grad(lambda x: (f(x)[0] ** 2).sum())(X)

    same_as_jax(run, atol=1e-5)
    (total, _), _ = run(cv)
    np.testing.assert_allclose(total[:2], X.reshape(4, 2, 4).sum(0), rtol=1e-5)


@checks
def test_training_in_a_loop(check_vma):
    """Data-parallel gradient descent in a scan gives the weights of the whole data."""

    def trained(w, x):
        def step(w, _):
            grad = cv.grad(lambda w: loss_of(cv, w, x))(w)
            return w - 0.5 * (grad if check_vma else cv.lax.pmean(grad, ("x", "y"))), None

        return cv.lax.scan(step, w, None, length=5)[0]

    specs = (cv.P(), cv.P(("x", "y"))), cv.P()
    f = cv.jit(mapped(cv, trained, *specs, check_vma=check_vma))
    w = W
    for _ in range(5):
        w = w - 0.5 * cv.grad(whole_loss)(w, X)
    np.testing.assert_allclose(f(W, X), w, rtol=1e-4, atol=1e-6)


def test_what_all_share_and_what_is_put_together_of_copies(same_as_jax):
    """The cotangent of a value whose copies make an array is the sum over them."""

    def run(m):
        f = mapped(m, lambda x: (x, m.lax.psum(x, "x")), m.P("y"), (m.P(("x", "y")), m.P("y")))
        _, pull = m.vjp(f, X)
        return pull((m.numpy.arange(128.0).reshape(32, 4), X))[0]

    same_as_jax(run)
    f = mapped(cv, lambda x: x, cv.P(), cv.P("x"))
    np.testing.assert_array_equal(cv.grad(lambda x: f(x).sum())(X), np.full_like(X, 4.0))


def test_closures_of_traced_arrays():
    specs = cv.P("x"), cv.P("x")
    f = cv.grad(lambda w: (mapped(cv, lambda x: cv.numpy.sin(x @ w), *specs)(X) ** 2).sum())
    right = cv.grad(lambda w: (cv.numpy.sin(X @ w) ** 2).sum())(W)
    np.testing.assert_allclose(f(W), right, rtol=1e-4)
    np.testing.assert_allclose(cv.jit(f)(W), right, rtol=1e-4)


def test_types_tell_along_which_axes_values_vary():
    seen = []
    mapped(cv, lambda x: [seen.append(cv.typeof(x).manual_axis_type), x][1], cv.P("x"), cv.P("x"))(
        X
    )
    assert seen[0] == cv.sharding.ManualAxisType(varying={"x"})
    assert cv.typeof(X).manual_axis_type == cv.sharding.ManualAxisType()


def test_residuals_that_are_there_anyway_are_not_returned():
    """The second half reads inputs and results of the first; scalars travel as lines."""
    f = mapped(cv, lambda x: cv.lax.exp(x), cv.P("x"), cv.P("x"))
    first, *_, second = cv.make_jaxpr(cv.grad(lambda x: f(x).sum()))(X).eqns
    assert len(first.outvars) == 1 and first.outvars[0] in second.invars
    scaled = mapped(cv, lambda s, x: x * cv.lax.sin(s), (cv.P(), cv.P("x")), cv.P("x"))
    grad = cv.grad(lambda s: scaled(s, X).sum())(1.5)
    np.testing.assert_allclose(grad, np.cos(1.5) * X.sum(), rtol=1e-5)
