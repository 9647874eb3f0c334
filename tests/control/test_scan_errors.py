"""What `scan`, `map` and `associative_scan` refuse, and what they say."""

import re

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector import lax

ONES = np.ones((3, 2), np.float32)


def refused(kind, fun, *parts):
    """The message, which holds all the given parts."""
    with pytest.raises(kind) as info:
        fun()
    for part in parts:
        assert part in str(info.value)
    return str(info.value)


def scanned(step, init, xs=None, length=1):
    return lambda: lax.scan(step, init, xs, length=length)


# ---------------------------------------------------------------- carries


def test_a_leaf_changes_its_dtype():
    text = refused(TypeError, scanned(lambda c, _: (c.astype("float32"), None), np.int32(0)))
    assert text == (
        "scan body function carry input and carry output must have equal types, but they differ:"
        "\n\nThe input carry c has type int32[] but the corresponding output carry component has "
        "type float32[], so the dtypes do not match.\n\nBegin with a carry of the dtype that the "
        "function returns, or convert what it returns with `.astype`."
    )


def test_leaves_change_shapes():
    step = lambda c, _: ({"a": c["a"][None], "b": c["b"], "c": c["a"] > 0}, None)  # noqa: E731
    init = {"a": np.float32(1), "b": np.float32(1), "c": np.float32(1)}
    refused(
        TypeError,
        scanned(step, init),
        "  * the input carry component c['a'] has type float32[] but the corresponding output "
        "carry component has type float32[1], so the shapes do not match;\n",
        "  * the input carry component c['c'] has type float32[] but the corresponding output "
        "carry component has type bool[], so the dtypes do not match.\n",
        "Every step is the same program, so a carry keeps its shape and dtype.",
    )


STRUCTURES = [
    (lambda c: (0, 0, 0), (1, 2), "c is a tuple of length 2 but", "a tuple of length 3, so the le"),
    (lambda c: [0, 0], (1, 2), "c is a <class 'tuple'> but", "is a <class 'list'>"),
    (lambda c: {"a": 1, "b": 2}, {"a": 1}, "with 1 child but", "2 children", "output has ['b']"),
    (lambda c: {"a": 1}, {"a": 1, "b": 2}, "with 2 children but", "only the input has ['b']"),
    (lambda c: {"b": 1}, {"a": 1}, "metadata ('a',) but", "metadata ('b',)"),
    (lambda c: (c[0], (1, 2)), (1, 2), "component c[1] is a leaf but", "<class 'tuple'>"),
    (lambda c: None, 1, "c is a leaf but", "<class 'NoneType'>"),
    (lambda c: ((1, 2), (1, 2)), (1, 2), "* the input carry component c[0]", "component c[1]"),
]


@pytest.mark.parametrize("case", STRUCTURES, ids=range(len(STRUCTURES)))
def test_the_structure_changes(case):
    change, init, *parts = case
    refused(
        TypeError,
        scanned(lambda c, _: (change(c), None), init),
        "scan body function carry input and carry output must have the same pytree structure, but",
        *parts,
        "Return a carry with the containers of the one that the function is called with.",
    )


def test_a_carry_without_a_name():
    class Step:
        __signature__ = 3  # nothing can be told of its parameters

        def __call__(self, *args):
            return (args[0][0], args[0][1] > 0), None

    text = refused(TypeError, scanned(Step(), (np.int32(0), np.int32(0))))
    assert "The input carry at path [1] has type int32[] but" in text
    starred = lambda *args: (args[0] > 0, None)  # noqa: E731
    refused(TypeError, scanned(starred, np.int32(0)), "The input carry args has type int32[]")


# ---------------------------------------------------------------- arguments

REFUSED = [
    (TypeError, lambda: lax.scan(42, 0, ONES), "lax.scan: f argument must be a callable"),
    (
        TypeError,
        lambda: lax.scan(lambda c, x: x, 0, ONES),
        "scan body output must be a pair, got float32[2]. Return the new carry",
    ),
    (TypeError, lambda: lax.scan(lambda c, x: (c, c, x), 0, ONES), "got a tuple of length 3."),
    (TypeError, lambda: lax.scan(lambda c, x: None, 0, ONES), "got None."),
    (ValueError, lambda: lax.scan(lambda c, x: (c, x), 0), "no values to scan over and `length`"),
    (
        ValueError,
        lambda: lax.scan(lambda c, x: (c, x), 0, (ONES, 2.0)),
        "scan got value with no leading axis to scan over: float32[].",
    ),
    (
        ValueError,
        lambda: lax.scan(lambda c, x: (c, x), 0, (ONES, ONES[1:])),
        "scan got values with different leading axis sizes: 3, 2.",
    ),
    (
        ValueError,
        lambda: lax.scan(lambda c, x: (c, x), 0, ONES, length=5),
        "scan got `length` argument of 5 which disagrees with leading axis sizes [3].",
    ),
    (ValueError, lambda: lax.scan(lambda c, x: (c, x), 0, length=-1), "but it is -1"),
    (TypeError, lambda: lax.scan(lambda c, x: (c, x), 0, length="a"), "but it is 'a'"),
    (ValueError, lambda: lax.scan(lambda c, x: (c, x), 0, ONES, unroll=-2), "`unroll` must be a"),
    (TypeError, lambda: lax.scan(lambda c, x: (c, x), 0, ONES, unroll=1.5), "but it is 1.5"),
    (TypeError, lambda: lax.scan(lambda c, x: (c, "y"), 0, ONES), "'y'"),
    (
        cv.errors.ConcretizationTypeError,
        lambda: cv.jit(lambda n: lax.scan(lambda c, x: (c, x), 0, length=n))(3),
        "The `length` argument to `scan` expects a concrete `int` value.",
    ),
    (
        cv.errors.ConcretizationTypeError,
        lambda: cv.jit(lambda n: lax.scan(lambda c, x: (c, x), 0, ONES, unroll=n))(True),
        "The `unroll` argument to `scan` expects a concrete `int` or `bool` value",
    ),
    (TypeError, lambda: lax.map(42, ONES), "lax.map: f argument must be a callable"),
    (ValueError, lambda: lax.map(lambda x: x, ()), "map got no values to scan over"),
    (ValueError, lambda: lax.map(lambda x: x, (ONES, ONES[1:])), "different leading axis sizes"),
    (ValueError, lambda: lax.map(lambda x: x, ONES, batch_size=-1), "but it is -1"),
    (TypeError, lambda: lax.map(lambda x: x, ONES, batch_size=0.5), "but it is 0.5"),
    (TypeError, lambda: lax.associative_scan(3, ONES), "lax.associative_scan: fn argument must be"),
    (ValueError, lambda: lax.associative_scan(jnp.add, ()), "`elems` holds no array"),
    (ValueError, lambda: lax.associative_scan(jnp.add, 1.0), "no axis 0 in an array of type"),
    (ValueError, lambda: lax.associative_scan(jnp.add, ONES, axis=2), "an axis from -2 to 1"),
    (
        ValueError,
        lambda: lax.associative_scan(lambda a, b: a, (ONES, ONES[1:])),
        "must have the same size along axis 0, but they are of types float32[3,2], float32[2,2]",
    ),
    (
        TypeError,
        lambda: lax.associative_scan(lambda a, b: a[0], (ONES, ONES)),
        "fn combines two trees of structure PyTreeDef((*, *)), but returned",
    ),
    (
        TypeError,
        lambda: lax.associative_scan(lambda a, b: a > b, ONES),
        "fn combined arrays of types float32[1,2] to arrays of types bool[1,2].",
    ),
]


@pytest.mark.parametrize("case", REFUSED, ids=range(len(REFUSED)))
def test_refused(case):
    kind, fun, part = case
    refused(kind, fun, part)


def test_no_steps_without_jit():
    with cv.disable_jit():
        refused(ValueError, lambda: lax.scan(lambda c, x: (c, x), 0, ONES[:0]), "disable_jit()")


# ---------------------------------------------------------------- equations


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        (dict(reverse=4), "invalid scan param reverse of type int, bool required: 4"),
        (
            dict(num_consts=-3),
            "invalid scan param num_consts of type int, non-negative int required: -3",
        ),
        (dict(jaxpr=3), "invalid scan param jaxpr of type int, ClosedJaxpr required: 3"),
        (dict(length=4), "float32[4,2], but they are float32[2], float32[3,2]"),
        (dict(num_carry=2), "asks for operands of types float32[2], float32[2], but they are"),
    ],
)
def test_malformed_equations(changes, text):
    jaxpr = cv.make_jaxpr(lambda c: lax.scan(lambda c, x: (c * x, c), c, ONES))(ONES[0])
    (eqn,) = [eqn for eqn in jaxpr.eqns if eqn.primitive.name == "scan"]
    eqn.params.update(changes)
    with pytest.raises(TypeError, match=re.escape(text)):
        cv.extend.core.check_jaxpr(jaxpr)


def test_carry_of_a_malformed_body():
    jaxpr = cv.make_jaxpr(lambda c: lax.scan(lambda c, x: (c * x, c), c, ONES))(ONES[0])
    (eqn,) = [eqn for eqn in jaxpr.eqns if eqn.primitive.name == "scan"]
    body = eqn.params["jaxpr"]
    wrong = cv.make_jaxpr(lambda c, x: (c.sum(), c))(ONES[0], ONES[0])
    assert len(wrong.in_avals) == len(body.in_avals)
    eqn.params["jaxpr"] = wrong
    with pytest.raises(TypeError, match=re.escape("float32[2], but returns float32[]")):
        cv.extend.core.check_jaxpr(jaxpr)
