"""Every public name of JAX 0.10.2 in these namespaces exists, with JAX's parameters.

The names are kept in `jax_names.json`. `python tests/layout/test_coverage.py` writes it anew, from
the JAX that is installed.
"""

from __future__ import annotations

import importlib
import inspect
import json
import types
from collections.abc import Iterator
from inspect import Parameter
from pathlib import Path
from typing import Any

import pytest

NAMESPACES = [
    "numpy",
    "numpy.linalg",
    "numpy.fft",
    "random",
    "nn",
    "nn.initializers",
    "ops",
    "dtypes",
    "dlpack",
    "ffi",
    "monitoring",
    "profiler",
    "typing",
    "tree",
    "tree_util",
    "scipy.special",
    "custom_batching",
    "ad_checkpoint",
]
FILE = Path(__file__).parent / "jax_names.json"

# What is not compared by parameters: JAX's are written with `*args`.
OTHERWISE = {
    "numpy.array": "JAX takes the deprecated positional arguments as `*args`",
    "numpy.set_printoptions": "NumPy's own function, whose parameters depend on its version",
    "tree.static": "keywords are named otherwise",
}


def public_names(module: Any) -> list[str]:
    """The names of a namespace that are meant for users, without what it happens to import."""

    def is_foreign(value: Any) -> bool:
        own = isinstance(value, types.ModuleType) and value.__name__.startswith(module.__name__)
        return isinstance(value, types.ModuleType) and not own

    names = [name for name in dir(module) if not name.startswith("_") and name != "annotations"]
    return sorted(name for name in names if not is_foreign(getattr(module, name)))


def names_of_jax() -> dict[str, list[str]]:
    return {name: public_names(importlib.import_module(f"jax.{name}")) for name in NAMESPACES}


def known_names() -> Iterator[tuple[str, str]]:
    for namespace, names in json.loads(FILE.read_text()).items():
        yield from ((namespace, name) for name in names)


def test_the_list_is_that_of_jax(jax):
    assert json.loads(FILE.read_text()) == names_of_jax(), f"run `python {__file__}`"


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_names(namespace):
    ours = importlib.import_module(f"covector.{namespace}")
    missing = [name for of, name in known_names() if of == namespace and not hasattr(ours, name)]
    assert missing == []


def parameters(function: Any) -> list[Parameter] | None:
    """The parameters of a function; None of what is called otherwise."""
    if not callable(function) or inspect.isclass(function):
        return None
    try:
        return list(inspect.signature(function).parameters.values())
    except ValueError:
        return None


def is_same(mine: Parameter, other: Parameter) -> bool:
    """Whether arguments can be given to one parameter as to the other."""
    named = mine.kind not in (Parameter.POSITIONAL_ONLY, Parameter.VAR_POSITIONAL)
    if mine.kind is not other.kind or (named and mine.name != other.name):
        return False
    sentinels = all(repr(p.default).startswith("<") for p in (mine, other))
    return sentinels or mine.default is other.default or mine.default == other.default


def differences(ours: list[Parameter], theirs: list[Parameter]) -> list[str]:
    """The parameters of JAX's function that ours does not have in their place.

    Ours may have more of them, if they are given by keyword and need not be.
    """
    more = [p.name for p in ours if p.kind is Parameter.KEYWORD_ONLY and p.default is not p.empty]
    named = {p.name for p in theirs}
    ours = [p for p in ours if p.name in named or p.name not in more]
    by_position = [p for p in ours if p.kind is not Parameter.KEYWORD_ONLY]
    by_name = {p.name: p for p in ours if p.kind is Parameter.KEYWORD_ONLY}
    wrong = []
    for other in theirs:
        if other.kind is Parameter.KEYWORD_ONLY:
            mine = by_name.pop(other.name, None)
        else:
            mine = by_position.pop(0) if by_position else None
        if mine is None or not is_same(mine, other):
            wrong.append(f"{other} is {mine}")
    return wrong + [f"{p} is too much" for p in (*by_position, *by_name.values())]


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_parameters(jax, namespace):
    mine = importlib.import_module(f"covector.{namespace}")
    other = importlib.import_module(f"jax.{namespace}")
    wrong = {}
    for of, name in known_names():
        if of != namespace or f"{namespace}.{name}" in OTHERWISE or not hasattr(mine, name):
            continue
        if namespace == "numpy" and isinstance(getattr(mine, name), mine.ufunc):
            continue  # JAX's ufuncs take `*args`
        ours, theirs = parameters(getattr(mine, name)), parameters(getattr(other, name))
        if ours is not None and theirs is not None and (found := differences(ours, theirs)):
            wrong[name] = found
    assert wrong == {}


def test_differences_are_found():
    def theirs(x, y=1, *, z): ...
    def renamed(x, w=1, *, z): ...
    def other_default(x, y=2, *, z): ...
    def by_keyword(x, *, y=1, z): ...
    def more(x, y=1, *, z, extra=None): ...
    def needs_more(x, y=1, *, z, extra): ...

    expected = {renamed: 1, other_default: 1, by_keyword: 2, more: 0, needs_more: 1, theirs: 0}
    for function, count in expected.items():
        found = differences(parameters(function), parameters(theirs))
        assert len(found) == count, (function, found)


if __name__ == "__main__":
    FILE.write_text(json.dumps(names_of_jax(), indent=1) + "\n")
