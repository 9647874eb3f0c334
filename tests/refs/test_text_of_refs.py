"""Printed jaxprs of functions with references are those of JAX 0.10.2."""

import doctest
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import covector as cv

X = np.arange(6, dtype=np.float32).reshape(2, 3)


def reads(m, ref, i):
    return ref[...], ref[0], ref[i], ref[:, 1], ref[1:, m.numpy.array([0, 2])], ref[0, m.ds(i, 2)]


def writes(m, ref, i):
    ref[0, 1] = 3.0
    ref[i] = ref[0]
    ref[:, 1:] += 1.0
    m.ref.addupdate(ref, ..., ref[...])
    ref.at[1][i] = 2.0
    return m.ref.swap(ref, (1, 2), 4.0)


def makes(m, ref, i):
    inner = m.new_ref(ref[...] * i)
    inner[0] *= 2.0
    return m.freeze(inner)


@pytest.mark.parametrize("program", [reads, writes, makes], ids=lambda p: p.__name__)
def test_text(program, jax):
    ours, theirs = (str(m.make_jaxpr(partial(program, m))(m.new_ref(X), 1)) for m in (cv, jax))
    assert ours == theirs


def test_text_of_closed_over_references(jax):
    def text(m):
        ref = m.new_ref(X)
        return str(m.make_jaxpr(lambda x: ref.addupdate(x))(X))

    assert text(cv) == text(jax)


def test_effects_and_switches():
    jaxpr = cv.make_jaxpr(lambda ref: ref[0])(cv.new_ref(X))
    assert [repr(effect) for effect in jaxpr.effects] == ["ReadEffect(0)"]
    assert [repr(aval) for aval in jaxpr.in_avals] == ["Ref{float32[2,3]}"]
    plain = jaxpr.pretty_print(custom_pp_eqn_rules=False)
    assert "b:f32[3] = get[" in plain and "<-" not in plain
    assert jaxpr.eqns[0].primitive is cv.extend.core.primitives.get_p


def test_the_page():
    page = Path(__file__).parents[2] / "docs/refs.md"
    failed, tried = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert tried > 10 and not failed
