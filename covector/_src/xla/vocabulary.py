"""The words that modules are written in: types, attributes and constants, made once.

MLIR makes them in a context. To make one takes as long as to write a hundred operations, and all
that a small program says was said by others before it. So a context outlives its module, and serves
the next: one module at a time, since nothing in it may be used by two threads at once.

A context never forgets. It is given up when it holds much, and when a module of it is still alive
somewhere, as one that the user has asked for.
"""

from __future__ import annotations

from typing import Any

from .mlir import make_context

# A vocabulary of more words than this, or whose texts and arrays take more bytes, is not kept; nor
# are more of them than threads that write at the same time may need.
MOST_WORDS = 4096
MOST_BYTES = 1 << 20
MOST_IDLE = 8


class Vocabulary:
    """An MLIR context, and what was made in it.

    Attributes:
      context: where all else lives.
      types: by aval.
      attributes: by what they were made from.
      places: how many places in programs it has seen.
      nbytes: what it holds in texts and arrays.
    """

    __slots__ = ("attributes", "context", "nbytes", "places", "types")

    def __init__(self) -> None:
        self.context = make_context()
        self.types: dict[Any, Any] = {}
        self.attributes: dict[Any, Any] = {}
        self.places = 0
        self.nbytes = 0

    def is_small(self) -> bool:
        """Whether it is worth to be kept."""
        words = len(self.types) + len(self.attributes) + self.places
        return words <= MOST_WORDS and self.nbytes <= MOST_BYTES


_idle: list[Vocabulary] = []


def take() -> Vocabulary:
    """A vocabulary that nobody else uses."""
    try:
        return _idle.pop()
    except IndexError:
        return Vocabulary()


def give_back(vocabulary: Vocabulary) -> None:
    """Keep a vocabulary for others, unless somebody still holds a module that is written in it."""
    in_use = vocabulary.context._get_live_module_count()
    if not in_use and len(_idle) < MOST_IDLE and vocabulary.is_small():
        _idle.append(vocabulary)
