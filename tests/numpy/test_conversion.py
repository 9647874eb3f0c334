"""Arrays as Python values, and what traced values say when they are asked for one."""

import math

import numpy as np
import pytest

import covector
import covector.numpy as jnp
from covector import errors


def test_numbers():
    x = jnp.float32(2.5)
    assert (float(x), int(x), complex(x), bool(x), x.item()) == (2.5, 2, 2.5, True, 2.5)
    i = jnp.int8(3)
    assert [10, 20, 30, 40][i] == 40 and list(range(i)) == [0, 1, 2]
    assert bool(jnp.zeros((1, 1))) is False and jnp.ones(1).item() == 1.0
    assert jnp.arange(6).reshape(2, 3).item(1, 2) == jnp.arange(6).item(5) == 5
    assert jnp.arange(3).tolist() == [0, 1, 2] and jnp.bool_(True).tolist() is True
    assert math.floor(float(x)) == 2 and round(x) == 2 and round(x).dtype == np.int32
    assert float(round(jnp.float32(2.37), 1)) == pytest.approx(2.4)


@pytest.mark.parametrize(
    ("ask", "error", "words"),
    [
        (
            lambda x: bool(x),
            ValueError,
            "more than one element is ambiguous. This one is of type float32[3]",
        ),
        (
            lambda x: bool(x[:0]),
            ValueError,
            "empty array is ambiguous. This one is of type float32[0]",
        ),
        (lambda x: float(x), TypeError, "Only scalar arrays can be converted to Python scalars"),
        (lambda x: int(x[:1]), TypeError, "`int()` got one of type int32[1]|float32[1]"),
        (lambda x: [1, 2][x[0]], TypeError, "Only integer scalar arrays"),
        (lambda x: [1, 2][x[:1]], TypeError, "Only integer scalar arrays"),
        (lambda x: float(x[0] * 1j), TypeError, "complex"),
        (lambda x: hash(x), TypeError, "unhashable"),
        (lambda x: len(x[0]), TypeError, "len() of unsized object"),
        (lambda x: iter(x[0]), TypeError, "iteration over a 0-d array"),
        (lambda x: x.item(), ValueError, "size 1"),
        (lambda x: x.__setitem__(0, 1), TypeError, "do not support in-place item assignment"),
        (lambda x: pow(x, 2, 3), TypeError, "three arguments"),
        (lambda x: x + None, TypeError, "NoneType"),
        (lambda x: x + [1], TypeError, "for +: 'ArrayImpl' and 'list'"),
        (lambda x: {1} - x, TypeError, "for -: 'set' and 'ArrayImpl'"),
        (lambda x: x < object(), TypeError, "object"),
        (lambda x: jnp.add(x, None), TypeError, "None stands for no array"),
        (lambda x: jnp.sin("a"), TypeError, "sin requires ndarray or scalar arguments"),
        (lambda x: -(x > 0), TypeError, "neg does not accept dtype bool"),
        (lambda x: x & 1, TypeError, "and does not accept dtype float32"),
    ],
)
def test_refused(ask, error, words):
    with pytest.raises(error) as info:
        ask(jnp.arange(3.0))
    assert any(word in str(info.value) for word in words.split("|"))


def test_other_operands_decide():
    class Other:
        __array_ufunc__ = None

        def __radd__(self, x):
            return "theirs"

        def __eq__(self, x):
            return "equal"

        __hash__ = None

    x = jnp.arange(3)
    assert x + Other() == "theirs" and (x == Other()) == "equal"
    assert (x == None) is False and (x != "a") is True  # noqa: E711


def test_numpy_on_the_left():
    x = jnp.arange(3.0)
    for left in (np.ones(3), np.float32(2), np.int64(2), np.array(2.0), 2, True):
        for result in (left + x, left * x, left - x, left / x, left**x, left < x, left == x):
            assert isinstance(result, covector.Array)
    assert isinstance(np.ones((3, 3)) @ x, covector.Array)
    np.testing.assert_array_equal(np.asarray(np.ones(3) - x), [1, 0, -1])


# ---------------------------------------------------------------- traced values


def raised(f, *args):
    with pytest.raises(Exception) as info:
        covector.jit(f)(*args)
    return info.value


def larger(left, right):
    return left if left > right else right


@pytest.mark.parametrize(
    ("f", "args", "error", "words"),
    [
        (larger, (1, 2), "TracerBoolConversionError", ["left", "right", "larger", "jnp.where"]),
        (lambda x: not x, (1,), "TracerBoolConversionError", ["argument x", "bool()"]),
        (lambda n: [7, 8, 9][n], (1,), "TracerIntegerConversionError", ["argument n", "index"]),
        (lambda n: list(range(n)), (3,), "TracerIntegerConversionError", ["argument n", "range"]),
        (lambda v: float(v), (3.0,), "ConcretizationTypeError", ["argument v", "float()"]),
        (lambda v: int(v + 1), (3.0,), "ConcretizationTypeError", ["argument v", "int()"]),
        (lambda v: complex(v), (3.0,), "ConcretizationTypeError", ["argument v", "complex()"]),
        (lambda v: v.item(), (3.0,), "ConcretizationTypeError", ["argument v", "`item`"]),
        (lambda v: v.tolist(), (3.0,), "ConcretizationTypeError", ["argument v", "`tolist`"]),
        (lambda v: np.sin(v), (3.0,), "TracerArrayConversionError", ["argument v", "NumPy"]),
        (lambda d: np.asarray(d["a"]), ({"a": 1.0},), "TracerArrayConversionError", ["d['a']"]),
        (lambda size: jnp.zeros(size), (3,), "TypeError", ["size", "static_argnums", "zeros"]),
        (lambda n: jnp.arange(n), (3,), "ConcretizationTypeError", ["argument n", "arange"]),
        (lambda n: jnp.linspace(0, 1, n), (3,), "ConcretizationTypeError", ["'num'", "argument n"]),
        (lambda n: jnp.ones(6).reshape(n, 2), (3,), "TypeError", ["argument n", "static_argnums"]),
        (lambda x, i: x[i : i + 2], (np.ones(5), 1), "IndexError", ["static", "dynamic_slice"]),
        (lambda a: jnp.sum(jnp.ones(3), a), (0,), "TypeError", ["'axis'", "argument a"]),
        (lambda k: jnp.diag(jnp.ones(3), k), (0,), "TypeError", ["'k'", "argument k"]),
    ],
)
def test_tracers_name_their_origin(f, args, error, words):
    found = raised(f, *args)
    assert error in [kind.__name__ for kind in type(found).__mro__], repr(found)
    for word in words:
        assert word in str(found), str(found)


def test_whole_text():
    found = raised(larger, np.int32(1), np.int32(2))
    place = f"{__file__}:{larger.__code__.co_firstlineno}"
    assert str(found) == (
        "Attempted boolean conversion of a traced array with shape bool[]. It was used as a "
        "condition: in `if`, `while`, `and`, `or`, `not`, `assert` or `bool()`. It was met while "
        f"jit of the function larger at {place}. This concrete value was not available in Python "
        "because it depends on the values of the arguments left and right.\n"
        "  Either make the argument static (static_argnums or static_argnames of jit), or choose "
        "between values with `jnp.where`, between computations with `lax.cond` or "
        "`lax.while_loop`."
    )


def test_a_value_that_depends_on_nothing():
    found = raised(lambda x: bool(jnp.ones(()) > 0), 1)
    assert isinstance(found, errors.TracerBoolConversionError)
    assert "arguments" not in str(found).split("\n")[0]


def test_under_vmap():
    with pytest.raises(errors.TracerBoolConversionError):
        covector.vmap(lambda x: x if x > 0 else -x)(jnp.arange(3.0))


def test_under_grad_values_are_known():
    assert float(covector.grad(lambda x: x**3 if x > 0 else -x)(2.0)) == 12.0
    assert float(covector.grad(lambda x: x * int(x) * float(x))(3.0)) == 9.0
    with pytest.raises(errors.TracerBoolConversionError, match="argument x"):
        covector.jit(covector.grad(lambda x: x if x > 0 else -x))(2.0)


def test_iteration_is_lazy():
    elements = iter(jnp.ones((10**7,)))
    assert [float(next(elements)) for _ in range(3)] == [1.0] * 3
    rows = iter(jnp.arange(6).reshape(3, 2))
    assert next(rows).tolist() == [0, 1] and len(list(rows)) == 2
