"""pure_callback, io_callback, effects_barrier: values, transformations, order, failures."""

import io
import threading
import traceback

import ml_dtypes
import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector._src.base import config
from covector.experimental import io_callback

X = np.array([0.5, -1.0, 2.0], np.float32)
SCALAR = cv.ShapeDtypeStruct((), np.float32)


class Failure(Exception):
    """What the callbacks of these tests raise."""


def failing(*_):
    raise Failure("from within")


def like(x):
    return cv.ShapeDtypeStruct(x.shape, x.dtype)


CALLS = {
    "pure": cv.pure_callback,
    "io": io_callback,
    "ordered io": lambda *args, **kwargs: io_callback(*args, ordered=True, **kwargs),
}


@pytest.fixture(params=CALLS)
def call(request):
    return CALLS[request.param]


@pytest.fixture(params=["eager", "jit"])
def run(request):
    return cv.jit if request.param == "jit" else lambda f: f


# ---------------------------------------------------------------- values

DTYPES = ["bool", "int8", "int32", "uint16", "float16", "bfloat16", "float32", "complex64", "int4"]


def test_arrays_go_and_come(call):
    arrays = [
        np.arange(np.prod(shape)).reshape(shape).astype(getattr(ml_dtypes, dtype, dtype))
        for dtype in DTYPES
        for shape in ((), (3,), (2, 3), (0, 2))
    ]
    seen = []
    outs = cv.jit(lambda *xs: call(lambda *xs: seen.extend(xs) or xs, tuple(map(like, xs)), *xs))(
        *arrays
    )
    for x, out, given in zip(arrays, outs, seen):
        assert out.dtype == given.dtype == x.dtype
        np.testing.assert_array_equal(out, x)
        np.testing.assert_array_equal(given, x)


def test_trees_and_keywords(call, run):
    def fun(pair, *, scale):
        assert isinstance(scale, cv.Array)
        return {"sum": pair[0] + pair[1] * scale, "list": [np.float32(7)]}

    out = {"sum": like(X), "list": [SCALAR]}
    got = run(lambda x: call(fun, out, (x, X), scale=2.0))(X)
    np.testing.assert_array_equal(got["sum"], 3 * X)
    assert got["list"] == [7.0] and not got["sum"].weak_type


def test_results_of_many_kinds(run):
    """Python numbers, lists, arrays that are not contiguous, Covector's own arrays."""
    square = np.arange(6, dtype=np.float32).reshape(2, 3)
    results = [1.5, [1.0, 2.0], square.T, jnp.ones(2)]
    types = (SCALAR, *map(like, [np.float32([1, 2]), square.T, np.float32([1, 1])]))
    outs = run(
        lambda: cv.pure_callback(lambda: (1.5, np.float32([1, 2]), square.T, jnp.ones(2)), types)
    )()
    for got, want in zip(outs, results):
        np.testing.assert_array_equal(got, want)


def test_64_bits(run):
    with cv.enable_x64(True):
        out = run(lambda x: cv.pure_callback(lambda x: np.float64(x) / 3, np.float64(0), x))(1.0)
        assert out == 1 / 3 and out.dtype == np.float64


def test_64_bits_in_this_thread_only():
    """Callbacks run in threads that may have other settings."""
    x = np.linspace(0, 1, 100_000)
    with cv.enable_x64(True):
        f = cv.jit(
            lambda x: cv.pure_callback(lambda x: np.asarray(x) / 3, like(x), jnp.sort(x) * 1)
        )
        out = f(x)
        assert out.dtype == np.float64
        np.testing.assert_array_equal(out, x / 3)


def test_arguments_are_copies():
    """What a callback keeps of its arguments does not change under its hands."""
    kept = []

    @cv.jit
    def f(x):
        def step(carry, _):
            cv.debug.callback(kept.append, carry, ordered=True)
            return carry + 1, None

        return cv.lax.scan(step, x, None, length=4)[0]

    f(np.zeros(1000, np.float32)).block_until_ready()
    cv.effects_barrier()
    assert [float(x[-1]) for x in kept] == [0, 1, 2, 3]


def test_a_callback_may_compute():
    inner = cv.jit(lambda x: jnp.sin(x) * 2)
    out = cv.jit(lambda x: cv.pure_callback(lambda x: inner(x), like(x), x))(X)
    np.testing.assert_allclose(out, 2 * np.sin(X), rtol=1e-6)


def test_a_callback_may_run_a_program_with_callbacks():
    def outer(x):
        return cv.jit(lambda x: io_callback(lambda x: x + 1, like(X), x, ordered=True))(x)

    f = cv.jit(lambda x: io_callback(outer, like(X), x, ordered=True))
    np.testing.assert_array_equal(f(X), X + 1)


# ---------------------------------------------------------------- control flow and vmap

VMAP_METHODS = {
    "sequential": [((), ())] * 3,
    "sequential_unrolled": [((), ())] * 3,
    "expand_dims": [((3,), (1,))],
    "broadcast_all": [((3,), (3,))],
    "legacy_vectorized": [((3,), ())],
}


@pytest.mark.parametrize("method", VMAP_METHODS)
def test_vmap(jax, run, method):
    shapes = []

    def mapped(m):
        def fun(x, y):
            shapes.append((x.shape, y.shape))
            return x + y

        return m.vmap(
            lambda x, y: m.pure_callback(fun, jax.ShapeDtypeStruct((), "float32"), x, y,
                                         vmap_method=method), (0, None)
        )  # fmt: skip

    np.testing.assert_array_equal(run(mapped(cv))(X, 2.0), X + 2)
    assert shapes == VMAP_METHODS[method]
    texts = [str(m.make_jaxpr(mapped(m))(X, 2.0)) for m in (cv, jax)]
    assert texts[0].partition("callback_func")[0] == texts[1].partition("callback_func")[0]


def test_vmap_of_io():
    seen = []
    f = cv.vmap(
        lambda x, y: io_callback(lambda x, y: seen.append(float(x)) or x + y, SCALAR, x, y),
        (0, None),
    )
    np.testing.assert_array_equal(cv.jit(f)(X, 1.0), X + 1)
    assert sorted(seen) == sorted(X.tolist())


def test_control_flow(call):
    add = lambda x: call(lambda x: x + 1, like(np.float32(0)), x)  # noqa: E731

    @cv.jit
    def f(x):
        x = cv.lax.cond(x > 0, add, lambda x: x, x)
        x = cv.lax.while_loop(lambda x: add(x) < 5, lambda x: add(add(x)), x)
        return cv.lax.scan(lambda c, y: (add(c) + y, add(y)), x, jnp.arange(3.0))

    last, ys = f(1.0)
    assert last == 10.0
    np.testing.assert_array_equal(ys, [1, 2, 3])


def test_custom_derivative():
    @cv.custom_jvp
    def sin(x):
        return cv.pure_callback(np.sin, like(x), x, vmap_method="broadcast_all")

    sin.defjvp(lambda p, t: (sin(*p), jnp.cos(p[0]) * t[0]))
    np.testing.assert_allclose(
        cv.vmap(cv.grad(lambda x: sin(jnp.float32(2) * x)))(X), 2 * np.cos(2 * X), rtol=1e-5
    )


# ---------------------------------------------------------------- how often, and in which order


def test_pure_callbacks_are_dropped_and_io_is_not():
    seen = []
    note = lambda x: seen.append(1) or x  # noqa: E731
    cv.jit(lambda x: [cv.pure_callback(note, like(X), x), x][1])(X).block_until_ready()
    assert seen == []
    cv.jit(lambda x: [io_callback(note, like(X), x), x][1])(X).block_until_ready()
    cv.effects_barrier()
    assert seen == [1]


@pytest.mark.parametrize("steps", [1, 40])
def test_order_among_programs(steps):
    seen = []
    f = cv.jit(lambda x: io_callback(lambda x: seen.append(int(x)), None, x, ordered=True))
    for i in range(steps):
        f(i)
    cv.effects_barrier()
    assert seen == list(range(steps))


def test_order_of_two_kinds_of_effects():
    """Each kind keeps its own order, in one program."""
    seen = []

    @cv.jit
    def f(x):
        for i in range(5):
            io_callback(lambda x, i=i: seen.append(("io", i)), None, x, ordered=True)
            cv.debug.callback(lambda x, i=i: seen.append(("debug", i)), x, ordered=True)

    f(1.0)
    cv.effects_barrier()
    for kind in ("io", "debug"):
        assert [i for name, i in seen if name == kind] == list(range(5))


def test_callbacks_of_several_threads():
    seen = []
    f = cv.jit(lambda x: io_callback(lambda x: seen.append(int(x)), None, x))
    threads = [threading.Thread(target=f, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    cv.effects_barrier()
    assert sorted(seen) == list(range(8))


# ---------------------------------------------------------------- failures


def test_exceptions_keep_type_and_place(call, run):
    with pytest.raises(Failure, match="from within") as caught:
        np.asarray(run(lambda x: call(failing, like(X), x))(X))
    assert "failing" in [frame.name for frame in traceback.extract_tb(caught.tb)]


def test_exceptions_with_parity(jax):
    """JAX tells of the exception in the text of another one."""

    def program(lib):
        def fail():
            raise KeyError("my key")

        out = lib.ShapeDtypeStruct((), "float32")
        return lib.jit(lambda: lib.pure_callback(fail, out))

    with config.parity(True):
        for lib in (cv, jax):
            with pytest.raises(lib.errors.JaxRuntimeError, match="my key"):
                np.asarray(program(lib)())


def test_exceptions_reach_whoever_waits():
    out = cv.jit(lambda x: jnp.sin(cv.pure_callback(failing, like(X), x)))
    for wait in (lambda: out(X).block_until_ready(), lambda: np.asarray(out(X) + 1)):
        with pytest.raises(Failure):
            wait()
    with pytest.raises(Failure):
        cv.jit(lambda x: cv.debug.callback(failing, x))(X)
        cv.effects_barrier()
    cv.effects_barrier()  # and once only


def test_failures_of_many_programs():
    """Whether XLA runs a small program at once, or in the background, its failure is told."""
    f = cv.jit(lambda x: cv.debug.callback(lambda x: 1 / x.item(), x))
    with pytest.raises(ZeroDivisionError):
        for i in range(100):
            f(float(i))
        cv.effects_barrier()
    cv.effects_barrier()


def test_a_failure_is_told_once():
    f = cv.jit(lambda x: io_callback(failing, like(X), x, ordered=True))
    with pytest.raises(Failure):
        np.asarray(f(X))
    g = cv.jit(lambda x: io_callback(lambda x: x, like(X), x, ordered=True))
    np.testing.assert_array_equal(g(X), X)
    cv.effects_barrier()


def test_a_barrier_in_a_callback():
    with pytest.raises(RuntimeError, match="would wait for that callback"):
        cv.jit(lambda x: io_callback(cv.effects_barrier, None))(X)
        cv.effects_barrier()


def test_a_failure_does_not_hinder_what_follows():
    with pytest.raises(Failure):
        cv.jit(lambda x: io_callback(failing, None, x, ordered=True))(X)
        cv.effects_barrier()
    assert cv.jit(lambda x: io_callback(lambda x: x, SCALAR, x, ordered=True))(3.0) == 3


WRONG = {
    "shape": (lambda x: x[:1], "Incorrect output shape for return value #0: Expected: \\(3,\\)"),
    "dtype": (lambda x: np.int32(x), "Incorrect output dtype for return value #0"),
    "number": (lambda x: (x, x), "Mismatched number of outputs from callback. Expected: 1"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_results(call, run, name):
    fun, text = WRONG[name]
    with pytest.raises(RuntimeError, match=text):
        np.asarray(run(lambda x: call(fun, like(X), x))(X))


ERRORS = {
    "64 bits": (lambda: cv.pure_callback(np.sin, np.float64(0), 1.0), ValueError, "64-bit types"),
    "no type": (lambda: io_callback(np.sin, [3.0], 1.0), TypeError, "has the leaf 3.0"),
    "method": (
        lambda: cv.pure_callback(np.sin, SCALAR, 1.0, vmap_method="all"), ValueError, "'all'"
    ),
    "no object": (
        lambda: cv.pure_callback(lambda: object(), SCALAR), TypeError, "cannot be an array"
    ),
    "vmap of pure": (
        lambda: cv.vmap(lambda x: cv.pure_callback(np.sin, SCALAR, x))(X),
        NotImplementedError,
        "vmap is only supported",
    ),
    "vmap of ordered": (
        lambda: cv.vmap(lambda x: io_callback(np.sin, SCALAR, x, ordered=True))(X),
        ValueError,
        "Cannot `vmap` ordered IO callback",
    ),
    "jvp of pure": (
        lambda: cv.grad(lambda x: cv.pure_callback(np.sin, SCALAR, x))(1.0),
        ValueError,
        "Pure callbacks do not support JVP",
    ),
    "jvp of io": (
        lambda: cv.linearize(lambda x: io_callback(np.sin, SCALAR, x), 1.0),
        ValueError,
        "IO callbacks do not support JVP",
    ),
    "transpose": (
        lambda: cv.linear_transpose(lambda x: io_callback(np.sin, SCALAR, x), 1.0)(1.0),
        ValueError,
        "IO callbacks do not support transpose",
    ),
    "vmap of cond": (
        lambda: cv.vmap(
            lambda x: cv.lax.cond(x > 0, lambda: io_callback(print, None), lambda: None)
        )(X),
        NotImplementedError,
        "IO effect not supported in vmap-of-cond",
    ),
    "vmap of while": (
        lambda: cv.vmap(
            lambda x: cv.lax.while_loop(
                lambda c: c < 3, lambda c: [io_callback(print, None), c + 1][1], x
            )
        )(X),
        NotImplementedError,
        "not supported in while_loop with batched predicate",
    ),
    "checkpoint": (
        lambda: cv.grad(cv.checkpoint(lambda x: [io_callback(print, None, x), jnp.sin(x)][1]))(1.0),
        (NotImplementedError, ValueError),
        "IO",
    ),
    "checkpoint of another value": (
        lambda: cv.grad(cv.checkpoint(lambda x, y: [io_callback(print, None, y), x][1]))(1.0, 2.0),
        NotImplementedError,
        "Effects not supported in partial-eval of `checkpoint`",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    action, kind, text = ERRORS[name]
    with pytest.raises(kind, match=text):
        action()


# ---------------------------------------------------------------- breakpoints


def at_breakpoint(commands, transform=cv.jit, **options):
    """What is written at a breakpoint in an inner function, with these commands given."""
    answers = io.StringIO()

    def inner(x):
        y = {"twice": 2 * x}
        cv.debug.breakpoint(stdin=io.StringIO(commands), stdout=answers, **options)
        return y["twice"]

    def outer(z):
        text = "outer"  # noqa: F841
        return inner(z) + 1

    out = transform(outer)(jnp.float32(3))
    cv.effects_barrier()
    return out, answers.getvalue()


def test_breakpoint_shows_values():
    out, text = at_breakpoint("p x, y\nx\np nothing\npp y\nu\np text\np z\nd\np text\nc\n")
    assert out == 7
    _, *answers = [line.removeprefix("(cdb) ") for line in text.splitlines()]
    assert answers[0] == "(Array(3., dtype=float32), {'twice': Array(6., dtype=float32)})"
    assert answers[1] == "Array(3., dtype=float32)"
    assert answers[2] == "*** NameError: name 'nothing' is not defined"
    assert answers[3] == "{'twice': Array(6., dtype=float32)}"
    assert "'outer'" in answers and answers.count("Array(3., dtype=float32)") == 2
    assert "*** NameError: name 'text' is not defined" in answers


def test_breakpoint_lists_and_walks():
    _, text = at_breakpoint("l\nbt\nu\nu\nd\nd\nhelp\n\nc\n", num_frames=2)
    assert "->" in text and "cv.debug.breakpoint(stdin=io.StringIO(commands)" in text
    assert "return inner(z) + 1" in text and "in outer" in text
    assert "At topmost frame." in text and "At bottommost frame." in text


@pytest.mark.parametrize("transform", [lambda f: f, lambda f: cv.grad(f), cv.jit])
def test_breakpoint_quits(transform):
    with pytest.raises(SystemExit):
        at_breakpoint("q\n", transform)


def test_breakpoint_at_a_token():
    answers = io.StringIO()

    @cv.jit
    def f(x):
        return cv.debug.breakpoint(token=x * 2, stdin=io.StringIO("p x\nc\n"), stdout=answers)

    np.testing.assert_array_equal(f(X), 2 * X)
    assert "Array([ 0.5, -1. ,  2. ]" in answers.getvalue()


# ---------------------------------------------------------------- lowering rules of users


@pytest.mark.parametrize("with_token", [False, True])
def test_a_lowering_rule_may_call_python(with_token):
    from covector.extend.core import Primitive
    from covector.interpreters import mlir

    tripled = Primitive("tripled")
    tripled.def_abstract_eval(lambda x: x)

    def rule(ctx, x):
        token = mlir.ir.Operation.create(
            "stablehlo.create_token", results=[mlir.token_type()]
        ).result
        types = dict(operand_avals=ctx.avals_in, result_avals=ctx.avals_out)
        outs, after, _ = mlir.emit_python_callback(
            ctx,
            lambda x: [3 * x],
            token if with_token else None,
            [x],
            has_side_effect=True,
            **types,
        )
        assert (after is None) != with_token
        return outs

    mlir.register_lowering(tripled, rule)
    np.testing.assert_array_equal(cv.jit(tripled.bind)(X), 3 * X)
