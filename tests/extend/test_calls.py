"""Calls of functions as eqns, and the helpers of `api_util` and `linear_util`, against JAX."""

import importlib

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector import api_util
from covector.extend import core
from covector.extend import linear_util as lu
from covector.extend.core import primitives
from covector.interpreters import partial_eval as pe

X = np.arange(3, dtype=np.float32)
SCALAR = cv.core.ShapedArray((), np.float32)


def calling(m, name):
    """A decorator: calls the function by the primitive of that name."""
    root = m.__name__
    util = importlib.import_module(f"{root}.api_util")
    wrap_init = importlib.import_module(f"{root}.extend.linear_util").wrap_init
    p = getattr(importlib.import_module(f"{root}.extend.core.primitives"), name)

    def decorate(f):
        def called(*args):
            leaves, in_tree = m.tree.flatten(args)
            info = util.debug_info("test", f, args, {})
            flat, out_tree = util.flatten_fun_nokwargs(wrap_init(f, debug_info=info), in_tree)
            outs = p.bind(*leaves, subfuns=(flat,))
            return m.tree.unflatten(out_tree(), outs)

        return called

    return decorate


def model(m, name):
    @calling(m, name)
    def f(params):
        return {"y": m.numpy.sin(params["a"]) * params["b"]}

    return lambda a, b: f({"a": a, "b": b})["y"]


@pytest.mark.parametrize("name", ["call_p", "closed_call_p"])
def test_printed_as_in_jax(jax, name):
    texts = []
    for m in (cv, jax):
        f = model(m, name)
        jaxprs = [
            m.make_jaxpr(f)(X, 2.0),
            m.make_jaxpr(m.vmap(f, (0, None)))(X, 2.0),
            m.make_jaxpr(lambda a, b, f=f, m=m: m.jvp(f, (a, b), (a, b)))(X, 2.0),
        ]
        texts.append([str(jaxpr) for jaxpr in jaxprs])
    assert texts[0] == texts[1]


@pytest.mark.parametrize("name", ["call_p", "closed_call_p"])
def test_values(name):
    f = model(cv, name)
    want = np.sin(X) * 2
    for g in (f, cv.jit(f), cv.vmap(f, (0, None))):
        np.testing.assert_allclose(g(X, 2.0), want, rtol=1e-6)
    for grad in (cv.grad(f), cv.jit(cv.grad(f))):
        np.testing.assert_allclose(grad(0.5, 2.0), 2 * np.cos(0.5), rtol=1e-6)
    np.testing.assert_allclose(cv.hessian(f)(0.5, 2.0), -2 * np.sin(0.5), rtol=1e-5)
    assert isinstance(getattr(primitives, name), core.CallPrimitive)


def test_calls_that_close_over_tracers():
    def outer(x):
        return calling(cv, "call_p")(lambda y: x * y)(2.0)

    assert cv.grad(outer)(3.0) == 2.0
    assert cv.jit(outer)(3.0) == 6.0
    assert cv.vmap(outer)(X).tolist() == [0.0, 2.0, 4.0]


def test_compiled_functions_are_named():
    text = cv.jit(model(cv, "call_p")).lower(X, 2.0).as_text()
    assert "func.func private @core_call(" in text


# ---------------------------------------------------------------- helpers


def test_argument_helpers_as_in_jax(jax):
    from jax import api_util as theirs

    for donated, static in [((0, 2), (1,)), ((3,), (0, 1)), ((), (0,)), ((1, 1, 4), ())]:
        assert api_util.rebase_donate_argnums(donated, static) == theirs.rebase_donate_argnums(
            donated, static
        )
    for args, nums, names in [
        (((1, {"a": 2, "b": 3}), {"k": 4}), (0,), ("k",)),
        (((1, (2, 3)), {"z": 1, "k": (4, 5)}), (1,), ("k",)),
    ]:
        assert api_util.donation_vector(nums, names, cv.tree.structure(args)) == (
            theirs.donation_vector(nums, names, jax.tree.structure(args))
        )
    with pytest.raises(ValueError, match="cannot intersect"):
        api_util.rebase_donate_argnums((1,), (1,))


def test_debug_info_as_in_jax(jax):
    from jax import api_util as theirs

    def f(x, n, *rest, key):
        return x

    args, kwargs = ({"a": 1.0}, 2, (3.0, 4.0)), {"key": 5.0}
    infos = [u.debug_info("jit", f, args, kwargs, static_argnums=(1,)) for u in (api_util, theirs)]
    assert infos[0].arg_names == infos[1].arg_names
    assert infos[0].func_src_info == infos[1].func_src_info
    assert infos[0].traced_for == infos[1].traced_for


def test_functions_with_fixed_arguments():
    info = api_util.debug_info("test", pow, (2, 3), {})
    f, given = api_util.argnums_partial(lu.wrap_init(pow, debug_info=info), 1, (2, 3))
    assert given == (3,) and f.call_wrapped(5) == 32
    with pytest.raises(ValueError, match="The fixed argument 0 of type <class 'list'>"):
        api_util.argnums_partial(lu.wrap_init(pow, debug_info=info), (1,), ([], 3))


def test_transformations_from_the_inside_out():
    @lu.transformation_with_aux2
    def counted(f, store, word, *args):
        store.store(len(args))
        return [*f(args), word]

    info = api_util.debug_info("test", list, ((),), {})
    inner, first = counted(lu.wrap_init(list, debug_info=info), "end")
    with pytest.raises(lu.StoreException, match="The store is empty"):
        first()
    assert inner.call_wrapped(1, 2) == [1, 2, "end"] and first() == 2
    with pytest.raises(lu.StoreException, match="was to be filled with 1"):
        inner.call_wrapped(3)


def test_safe_map():
    assert list(api_util.safe_map(pow, [2, 3], [3, 2])) == [8, 9]
    with pytest.raises(ValueError):
        api_util.safe_map(pow, [1], [1, 2])


# ---------------------------------------------------------------- partial evaluation


def test_partial_evaluation():
    def f(x, y):
        return [jnp.sin(x), jnp.cos(x) * y, y]

    pvals = [pe.PartialVal.known(jnp.float32(0.5)), pe.PartialVal.unknown(SCALAR)]
    jaxpr, outs, consts = pe.trace_to_jaxpr_nounits(f, pvals)
    assert [out.is_known() for out in outs] == [True, False, False]
    np.testing.assert_allclose(outs[0].get_known(), np.sin(0.5), rtol=1e-6)
    assert [out.get_aval() for out in outs] == [SCALAR] * 3
    got = cv.core.eval_jaxpr(jaxpr, consts, 4.0)
    np.testing.assert_allclose(got, [4 * np.cos(0.5), 4.0], rtol=1e-6)
    jaxpr, outs, _ = pe.trace_to_jaxpr_nounits(f, pvals, instantiate=True)
    assert len(jaxpr.outvars) == 3 and not any(out.is_known() for out in outs)


def test_what_is_known_is_evaluated_once():
    ran = []

    def f(x, y):
        ran.append(float(x))  # its number is known
        return [x + y]

    pvals = [pe.PartialVal.known(jnp.float32(2)), pe.PartialVal.unknown(SCALAR)]
    jaxpr, _, consts = pe.trace_to_jaxpr_nounits(f, pvals)
    assert ran == [2.0] and float(cv.core.eval_jaxpr(jaxpr, consts, 1.0)[0]) == 3.0


# ---------------------------------------------------------------- generators as transformations


def transformed_by_generators(m, aux_of_both):
    """Results of transformations that are written as generators."""
    lu = importlib.import_module(f"{m.__name__}.extend.linear_util")
    info = importlib.import_module(f"{m.__name__}.api_util").debug_info

    @lu.transformation
    def scaled(factor, *args):
        result = yield [x + 1 for x in args], {}
        yield factor * result

    @lu.transformation_with_aux
    def counted(*args):
        result = yield args, {}
        yield result, len(args)

    f = lu.wrap_init(lambda *xs: sum(xs), debug_info=info("test", sum, ((1, 2),), {}))
    both, first = counted(scaled(f, 10))
    _, second = counted(f)
    out = both.call_wrapped(1, 2)
    if aux_of_both:
        second = first
    return out, first(), lu.merge_linear_aux(first, second)


def test_generators_as_transformations(jax):
    assert transformed_by_generators(cv, False) == transformed_by_generators(jax, False)
    assert transformed_by_generators(cv, False) == (50, 2, (True, 2))
    for m in (cv, jax):
        with pytest.raises(Exception) as found:
            transformed_by_generators(m, True)
        assert found.type.__name__ == "StoreException"
