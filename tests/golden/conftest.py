"""Printed jaxprs compared with those of JAX 0.10.2, character for character.

A program is a function of a module, `covector` or `jax`, that returns a jaxpr.  It is run with both
of them, and the texts must be equal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import covector


@pytest.fixture
def same_text(jax) -> Callable[..., None]:
    """A check that the jaxpr of a program has the same text from both modules."""

    def check(program: Callable[[Any], Any], **switches: Any) -> None:
        ours, theirs = [program(m).pretty_print(**switches) for m in (covector, jax)]
        assert ours == theirs, f"\nours:\n{ours}\n\nJAX's:\n{theirs}"

    return check
