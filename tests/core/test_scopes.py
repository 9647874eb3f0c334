"""The names of scopes in programs for XLA are those that JAX gives."""

from __future__ import annotations

import re

import numpy as np
import pytest

import covector as cv

X = np.arange(3, dtype=np.float32)


def loss(m):
    def fun(x):
        with m.named_scope("inner"):
            return m.lax.sin(x)

    return fun


FUNCTIONS = {
    "plain": lambda m: loss(m),
    "scope": lambda m: m.named_scope("outer")(loss(m)),
    "vmap": lambda m: m.named_scope("outer")(m.vmap(loss(m))),
    "jvp": lambda m: lambda x: m.jvp(loss(m), (x,), (x,)),
    "vjp": lambda m: lambda x: m.vjp(loss(m), x)[1](x),
    "jit": lambda m: m.named_scope("outer")(m.jit(loss(m))),
    "vmap of jit": lambda m: m.named_scope("outer")(m.vmap(m.jit(loss(m)))),
}


def names_of_operations(m, fun) -> set[str]:
    """The names in the HLO text of a jitted function, but for those of its arguments."""
    text = m.jit(fun).lower(X).as_text("hlo", debug_info=True)
    return {name for name in re.findall(r'op_name="([^"]*)"', text) if name != "x"}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_names_of_operations(name, jax):
    ours, theirs = [names_of_operations(m, FUNCTIONS[name](m)) for m in (cv, jax)]
    assert ours == theirs


def test_without_debug_info_there_are_no_names():
    assert "op_name" not in cv.jit(loss(cv)).lower(X).as_text("hlo")
