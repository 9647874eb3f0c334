"""Symbolic sizes: their normal form, arithmetic, comparison, text; against JAX, and by sampling."""

import copy
import itertools
import math
import operator

import numpy as np
import pytest

import covector as cv
from covector import export
from covector.core import max_dim, min_dim
from covector.extend.core import InconclusiveDimensionOperation

A, B = export.symbolic_shape("a, b")

# Texts of sizes in the variables a and b, each read and printed by JAX too.
SIZES = [
    *("2*b*a", "-2 * b * a^2 + b^2", "-2 * a^2 * b + -1 *b^2*a", "3 * a * b * a - 2", "a - b"),
    *("b - a", "-1 * a", "-2*a", "a + -1", "+ a - b", "+ 2", "a + a", "a*b + a^2 + b + a"),
    *("3 * a * mod(a + 2, b + 2)", "3 * floordiv(a + 2, b + 2) * 2", "- mod(a, 4) + 3"),
    *("mod(a, 4) + floordiv(a, 4) + a", "a*floordiv(b, 8)*mod(b, 4)", "2*a^2 - 3*a - 1"),
    *("max(a, b)", "min(a, b) + max(b, 3)", "max(a, a + 2)", "min(a - 2, a)", "min(a, 0)"),
    *("floordiv(2*a*b + b^2, a + b)", "mod(7, a)", "max(b - a, 0)", "floordiv(-a, 2)"),
]


@pytest.mark.parametrize("text", SIZES)
def test_reading_and_printing(jax, text):
    (ours,) = export.symbolic_shape(text, scope=A.scope)
    (theirs,) = jax.export.symbolic_shape(text)
    assert str(ours) == str(theirs)
    assert export.is_symbolic_dim(ours) == jax.export.is_symbolic_dim(theirs)
    assert export.symbolic_shape(str(ours), scope=A.scope) == (ours,)
    for a, b in itertools.product((1, 2, 5, 12), repeat=2):
        found = ours.evaluate({"a": a, "b": b}) if export.is_symbolic_dim(ours) else ours
        assert found == theirs_at(theirs, a, b), (a, b)


def theirs_at(size, a, b):
    return size._evaluate({"a": a, "b": b}) if hasattr(size, "_evaluate") else size


OPERATIONS = [operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod]
OPERANDS = [A, B, A + B, 2 * A - 1, 3 * A * B, A * A, A % 4 + 1, max_dim(A, B), 1, 3, -2]


@pytest.mark.parametrize("op", [*OPERATIONS, max_dim, min_dim])
def test_operations_agree_with_those_of_numbers(op):
    named = {max_dim: max, min_dim: min}.get(op, op)
    for x, y in itertools.product(OPERANDS, repeat=2):
        found = op(x, y)
        for a, b in [(1, 1), (2, 1), (3, 7), (10, 4)]:
            want = named(*[at(z, a, b) for z in (x, y)])
            assert at(found, a, b) == want, (str(x), str(y), a, b)


def at(size, a, b):
    return size.evaluate({"a": a, "b": b}) if export.is_symbolic_dim(size) else size


def test_bounds_hold_for_samples():
    factors = [A, B, A % 3, B // 2, max_dim(A, 3), min_dim(B, 5), A * B, 4 - A, -B]
    for x, y in itertools.product(factors, repeat=2):
        for size in (x + y, x - 2 * y, x * y):
            low, high = A.scope.bounds(size)
            for a, b in itertools.product((1, 2, 4, 9, 100), repeat=2):
                assert low <= at(size, a, b) <= high, (str(size), a, b)


BOUNDS = [
    *((A, (1, math.inf)), (-A, (-math.inf, -1)), (5 - A, (-math.inf, 4)), (A % 5, (0, 4))),
    *(
        (A + 1 - A, (1, 1)),
        (2 * A + 3 * B - 1, (4, math.inf)),
        (2 * A - 3 * B, (-math.inf, math.inf)),
    ),
    *(((B + 1) % -2, (-1, 0)), ((A + 4) // 2, (2, math.inf)), (-11 // (A + 1), (-6, -1))),
    *((A - A // 2, (1, math.inf)), (A - 2 * (A // 2), (0, 1)), (A - 5 % A, (1, math.inf))),
    *((max_dim(15 - A, 0), (0, 14)), (B - max_dim(B - A, 0), (1, math.inf))),
    *((max_dim(A, B) - B, (0, math.inf)), (A - min_dim(A, B), (0, math.inf))),
    (max_dim(-B + 1, 0) // 2, (0, 0)),
]


@pytest.mark.parametrize("number", range(len(BOUNDS)))
def test_bounds(number):
    size, want = BOUNDS[number]
    assert A.scope.bounds(size) == want


def test_comparisons():
    size = 4 * A + B + 3
    assert A >= A and A >= 1 and A > 0 and size >= 8 and size > 7 and -size <= -8
    assert A * B >= B and max_dim(A, B) >= min_dim(A, B) and -2 * ((-B) // 2) >= B
    assert not A <= 0 and not size < 8
    for question, text in [
        (lambda: A >= 2, "'a' >= '2'"),
        (lambda: size > 9, "'b + 4*a + 3' > '9'"),
        (lambda: A <= B, "'a' <= 'b'"),
        (lambda: A < 5, "'a' < '5'"),
        (lambda: max(A, B), ">"),
    ]:
        with pytest.raises(InconclusiveDimensionOperation) as error:
            question()
        assert text in str(error.value) and "is inconclusive" in str(error.value)
        assert 'constraints=["a >= b"]' in str(error.value)


def test_equality_and_hashes():
    (again,) = export.symbolic_shape("a", scope=A.scope)
    assert again == A and hash(A) == hash(again) and A != B and A != 1 and A is not None
    assert A + 3 - A == 3 and type(A + 3 - A) is int and type(2 * A // A) is int
    assert 2 * A * B + 3 == 1 + B * A + A * B + 2
    assert {A: 1}[again] == 1 and A in (1, again) and A not in [B, 2]
    assert A != "a" and A != 1.5
    assert divmod(3 * A + 5, 3) == (A + 1, 2) and (A * A - B * B) // (A + B) == A - B
    assert copy.copy(A) is A and copy.deepcopy([A])[0] is A
    with pytest.raises(TypeError, match="cannot be pickled"):
        A.__reduce__()


def test_what_needs_a_constant_says_so():
    for use in (int, range, lambda d: np.zeros(d), lambda d: [0][d]):
        with pytest.raises((InconclusiveDimensionOperation, TypeError)):
            use(A)
    with pytest.raises(InconclusiveDimensionOperation, match="used where a constant is needed"):
        int(A)
    with pytest.raises(ZeroDivisionError):
        A // 0
    with pytest.raises(InconclusiveDimensionOperation, match="Possible division by 0"):
        A.scope.bounds(B // (A - 3))
    with pytest.raises(TypeError, match=r"not supported for 1\.5"):
        bool(A >= 1.5)


# ---------------------------------------------------------------- shapes as text


def test_shapes():
    shape = export.symbolic_shape
    assert shape("") == shape("()") == () and shape("2, 3,") == shape(" ( 2 , 3 ) ") == (2, 3)
    assert shape(None, like=(2, 3)) == shape("2, _", like=(2, 3)) == (2, 3)
    assert shape("2, ...", like=(2,)) == (2,)
    assert shape("a, ...", like=(None, 3), scope=A.scope) == (A, 3)


@pytest.mark.parametrize(
    "text",
    [
        *("2.5", "a + a a", "a ^ a", "a; a", "_", "...", ")(", "2a", "a@", "'a'", "mod(a)"),
        *("floordiv(a, b, c)", "..., 3", "a b", "(a", "a)", "f(a, b)", "a +", "2 * ", "a, , b"),
    ],
)
def test_texts_that_are_no_shapes(text):
    with pytest.raises(ValueError, match="syntax error in symbolic shape"):
        export.symbolic_shape(text)


def test_texts_that_do_not_fit():
    for text, like, detail in [
        ("3", (4,), "different size 3 for known dimension"),
        ("b, ...", None, "no 'like' shape was given"),
        ("b, 6, c, _", (4, 6, 7), "because we parsed 3 already and 'like' shape has only 3"),
        ("b, 7, c, ...", (4, 7), "because we parsed 3 already and 'like' shape has only 2"),
        ("b, _", (4, None), "is not known"),
    ]:
        with pytest.raises(ValueError, match=f"syntax error in symbolic shape .*{detail}"):
            export.symbolic_shape(text, like=like)
    with pytest.raises(ValueError, match="given as a string or None"):
        export.symbolic_shape((2, 3))
    with pytest.raises(ValueError, match="Cannot specify both a `scope` and `constraints`"):
        export.symbolic_shape("a", scope=A.scope, constraints=["a >= 2"])


# ---------------------------------------------------------------- scopes and constraints


def test_constraints():
    a, b, c = export.symbolic_shape("a, b, c", constraints=["a >= 4", "a <= b", "c == 2*b"])
    assert a > 3 and b >= 4 and c == 2 * b and b - a >= 0 and str(c) == "2*b"
    x, y = export.symbolic_shape("x, y", constraints=["mod(x, 4) == 0", "5*y <= 14"])
    assert x % 4 == 0 and 4 * (x // 4) == x and x >= x // 4 and y <= 2
    assert "with constraints:\n  mod(x, 4) == 0\n  5*y <= 14" in str(x.scope)


def test_constraints_that_are_none():
    for constraints, text in [
        (["a >= a + 1"], "Unsatisfiable explicit constraint: a >= a \\+ 1"),
        (["a <= 0"], "Unsatisfiable constraint: a <= 0"),
        (["b >= 3", "a >= b", "a <= 2"], "Unsatisfiable constraint: a <= 2"),
        (["a != 2"], "must contain one of '==' or '>=' or '<='"),
        ("a >= 2", "should be a sequence of strings"),
        ([2], "must be a string"),
        (["a + b == 3"], "must be of the form `term \\* coefficient`"),
    ]:
        with pytest.raises(ValueError, match=text):
            export.SymbolicScope(constraints)
    with pytest.raises(NotImplementedError, match="multiple equality constraints"):
        export.SymbolicScope(["2*a == b", "a == c"])


def test_scopes_do_not_mix():
    (other,) = export.symbolic_shape("a")
    assert other != A
    for op in (*OPERATIONS, operator.ge):
        with pytest.raises(ValueError, match="Invalid mixing of symbolic scopes"):
            op(A, other)


def test_types_with_symbolic_sizes():
    struct = cv.ShapeDtypeStruct((A, 3), np.float32)
    assert struct.shape == (A, 3) and struct.size == 3 * A
    assert repr(struct) == "ShapeDtypeStruct(shape=(a, 3), dtype=float32)"
    jaxpr = cv.make_jaxpr(lambda x: (x + x.shape[0]).T)(struct)
    assert jaxpr.out_avals[0].str_short() == "float32[3,a]"


def test_arguments_by_a_tree_of_strings():
    args = {"x": np.ones((2, 3)), "y": [np.ones(3), cv.ShapeDtypeStruct((4,), np.int32)]}
    specs = export.symbolic_args_specs(args, {"x": "b, _", "y": [None, "2*b"]})
    assert str(specs["x"].shape) == "(b, 3)" and specs["y"][0].shape == (3,)
    assert specs["y"][1].shape == (2 * specs["x"].shape[0],)
    assert specs["x"].dtype == np.float32 and specs["y"][1].dtype == np.int32
    with pytest.raises(ValueError, match="symbolic_args_specs shapes_specs"):
        export.symbolic_args_specs(args, {"x": "b, _"})
