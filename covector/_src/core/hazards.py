"""What cotangents may hold that must not meet the wrong slope: exact zeros, and infinities.

During a backward pass `context.hazards` says which of these the ops passed so far may have put
into cotangents.  Rules of products look there (`ops/products.py` says why); where there is no
hazard, as in most programs, they are plain products.
"""

# Zeros that mean that the result does not depend on an element at all, as a selection leaves them.
MASKED = 1
# The infinite slope of a root at its minimum.
INFINITE = 2
