"""Small interfaces by which libraries take part in transformations, against JAX."""

import gc
import importlib
import weakref

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector.interpreters import mlir

X = np.arange(3, dtype=np.float32)


# ---------------------------------------------------------------- trees


def perturbed_by_tree_map(m):
    """What a forward rule learns of its arguments by `tree.map`, without `is_leaf`."""
    primal_type = importlib.import_module(f"{m.__name__}.custom_derivatives").CustomVJPPrimal
    seen = []

    @m.custom_vjp
    def f(tree):
        return m.tree.map(m.numpy.sin, tree)

    def fwd(tree):
        seen.append(m.tree.map(lambda x: (type(x) is primal_type, x.perturbed), tree))
        return f(m.tree.map(lambda x: x.value, tree)), None

    def bwd(_, ct):
        return (ct,)

    f.defvjp(fwd, bwd, symbolic_zeros=True)
    m.grad(lambda a, b: f({"a": a, "b": (b,)})["a"].sum())(X, X)
    m.jit(m.grad(lambda a, b: f({"a": a, "b": (b,)})["a"].sum(), 1))(X, X)
    return seen


def test_arguments_of_forward_rules_are_leaves(jax):
    assert perturbed_by_tree_map(cv) == perturbed_by_tree_map(jax)


def test_arguments_of_forward_rules_have_shapes(jax):
    """Numbers and NumPy arrays among them; of Python's numbers JAX does not ask that."""

    def shapes(m):
        seen = []
        f = m.custom_vjp(lambda n, x: x * n)

        def fwd(n, x):
            assert m is jax or n.value.shape == x.value.shape == ()
            values = [(v.value, v.perturbed) for v in (n, x)]
            seen.append([(np.shape(y), m.numpy.asarray(y).dtype, p) for y, p in values])
            return x.value * n.value, None

        f.defvjp(fwd, lambda _, ct: (None, ct), symbolic_zeros=True)
        for n in (3, 2.5, np.float32(2), np.ones(()), True):
            assert m.grad(lambda x, n=n: f(n, x))(1.0) == 1
            assert m.jit(m.grad(lambda x, n=n: f(n, x)))(1.0) == 1
        return seen

    assert shapes(cv) == shapes(jax)


def test_tracers_tell_to_which_transformation_they_belong(jax):
    """As a library asks that tells inner tangents from outer ones."""
    for m in (cv, jax):
        core = importlib.import_module(f"{m.__name__}.extend.core")
        seen = []

        def inner(y, outer, core=core, seen=seen):
            main = core.find_top_trace([y]).main
            seen.append((y._trace.main is main, outer._trace.main is main))
            return y * outer

        m.jvp(lambda x, m=m, f=inner: m.jvp(lambda y: f(y, x), (x,), (x,))[1], (1.0,), (1.0,))
        assert seen == [(True, False)]


def test_shapes_of_results_have_no_sharding(jax):
    """So that they equal what a program writes by hand."""
    for m in (cv, jax):
        by_hand = m.ShapeDtypeStruct((3,), np.float32)
        shapes = m.eval_shape(lambda x: [x, x * 2], X)
        assert shapes == [by_hand, by_hand]
        again = m.eval_shape(lambda x: x, shapes[0])
        assert again == by_hand and again.sharding is None
        assert m.jit(lambda x: x).trace(X).out_info.sharding is None


def test_symbolic_zeros_pass_through_vmap(jax):
    """As rules that are mapped over return them."""
    for m in (cv, jax):
        ad = importlib.import_module(f"{m.__name__}.interpreters.ad")
        for dtype in (np.float32, m.dtypes.float0):
            zero = ad.Zero(m.core.ShapedArray((2,), dtype))
            for axis in (0, None, 1):
                f = m.vmap(lambda x, zero=zero: (2 * x, zero), out_axes=(0, axis))
                doubled, found = f(X)
                assert doubled.tolist() == [0.0, 2.0, 4.0]
                assert type(found) is ad.Zero and found.aval == zero.aval


# ---------------------------------------------------------------- jaxprs


def evaluated(m, closed, *args):
    """A jaxpr, evaluated eqn by eqn as libraries do it."""
    literal = importlib.import_module(f"{m.__name__}.extend.core").Literal
    env = dict(zip(closed.jaxpr.constvars, closed.consts))
    env.update(zip(closed.jaxpr.invars, args))
    for eqn in closed.jaxpr.eqns:
        params = eqn.primitive.get_bind_params(eqn.params)
        operands = [v.val if isinstance(v, literal) else env[v] for v in eqn.invars]
        out = eqn.primitive.bind(*operands, **params)
        outs = out if eqn.primitive.multiple_results else [out]
        env.update(zip(eqn.outvars, outs))
    return [v.val if isinstance(v, literal) else env[v] for v in closed.jaxpr.outvars]


def programs(m):
    relu = m.nn.relu  # a function with custom_jvp within jit
    scan = lambda x: m.lax.scan(lambda c, y: (c + y, c * y), 0.0, x)  # noqa: E731
    return [
        lambda x: m.numpy.sin(x) * 2,
        relu,
        scan,
        lambda x: m.lax.cond(x[0] > 0, m.numpy.cos, m.numpy.tan, x),
        m.checkpoint(lambda x: m.numpy.exp(m.numpy.sin(x))),
        lambda x: m.lax.while_loop(lambda c: c[0] < 9, lambda c: c + 1, x),
        m.grad(lambda x: m.numpy.linalg.norm(m.jit(m.numpy.tanh)(x + 1))),
    ]


@pytest.mark.parametrize("index", range(len(programs(cv))))
def test_jaxprs_can_be_bound_again(jax, index):
    results = []
    for m in (cv, jax):
        closed = m.make_jaxpr(programs(m)[index])(X)
        direct = m.tree.leaves(programs(m)[index](X))
        again = m.make_jaxpr(lambda x, m=m, c=closed: evaluated(m, c, x))(X)
        results.append([*evaluated(m, closed, X), *evaluated(m, again, X), *direct])
    for ours, theirs in zip(*results):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)


# ---------------------------------------------------------------- lowering


@pytest.mark.usefixtures("only_new_garbage")
def test_lowering_rules_can_keep_objects_alive():
    class Kept:
        pass

    references = []
    kept_p = cv.extend.core.Primitive("kept")
    kept_p.def_abstract_eval(lambda x: x)

    def rule(ctx, x):
        kept = Kept()
        references.append(weakref.ref(kept))
        ctx.module_context.add_keepalive(kept)
        return [x]

    mlir.register_lowering(kept_p, rule)
    f = cv.jit(lambda x: kept_p.bind(x) + 1)
    np.testing.assert_array_equal(f(X), X + 1)
    gc.collect()
    assert references[0]() is not None
    assert jnp.sum(f(X)) == 6
    del f
    cv.clear_caches()
    gc.collect()
    assert references[0]() is None


def operands_of_rules(m):
    """Whether what the rules get of constants within compiled functions are arrays."""
    arrays = []

    def note(*operands):
        arrays.append([isinstance(x, m.Array) and (x.shape, x.dtype) for x in operands])

    def jvp_rule(primals, tangents):
        note(*primals)
        return primals[2] * 2.0, tangents[2] * 2.0

    def fwd(*primals):
        note(*primals)
        return primals[2] * 2.0, None

    with_jvp = m.custom_jvp(lambda n, on, x: x * 2.0)
    with_jvp.defjvp(jvp_rule)
    with_vjp = m.custom_vjp(lambda n, on, x: x * 2.0)
    with_vjp.defvjp(fwd, lambda _, ct: (None, None, ct * 2.0))
    for f in (with_jvp, with_vjp):

        def fixed(x, f=f):
            return f(m.numpy.asarray(3), m.numpy.asarray(True), x)

        def repeated(x, f=fixed):
            return m.lax.scan(lambda c, _: (f(c), None), x, None, 2)[0]

        for g in (fixed, m.jit(fixed), m.checkpoint(fixed), repeated):
            assert m.grad(g)(m.numpy.float32(1.0)) in (2.0, 4.0)
            assert m.jit(m.grad(g))(1.0) in (2.0, 4.0)
    return {str(found) for found in arrays}


def test_operands_of_rules_are_arrays(jax):
    assert operands_of_rules(cv) == operands_of_rules(jax)


def results(m):
    """Whether what functions with custom rules return under grad are arrays."""
    arrays = []

    f = m.custom_vjp(lambda n, on, x: (n, on, x * n))
    f.defvjp(lambda *args: (f(*args), args[0]), lambda n, cts: (None, None, cts[2] * n))

    def g(x):
        outs = f(3, True, x)
        arrays.append([isinstance(y, m.Array) and (y.shape, y.dtype) for y in outs])
        return outs[2]

    assert m.jit(m.grad(g))(2.0) == 3.0
    assert m.jit(m.vmap(m.grad(g)))(X).tolist() == [3.0] * 3
    return arrays


def test_results_of_forward_rules_are_arrays(jax):
    assert results(cv) == results(jax)
