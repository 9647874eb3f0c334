"""The multinomial distribution."""

from ..._src.scipy.stats.multinomial import logpmf as logpmf
from ..._src.scipy.stats.multinomial import pmf as pmf
