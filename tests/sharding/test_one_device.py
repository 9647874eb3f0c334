"""Arrays and functions on a mesh of one device: placement, constraints, `shard_map`, `pmap`."""

import inspect

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector.sharding import Mesh, NamedSharding, SingleDeviceSharding
from covector.sharding import PartitionSpec as P

MESH = cv.make_mesh((1,), ("x",), (cv.sharding.AxisType.Auto,))
SHARDING = NamedSharding(MESH, P("x"))
X = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.mark.parametrize(
    "name",
    [
        *("jit", "pmap", "shard_map", "make_mesh", "set_mesh", "lax.with_sharding_constraint"),
        *("sharding.reshard", "sharding.auto_axes", "sharding.explicit_axes"),
        "sharding.make_single_device_sharding",
    ],
)
def test_signatures_are_those_of_jax(jax, name):
    def parameters(f):
        for part in name.split("."):
            f = getattr(f, part)
        return [(p.name, p.kind) for p in inspect.signature(f).parameters.values()]

    assert parameters(cv) == parameters(jax)


# ---------------------------------------------------------------- placement


def test_an_array_knows_the_sharding_it_was_put_by():
    x = cv.device_put({"a": X, "b": jnp.ones(2)}, SHARDING)
    for leaf in x.values():
        assert leaf.sharding == SHARDING and leaf.committed
        assert leaf.devices() == {cv.devices()[0]}
        assert leaf.addressable_shards[0].data.shape == leaf.shape
    np.testing.assert_array_equal(x["a"], X)
    assert cv.device_put(x["a"], SHARDING) is x["a"]
    assert cv.device_put(x["a"], cv.devices()[0]).sharding == SingleDeviceSharding(cv.devices()[0])
    trees = cv.device_put((X, 1.0), (SHARDING, NamedSharding(MESH, P())))
    assert [leaf.sharding.spec for leaf in trees] == [P("x"), P()]


def test_arrays_of_different_shardings_meet():
    x, y = cv.device_put(X, SHARDING), cv.device_put(X, NamedSharding(MESH, P(None, "x")))
    for out in (x + y, cv.jit(jnp.add)(x, y), x + X, jnp.stack([x, y])[1] + x):
        np.testing.assert_array_equal(out, X + X)
        assert out.sharding.is_equivalent_to(SHARDING, 2) and out.committed
    grads = cv.grad(lambda x: jnp.sum(x * y))(x)
    np.testing.assert_array_equal(grads, X)


def test_results_tell_the_mesh(jax):
    def specs(m):
        mesh = m.make_mesh((1, 1), ("x", "y"), (m.sharding.AxisType.Auto,) * 2)
        s = m.NamedSharding(mesh, m.P("x", "y"))
        a = m.device_put(X, s)
        outs = [a + 1, a.sum(0), a.T, a + X, m.grad(lambda x: (x * x).sum())(a)]
        outs += m.jit(lambda x: (x.T, x.sum(), x))(a)
        outs.append(m.jit(lambda x: x + 1, out_shardings=s)(X))
        with m.set_mesh(mesh):
            outs.append(m.jit(lambda: m.numpy.ones(3))())
        return [repr(x.sharding) for x in outs]

    assert specs(cv) == specs(jax)


def number_of_axes(m):
    return len(m.sharding.get_abstract_mesh().axis_names)


def test_a_spec_refers_to_the_mesh_in_use(jax):
    for m in (cv, jax):
        mesh = m.make_mesh((1,), ("x",), (m.sharding.AxisType.Auto,))
        assert m.sharding.get_mesh().empty and m.sharding.get_abstract_mesh().empty
        with m.set_mesh(mesh):
            assert m.sharding.get_mesh() == mesh
            assert m.sharding.get_abstract_mesh() == mesh.abstract_mesh
            assert m.device_put(X, m.P("x")).sharding == m.NamedSharding(mesh, m.P("x"))
            assert m.jit(number_of_axes, static_argnums=0)(m) == 1
        assert m.sharding.get_mesh().empty
        m.set_mesh(mesh)
        assert m.sharding.get_mesh() == mesh
        m.set_mesh(None)
        assert m.sharding.get_mesh().empty
        with pytest.raises(ValueError, match=r"used (only )?outside"):
            m.jit(m.sharding.get_mesh)()


def test_with_mesh():
    with MESH:
        x = cv.lax.with_sharding_constraint(X, P(None, "x"))
        assert x.sharding == NamedSharding(MESH, P(None, "x"))
    with pytest.raises(ValueError, match="none is in use: P\\('x',\\)"):
        cv.device_put(X, P("x"))


def test_constraints():
    def f(x):
        y = cv.lax.with_sharding_constraint({"a": x, "b": 2 * x}, SHARDING)
        return jnp.sum(y["a"] * y["b"])

    np.testing.assert_array_equal(cv.jit(cv.grad(f))(X), 4 * X)
    np.testing.assert_array_equal(cv.vmap(f)(X), np.sum(2 * X * X, 1))
    assert cv.lax.with_sharding_constraint(X, SHARDING).sharding == SHARDING
    with cv.set_mesh(MESH):
        assert cv.sharding.reshard(X, P("x")).sharding == SHARDING
        doubled = cv.sharding.auto_axes(lambda x: 2 * x, out_sharding=P("x"))
        assert doubled(X).sharding == SHARDING
        np.testing.assert_array_equal(cv.jit(doubled)(X), 2 * X)
        doubled = cv.sharding.explicit_axes(lambda x: 2 * x)
        np.testing.assert_array_equal(doubled(X, in_sharding=P("x")), 2 * X)


def test_jit_takes_shardings():
    f = cv.jit(lambda x, y: x + y["a"], in_shardings=(SHARDING, None), out_shardings=SHARDING)
    np.testing.assert_array_equal(f(X, {"a": X}), X + X)
    g = cv.jit(out_shardings=SingleDeviceSharding(cv.devices()[0]))(lambda x: x)
    np.testing.assert_array_equal(g(X), X)
    assert cv.jit(lambda x: x, backend="cpu")(X).devices() == {cv.devices("cpu")[0]}
    with pytest.raises(RuntimeError, match="no_such_platform"):
        cv.jit(lambda x: x, backend="no_such_platform")


def test_ranks_that_do_not_fit(jax):
    for m in (cv, jax):
        mesh = m.make_mesh((1,), ("x",), (m.sharding.AxisType.Auto,))
        sharding = m.NamedSharding(mesh, m.P("x"))
        for f in (m.device_put, m.lax.with_sharding_constraint):
            with pytest.raises(ValueError, match=r"at least 1"):
                f(np.float32(1.0), sharding)


def test_what_is_no_sharding():
    with pytest.raises(ValueError, match="Not a sharding: 3"):
        cv.lax.with_sharding_constraint(X, 3)
    with pytest.raises(ValueError, match="Not a sharding: 'x'"):
        cv.jit(lambda x: x, in_shardings="x")


# ---------------------------------------------------------------- shard_map


def test_shard_map_is_the_function_with_axes(jax):
    def run(m):
        mesh = m.sharding.Mesh(np.array(m.devices()[:1]).reshape(1, 1), ("x", "y"))

        @m.shard_map(mesh=mesh, in_specs=(m.P("x"), m.P(None, "y")), out_specs=(m.P(), m.P("x")))
        def f(a, b):
            total = m.lax.psum(a, "x") @ m.lax.all_gather(b, "y", axis=1, tiled=True)
            return m.lax.pmean(total, "y"), a + m.lax.axis_index("x")

        loss = lambda a: m.numpy.sum(f(a, X.T)[0])  # noqa: E731
        return [*f(X, X.T), *m.jit(f)(X, X.T), m.grad(loss)(X), m.jit(m.grad(loss))(X)]

    for ours, theirs in zip(run(cv), run(jax)):
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)


def test_shard_map_takes_the_mesh_in_use():
    f = cv.shard_map(lambda x: cv.lax.psum(x, "x"), in_specs=P("x"), out_specs=P())
    with pytest.raises(ValueError, match="context mesh cannot be empty"):
        f(X)
    with cv.set_mesh(MESH):
        np.testing.assert_array_equal(f(X), X)
        np.testing.assert_array_equal(cv.jit(f)(X), X)


def test_wrong_specs_of_shard_map(jax):
    for m in (cv, jax):
        mesh = m.make_mesh((1,), ("x",))
        for spec, kind, text in [
            (m.P("y"), ValueError, "refers to 'y'"),
            (("x",), TypeError, "in_specs"),
            (m.P(None, None, "x"), ValueError, "P\\(None, None, 'x'\\)"),
        ]:
            with pytest.raises(kind, match=text):
                m.shard_map(lambda x: x, mesh=mesh, in_specs=spec, out_specs=m.P("x"))(X)


# ---------------------------------------------------------------- pmap


@pytest.mark.parametrize(
    "options",
    [{}, {"in_axes": (0, None)}, {"in_axes": (2, None), "out_axes": 1}, {"axis_size": 1}],
    ids=str,
)
def test_pmap_is_vmap_over_one_device(jax, options):
    axes = options.get("in_axes", (0, 0))
    args = [X if axis is None else np.expand_dims(X, axis) for axis in axes]

    def run(m):
        def f(a, b):
            return {"sum": m.lax.psum(a * b, "i"), "index": m.lax.axis_index("i") + a[0]}

        return m.pmap(f, axis_name="i", **options)(*args)

    ours, theirs = run(cv), run(jax)
    for name in theirs:
        assert ours[name].shape == theirs[name].shape and ours[name].dtype == theirs[name].dtype
        np.testing.assert_array_equal(ours[name], theirs[name])


def test_pmap_with_static_and_keyword_arguments(jax):
    for m in (cv, jax):
        f = m.pmap(
            lambda x, n, y, scale: x**n * scale + y,
            static_broadcasted_argnums=1,
            in_axes=(0, None, None),
        )
        np.testing.assert_array_equal(f(X[None], 2, X, scale=X[None]), X[None] ** 3 + X)


def test_pmap_traces_once():
    traced = []
    f = cv.pmap(lambda x: traced.append(x) or x)
    for _ in range(3):
        f(X[None])
    assert len(traced) == 1
    np.testing.assert_array_equal(cv.grad(lambda x: f(x * x).sum())(X[None]), 2 * X[None])


def test_pmap_says_what_is_wrong(jax):
    for m in (cv, jax):
        for call in (lambda m=m: m.pmap(lambda x: x)(1.0), lambda m=m: m.pmap(lambda: 1.0)()):
            with pytest.raises(ValueError, match="at least one argument with a mapped axis"):
                call()
        with pytest.raises(ValueError):
            m.pmap(lambda x: x)(X)
    with pytest.raises(ValueError, match="has size 2, and each entry needs a device of its own"):
        cv.pmap(lambda x: x)(X)
    with pytest.raises(ValueError, match="name a device twice"):
        cv.pmap(lambda x: x, devices=cv.devices()[:1] * 2)(X)


def test_mesh_of_devices_given_in_a_list():
    assert Mesh(cv.devices()[:1], ["x"]) == Mesh(np.array(cv.devices()[:1]), ("x",))
