"""How the compiler fuses an op into the loops of others: what planning memory has to know of it.

Each family of primitives has one of these as its attribute `fusion`; `transforms/materialize.py`
reads them, and says what for.
"""

from __future__ import annotations

from typing import NamedTuple


class Fusion(NamedTuple):
    """How XLA's compiler for CPUs treats an op among others.

    Attributes:
      fused: whether an element of the result may be computed within the loop of what reads it,
        and so once for each of several such loops. If not, operands and results are in memory.
      stored_if_shared: whether the compiler gives the result memory as soon as two ops read it.
      weight: what an element costs, in additions.
      permutes: whether an element of the result is one of the operand, at the same index values in
        another order.
      moves: whether an element of the result may be one of the operand at another index, also where
        both have one shape.
      repeats: whether the result has nothing but copies of what is smaller, or computed for free.
      copies: whether all its elements are copies of one number.
      applies: whether the op only applies a jaxpr (`Primitive.expanded`), which is looked into.
      bodies: the parameters that are jaxprs, or tuples of them, which are programs of their own.
      loops: whether these run many times.
    """

    fused: bool = True
    stored_if_shared: bool = False
    weight: int = 1
    permutes: bool = False
    moves: bool = False
    repeats: bool = False
    copies: bool = False
    applies: bool = False
    bodies: tuple[str, ...] = ()
    loops: bool = False

    @property
    def again(self) -> int:
        """What an element costs where it is computed for each of several readers, in additions."""
        return 0 if self.stored_if_shared else self.weight


# Arithmetic, comparisons and choices, and what moves elements or reads a part of them.
CHEAP = Fusion()
# Sine and its kin: computed again as readily as a sum, though an element costs as much as eight.
# Hyperbolic functions are quotients and sums of costly ones, which are stored; so only the rest is
# computed again.
WAVE = Fusion(weight=8)
# Functions that are written as many cheap operations.
COMPOSED = Fusion(weight=16)
# Exponentials, roots, quotients, reductions, look-ups: not computed again in a second loop.
EXPENSIVE = Fusion(stored_if_shared=True, weight=8)
TRANSPOSING = Fusion(permutes=True)
# Reversals and paddings, which may cut off on one side what they add on the other.
MOVING = Fusion(moves=True)
REPEATING = Fusion(repeats=True)
COPYING = Fusion(repeats=True, copies=True)
# Contractions, loops, sorts, calls of the host and of users' primitives.
BOUNDARY = Fusion(fused=False, weight=0)
# Applications of jaxprs, which the compiler writes out in place.
APPLYING = Fusion(applies=True, weight=0)
