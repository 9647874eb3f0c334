"""What cotangents may hold that must not meet the wrong slope: exact zeros, and infinities.

A backward pass notes for each cotangent which of these the ops behind it may have put there.  While
the rule of an eqn runs, `context.hazards` says what the cotangents of its outputs may hold; rules
of products look there (`ops/products.py` says why), and where there is no hazard, as in most
programs, they are plain products.  When the rule is done, `context.hazards` says what the
cotangents that it returns may hold, or `context.hazards_of_each` says it of each.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import or_

# Zeros that mean that the result does not depend on an element at all, as a selection leaves them.
MASKED = 1
# The infinite slope of a root at its minimum.
INFINITE = 2
# Zeros that slopes leave which fall off slowly: that of log at infinity is zero, but only just.
DECAYED = 4
# Zeros only of functions that have a limit at infinity, as 1 / x, or of what is behind these.
SATURATED = 8


def hazards_of_sum(x: int, y: int) -> int:
    """What the sum of two cotangents may hold.

    A sum is masked only if both are: through the other one the result does depend on the element.
    Likewise it is at a limit only if both are.
    So the cotangents of a residual network, which come past each block and through it, are not.
    """
    return (x & y & (MASKED | SATURATED)) | ((x | y) & (INFINITE | DECAYED))


def hazards_of_any(hazards: Iterable[int]) -> int:
    """What one of several cotangents may hold."""
    return reduce(or_, hazards, 0)
