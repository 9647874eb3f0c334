"""SciPy's functions on arrays that can be traced, differentiated, vectorized and compiled."""

from . import linalg as linalg
from . import special as special
