"""`checkpoint_name`: values that policies of rematerialization know by name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..base import tree
from .base import Sample, draw
from .identities import Identity


class Name(Identity):
    """The operand, under a name."""

    def jvp(self, primals, tangents, *, name):
        return self.bind(*primals, name=name), *tangents

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for shape in ((2, 3), (0, 2)):
            yield Sample((draw(rng, shape, "float32"),), {"name": "a"})


name_p = Name("name")


def checkpoint_name(x: Any, name: str) -> Any:
    """A value under a name, by which a policy of `checkpoint` may save it.

    Args:
      x: an array, or a tree of arrays, which all get the name.
      name: the name.

    >>> import covector as cv, covector.numpy as jnp
    >>> from covector.ad_checkpoint import checkpoint_name
    >>> policy = cv.checkpoint_policies.save_only_these_names("wave")
    >>> @cv.checkpoint(policy=policy)
    ... def f(x):
    ...     return jnp.exp(checkpoint_name(jnp.sin(x), "wave"))
    >>> print(cv.grad(f)(0.0))
    1.0
    """
    return tree.map(lambda leaf: name_p.bind(leaf, name=name), x)
