"""The beta-binomial distribution."""

from ..._src.scipy.stats.counts import betabinom as _betabinom

logpmf = _betabinom.logpmf
pmf = _betabinom.pmf
