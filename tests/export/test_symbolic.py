"""Functions exported for symbolic shapes: values for several sizes, shapes of results, errors."""

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector import export, lax
from covector.extend.core import InconclusiveDimensionOperation


def numbers(*shape):
    count = int(np.prod(shape))
    return np.linspace(0.1, 0.9, count, dtype=np.float32).reshape(shape)


X, Y, V = numbers(3, 4), numbers(4, 5), numbers(7)
INDICES = np.array([0, 2, 1, 1], np.int32)
# Name, function, arguments, their symbolic shapes, and the text of the results' shapes.
CASES = [
    ("elementwise", lambda x: jnp.exp(x) * x + 1, (X,), "b, n", "(b, n)"),
    ("broadcasting", lambda x, v: x + v, (X, X[0]), ("b, n", "n"), "(b, n)"),
    ("sums", lambda x: (x.sum(), x.max(0), x.mean(1), x.var()), (X,), "b, n", "() (n,) (b,) ()"),
    ("places", lambda x: (x.argmax(1), jnp.sort(x, 0)), (X,), "b, n", "(b,) (b, n)"),
    ("softmax", lambda x: cv.nn.softmax(x), (X,), "b, n", "(b, n)"),
    ("product", lambda x, y: x @ y, (X, Y), ("b, n", "n, m"), "(b, m)"),
    ("einsum", lambda x, y: jnp.einsum("bn,nm->mb", x, y), (X, Y), ("b, n", "n, m"), "(m, b)"),
    ("flat", lambda x: (x.reshape(-1), x.T), (X,), "b, n", "(b*n,) (n, b)"),
    ("reshaped", lambda x: x.reshape(x.shape[0], 2, -1), (X,), "b, 2*n", "(b, 2, n)"),
    ("joined", lambda x: jnp.concatenate([x, x, x[:1]]), (X,), "b, n", "(2*b + 1, n)"),
    ("stacked", lambda x: jnp.stack([x, x], 1), (X,), "b, n", "(b, 2, n)"),
    ("sliced", lambda x: (x[1:, ::2], x[-1], x[::-1, 1]), (X,),
     "b+1, 2*n", "(b, n) (2*n,) (b + 1,)"),
    ("padded", lambda x: jnp.pad(x, ((1, 2), (0, 1))), (X,), "b, n", "(b + 3, n + 1)"),
    ("made", lambda x: (jnp.ones((2, x.shape[0])), jnp.arange(x.shape[1])), (X,),
     "b, n", "(2, b) (n,)"),
    ("sizes", lambda x: x.sum() / x.shape[0] + x.shape[1] % 3, (X,), "b, n", "()"),
    ("chosen", lambda x: jnp.where(x > 0.5, x, 0.0), (X,), "b, n", "(b, n)"),
    ("rows", lambda x, i: x[i], (X, INDICES), ("b, n", "k"), "(k, n)"),
    ("rows added", lambda x, i: x.at[i].add(1.0), (X, INDICES), ("b, n", "k"), "(b, n)"),
    ("tiled", lambda x: (jnp.tile(x, (2, 1)), jnp.repeat(x, 2, 1)), (X,),
     "b, n", "(2*b, n) (b, 2*n)"),
    ("split", lambda x: jnp.split(x, 2, axis=1), (X,), "b, 2*n", "(b, n) (b, n)"),
    ("part", lambda x: lax.dynamic_slice(x, (1, 0), (2, x.shape[1])), (X,), "b+1, n", "(2, n)"),
    ("scan", lambda x: lax.scan(lambda c, r: (c + r, c * r), 0 * x[0], x), (X,),
     "b, n", "(n,) (b, n)"),
    ("loop", lambda x: lax.fori_loop(0, x.shape[0], lambda i, c: c + i, x), (X,), "b, n", "(b, n)"),
    ("branch", lambda x: lax.cond(x.sum() > 0, jnp.sin, jnp.cos, x), (X,), "b, n", "(b, n)"),
    ("vmap", lambda x, y: cv.vmap(lambda r: r @ y)(x), (X, Y), ("b, n", "n, m"), "(b, m)"),
    ("inner jit", lambda x: cv.jit(jnp.sin)(x) + cv.jit(lambda x: x * 2)(x), (X,),
     "b, n", "(b, n)"),
    ("gradient", lambda x, y: cv.grad(lambda y: jnp.sum((x @ y) ** 2))(y), (X, Y),
     ("b, n", "n, m"), "(n, m)"),
    ("masks", lambda x: jnp.tril(x @ x.T) + jnp.eye(x.shape[0]), (X,), "b, n", "(b, b)"),
    ("special", lambda x: cv.scipy.special.erf(x) + cv.nn.gelu(x), (X,), "b, n", "(b, n)"),
    ("random", lambda x: cv.random.normal(cv.random.key(0), x.shape), (X,), "b, n", "(b, n)"),
    ("vectors", lambda v: (jnp.diff(v), jnp.roll(v, 1), jnp.dot(v, v)), (V,),
     "n+1", "(n,) (n + 1,) ()"),
    ("Cholesky", lambda x: jnp.linalg.cholesky(x @ x.T + jnp.eye(3)), (X,), "_, n", "(3, 3)"),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(CASES)), ids=[case[0] for case in CASES])
def test_values_and_shapes(number):
    _, fun, args, specs, shapes = CASES[number]
    specs = export.symbolic_args_specs(args, specs)
    exported = export.export(cv.jit(fun))(*specs)
    assert " ".join([shown(aval.shape) for aval in exported.out_avals]) == shapes
    assert exported.uses_global_constants
    for got, want in zip(cv.tree.leaves(exported.call(*args)), cv.tree.leaves(cv.jit(fun)(*args))):
        np.testing.assert_allclose(got, want, rtol=2e-5, atol=1e-6)
        assert got.shape == want.shape and got.dtype == want.dtype


def shown(shape):
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"


def test_one_program_serves_many_sizes():
    b, n = export.symbolic_shape("b, n", constraints=["n >= 2"])
    fun = cv.jit(lambda x: (x - x.mean(1, keepdims=True)) * x.shape[1])
    data = export.export(fun)(cv.ShapeDtypeStruct((b, n), np.float32)).serialize(vjp_order=1)
    read = export.deserialize(data)
    assert str(read.in_avals[0].shape) == "(b, n)"
    assert str(read.vjp().out_avals[0].shape) == "(b, n)"
    for shape in ((1, 2), (5, 3)):
        x = numbers(*shape) ** 2
        np.testing.assert_allclose(read.call(x), fun(x), rtol=1e-5, atol=1e-6)
        loss = lambda f, x: jnp.sum(f(x) ** 3)  # noqa: E731
        np.testing.assert_allclose(
            cv.grad(loss, 1)(read.call, x), cv.grad(loss, 1)(fun, x), rtol=1e-4, atol=1e-5
        )
    with pytest.raises(ValueError, match=r"symbolic shape constraint n >= 2. Expected 'n - 2' to"):
        read.call(numbers(3, 1))


def test_what_is_special_at_size_1_is_asked_for():
    fun = cv.jit(lambda x: jnp.linspace(0.0, 1.0, x.shape[0]) * x)
    with pytest.raises(InconclusiveDimensionOperation, match="'n' < '2'"):
        export.export(fun)(*spec("n"))
    exported = export.export(fun)(*spec("n + 1"))
    np.testing.assert_allclose(exported.call(V), fun(V), rtol=1e-6)


SMALL = [
    lambda x: (x[:1] + x, x.max(0), jnp.sort(x, 1), x.argmax(1), x[::-1], x.var(1)),
    lambda x: (jnp.pad(x, 1), jnp.repeat(x, 2, 0), x[1:], x[:, ::2], x.at[0].add(1.0)),
    lambda x: (jnp.diff(x, axis=0), jnp.roll(x, 1, 1), x @ x.T, x.reshape(-1), jnp.tril(x)),
]


@pytest.mark.parametrize("number", range(len(SMALL)))
@pytest.mark.parametrize("shape", [(1, 1), (1, 3), (2, 1)])
def test_programs_serve_small_sizes(number, shape):
    if number not in PROGRAMS:
        PROGRAMS[number] = export.export(cv.jit(SMALL[number]))(*spec("b, n"))
    x = numbers(*shape)
    got, want = PROGRAMS[number].call(x), cv.jit(SMALL[number])(x)
    for a, b in zip(got, want):
        assert a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6)


PROGRAMS = {}


def test_a_symbolic_program_in_a_symbolic_program():
    inner = export.export(cv.jit(lambda x: x.reshape(-1) * 2))(*spec("b, n"))
    outer = export.export(cv.jit(lambda x: inner.call(x.T) + 1))(*spec("2*k, 3"))
    assert str(outer.out_avals[0].shape) == "(6*k,)"
    read = export.deserialize(outer.serialize())
    x = numbers(4, 3)
    np.testing.assert_allclose(read.call(x), x.T.reshape(-1) * 2 + 1)
    np.testing.assert_allclose(cv.jit(read.call)(x), x.T.reshape(-1) * 2 + 1)


def spec(*shapes, dtype=np.float32, **options):
    scope = export.SymbolicScope(**options)
    return [cv.ShapeDtypeStruct(export.symbolic_shape(s, scope=scope), dtype) for s in shapes]


def test_variables_are_solved_from_shapes():
    fun = cv.jit(lambda x, y: jnp.ones((x.shape[0], y.shape[1])))
    exported = export.export(fun)(*spec("2*a + 1, b", "a*b + c, a + 3"))
    assert str(exported.out_avals[0].shape) == "(2*a + 1, a + 3)"
    assert exported.call(numbers(5, 3), numbers(7, 5)).shape == (5, 5)


SHAPES = "Using the following polymorphic shapes specifications: "
WRONG = [
    ("3, a + 1", (3, 1), "Expected value >= 1 for dimension variable 'a'. " + SHAPES
     + "args[0].shape = (3, a + 1). Obtained dimension variables: 'a' = 0 from specification "
     "'a + 1' for dimension args[0].shape[1] (= 1), which is too small, or not known to be large "
     "enough."),
    ("3, 6*a", (3, 13), "Division had remainder 1 when computing the value of 'a'. " + SHAPES
     + "args[0].shape = (3, 6*a). Obtained dimension variables: ."),
    ("a, a + 8", (4, 13), "Found inconsistency between dimension size args[0].shape[1] (= 13) and "
     "the specification 'a + 8' (= 12). " + SHAPES + "args[0].shape = (a, a + 8). Obtained "
     "dimension variables: 'a' = 4 from specification 'a' for dimension args[0].shape[0] (= 4)."),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_shapes_that_do_not_match(number):
    shape, given, text = WRONG[number]
    exported = export.export(cv.jit(lambda x: x * 2))(*spec(shape))
    with pytest.raises(ValueError) as error:
        exported.call(numbers(*given))
    whole = f"Input shapes do not match the polymorphic shapes specification. {text}"
    assert str(error.value) == whole


def test_what_cannot_be_exported():
    with pytest.raises(ValueError, match=r"Cannot solve for values of dimension variables {'c'}"):
        export.export(jnp.sin)(*spec("a, c^2"))
    with pytest.raises(ValueError, match="Encountered dimension variable 'm1' that is not appear"):
        export.export(jnp.sin)(*spec("m", constraints_str=["m >= m1"]))
    one, other = spec("w"), spec("w")
    with pytest.raises(ValueError, match=r"symbolic scopes when exporting <lambda>"):
        export.export(cv.jit(lambda x, y: x))(*one, *other)
    with pytest.raises(InconclusiveDimensionOperation, match="comparison"):
        export.export(cv.jit(lambda x: jnp.cumsum(x) if x.shape[0] > 9 else x))(*spec("n"))
    with pytest.raises((InconclusiveDimensionOperation, TypeError, ValueError)):
        export.export(cv.jit(lambda x: x + jnp.ones(4)))(*spec("n"))
    with pytest.raises(InconclusiveDimensionOperation, match="where a constant is needed"):
        export.export(cv.jit(lambda x: sum(x[i] for i in range(int(x.shape[0])))))(*spec("n"))


def test_shapes_agree_with_those_of_jax(jax):
    ours = export.export(cv.jit(lambda x, y: (x @ y, x[1:], jnp.pad(x, 1))))(*spec("b, n", "n, m"))
    b, n, m = jax.export.symbolic_shape("b, n, m")
    theirs = jax.export.export(jax.jit(lambda x, y: (x @ y, x[1:], jax.numpy.pad(x, 1))))(
        *[jax.ShapeDtypeStruct(shape, np.float32) for shape in ((b, n), (n, m))]
    )
    assert list(map(str, ours.out_avals)) == list(map(str, theirs.out_avals))


def test_loops_of_symbolic_length_are_well_typed():
    def total(x):
        return lax.scan(lambda c, i: (c + x.sum(), i), 0.0, None, length=x.shape[0])[0]

    with cv.enable_checks(True):
        exported = export.export(cv.jit(total))(*spec("n"))
    np.testing.assert_allclose(exported.call(V), 7 * V.sum(), rtol=1e-6)


def test_sizes_in_64_bit_mode():
    with cv.enable_x64(True):
        exported = export.export(cv.jit(lambda x: x * x.shape[0]))(*spec("n", dtype=np.float64))
        got = exported.call(np.arange(3.0))
        assert got.dtype == np.float64
        np.testing.assert_array_equal(got, 3 * np.arange(3.0))


def test_integers_have_no_gradient_here_either():
    exported = export.export(cv.jit(lambda i, x: (2 * i, x.T * 3)))(
        *export.symbolic_args_specs((INDICES, X), ("k", "b, n"))
    )
    read = export.deserialize(exported.serialize(vjp_order=1))
    (i, x), pull = cv.vjp(read.call, INDICES, X)
    i_bar, x_bar = pull((np.zeros(i.shape, cv.float0), jnp.ones(x.shape)))
    assert i_bar.dtype == cv.float0
    np.testing.assert_allclose(x_bar, np.full(X.shape, 3.0))


@pytest.mark.parametrize("method", ["scan", "sort", "compare_all"])
def test_searching_an_array_of_symbolic_size(method):
    def place(x, v):
        return jnp.searchsorted(x, v, method=method), jnp.searchsorted(x, v, "right")

    exported = export.export(cv.jit(place))(*spec("n", "m"))
    for size in (1, 2, 5, 100):
        x = np.sort(np.random.default_rng(size).standard_normal(size)).astype(np.float32)
        v = np.concatenate([x[:3], np.float32([-9, 0, 9, np.inf, np.nan])])
        for got, side in zip(exported.call(x, v), ("left", "right")):
            np.testing.assert_array_equal(got, np.searchsorted(x, v, side))
