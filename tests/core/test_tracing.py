"""make_jaxpr, eval_shape, ShapeDtypeStruct, scopes, evaluation at trace time."""

from __future__ import annotations

import numpy as np
import pytest

import covector as cv
from covector import lax
from covector.errors import TracerBoolConversionError
from covector.extend.core import Literal

X = np.arange(3, dtype=np.float32)
STRUCT = cv.ShapeDtypeStruct((3,), "float32")


class Duck:
    """An array for those who look at shape and dtype only."""

    shape = (3,)
    dtype = np.dtype("float32")


# ---------------------------------------------------------------- make_jaxpr


def test_parts_of_a_jaxpr():
    def fun(tree, y):
        return lax.add(lax.mul(tree["a"], 2.0), X), y

    closed = cv.make_jaxpr(fun)({"a": X}, 1)
    jaxpr = closed.jaxpr
    assert [str(aval) for aval in closed.in_avals] == ["float32[3]", "~int32[]"]
    assert [str(aval) for aval in closed.out_avals] == ["float32[3]", "~int32[]"]
    assert len(closed.consts) == len(closed.literals) == len(jaxpr.constvars) == 1
    assert closed.consts[0] is X
    assert [eqn.primitive.name for eqn in closed.eqns] == ["mul", "add"]
    mul, add = closed.eqns
    assert mul.invars[0] is jaxpr.invars[0]
    assert isinstance(mul.invars[1], Literal) and mul.invars[1].val == 2.0
    assert add.invars == [mul.outvars[0], jaxpr.constvars[0]]
    assert jaxpr.outvars == [add.outvars[0], jaxpr.invars[1]]
    assert closed.effects == frozenset() and mul.params == {}


def test_debug_info():
    def fun(x, tree):
        return {"out": (x, tree["w"])}

    info = cv.make_jaxpr(fun)(X, {"w": X}).jaxpr.debug_info
    assert info.func_name == "fun"
    assert info.func_filename == __file__
    assert info.func_lineno == fun.__code__.co_firstlineno
    assert info.arg_names == ("x", "tree['w']")
    assert info.result_paths == ("result['out'][0]", "result['out'][1]")


def test_names_of_the_made_function():
    def fun(x):
        return x

    made = cv.make_jaxpr(fun)
    assert made.__name__ == "make_jaxpr(fun)"
    assert made.__qualname__ == f"make_jaxpr({fun.__qualname__})"


@pytest.mark.parametrize("argument", [X, STRUCT, Duck()])
def test_only_types_matter(argument):
    assert str(cv.make_jaxpr(lax.neg)(argument)) == str(cv.make_jaxpr(lax.neg)(X))


def test_static_argnums():
    jaxpr = cv.make_jaxpr(lambda n, x: x if n == 0 else lax.neg(x), static_argnums=0)
    assert len(jaxpr(0, X).eqns) == 0
    assert len(jaxpr(1, X).eqns) == 1


def test_keyword_arguments():
    jaxpr = cv.make_jaxpr(lambda *, a, b: lax.sub(a, b))(b=X, a=X)
    assert jaxpr.eqns[0].invars == jaxpr.jaxpr.invars


def test_return_shape():
    jaxpr, shapes = cv.make_jaxpr(lambda x: (x, 1), return_shape=True)(X)
    assert shapes == (STRUCT, cv.ShapeDtypeStruct((), "int32", weak_type=True))
    assert len(jaxpr.out_avals) == 2


def test_axis_env_is_in_scope_while_tracing():
    names = []

    def fun(x):
        names.append(cv.extend.core.unsafe_get_axis_names_DO_NOT_USE())
        return x

    cv.make_jaxpr(fun, axis_env=[("i", 2), ("j", 3)])(X)
    assert names == [["i", "j"]]
    assert cv.extend.core.unsafe_get_axis_names_DO_NOT_USE() == []


def test_tracers_of_an_outer_function_are_constants():
    seen = []

    def outer(x):
        closed = cv.make_jaxpr(lambda y: lax.mul(x, y))(2.0)
        seen.append((len(closed.consts), closed.consts[0] is x))
        return x

    cv.jit(outer)(3.0)
    assert seen == [(1, True)]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: cv.make_jaxpr(3),
            "[make_jaxpr] the first argument must be a function, but it is 3. "
            "Expected a callable value, not one of type <class 'int'>.",
        ),
        (
            lambda: cv.eval_shape(3),
            "[eval_shape] the first argument must be a function, but it is 3. "
            "Expected a callable value, not one of type <class 'int'>.",
        ),
        (
            lambda: cv.make_jaxpr(lax.neg)("a"),
            "[make_jaxpr] Error interpreting argument to neg as an abstract array. The problematic "
            "value is of type <class 'str'> and was passed to the function at path x. It is 'a': "
            "pass it as a static argument (static_argnums or static_argnames of jit), or close "
            "over it.",
        ),
    ],
)
def test_wrong_arguments(call, message):
    with pytest.raises(TypeError) as error:
        call()
    assert str(error.value) == message


def test_wrong_result():
    def fun(x):
        return {"a": x, "b": "text"}

    with pytest.raises(TypeError) as error:
        cv.make_jaxpr(fun)(X)
    assert str(error.value) == (
        f"[make_jaxpr of the function fun at {__file__}:{fun.__code__.co_firstlineno}] the "
        "function returned a value of type <class 'str'> at output component ['b'], which is "
        "not a valid JAX type: 'text'. Return arrays and Python numbers, in tuples, lists and "
        "dicts."
    )
    with pytest.raises(TypeError, match="output component"):
        cv.jit(fun)(X)
    assert "test_tracing" in cv.make_jaxpr(lambda x: x + 1)(X).eqns[0].source_line


# ---------------------------------------------------------------- eval_shape and the struct


def test_eval_shape_runs_nothing():
    big = cv.ShapeDtypeStruct((10**6, 10**6), "float32")
    assert cv.eval_shape(lambda a: (lax.sin(a), [a]), big) == (big, [big])


def test_eval_shape_of_jitted_function_and_of_duck():
    assert cv.eval_shape(cv.jit(lax.sin), Duck()) == STRUCT
    assert cv.jit(lax.sin).eval_shape(STRUCT) == STRUCT


def test_eval_shape_keeps_weak_types():
    assert cv.eval_shape(lax.neg, 1.0) == cv.ShapeDtypeStruct((), "float32", weak_type=True)


STRUCTS = {
    "plain": lambda m: m.ShapeDtypeStruct((3,), np.float32),
    "name of a dtype": lambda m: m.ShapeDtypeStruct([2, 3], "int8"),
    "weak": lambda m: m.ShapeDtypeStruct((), "float32", weak_type=True),
    "updated": lambda m: m.ShapeDtypeStruct((3,), np.float32).update(shape=(4,), dtype="int32"),
    "like an array": lambda m: m.ShapeDtypeStruct.like(X),
    "like a number": lambda m: m.ShapeDtypeStruct.like(1.0),
    "of a result": lambda m: m.eval_shape(lambda x: m.lax.sin(x), X),
    "type of a number": lambda m: m.typeof(True),
    "type of an array": lambda m: m.typeof(X),
    "type of a struct": lambda m: m.typeof(m.ShapeDtypeStruct((3,), "float16")),
}


@pytest.mark.parametrize("name", STRUCTS)
def test_texts_of_types(name, jax):
    ours, theirs = STRUCTS[name](cv), STRUCTS[name](jax)
    assert (str(ours), repr(ours)) == (str(theirs), repr(theirs))


def test_structs_are_values():
    assert hash(STRUCT) == hash(cv.ShapeDtypeStruct([3], np.float32))
    assert cv.ShapeDtypeStruct((3,), "float32") != cv.ShapeDtypeStruct((3,), "int32")
    assert (STRUCT.size, STRUCT.ndim, len(STRUCT)) == (3, 1, 3)


def test_struct_without_dtype():
    with pytest.raises(ValueError, match="The dtype must be specified"):
        cv.ShapeDtypeStruct((3,), None)


def test_typeof_of_what_is_no_array():
    with pytest.raises(TypeError, match="not a valid JAX type"):
        cv.typeof("text")


# ---------------------------------------------------------------- scopes


def scopes_of(fun) -> list[tuple[str, ...]]:
    return [eqn.source_info.name_stack for eqn in cv.make_jaxpr(fun)(X).eqns]


def test_named_scope_as_manager_and_as_decorator():
    @cv.named_scope("outer")
    def fun(x):
        y = lax.neg(x)
        with cv.named_scope("inner"):
            return lax.sin(y)

    assert scopes_of(lambda x: lax.cos(fun(x))) == [("outer",), ("outer", "inner"), ()]


def test_named_call():
    def step(x):
        return lax.neg(x)

    assert scopes_of(cv.named_call(step)) == [("step",)]
    assert scopes_of(cv.named_call(step, name="other")) == [("other",)]


def test_scope_ends_with_an_error():
    def fun(x):
        with pytest.raises(ValueError), cv.named_scope("broken"):
            raise ValueError
        return lax.neg(x)

    assert scopes_of(fun) == [()]


def test_scope_is_named_by_a_string():
    with pytest.raises(TypeError) as error:
        cv.named_scope(3)
    message = "[named_scope] the name of a scope must be a string, but it is 3."
    assert str(error.value) == message


# ---------------------------------------------------------------- evaluation at trace time


def test_known_values_may_decide():
    @cv.jit
    def fun(x):
        with cv.ensure_compile_time_eval():
            positive = lax.gt(lax.sin(1.0), 0.0)
        return lax.neg(x) if positive else x

    assert [eqn.primitive.name for eqn in cv.make_jaxpr(fun)(1.0).eqns[0].params["jaxpr"].eqns] == [
        "neg"
    ]


def test_traced_values_stay_traced():
    def fun(x):
        with cv.ensure_compile_time_eval():
            return lax.mul(lax.neg(x), lax.sin(1.0))

    names = [eqn.primitive.name for eqn in cv.make_jaxpr(fun)(1.0).eqns]
    assert names == ["neg", "mul"]
    with pytest.raises(TracerBoolConversionError):
        cv.make_jaxpr(lambda x: 1.0 if fun(x) else x)(1.0)


def test_jitted_functions_are_evaluated_too():
    """Even the functions that they call may decide by known values."""

    @cv.jit
    def branch(x):
        return lax.neg(x) if lax.gt(lax.sin(1.0), 0.0) else x

    def fun(x):
        with cv.ensure_compile_time_eval():
            y = branch(2.0)
            return lax.mul(x, 5.0) if lax.lt(y, 0.0) else x

    assert [eqn.primitive.name for eqn in cv.make_jaxpr(fun)(1.0).eqns] == ["mul"]


def test_under_vmap_and_grad():
    def fun(x):
        with cv.ensure_compile_time_eval():
            scale = lax.add(1.0, 2.0)
        assert isinstance(scale, cv.Array) and not isinstance(scale, cv.core.Tracer)
        return lax.mul(x, scale)

    assert float(np.asarray(cv.jit(cv.grad(fun))(1.0))) == 3.0
    np.testing.assert_array_equal(np.asarray(cv.jit(cv.vmap(fun))(X)), 3 * X)


def test_traced_values_lie_on_no_device():
    def fun(x):
        assert not hasattr(x, "sharding")
        with pytest.raises(AttributeError, match=r"type float32\[3\], lies on no device .*typeof"):
            x.sharding  # noqa: B018
        return x

    cv.make_jaxpr(fun)(X)
