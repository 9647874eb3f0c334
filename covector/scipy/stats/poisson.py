"""The Poisson distribution."""

from ..._src.scipy.stats.counts import poisson as _poisson

cdf = _poisson.cdf
entropy = _poisson.entropy
isf = _poisson.isf
logcdf = _poisson.logcdf
logpmf = _poisson.logpmf
logsf = _poisson.logsf
pmf = _poisson.pmf
ppf = _poisson.ppf
sf = _poisson.sf
