"""The pretty printer against JAX's, on random documents, and its own rules."""

from __future__ import annotations

import random

import pytest

from covector._src.core.pretty import (
    Break,
    Colored,
    Group,
    Nest,
    Noted,
    concat,
    join,
    layout,
)


def random_document(rng: random.Random, pp, depth: int):
    """A random document, as ours and as one of JAX's module `pp`."""
    kinds = ["text", "break", "note"] + ["concat", "group", "nest"] * (depth > 0)
    kind = rng.choice(kinds)
    if kind == "text":
        text = "".join(rng.choice("ab c") for _ in range(rng.randint(0, 9)))
        return text, pp.text(text)
    if kind == "note":
        text, note = "n" * rng.randint(0, 4), f"note {rng.randint(0, 9)}"
        return Noted(text, note), pp.text(text, annotation=note)
    if kind == "break":
        text = rng.choice([" ", "", "; "])
        return Break(text), pp.brk(text)
    if kind == "concat":
        pairs = [random_document(rng, pp, depth - 1) for _ in range(rng.randint(1, 5))]
        return concat(*[ours for ours, _ in pairs]), pp.concat([theirs for _, theirs in pairs])
    ours, theirs = random_document(rng, pp, depth - 1)
    if kind == "group":
        return Group(ours), pp.group(theirs)
    by = rng.randint(0, 4)
    return Nest(by, ours), pp.nest(by, theirs)


@pytest.mark.parametrize("first_seed", range(0, 2000, 500))
def test_random_documents_have_jax_layout(first_seed):
    pp = pytest.importorskip("jax._src.pretty_printer")
    for seed in range(first_seed, first_seed + 500):
        rng = random.Random(seed)
        ours, theirs = random_document(rng, pp, 6)
        width = rng.randint(1, 40)
        assert layout(ours, width) == theirs.format(width=width, use_color=False), seed


def test_group_breaks_only_if_it_does_not_fit():
    doc = Group(concat("(", Nest(2, concat(Break(""), "abc", Break(), "def")), Break(""), ")"))
    assert layout(doc, 9) == "(abc def)"
    assert layout(doc, 8) == "(\n  abc\n  def\n)"


def test_inner_group_may_stay_on_one_line():
    inner = Group(concat("a", Break(), "b"))
    assert layout(Group(concat(inner, Break(), inner)), 4) == "a b\na b"


def test_notes_stand_in_one_column():
    doc = concat(Noted("a", "first"), Break(), "longest", Break(), Noted("bc", "third"))
    assert layout(doc) == "a       # first\nlongest\nbc      # third"


def test_several_notes_of_one_line():
    doc = concat(Noted("a", "one"), Noted("b", "two"))
    assert layout(doc) == "ab # one\n   # two"


def test_colours_are_written_only_if_wanted():
    doc = concat(Colored("35", "type"), "x")
    assert layout(doc) == "typex"
    assert layout(doc, use_color=True) == "\x1b[35mtype\x1b[0mx"


def test_join_of_nothing():
    assert layout(join(", ", [])) == ""
    assert layout(join(", ", ["a", "b"])) == "a, b"
