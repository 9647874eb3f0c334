"""The negative binomial distribution."""

from ..._src.scipy.stats.counts import nbinom as _nbinom

cdf = _nbinom.cdf
logcdf = _nbinom.logcdf
logpmf = _nbinom.logpmf
logsf = _nbinom.logsf
pmf = _nbinom.pmf
sf = _nbinom.sf
