"""The binomial distribution."""

from ..._src.scipy.stats.counts import binom as _binom

cdf = _binom.cdf
isf = _binom.isf
logcdf = _binom.logcdf
logpmf = _binom.logpmf
logsf = _binom.logsf
pmf = _binom.pmf
ppf = _binom.ppf
sf = _binom.sf
