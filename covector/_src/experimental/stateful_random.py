"""Random numbers from a generator with a state, as in NumPy: a key, and how often it was used.

The state is a mutable reference, so that a generator may be used wherever those may: in functions
under `jit`, `grad` and `vmap` that take it or close over it, but return it from none.  The n-th
draw is made with the key `fold_in(key, n)`.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import dtypes
from ..base.random_errors import counter_not_a_reference, no_seed, not_a_typed_key, split_generator
from ..base.tree_dataclass import register_dataclass
from ..core.array import Array
from ..core.avals import aval_of
from ..core.refs import AbstractRef, Ref
from ..core.trace import Tracer, context, eval_trace
from ..numpy.creation import asarray, zeros
from ..numpy.refs import new_ref
from ..random.keys import fold_in, key, split
from ..random.normal import normal
from ..random.uniform import randint, uniform

Size = int | Sequence[int] | None


@register_dataclass
@dataclasses.dataclass(frozen=True, slots=True)
class StatefulPRNG:
    """A generator of random numbers that changes its state with each draw; see `stateful_rng`."""

    _base_key: Array
    _counter: Ref

    def __post_init__(self) -> None:
        if type(self._base_key) is object:  # a placeholder, of a tree without its leaves
            return
        is_array = isinstance(self._base_key, (Array, Tracer))
        if not is_array or not dtypes.issubdtype(self._base_key.dtype, dtypes.prng_key):
            raise ValueError(not_a_typed_key(self._base_key))
        if not isinstance(self._counter, Ref) and not _stands_for_ref(self._counter):
            raise ValueError(counter_not_a_reference(self._counter))

    def key(self, shape: int | Sequence[int] = ()) -> Array:
        """A new key, or an array of keys of this shape.

        >>> from covector.experimental.random import stateful_rng
        >>> rng = stateful_rng(0)
        >>> rng.key(2).shape
        (2,)
        """
        if self._base_key.shape:
            raise ValueError(split_generator(self._base_key.shape))
        new = fold_in(self._base_key, self._counter[...])
        self._counter[...] += 1
        dims = _dims(shape)
        return split(new, dims) if dims else new

    def random(self, size: Size = None, dtype: Any = float) -> Array:
        """Numbers spread evenly over [0, 1)."""
        return uniform(self.key(), _dims(size), dtype)

    def uniform(
        self, low: Any = 0, high: Any = 1, size: Size = None, *, dtype: Any = float
    ) -> Array:
        """Numbers spread evenly over [low, high).

        Args:
          low, high: the bounds, which are broadcast against each other.
          size: the shape; by default that of the bounds.
          dtype: of the numbers.

        >>> from covector.experimental.random import stateful_rng
        >>> stateful_rng(0).uniform(size=3).shape
        (3,)
        """
        return uniform(self.key(), _dims(size, low, high), dtype, minval=low, maxval=high)

    def normal(
        self, loc: Any = 0, scale: Any = 1, size: Size = None, *, dtype: Any = float
    ) -> Array:
        """Normally distributed numbers.

        Args:
          loc, scale: mean and standard deviation, which are broadcast against each other.
          size: the shape; by default that of mean and deviation.
          dtype: of the numbers.
        """
        standard = normal(self.key(), _dims(size, loc, scale), dtype)
        return (asarray(loc) + asarray(scale) * standard).astype(dtype)

    def integers(self, low: Any, high: Any = None, size: Size = None, *, dtype: Any = int) -> Array:
        """Integers from `low` up to, but without, `high`; from 0 up to `low` if it is alone.

        Args:
          low, high: the bounds, which are broadcast against each other.
          size: the shape; by default that of the bounds.
          dtype: of the integers.
        """
        low, high = (0, low) if high is None else (low, high)
        return randint(self.key(), _dims(size, low, high), minval=low, maxval=high, dtype=dtype)

    def split(self, num: int | Sequence[int]) -> StatefulPRNG:
        """As many generators in one, to be mapped over with `vmap`.

        Args:
          num: how many, or the shape of an array of them.

        >>> import covector as cv
        >>> from covector.experimental.random import stateful_rng
        >>> draws = cv.vmap(lambda rng, x: x + rng.uniform())
        >>> draws(stateful_rng(1).split(3), cv.numpy.zeros(3)).shape
        (3,)
        """
        return StatefulPRNG(self.key(num), new_ref(zeros(num, int)))

    def spawn(self, n_children: int) -> list[StatefulPRNG]:
        """A list of as many generators, none of which draws what another one does."""
        return [StatefulPRNG(child, new_ref(0)) for child in self.key(n_children)]


def stateful_rng(seed: Any = None, *, impl: Any = None) -> StatefulPRNG:
    """A generator of random numbers that changes its state with each draw.

    Args:
      seed: an integer; by default one from the operating system, which differs each time.
      impl: the name of the generator of the keys; by default that of `random.key`.

    Raises:
      TypeError: there is no seed in a function that is being transformed, whose seed would be drawn
        once and then stay the same in the compiled program.

    >>> import covector as cv
    >>> from covector.experimental.random import stateful_rng
    >>> rng = stateful_rng(42)
    >>> first, second = cv.jit(rng.uniform)(), rng.uniform()
    >>> print(bool(first == second))
    False
    """
    if seed is None:
        if context.trace is not eval_trace:
            raise TypeError(no_seed())
        entropy = np.random.SeedSequence().entropy
        seed = np.int64(operator.index(entropy) & np.iinfo(np.int64).max)
    return StatefulPRNG(key(seed, impl=impl), new_ref(0))


def _stands_for_ref(x: Any) -> bool:
    return isinstance(x, Tracer) and type(aval_of(x)) is AbstractRef


def _dims(size: Size, *parameters: Any) -> tuple[int, ...]:
    """A size as a shape; without one, that of the parameters broadcast together."""
    if size is None:
        return np.broadcast_shapes(*map(np.shape, parameters))
    if isinstance(size, (int, np.number)):
        return (operator.index(size),)
    return tuple(map(operator.index, size))
