"""`shard_map` within and around other transformations, what its checks find, and its errors."""

import numpy as np
import pytest

import covector as cv
from covector import lax
from covector import numpy as jnp

X = np.random.RandomState(0).randn(8, 4).astype(np.float32)
W = np.random.RandomState(1).randn(4, 4).astype(np.float32)


def mesh_of(m):
    return m.sharding.Mesh(np.array(m.devices()).reshape(4, 2), ("x", "y"))


def mapped(m, f, in_specs, out_specs, **options):
    return m.shard_map(f, mesh=mesh_of(m), in_specs=in_specs, out_specs=out_specs, **options)


# The loss of a part of the data, of functions that carry other programs.
@cv.custom_vjp
def with_rule(w, x):
    return jnp.sin(x @ w).sum()


with_rule.defvjp(
    lambda w, x: (with_rule(w, x), (w, x)),
    lambda res, g: (res[1].T @ (g * jnp.cos(res[1] @ res[0])), jnp.zeros_like(res[1])),
)


@cv.custom_jvp
def sine(x):
    return jnp.sin(x)


sine.defjvp(lambda primals, tangents: (sine(*primals), jnp.cos(primals[0]) * tangents[0]))


def scanned(w, x):
    def step(c, row):
        c = jnp.tanh(c @ w + row)
        return c, c.sum()

    return lax.scan(step, jnp.zeros(4), x)[1].sum()


LOSSES = {
    "plain": lambda w, x: jnp.sin(x @ w).sum(),
    "custom_vjp": with_rule,
    "custom_jvp": lambda w, x: sine(x @ w).sum(),
    "jit": lambda w, x: cv.jit(lambda w: jnp.sin(x @ w))(w).sum(),
    "checkpoint": lambda w, x: cv.checkpoint(lambda w: jnp.sin(x @ w).sum())(w),
    "scan": scanned,
    "fori_loop": lambda w, x: lax.fori_loop(0, 3, lambda i, y: jnp.sin(y @ w), x).sum(),
    "cond": lambda w, x: lax.cond(x.sum() > 0, lambda: jnp.sin(x @ w).sum(), lambda: w.sum()),
    "switch": lambda w, x: lax.switch(
        (x[0, 0] > 0).astype(int), [lambda w: (x @ w).sum(), lambda w: (w * w).sum()], w
    ),
    "vmap": lambda w, x: cv.vmap(lambda row: jnp.sin(row @ w).sum())(x).sum(),
    "solve": lambda w, x: jnp.linalg.solve(w + 9 * jnp.eye(4), x.T).sum(),
    "inverse": lambda w, x: lax.map(
        lambda r: jnp.linalg.inv(w + 9 * jnp.eye(4) * r[0]), x + 4
    ).sum(),
    "sort": lambda w, x: (jnp.sort(x @ w, axis=1) * jnp.arange(4.0)).sum(),
    "softmax": lambda w, x: cv.nn.softmax(cv.nn.relu(x @ w))[:, 0].sum(),
    "cumulative": lambda w, x: jnp.cumprod(x @ w, axis=1).sum(),
    "indexing": lambda w, x: w.at[1].add(x[0])[w.shape[0] - 1 :: -1].prod(),
}


@pytest.mark.parametrize("name", LOSSES)
def test_gradients_within_are_sums_over_the_devices(name):
    """What all devices share has one cotangent, the sum of those that each has for it."""
    loss = LOSSES[name]
    right = sum(np.asarray(cv.grad(loss)(W, part)) for part in X.reshape(4, 2, 4))
    f = mapped(cv, lambda w, x: cv.grad(loss)(w, x), (cv.P(), cv.P("x")), cv.P())
    np.testing.assert_allclose(f(W, X), right, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("name", ["plain", "scan", "cond", "custom_vjp", "solve"])
@pytest.mark.parametrize("check_vma", [True, False], ids=["checked", "unchecked"])
def test_gradients_around(name, check_vma):
    loss = LOSSES[name]
    right = sum(np.asarray(cv.grad(loss)(W, part)) for part in X.reshape(4, 2, 4))
    specs = (cv.P(), cv.P("x")), cv.P()
    f = mapped(cv, lambda w, x: lax.psum(loss(w, x), "x"), *specs, check_vma=check_vma)
    np.testing.assert_allclose(cv.jit(cv.grad(f))(W, X), right, rtol=2e-4, atol=2e-5)


def test_gradients_of_single_examples(same_as_jax):
    def run(m):
        def f(w, x):
            return m.vmap(m.grad(lambda w, row: m.numpy.sin(row @ w).sum()), (None, 0))(w, x)

        specs = (m.P(), m.P("x")), m.P("x")
        return [mapped(m, f, *specs, check_vma=check)(W, X) for check in (True, False)]

    same_as_jax(run, atol=1e-5)


def test_batches(same_as_jax):
    def run(m):
        f = mapped(m, lambda x, w: m.lax.psum(x * w, "x"), (m.P("x"), m.P()), m.P())
        both = m.vmap(f, in_axes=(1, 0))(X[:, :, None], W[:, :1])
        cut = m.vmap(f, in_axes=(0, None), spmd_axis_name="y")(np.stack([X, 2 * X]), W[0])
        named = m.vmap(
            mapped(m, lambda x: m.lax.psum(x, ("i", "x")), m.P("x"), m.P(), check_vma=False),
            axis_name="i",
        )(np.stack([X, 2 * X]))
        return [m.numpy.asarray(np.asarray(x)) for x in (both, cut, named)]

    same_as_jax(run, atol=1e-5)


def test_forward_over_reverse_and_linearize():
    def whole(x):
        return jnp.sum(jnp.sin(x) ** 2)

    f = mapped(cv, lambda x: lax.psum(whole(x), ("x", "y")), cv.P("x", "y"), cv.P())
    for g in (f, cv.jit(f)):
        for transform in (
            lambda f: cv.jvp(cv.grad(f), (X,), (X,))[1],
            lambda f: cv.linearize(f, X)[1](X),
            lambda f: cv.jvp(f, (X,), (X,))[1],
        ):
            np.testing.assert_allclose(transform(g), transform(whole), rtol=1e-4, atol=1e-5)


def test_random_numbers_of_each_device(same_as_jax):
    def run(m):
        def f(key, x):
            key = m.random.fold_in(key, m.lax.axis_index("x"))
            return x + m.random.normal(key, x.shape)

        return mapped(m, f, (m.P(), m.P("x")), m.P("x"))(m.random.key(0), X)

    same_as_jax(run, atol=1e-5)


def test_kernels_work_on_parts():
    """The compiler need not cut what it cannot, where each device has its own part."""

    def f(x):
        return jnp.sort(x, axis=1), jnp.cumsum(x, axis=1)

    x = np.random.RandomState(2).randn(8, 2048).astype(np.float32)
    ordered, sums = cv.jit(mapped(cv, f, cv.P("x"), cv.P("x")))(x)
    np.testing.assert_array_equal(ordered, np.sort(x, axis=1))
    np.testing.assert_allclose(sums, np.cumsum(x, axis=1), rtol=1e-3, atol=1e-3)


def test_callbacks_run_on_each_device():
    seen = []

    def f(x):
        cv.debug.callback(
            lambda i, part: seen.append((int(i), np.array(part))), lax.axis_index("x"), x
        )
        return cv.pure_callback(np.sin, cv.ShapeDtypeStruct(x.shape, x.dtype), x)

    np.testing.assert_allclose(mapped(cv, f, cv.P("x"), cv.P("x"))(X), np.sin(X), rtol=1e-6)
    cv.effects_barrier()
    assert sorted(i for i, _ in seen) == [0, 0, 1, 1, 2, 2, 3, 3]
    for i, part in seen:
        np.testing.assert_array_equal(part, X[2 * i : 2 * i + 2])


def test_callbacks_where_the_compiler_cuts_too():
    seen = []

    def f(x):
        cv.debug.callback(lambda part: seen.append(part.shape), x)
        return cv.pure_callback(np.sin, cv.ShapeDtypeStruct(x.shape, x.dtype), x)

    g = cv.jit(mapped(cv, f, cv.P("x"), cv.P("x"), axis_names={"x"}))
    np.testing.assert_allclose(g(X), np.sin(X), rtol=1e-6)
    cv.effects_barrier()
    assert seen == [(2, 4)] * 8


def test_derivatives_of_batches_that_are_cut(same_as_jax):
    def run(m):
        f = mapped(m, lambda x: m.lax.psum(m.numpy.sin(x), "x"), m.P("x"), m.P(), check_vma=False)
        grads = m.vmap(m.grad(lambda x: f(x).sum()), spmd_axis_name="y")(np.stack([X, 2 * X]))
        return m.numpy.asarray(np.asarray(grads))

    same_as_jax(run)


def test_programs_are_traced_and_compiled_once():
    traced = []

    def body(x):
        traced.append(x)
        return lax.psum(x, "x")

    f = mapped(cv, body, cv.P("x"), cv.P())
    grad = cv.grad(lambda x: f(x).sum())
    for _ in range(3):
        f(X)
        grad(X)
    assert len(traced) == 1


def test_jaxprs_are_verified():
    loss = LOSSES["scan"]
    f = mapped(cv, lambda w, x: lax.psum(loss(w, x), "x"), (cv.P(), cv.P("x")), cv.P())
    with cv.enable_checks(True):
        jaxpr = cv.make_jaxpr(cv.grad(f))(W, X)
    cv.extend.core.check_jaxpr(jaxpr)


# ---------------------------------------------------------------- what varies


def test_types_tell_what_varies():
    types = {}

    def f(x, w):
        types["part"] = str(cv.typeof(x))
        types["shared"] = str(cv.typeof(w))
        types["product"] = str(cv.typeof(x * w))
        types["total"] = str(cv.typeof(lax.psum(x * w, "x")))
        types["cast"] = str(cv.typeof(lax.pcast(w, ("x", "y"), to="varying")))
        types["gathered"] = str(cv.typeof(lax.all_gather(x, "x")))
        types["index"] = str(cv.typeof(lax.axis_index("y")))
        return x

    mapped(cv, f, (cv.P("x"), cv.P()), cv.P("x"))(X, W[0])
    assert types == {
        "part": "float32[2,4]{V:x}",
        "shared": "float32[4]",
        "product": "float32[2,4]{V:x}",
        "total": "float32[2,4]",
        "cast": "float32[4]{V:(x,y)}",
        "gathered": "float32[4,2,4]{V:x}",
        "index": "int32[]{V:y}",
    }
    assert cv.typeof(X).vma == frozenset()


@pytest.mark.parametrize(
    "f, axes",
    [
        (lambda x: x, "x"),
        (lambda x: lax.psum(x, "y") + lax.axis_index("x"), "x"),
        (lambda x: lax.ppermute(x, "x", [(0, 1)]), "x"),
        (lambda x: lax.all_gather(x, "x"), "x"),
        (lambda x: lax.fori_loop(0, 2, lambda i, c: c + x, jnp.zeros((2, 4))), "x"),
        (lambda x: lax.cond(x[0, 0] > 0, lambda: 1.0, lambda: 0.0), "x"),
        (
            lambda x: lax.while_loop(
                lambda c: c[0] < x[0, 0], lambda c: (c[0] + 1, c[1] + 1), (0.0, 0)
            )[1],
            "x",
        ),
        (lambda x: lax.pcast(1.0, "y", to="varying"), "y"),
    ],
)
def test_results_that_vary_are_found(f, axes):
    text = rf"result of type .* has the specification P\(\), .* axes \('{axes}',\)"
    with pytest.raises(ValueError, match=text):
        mapped(cv, f, cv.P("x"), cv.P())(X)


def test_results_that_do_not_vary_are_known_to():
    def f(x):
        total = lax.psum(x, "x")
        kept = lax.fori_loop(0, 2, lambda i, c: c + total, jnp.zeros((2, 4)))
        chosen = lax.cond(total[0, 0] > 0, lambda: kept, lambda: -kept)
        return chosen, lax.pmax(x, "x"), lax.psum(1, "x"), jnp.ones(3)

    outs = mapped(cv, f, cv.P("x"), cv.P())(X)
    total = X.reshape(4, 2, 4).sum(0)
    np.testing.assert_allclose(outs[0], np.sign(total[0, 0]) * 2 * total, rtol=1e-5)


# ---------------------------------------------------------------- errors


def fails(match, f, in_specs, out_specs, *args, kind=ValueError, **options):
    with pytest.raises(kind, match=match):
        mapped(cv, f, in_specs, out_specs, **options)(*args)


def test_errors_name_argument_and_specification():
    same = lambda x: x  # noqa: E731
    fails(
        r"args\[0\] of type float32\[6,4\]: dimension 0 of size 6 is cut into 4 parts",
        same,
        cv.P("x"),
        cv.P("x"),
        X[:6],
    )
    fails(
        r"args\[0\], which has length 3, but the array has 2",
        same,
        cv.P(None, None, "x"),
        cv.P(),
        X,
    )
    fails(
        r"result, which has length 1, but the array has 0",
        lambda x: x.sum(),
        cv.P("x"),
        cv.P("x"),
        X,
    )
    fails("refers to 'z'", same, cv.P("z"), cv.P(), X)
    fails(
        "refers to 'y' .* mapped over are \\('x',\\)", same, cv.P("y"), cv.P(), X, axis_names={"x"}
    )
    fails("in_specs.* must be a `PartitionSpec`", same, "x", cv.P(), X, kind=TypeError)
    fails("the mesh lacks", same, cv.P(), cv.P(), X, axis_names={"z"})
    fails("`axis_names`.*", same, cv.P(), cv.P(), X, axis_names={"z"})
    fails("shard_map applied to the function 'named'", named, cv.P("x"), cv.P(), X)
    inner = lambda x: cv.shard_map(same, in_specs=cv.P(), out_specs=cv.P(), axis_names={"x"})(x)  # noqa: E731
    fails("are mapped over by a `shard_map` around this one", inner, cv.P(), cv.P(), X)
    other = cv.make_mesh((2, 4), ("x", "y"))
    inner = lambda x: cv.shard_map(same, mesh=other, in_specs=cv.P(), out_specs=cv.P())(x)  # noqa: E731
    fails("of the same mesh", inner, cv.P(), cv.P(), X, axis_names={"x"})
    fails("devices are in use", lambda x: cv.pmap(same)(x), cv.P(), cv.P(), X)


def named(x):
    return x


def test_constraints_within_are_of_the_other_axes():
    def f(x, spec):
        return lax.with_sharding_constraint(2 * x, cv.NamedSharding(mesh_of(cv), spec))

    g = lambda spec: mapped(  # noqa: E731
        cv, lambda x: f(x, spec), cv.P("x"), cv.P("x"), axis_names={"x"}
    )
    out = cv.jit(g(cv.P(None, "y")))(X)
    assert out.sharding.spec == cv.P("x", "y")
    np.testing.assert_array_equal(out, 2 * X)
    with pytest.raises(ValueError, match=r"axes that are manual here, \('x',\)"):
        cv.jit(g(cv.P("x")))(X)


def test_arrays_committed_to_another_device():
    with pytest.raises(ValueError, match="incompatible devices"):
        mapped(cv, lambda x: x, cv.P("x"), cv.P("x"))(cv.device_put(X, cv.devices()[3]))


def test_an_axis_that_cuts_a_batch_cuts_nothing_else():
    f = mapped(cv, lambda x: x, cv.P("x"), cv.P("x"))
    with pytest.raises(ValueError, match="spmd_axis_name cannot appear"):
        cv.vmap(f, spmd_axis_name="x")(np.stack([X] * 4))
    with pytest.raises(ValueError, match="batch of 3 cannot be cut into 2"):
        cv.vmap(f, spmd_axis_name="y")(np.stack([X] * 3))
    total = mapped(cv, lambda x: lax.psum(x, ("x", "y")), cv.P("x"), cv.P())
    with pytest.raises(ValueError, match="would mix the examples"):
        cv.vmap(total, spmd_axis_name="y")(np.stack([X, X]))
