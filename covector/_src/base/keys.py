"""Random keys as a dtype: what a generator is, and the dtype of the keys that it reads.

A key is a short array of 32-bit numbers, opaque to everything but its generator.  The dtype of an
array of keys names the generator, and with it the numbers that a key is made of.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from . import random_errors
from .dtypes import ExtendedDType, prng_key

UINT32 = np.dtype(np.uint32)


@dataclasses.dataclass(frozen=True)
class PRNGImpl:
    """A generator of random bits; a key is a uint32 array of the shape `key_shape`.

    Its functions are of single keys, and must be traceable:

      seed(integer) -> key
      split(key, shape) -> an array of keys, of the shape (*shape, *key_shape)
      random_bits(key, bit_width, shape) -> unsigned integers of that many bits
      fold_in(key, integer) -> key

    It is known by its `name`; its short `tag` names it in dtypes, as in `key<fry>[]`.
    """

    key_shape: tuple[int, ...]
    seed: Callable[..., Any]
    split: Callable[..., Any]
    random_bits: Callable[..., Any]
    fold_in: Callable[..., Any]
    name: str = "<unnamed>"
    tag: str = "?"

    def __hash__(self) -> int:
        return hash(self.tag)

    def __str__(self) -> str:
        return self.tag


class KeyTy(ExtendedDType):
    """The dtype of random keys of one generator; made by `key_type`."""

    __slots__ = ("_impl", "element_shape", "name")
    type = prng_key
    element_dtype = UINT32

    def __init__(self, impl: PRNGImpl):
        self._impl = impl
        self.name = f"key<{impl.tag}>"
        self.element_shape = tuple(impl.key_shape)

    def __eq__(self, other: object) -> bool:
        return self is other or (type(other) is KeyTy and self._impl == other._impl)

    def __hash__(self) -> int:
        return hash((KeyTy, self.name))

    def __reduce__(self) -> tuple:
        return _key_type_named, (self._impl.name,)


@cache
def key_type(impl: PRNGImpl) -> KeyTy:
    """The dtype of the keys of a generator."""
    return KeyTy(impl)


def _key_type_named(name: str) -> KeyTy:
    return key_type(generators[name])


# The generators that can be asked for by name.
generators: dict[str, PRNGImpl] = {}


def register_prng(impl: PRNGImpl) -> None:
    """Let a generator be asked for by its name."""
    if impl.name in generators:
        raise ValueError(random_errors.name_taken(impl.name))
    generators[impl.name] = impl


def check_key_data(impl: PRNGImpl, aval: Any) -> None:
    """Raise unless arrays of this aval hold keys of a generator."""
    rank = len(impl.key_shape)
    if aval.ndim < 1:
        raise TypeError(random_errors.key_data_rank(aval.ndim))
    if aval.shape[aval.ndim - rank :] != tuple(impl.key_shape):
        raise TypeError(random_errors.key_data_shape(impl.key_shape, aval.shape, impl.name))
    if aval.dtype != UINT32:
        raise TypeError(random_errors.key_data_dtype(aval.dtype))
