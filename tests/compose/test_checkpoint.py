"""checkpoint: the same derivatives from fewer saved values."""

import itertools

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector._src.base import config
from covector._src.control.checkpoint_budget import bytes_of, cost, minimum_cut
from covector._src.core.jaxpr import Literal
from covector.ad_checkpoint import checkpoint_name, print_saved_residuals, saved_residuals

X = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)
W = np.linspace(0, 1, 9, dtype=np.float32).reshape(3, 3)


def layer(m):
    return lambda x, w: m.numpy.sin(m.numpy.sin(x @ w) @ w) * x


def named(m):
    from importlib import import_module

    name = import_module(m.__name__ + ".ad_checkpoint").checkpoint_name

    def f(x, w):
        y = name(m.numpy.sin(x @ w), "wave")
        return m.numpy.exp(y) * m.jit(m.numpy.cos)(name(y * x, "product"))

    return f


POLICIES = {
    "none": lambda p: None,
    "everything": lambda p: p.everything_saveable,
    "nothing": lambda p: p.nothing_saveable,
    "dots": lambda p: p.dots_saveable,
    "dots without batches": lambda p: p.dots_with_no_batch_dims_saveable,
    "names": lambda p: p.save_only_these_names("wave"),
    "other names": lambda p: p.save_any_names_but_these("wave"),
    "anything but names": lambda p: p.save_anything_except_these_names("wave"),
    "both": lambda p: p.save_from_both_policies(
        p.dots_saveable, p.save_only_these_names("product")
    ),
}


def checkpointed(m, f, policy):
    return m.checkpoint(f(m), policy=POLICIES[policy](m.checkpoint_policies))


TRANSFORMATIONS = {
    "value": lambda m, f: f(X, W),
    "jit": lambda m, f: m.jit(f)(X, W),
    "grad": lambda m, f: m.grad(lambda x, w: f(x, w).sum(), (0, 1))(X, W),
    "jit of grad": lambda m, f: m.jit(m.grad(lambda x, w: f(x, w).sum(), (0, 1)))(X, W),
    "jvp": lambda m, f: m.jvp(f, (X, W), (X, W)),
    "vmap of grad": lambda m, f: m.vmap(m.grad(lambda x, w: f(x, w).sum()), (0, None))(
        np.stack([X, 2 * X]), W
    ),
    "grad of vmap": lambda m, f: m.grad(
        lambda xs: m.vmap(f, (0, None))(xs, W).sum()
    )(np.stack([X, 2 * X])),
    "hessian": lambda m, f: m.hessian(lambda x: f(x, W).sum())(X[:1]),
    "linearize": lambda m, f: m.linearize(lambda x: f(x, W), X)[1](X),
    "in a scan": lambda m, f: m.grad(
        lambda x: m.lax.scan(lambda c, _: (f(c, W), None), x, None, length=3)[0].sum()
    )(X),
    "nested": lambda m, f: m.grad(lambda x: m.checkpoint(lambda x: f(f(x, W), W))(x).sum())(X),
}  # fmt: skip


@pytest.mark.parametrize("transformation", TRANSFORMATIONS)
@pytest.mark.parametrize("policy", ["none", "both"])
def test_values_as_jax(policy, transformation, same_as_jax):
    same_as_jax(lambda m: TRANSFORMATIONS[transformation](m, checkpointed(m, named, policy)))


# JAX keeps jitted functions whole where we write them out, and does not round what it saves where
# nothing at all is computed again; so much for the other policies.
@pytest.mark.parametrize("policy", ["none", "nothing", "dots", "dots without batches", "names"])
def test_text_of_gradients_as_jax(policy, jax):
    texts = []
    for m in (cv, jax):
        f = checkpointed(m, layer, policy)
        texts.append(str(m.make_jaxpr(m.grad(lambda x, f=f: f(x, W).sum()))(X)))
    # The text of a policy may be the address of an object.
    ours, theirs = [[line for line in text.splitlines() if "policy=" not in line] for text in texts]
    assert ours == theirs


def test_bytes_that_policies_save():
    def saved(policy):
        f = cv.checkpoint(named(cv), policy=POLICIES[policy](cv.checkpoint_policies))
        return sum(r.nbytes for r in saved_residuals(f, X, W) if "argument" not in r.origin)

    assert saved("none") == saved("nothing") == 0
    assert saved("dots") == saved("names") == X.nbytes
    assert saved("both") == 2 * X.nbytes
    assert saved("everything") >= 3 * X.nbytes


def test_residuals_are_named_with_bytes_and_lines(capsys):
    f = cv.checkpoint(named(cv), policy=cv.checkpoint_policies.save_only_these_names("wave"))
    print_saved_residuals(f, X, W)
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == [
        "f32[2,3] from the argument x, 24 bytes",
        "f32[3,3] from the argument w, 36 bytes",
    ]
    assert lines[2].startswith("f32[2,3] named 'wave' from ") and __file__ in lines[2]
    assert lines[-1] == "84 bytes in all"


# ---------------------------------------------------------------- budgets


def deep(ws, x):
    for w in ws:
        x = jnp.tanh(x @ w) * 2
    return (x**2).sum()


DEEP = [W / (i + 2) for i in range(5)], np.tile(X, (8, 1))


@pytest.mark.parametrize("budget", [0, 200, 400, 1000, 10**9])
def test_budgets_are_kept_and_change_no_gradient(budget):
    f = cv.checkpoint(deep, budget=budget)
    found = [r.nbytes for r in saved_residuals(f, *DEEP) if "argument" not in r.origin]
    assert sum(found) <= budget
    want = cv.grad(deep)(*DEEP)
    for g in (cv.grad(f), cv.jit(cv.grad(f))):
        for x, y in zip(g(*DEEP), want):
            np.testing.assert_allclose(x, y, rtol=2e-5, atol=1e-6)


def test_cheap_operations_are_computed_again_first():
    # The bytes of four products: all of them are saved, and only elementwise work is repeated.
    product = DEEP[1].nbytes
    f = cv.checkpoint(deep, budget=5 * product)
    text = str(cv.make_jaxpr(cv.grad(f))(*DEEP))
    again = text[text.index("remat2") :]
    backward = 2 * 5 - 1  # two products for each layer, but none for the input
    assert again.count("dot_general") <= backward + 1


def test_the_cut_is_the_least_one():
    rng = np.random.default_rng(0)
    for _ in range(10):
        body, residuals = random_program(rng)
        order = sorted(range(len(body.eqns)), key=lambda i: cost(body.eqns[i]))
        for count in range(0, len(order) + 1, 2):
            recomputable = set(order[:count])
            cut = minimum_cut(body, residuals, recomputable)
            assert suffices(body, residuals, recomputable, cut)
            least = least_bytes(body, residuals, recomputable)
            assert sum(map(bytes_of, cut)) == least


def random_program(rng):
    def f(x, y):
        values = [x, y]
        for _ in range(8):
            a, b = (values[rng.integers(len(values))] for _ in range(2))
            kind = rng.integers(3)
            if kind == 0:
                axes = tuple(range(a.ndim))
                values.append(cv.lax.reduce_sum_p.bind(a, axes=axes, out_sharding=None))
            else:
                values.append(cv.lax.mul(a, b) if kind == 1 else cv.lax.sin(a))
        return tuple(values[-3:])

    body = cv.make_jaxpr(f)(np.ones(3, np.float32), np.float32(2)).jaxpr
    return body, body.outvars


def suffices(body, residuals, recomputable, saved):
    known = {*body.invars, *saved}
    for i, eqn in enumerate(body.eqns):
        if i in recomputable and all(type(a) is Literal or a in known for a in eqn.invars):
            known.update(v for v in eqn.outvars)
    return all(var in known for var in residuals)


def least_bytes(body, residuals, recomputable):
    made = [var for eqn in body.eqns for var in eqn.outvars]
    assert len(made) <= 12
    sizes = [
        sum(map(bytes_of, subset))
        for n in range(len(made) + 1)
        for subset in itertools.combinations(made, n)
        if suffices(body, residuals, recomputable, subset)
    ]
    return min(sizes)


# ---------------------------------------------------------------- memory, and bad input


def test_the_compiled_program_needs_less_memory():
    def f(x):
        for _ in range(12):
            x = jnp.sin(x) * jnp.cos(x)
        return jnp.sum(x)

    def step(x):
        return jnp.sin(x) * jnp.cos(x)

    def g(x):
        for _ in range(12):
            x = cv.checkpoint(step)(x)
        return jnp.sum(x)

    x = np.ones(100_000, np.float32)

    def peak(f):
        compiled = cv.jit(lambda x: cv.linearize(f, x)[1]).lower(x).compile()
        return compiled.memory_analysis().output_size_in_bytes

    assert peak(g) <= 0.6 * peak(f)


def test_static_arguments_and_keywords():
    @cv.checkpoint(static_argnums=(1,), static_argnames="scale")
    def f(x, twice, scale=1):
        y = x * scale
        return y * 2 if twice else y

    assert cv.grad(f)(3.0, True) == 2
    assert cv.grad(lambda x: f(x, False, scale=5))(3.0) == 5


def test_bad_input():
    with pytest.raises(TypeError, match="checkpoint"):
        cv.checkpoint(3)
    with pytest.raises(ValueError, match="policy and budget"):
        cv.checkpoint(jnp.sin, budget=3, policy=cv.checkpoint_policies.dots_saveable)
    with pytest.raises(TypeError, match=r"a string"):
        cv.checkpoint(lambda x: x)("a string")
    assert checkpoint_name({"a": 1.0}, "n")["a"] == 1


def test_what_is_saved_is_logged(caplog):
    def f(x):
        return jnp.cos(jnp.sin(x).sum())

    def messages(policy):
        caplog.clear()
        with config.log_checkpoint_residuals(True):
            cv.grad(cv.checkpoint(f, policy=policy))(np.ones(3, np.float32))
        return [record.getMessage() for record in caplog.records if "remat-" in record.message]

    (message,) = messages(None)
    assert message == "remat-decorated function saving inputs with shapes:\n  float32[3]\n"
    (message,) = messages(lambda prim, *_, **__: prim.name == "reduce_sum")
    inputs, values = message.split("and saving these intermediates:\n")
    assert inputs.endswith("inputs with shapes:\n  float32[3]\n")
    assert values.startswith(f"  float32[] from output of reduce_sum from {__file__}:")
    (message,) = messages(cv.checkpoint_policies.everything_saveable)
    assert "inputs" not in message and " cos " in message
