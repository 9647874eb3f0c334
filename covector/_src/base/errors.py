"""Every exception that Covector raises for its users, and the wording of its messages.

    Exception
    ├─ TypeError
    │  ├─ JAXTypeError
    │  │  ├─ ConcretizationTypeError            a traced value was used where a number is needed
    │  │  │  ├─ TracerBoolConversionError       ... in `if`, `while`, `and`, `bool()`
    │  │  │  ├─ TracerArrayConversionError      ... as a NumPy array
    │  │  │  └─ TracerIntegerConversionError    ... as a Python index
    │  │  └─ JaxprTypeError                     a jaxpr is not well typed
    │  └─ TypePromotionError                    (also ValueError) two dtypes have no common one
    ├─ IndexError
    │  └─ JAXIndexError
    │     └─ NonConcreteBooleanIndexError       a traced boolean mask decides a shape
    └─ UnexpectedTracerError                    a traced value outlived its trace

A message has three parts: where (the public function), the fact with the user's own shapes, dtypes
and values, and what to do about it.
"""

from __future__ import annotations
