"""extend.core: the language for those who transform programs."""

from __future__ import annotations

import numpy as np
import pytest

import covector as cv
from covector import lax
from covector.core import ShapedArray, eval_jaxpr
from covector.errors import ConcretizationTypeError
from covector.extend import core
from covector.extend.core import primitives

X = np.arange(3, dtype=np.float32)
# Primitives that apply Python functions are not for extenders here: jaxprs are applied by `jit_p`.
CALLS = {"CallPrimitive", "call_impl"}


def closed() -> core.ClosedJaxpr:
    return cv.make_jaxpr(lambda x: (lax.mul(lax.neg(x), X), lax.sin(x)))(X)


def interpret(jaxpr: core.Jaxpr, consts, *args):
    """An interpreter as users write them: evaluates by binding each primitive."""
    env = {}

    def read(atom):
        return atom.val if isinstance(atom, core.Literal) else env[atom]

    env.update(zip(jaxpr.constvars, consts))
    env.update(zip(jaxpr.invars, args))
    for eqn in jaxpr.eqns:
        with eqn.ctx.manager:
            out = eqn.primitive.bind(*map(read, eqn.invars), **eqn.params)
        env.update(zip(eqn.outvars, out if eqn.primitive.multiple_results else [out]))
    return [read(atom) for atom in jaxpr.outvars]


def test_evaluation():
    program = closed()
    want = [-X * X, np.sin(X)]
    for outs in (
        eval_jaxpr(program.jaxpr, program.consts, X),
        core.jaxpr_as_fun(program)(X),
        cv.jit(core.jaxpr_as_fun(program))(X),
        interpret(program.jaxpr, program.consts, X),
    ):
        for out, expected in zip(outs, want, strict=True):
            np.testing.assert_allclose(np.asarray(out), expected, rtol=1e-6)


def test_evaluation_with_the_wrong_number_of_arguments():
    program = closed()
    with pytest.raises(TypeError, match="takes 1 constants and 1 arguments, but 1 and 2"):
        eval_jaxpr(program.jaxpr, program.consts, X, X)


def test_a_jaxpr_by_hand():
    """x -> (x + x) * 2, built from its parts in the order of JAX's constructors."""
    new_var = core.gensym()
    aval = ShapedArray((3,), np.float32)
    x, y, z, unused = new_var(aval), new_var(aval), new_var(aval), core.DropVar(aval)
    two = core.Literal(np.float32(2), ShapedArray((), np.float32))
    eqns = [
        core.new_jaxpr_eqn([x, x], [y], primitives.add_p, {}, core.no_effects),
        core.new_jaxpr_eqn([x], [unused], primitives.neg_p, {}, core.no_effects),
        core.new_jaxpr_eqn([y, two], [z], primitives.mul_p, {}, core.no_effects),
    ]
    jaxpr = core.Jaxpr([], [x], [z], eqns, core.no_effects)
    core.check_jaxpr(jaxpr)
    assert str(jaxpr) == (
        "{ lambda ; a:f32[3]. let\n"
        "    b:f32[3] = add a a\n"
        "    _:f32[3] = neg a\n"
        "    c:f32[3] = mul b 2.0:f32[]\n"
        "  in (c,) }"
    )
    (out,) = core.jaxpr_as_fun(core.ClosedJaxpr(jaxpr, []))(X)
    np.testing.assert_array_equal(np.asarray(out), 4 * X)


def test_replace():
    program = closed()
    first = program.eqns[0]
    renamed = first.replace(primitive=primitives.sin_p)
    assert renamed.primitive is primitives.sin_p and renamed.invars is first.invars
    assert renamed.source_info == first.source_info
    moved = renamed.replace(source_info=program.eqns[1].source_info, ctx=first.ctx)
    assert moved.source_info[:2] == program.eqns[1].source_info[:2]
    shorter = program.map_jaxpr(lambda jaxpr: jaxpr.replace(outvars=jaxpr.outvars[:1]))
    assert len(shorter.out_avals) == 1 and shorter.consts == program.consts
    assert program.replace(consts=[2 * X]).jaxpr is program.jaxpr
    assert len(program.out_avals) == 2


def test_eqn_made_of_the_parts_of_another():
    eqn = closed().eqns[0]
    parts = (eqn.invars, eqn.outvars, eqn.primitive, eqn.params, eqn.effects)
    again = core.JaxprEqn(*parts, eqn.source_info, eqn.ctx)
    assert repr(again) == repr(eqn) and again.source_line == eqn.source_line
    assert again.source_line.startswith(__file__)


def test_jaxprs_within():
    inner = cv.jit(lambda x: cv.jit(lambda y: lax.neg(y))(x))
    jaxpr = cv.make_jaxpr(lambda x: inner(x))(X).jaxpr
    (sub,) = core.subjaxprs(jaxpr)
    assert [sub] == list(core.jaxprs_in_params(jaxpr.eqns[0].params))
    (subsub,) = core.subjaxprs(sub)
    assert [eqn.primitive.name for eqn in subsub.eqns] == ["neg"]


def test_avals_of_batches():
    aval = ShapedArray((4, 3), np.float32, weak_type=True)
    assert core.mapped_aval(4, 0, aval) is ShapedArray((3,), np.float32, weak_type=True)
    assert core.mapped_aval(4, None, aval) is aval
    assert core.unmapped_aval(2, 1, aval) is ShapedArray((4, 2, 3), np.float32, weak_type=True)
    with pytest.raises(ValueError, match=r"dimension 1 of ~float32\[4,3\] is not of size 4"):
        core.mapped_aval(4, 1, aval)


def test_tangent_dtypes():
    assert core.primal_dtype_to_tangent_dtype(np.dtype("float16")) == np.float16
    assert core.primal_dtype_to_tangent_dtype(np.dtype("int32")) == cv.dtypes.float0


@pytest.mark.parametrize("value", [1, 2.0, True, 1j, X, np.float32(1), np.int8(3)])
def test_valid_types(value):
    assert core.valid_jaxtype(value)


UNSUPPORTED = [np.zeros(2, dtype) for dtype in ("O", "U3", "M8[s]", "V4")]


@pytest.mark.parametrize("value", ["text", None, object(), [1.0], *UNSUPPORTED])
def test_invalid_types(value):
    assert not core.valid_jaxtype(value)


def test_what_is_being_transformed():
    seen = []

    def look(x):
        seen.append(
            (
                core.unsafe_am_i_under_a_jit_DO_NOT_USE(),
                core.unsafe_am_i_under_a_vmap_DO_NOT_USE(),
                core.nonempty_axis_env_DO_NOT_USE(),
                core.unsafe_get_axis_names_DO_NOT_USE(),
            )
        )
        return x

    look(X)
    cv.jit(look)(X)
    cv.vmap(look)(X)
    cv.vmap(lambda x: cv.jit(lambda y: look(y))(x), axis_name="i")(X)
    cv.grad(look)(1.0)
    nothing, jitted, mapped = (
        (False,) * 3 + ([],),
        (True, False, False, []),
        (False, True, False, []),
    )
    assert seen == [nothing, jitted, mapped, (True, True, True, ["i"]), nothing]


def test_trace_states_differ_while_tracing():
    outside = core.get_opaque_trace_state()
    assert outside == core.get_opaque_trace_state(convention="nnx")
    inside = []
    cv.jit(lambda x: (inside.append(core.get_opaque_trace_state()), x)[1])(X)
    assert inside[0] != outside


def test_taking_and_setting_the_current_trace():
    def fun(x):
        with core.take_current_trace() as trace:
            evaluated = lax.sin(1.0)
            with core.set_current_trace(trace):
                traced = lax.neg(x)
        assert core.find_top_trace([x]) is trace
        assert not isinstance(evaluated, cv.core.Tracer) and isinstance(traced, cv.core.Tracer)
        with cv.core.eval_context():
            assert not isinstance(lax.sin(1.0), cv.core.Tracer)
        return traced

    cv.make_jaxpr(fun)(X)


def test_concrete_or_error():
    assert core.concrete_or_error(int, 3.7) == 3
    assert core.concrete_or_error(None, "anything") == "anything"
    assert [core.concrete_or_error(float, 2.5)] == [2.5]
    with pytest.raises(ConcretizationTypeError, match="It is needed as a size") as error:
        cv.jit(lambda n: core.concrete_or_error(int, n, "It is needed as a size."))(3)
    assert "as the argument n of jit of the function" in str(error.value)


def test_dimensions():
    assert cv.core.max_dim(2, 3) == 3 and cv.core.min_dim(2, 3) == 2


def test_public_names_are_those_of_jax(jax):
    """Every name of `jax.core` and `jax.extend.core`, but for those of primitives that call."""
    import jax.core
    import jax.extend.core

    for theirs, ours in ((jax.core, cv.core), (jax.extend.core, core)):
        names = {name for name in vars(theirs) if not name.startswith("_")} - CALLS
        assert names <= set(vars(ours)), sorted(names - set(vars(ours)))


def test_primitives_go_by_their_names():
    for name, primitive in vars(primitives).items():
        if name.endswith("_p"):
            assert isinstance(primitive.name, str), name
    assert primitives.add_p.name == "add"
    assert primitives.jit_p is cv.make_jaxpr(cv.jit(lax.neg))(X).eqns[0].primitive


# ---------------------------------------------------------------- places and scopes


def test_source_info(jax):
    import jax.extend.source_info_util as theirs

    from covector.extend import source_info_util as ours

    assert {n for n in vars(theirs) if not n.startswith("_")} <= set(vars(ours))
    texts = []
    for m, util in ((cv, ours), (jax, theirs)):
        (eqn,) = m.make_jaxpr(m.named_scope("outer")(lambda x, m=m: m.lax.neg(x)))(X).eqns
        texts.append((util.summarize(eqn.source_info), str(eqn.source_info.name_stack)))
    assert texts[0] == texts[1]


def test_interpreter_that_keeps_places_and_scopes():
    from covector.extend import source_info_util as util

    def again(eqn):
        def fun(x):
            info = eqn.source_info
            stack = util.current_name_stack() + info.name_stack
            with util.user_context(info.traceback, name_stack=stack):
                return eqn.primitive.bind(x)

        return fun

    (eqn,) = cv.make_jaxpr(cv.named_scope("inner")(lambda x: lax.neg(x)))(X).eqns
    (copy,) = cv.make_jaxpr(cv.named_scope("outer")(again(eqn)))(X).eqns
    assert copy.source_line == eqn.source_line
    assert str(copy.source_info.name_stack) == "outer/inner"


def test_scopes_by_hand():
    from covector.extend import source_info_util as util

    stack = util.new_name_stack("a").extend("b").transform("vmap").transform("jvp").extend("c")
    assert str(stack) == "a/b/vmap(jvp(c))" and len(stack) == 5
    assert str(util.new_name_stack()) == ""
    with util.extend_name_stack("a"), util.transform_name_stack("jvp"), util.extend_name_stack("b"):
        assert str(util.current_name_stack()) == "a/jvp(b)"
        with util.reset_name_stack():
            assert str(util.current_name_stack()) == ""
        with util.set_name_stack(stack):
            assert str(util.current().name_stack) == str(stack)
    assert str(util.current_name_stack()) == ""


def test_excluded_files_are_not_the_users(monkeypatch):
    monkeypatch.setattr(cv._src.base.source, "_excluded", [])
    (eqn,) = cv.make_jaxpr(lambda x: lax.neg(x))(X).eqns
    assert eqn.source_line.startswith(__file__)
    cv.extend.source_info_util.register_exclusion(__file__)
    (eqn,) = cv.make_jaxpr(lambda x: lax.neg(x))(X).eqns
    assert not eqn.source_line.startswith(__file__)


def test_primitives_that_jax_exports_are_exported(jax):
    """A primitive of the language goes by the same name in `extend.core.primitives`."""
    import jax.extend.core.primitives as theirs

    exist = {
        p.name
        for p in cv._src.core.primitive.all_primitives
        if type(p).__module__.startswith(("covector._src.ops.", "covector._src.control."))
    }
    wanted = {name for name, p in vars(theirs).items() if getattr(p, "name", None) in exist}
    assert wanted - set(vars(primitives)) == set()
