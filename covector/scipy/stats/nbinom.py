"""The negative binomial distribution."""

from ..._src.scipy.stats.counts import nbinom as _nbinom

cdf = _nbinom.cdf
isf = _nbinom.isf
logcdf = _nbinom.logcdf
logpmf = _nbinom.logpmf
logsf = _nbinom.logsf
pmf = _nbinom.pmf
ppf = _nbinom.ppf
sf = _nbinom.sf
