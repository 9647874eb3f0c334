"""The binomial distribution."""

from ..._src.scipy.stats.counts import binom as _binom

cdf = _binom.cdf
logcdf = _binom.logcdf
logpmf = _binom.logpmf
logsf = _binom.logsf
pmf = _binom.pmf
sf = _binom.sf
