"""Ordered effects of users' primitives: their lowering rules take tokens and hand them on."""

import numpy as np
import pytest

import covector as cv
from covector.extend.core import Effect, Primitive
from covector.interpreters import mlir


class Speech(Effect):
    ordered = True

    def __repr__(self):
        return "Speech"


class Song(Speech):
    pass


speech = Speech()


@pytest.fixture
def say():
    """A function that appends a number to the list `said`, in order."""
    said = []
    p = Primitive("say")
    p.multiple_results = True
    p.def_effectful_abstract_eval(lambda x: ([], {speech}))

    def rule(ctx, x):
        def call(value):
            said.append(float(value))
            return ()

        assert len(ctx.tokens_in) == 1 and ctx.tokens_in.effects() == {speech}
        token = ctx.tokens_in.get(speech)
        _, token, keepalive = mlir.emit_python_callback(
            ctx, call, token, [x], ctx.avals_in, [], has_side_effect=True
        )
        ctx.module_context.keepalives.append(keepalive)
        ctx.set_tokens_out(mlir.TokenSet({speech: token}))
        return []

    mlir.register_lowering(p, rule)
    return p.bind, said


def test_order_within_a_program(say):
    bind, said = say

    @cv.jit
    def f(x):
        for i in range(4):
            bind(x * i)
        return x

    f(np.float32(2)).block_until_ready()
    cv.effects_barrier()
    assert said == [0, 2, 4, 6]


def test_order_through_loops_and_calls(say):
    bind, said = say

    @cv.jit
    def f(x):
        bind(x)
        inner = cv.jit(lambda x: (bind(x), x + 1)[1])
        x = inner(inner(x))
        return cv.lax.fori_loop(0, 2, lambda _, x: (bind(10 * x), x + 1)[1], x)

    f(np.float32(1)).block_until_ready()
    cv.effects_barrier()
    assert said == [1, 1, 2, 30, 40]


def test_sets_of_tokens():
    song = Song()
    with mlir.make_ir_context(), mlir.ir.Location.unknown():
        module = mlir.ir.Module.create()
        with mlir.ir.InsertionPoint(module.body):
            tokens = mlir.TokenSet.create([speech, song])
            later = mlir.TokenSet.create([song])
    assert [effect for effect, _ in tokens.items()] == [speech, song]
    assert str(module).count("create_token") == 3
    assert tokens.subset([song]).items() == ((song, tokens.get(song)),)
    updated = tokens.update_tokens(later)
    assert updated.get(song) is later.get(song) and updated.get(speech) is tokens.get(speech)
    assert len(mlir.TokenSet()) == 0


def test_kinds_of_effects_that_can_be_lowered():
    assert mlir.lowerable_effects.contains(speech)
    mlir.lowerable_effects.add_type(Speech)
    assert mlir.lowerable_effects.filter_in([speech, Song()]) != []
    assert mlir.lowerable_effects.filter_not_in([speech]) == []
