"""`jit` with shardings, sharding constraints and the mesh in use, as in JAX."""

import importlib

import numpy as np
import pytest

X = np.arange(32, dtype=np.float32).reshape(8, 4)


def mesh_of(m, kind="Auto"):
    return m.make_mesh((4, 2), ("x", "y"), (getattr(m.sharding.AxisType, kind),) * 2)


def named(m, *spec):
    return m.NamedSharding(mesh_of(m), m.P(*spec))


def put(m, *spec):
    return m.device_put(X, named(m, *spec))


# ---------------------------------------------------------------- jit


@pytest.mark.parametrize("spec", [("x",), (None, "x"), (("x", "y"),)], ids=str)
def test_arguments_and_results_lie_as_asked(same_as_jax, spec):
    def run(m):
        s = named(m, *spec)
        f = m.jit(lambda x: x * 2, in_shardings=s)
        g = m.jit(lambda x: (x, {"a": x.sum()}), out_shardings=(s, {"a": None}))
        h = m.jit(lambda x: x.T, in_shardings=named(m))
        return f(X), f(m.device_put(X, s)), f(f(X)), g(X), g(put(m, "x")), h(elsewhere(m))

    same_as_jax(run)


def test_trees_and_options(same_as_jax):
    def run(m):
        s, whole = named(m, "x"), named(m)
        f = m.jit(
            lambda n, batch, w: {"out": batch["x"] @ w + n, "n": batch["y"]},
            static_argnums=0,
            in_shardings=({"x": s, "y": None}, whole),
            out_shardings=s,
        )
        g = m.jit(lambda x, y: (y, x), out_shardings=(s, None))
        w = np.ones((4, 8), np.float32)
        return f(3, {"x": X, "y": X}, w), g(X, put(m, "y"))

    same_as_jax(run)


def test_specifications_under_a_mesh(same_as_jax):
    def run(m):
        with m.set_mesh(mesh_of(m)):
            f = m.jit(lambda x: x + 1, in_shardings=m.P("x"), out_shardings=m.P(None, "y"))
            g = m.jit(lambda x: m.lax.with_sharding_constraint(x, m.P("y")))
            jnp = importlib.import_module(m.__name__ + ".numpy")
            made = m.jit(lambda: jnp.ones((8, 4)))()
            return (
                f(X),
                g(X),
                m.jit(m.grad(lambda x: g(x).sum()))(X),
                made,
                m.device_put(X, m.P("y")),
            )

    same_as_jax(run)


def test_meshes_without_devices(same_as_jax):
    """They stand for the mesh of the arrays, or for the one in use."""

    def run(m):
        jnp = importlib.import_module(m.__name__ + ".numpy")
        mesh, x = mesh_of(m), put(m, "x", "y")
        s = m.NamedSharding(mesh.abstract_mesh, m.P("y"))
        f = lambda x: m.lax.with_sharding_constraint(x, s)  # noqa: E731
        struct = m.ShapeDtypeStruct((8, 4), np.float32, sharding=named(m, "y"))
        outs = [m.jit(f)(x), f(x), m.jit(m.vmap(f))(x), jnp.zeros_like(struct)]
        with m.set_mesh(mesh):
            return outs, m.jit(f)(X)

    same_as_jax(run)


def test_another_mesh_means_another_program():
    import covector as cv

    f = cv.jit(lambda x: cv.lax.with_sharding_constraint(x, cv.P("x")))
    for size in (8, 2, 4, 8):
        with cv.set_mesh(cv.make_mesh((size,), ("x",))):
            assert f(X).sharding.shard_shape(X.shape) == (8 // size, 4)


def test_nested_and_transformed(same_as_jax):
    def run(m):
        inner = m.jit(lambda x: x * x, in_shardings=named(m, "x"), out_shardings=named(m, "y"))
        outer = m.jit(lambda x: inner(x + 1) * 3)
        loss = lambda x: inner(x).sum()  # noqa: E731
        # Where vmap puts its axis the compiler may choose.
        mapped = m.jit(m.vmap(inner), out_shardings=named(m))(np.stack([X, X]))
        return outer(put(m)), m.jit(m.grad(loss))(put(m)), m.grad(loss)(X), mapped

    same_as_jax(run)


def test_stages(same_as_jax):
    def run(m):
        s = named(m, "x", "y")
        struct = m.ShapeDtypeStruct(X.shape, X.dtype, sharding=s)
        lowered = m.jit(lambda x: (x.T, x.sum())).lower(struct)
        compiled = lowered.compile()
        outs = compiled(m.device_put(X, s)), compiled(X)
        shown = [compiled.input_shardings, compiled.output_shardings]
        with pytest.raises(ValueError, match="disagree with the shardings"):
            compiled(put(m, "y"))
        return outs, repr(shown), lowered.as_text().count("sdy.sharding")

    same_as_jax(run)


def test_stages_for_a_device(same_as_jax):
    def run(m):
        device = m.devices()[5]
        s = m.sharding.SingleDeviceSharding(device)
        compiled = m.jit(lambda x: x + 1, in_shardings=s).lower(X).compile()
        with m.set_mesh(mesh_of(m)):
            struct = m.ShapeDtypeStruct(X.shape, X.dtype, sharding=m.P("x"))
            shardings = m.jit(lambda x: x * 2).lower(struct).compile().input_shardings
        return str(compiled(X).devices()), repr(compiled.input_shardings), repr(shardings)

    same_as_jax(run)


def test_shapes_are_those_of_whole_arrays():
    import covector as cv

    out = cv.eval_shape(cv.jit(lambda x: x @ x.T, in_shardings=named(cv, "x")), X)
    assert out.shape == (8, 8)
    assert cv.make_jaxpr(lambda x: x.T)(put(cv, "x")).out_avals[0].shape == (4, 8)


@pytest.mark.parametrize("kind", ["Auto", "Explicit"])
def test_axes_of_both_types_do_the_same(kind):
    import covector as cv

    s = cv.NamedSharding(mesh_of(cv, kind), cv.P("x"))
    y = cv.jit(lambda x: cv.numpy.sin(x) * 2)(cv.device_put(X, s))
    assert y.sharding == s
    np.testing.assert_allclose(y, 2 * np.sin(X), rtol=1e-6)


# ---------------------------------------------------------------- constraints


def test_constraints(same_as_jax):
    def run(m):
        s, free = named(m, "y"), named(m, m.P.UNCONSTRAINED, "y")

        @m.jit
        def f(x):
            y = m.lax.with_sharding_constraint({"a": x * 2, "b": x.T @ x}, {"a": s, "b": free})
            return y, m.grad(lambda x: (m.lax.with_sharding_constraint(x, s) ** 2).sum())(x)

        odd = m.jit(lambda x: m.lax.with_sharding_constraint(x[:3], named(m, "x")) * 2)
        return f(put(m, "x", "y")), f(X), odd(X), m.lax.with_sharding_constraint(put(m, "x"), s)

    same_as_jax(run)


def test_constraints_in_loops_and_branches(same_as_jax):
    def run(m):
        s = named(m, None, "y")

        def body(c, x):
            return m.lax.with_sharding_constraint(c + x, s), x.sum()

        rows = np.stack([X, X, X])
        scanned = m.jit(lambda xs: m.lax.scan(body, X, xs))(rows)
        choose = m.jit(lambda x: m.lax.cond(x[0, 0] > 0, lambda x: body(x, x)[0], lambda x: x, x))
        return scanned, choose(X), m.checkpoint(lambda x: body(x, x)[0])(put(m))

    same_as_jax(run)


def test_constraints_print_as_in_jax(jax):
    import covector as cv

    def printed(m):
        f = lambda x: m.lax.with_sharding_constraint(x * 2, named(m, "y"))  # noqa: E731
        return [
            str(m.make_jaxpr(g)(x))
            for g, x in [
                (f, X),
                (m.vmap(f), X[None]),
                (m.vmap(f, in_axes=2, out_axes=1), X[..., None]),
                (m.vmap(f, spmd_axis_name="x"), X[None]),
            ]
        ]

    for ours, theirs in zip(printed(cv), printed(jax)):
        assert ours == theirs


def test_inspection(same_as_jax):
    def run(m):
        seen = []
        tell = lambda s: seen.append(repr(s))  # noqa: E731

        @m.jit
        def f(x):
            m.debug.inspect_array_sharding(x.T, callback=tell)
            m.debug.inspect_array_sharding(x @ x.T, callback=tell)
            return x

        f(put(m, "x", "y"))
        m.debug.inspect_array_sharding(put(m, "y"), callback=tell)
        return sorted(seen)

    same_as_jax(run)


def test_pictures(capsys):
    import covector as cv

    cv.debug.visualize_array_sharding(put(cv, "y", "x"))
    shown = capsys.readouterr().out
    assert [f"CPU {i}" in shown for i in range(9)] == [True] * 8 + [False]
    cv.debug.visualize_array_sharding(put(cv, None, "y"))
    assert "CPU 0,2,4,6" in capsys.readouterr().out


# ---------------------------------------------------------------- what is refused


def elsewhere(m, x=X):
    return m.device_put(x, m.devices()[3])


def over_two(m):
    return m.NamedSharding(m.sharding.Mesh(m.devices()[:2], "x"), m.P("x"))


WRONG = {
    "arguments on other devices": lambda m: put(m) + elsewhere(m),
    "arguments over other devices": lambda m: put(m) + m.device_put(X, over_two(m)),
    "shardings of other devices": lambda m: m.jit(
        lambda x, y: x + y, in_shardings=(named(m), over_two(m))
    )(X, X),
    "results elsewhere": lambda m: m.jit(lambda x: x, out_shardings=over_two(m))(put(m)),
    "committed elsewhere": lambda m: m.jit(lambda x: x, in_shardings=named(m, "x"))(elsewhere(m)),
    "spread otherwise": lambda m: m.jit(lambda x: x, in_shardings=named(m))(put(m, "x")),
    "a constraint of other devices": lambda m: m.jit(
        lambda x: m.lax.with_sharding_constraint(x, over_two(m))
    )(put(m)),
    "indivisible": lambda m: m.device_put(X[:3], named(m, "x")),
    "an indivisible argument": lambda m: m.jit(lambda x: x, in_shardings=named(m, "x"))(X[:3]),
    "an indivisible result": lambda m: m.jit(lambda x: x[:3], out_shardings=named(m, "x"))(X),
    "rank too low": lambda m: m.device_put(X[0], named(m, None, "x")),
    "rank of a result": lambda m: m.jit(lambda x: x[0], out_shardings=named(m, None, "x"))(X),
    "rank of a constraint": lambda m: m.lax.with_sharding_constraint(X[0], named(m, None, "x")),
    "no mesh": lambda m: m.lax.with_sharding_constraint(X, m.P("x")),
    "no mesh for jit": lambda m: m.jit(lambda x: x, in_shardings=m.P("x"))(X),
    "no mesh for device_put": lambda m: m.device_put(X, m.P("x")),
    "keywords": lambda m: m.jit(lambda x: x, in_shardings=named(m))(x=X),
    "unconstrained": lambda m: m.jit(lambda x: x, out_shardings=named(m, m.P.UNCONSTRAINED))(X),
    "not a prefix": lambda m: m.jit(lambda x: x, in_shardings=(named(m), named(m)))(X),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_refused(jax, name):
    import covector as cv

    with pytest.raises(Exception) as theirs:
        WRONG[name](jax)
    kind = theirs.type.__name__
    with pytest.raises(Exception) as ours:
        WRONG[name](cv)
    assert kind in [c.__name__ for c in ours.type.__mro__], (kind, ours.value)


def test_messages_name_shapes_shardings_and_the_way_out():
    import covector as cv

    for name, texts in {
        "arguments on other devices": ["[add]", "float32[8,4]", "[3]", "`device_put`"],
        "indivisible": ["(3, 4)", "into 4 parts", "Pad the array"],
        "spread otherwise": ["argument 0 of type float32[8,4]", "P('x',)", "P()", "`device_put`"],
        "rank too low": ["P(None, 'x')", "at least 2 dimensions", "(4,)"],
        "no mesh": ["with_sharding_constraint", "P('x',)", "set_mesh"],
    }.items():
        with pytest.raises(ValueError) as error:
            WRONG[name](cv)
        for text in texts:
            assert text in str(error.value)
