"""Taylor mode: higher derivatives along a curve."""

from .._src.experimental.jet import jet as jet
