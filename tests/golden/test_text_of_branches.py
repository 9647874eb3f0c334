"""The text of programs with branches, and of collectives over named axes."""

from __future__ import annotations

import numpy as np
import pytest

V = np.ones(3, np.float32)
W = np.ones((2, 3), np.float32)
Y = np.ones((4, 6), np.float32)
AXES = [("i", 4), ("j", 2)]


def branching(m, x, y):
    """Branches that keep residuals of different types and numbers."""
    return m.lax.cond(
        x[0] > 0,
        lambda x, y: (m.numpy.sin(x) * y).sum(),
        lambda x, y: m.numpy.dot(x, y * x),
        x,
        y,
    )


def rational(m, x):
    return m.lax.cond(x > 2, lambda x: m.lax.sin(x) * x, lambda x: x, x)


def three(m, i, x):
    return m.lax.switch(i, [m.lax.sin, m.lax.cos, lambda x: x * x], x)


def by_platform(m, x):
    return m.lax.platform_dependent(x, cpu=m.lax.sin, tpu=m.lax.tan, default=m.lax.cos)


def nested(m, x):
    inner = lambda x: m.lax.cond(x > 3, m.lax.sin, m.lax.cos, x)  # noqa: E731
    return m.lax.cond(x > 2, inner, lambda x: x * x, x)


BRANCHES = {
    "cond": lambda m: m.make_jaxpr(lambda x: rational(m, x))(1.0),
    "predicate of Python": lambda m: m.make_jaxpr(lambda x: m.lax.cond(3, m.lax.sin, m.lax.cos, x))(
        1.0
    ),
    "integer predicate": lambda m: m.make_jaxpr(
        lambda p, x: m.lax.cond(p, m.lax.sin, m.lax.cos, x)
    )(2, 1.0),
    "outputs that pass through": lambda m: m.make_jaxpr(
        lambda p, x: m.lax.cond(p, lambda x: (x, x * 2, 1), lambda x: (x, x * 3, 2), x)
    )(True, 1.0),
    "all outputs pass through": lambda m: m.make_jaxpr(
        lambda p, x: m.lax.cond(p, lambda x: x, lambda x: x, x)
    )(True, 1.0),
    "closures": lambda m: m.make_jaxpr(
        lambda p, x, y: m.lax.cond(p, lambda: x + y, lambda: m.lax.sin(y) * x)
    )(True, V, V),
    "arrays that branches close over": lambda m: m.make_jaxpr(
        lambda p, x: m.lax.cond(p, lambda x: x + V, lambda x: x * V, x)
    )(True, V),
    "each branch its operand": lambda m: m.make_jaxpr(
        lambda p, x: m.lax.cond(p, x, lambda x: x, 2.0, lambda x: x * 2)
    )(2, 1.0),
    "jvp": lambda m: m.make_jaxpr(lambda x, t: m.jvp(lambda x: rational(m, x), (x,), (t,)))(
        1.0, 1.0
    ),
    "grad": lambda m: m.make_jaxpr(m.grad(lambda x: rational(m, x)))(1.0),
    "grad with residuals of several types": lambda m: m.make_jaxpr(
        m.grad(lambda x, y: branching(m, x, y))
    )(V, V),
    "grad of jit": lambda m: m.make_jaxpr(m.grad(m.jit(lambda x, y: branching(m, x, y))))(V, V),
    "jit of grad": lambda m: m.make_jaxpr(m.jit(m.grad(lambda x, y: branching(m, x, y))))(V, V),
    "linearize": lambda m: m.make_jaxpr(
        lambda x: m.linearize(lambda x: rational(m, x), x)[1](1.0)
    )(3.0),
    "grad of nested": lambda m: m.make_jaxpr(m.grad(lambda x: nested(m, x)))(3.0),
    "vmap": lambda m: m.make_jaxpr(m.vmap(lambda x: rational(m, x)))(V),
    "vmap of grad": lambda m: m.make_jaxpr(m.vmap(m.grad(lambda x: rational(m, x))))(V),
    "vmap with one predicate": lambda m: m.make_jaxpr(
        m.vmap(lambda p, x: m.lax.cond(p, lambda y: m.lax.sin(y) * x, lambda y: y, x), (None, 0))
    )(1.0, V),
    "vmap with one output that is the same": lambda m: m.make_jaxpr(
        m.vmap(lambda p, x: m.lax.cond(p, lambda x: (x, 1.0), lambda x: (x * 2, 2.0), x), (None, 0))
    )(True, V),
    "switch": lambda m: m.make_jaxpr(lambda i, x: three(m, i, x))(1, 1.0),
    "switch by a number": lambda m: m.make_jaxpr(lambda x: three(m, 5, x))(1.0),
    "switch by an int32": lambda m: m.make_jaxpr(lambda i, x: three(m, i, x))(np.int32(2), 1.0),
    "grad of switch": lambda m: m.make_jaxpr(m.grad(lambda i, x: three(m, i, x), 1))(1, 1.0),
    "vmap of switch": lambda m: m.make_jaxpr(m.vmap(lambda i, x: three(m, i, x), (0, None)))(
        np.arange(3, dtype=np.int32), 1.0
    ),
    "vmap of grad of switch": lambda m: m.make_jaxpr(
        m.vmap(m.grad(lambda i, x: three(m, i, x), 1), (0, None))
    )(np.arange(3, dtype=np.int32), 1.0),
    "platform_dependent": lambda m: m.make_jaxpr(lambda x: by_platform(m, x))(1.0),
    "grad of platform_dependent": lambda m: m.make_jaxpr(m.grad(lambda x: by_platform(m, x)))(1.0),
    "vmap of platform_dependent": lambda m: m.make_jaxpr(m.vmap(lambda x: by_platform(m, x)))(V),
}  # fmt: skip


COLLECTIVES = {
    "psum": lambda m, x: m.lax.psum(x, "i"),
    "psum over two axes": lambda m, x: m.lax.psum(x, ("i", "j")),
    "psum over a dimension, too": lambda m, x: m.lax.psum(x, ("i", 0)),
    "psum of a tree": lambda m, x: m.lax.psum({"a": x, "b": x + 1, "c": 1}, "i"),
    "psum in groups": lambda m, x: m.lax.psum(x, "i", axis_index_groups=[[0, 1], [2, 3]]),
    "psum of booleans": lambda m, x: m.lax.psum(x > 0, "i"),
    "pmean": lambda m, x: m.lax.pmean(x, "i"),
    "pmax": lambda m, x: m.lax.pmax(x, "i"),
    "pmin": lambda m, x: m.lax.pmin(x, ("i",)),
    "all_gather": lambda m, x: m.lax.all_gather(x, "i"),
    "all_gather, tiled": lambda m, x: m.lax.all_gather(x, "i", axis=1, tiled=True),
    "all_gather over two axes": lambda m, x: m.lax.all_gather(x, ("i", "j"), axis=-1),
    "psum_scatter": lambda m, x: m.lax.psum_scatter(x, "i"),
    "psum_scatter, tiled": lambda m, x: m.lax.psum_scatter(x, "i", tiled=True),
    "all_to_all": lambda m, x: m.lax.all_to_all(x, "i", 0, 1),
    "all_to_all, tiled": lambda m, x: m.lax.all_to_all(x, "i", 0, 1, tiled=True),
    "pswapaxes": lambda m, x: m.lax.pswapaxes(x, "i", 0),
    "ppermute": lambda m, x: m.lax.ppermute(x, "i", [(0, 1), (1, 0)]),
    "pshuffle": lambda m, x: m.lax.pshuffle(x, "i", [1, 0, 3, 2]),
    "pbroadcast": lambda m, x: m.lax.pbroadcast(x, "i", 0),
    "axis_index": lambda m, x: m.lax.axis_index("i") + x,
    "axis_index of two axes": lambda m, x: m.lax.axis_index(("i", "j")) + x,
    "sizes of axes": lambda m, x: m.lax.axis_size("i") + x + m.lax.psum(2.5, ("i", "j")),
}
LINEAR = ("psum", "pmean", "all_gather", "psum_scatter", "pswapaxes", "ppermute")
UNDER_VMAP = (
    *("psum", "psum over a dimension, too", "pmean", "psum_scatter", "psum_scatter, tiled"),
    *("pswapaxes", "all_to_all, tiled", "axis_index"),
)


@pytest.mark.parametrize("name", BRANCHES)
def test_branches(name, same_text):
    same_text(BRANCHES[name])


@pytest.mark.parametrize("name", COLLECTIVES)
def test_collectives(name, same_text):
    same_text(lambda m: m.make_jaxpr(lambda x: COLLECTIVES[name](m, x), axis_env=AXES)(Y))


@pytest.mark.parametrize("name", LINEAR)
def test_derivatives(name, same_text):
    def total(m, x):
        return COLLECTIVES[name](m, x).sum()

    same_text(lambda m: m.make_jaxpr(m.grad(lambda x: total(m, x)), axis_env=AXES)(Y))
    same_text(
        lambda m: m.make_jaxpr(
            lambda x: m.jvp(lambda x: COLLECTIVES[name](m, x), (x,), (x,)), axis_env=AXES
        )(Y)
    )


@pytest.mark.parametrize("name", UNDER_VMAP)
def test_under_vmap(name, same_text):
    x = np.ones((4, 4, 6), np.float32)
    f = COLLECTIVES[name]
    same_for_all = name in ("psum", "pmean", "psum over a dimension, too")
    axes = {"out_axes": None if same_for_all else 0, "axis_name": "i"}
    same_text(lambda m: m.make_jaxpr(m.vmap(lambda x: f(m, x), **axes))(x))
    same_text(lambda m: m.make_jaxpr(m.vmap(lambda x: f(m, x)), axis_env=AXES)(x))


def test_effects(same_text):
    same_text(
        lambda m: m.make_jaxpr(lambda x: m.lax.psum(x, "i"), axis_env=AXES)(Y), print_effects=True
    )
