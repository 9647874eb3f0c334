"""The Poisson distribution."""

from ..._src.scipy.stats.counts import poisson as _poisson

cdf = _poisson.cdf
entropy = _poisson.entropy
logcdf = _poisson.logcdf
logpmf = _poisson.logpmf
logsf = _poisson.logsf
pmf = _poisson.pmf
sf = _poisson.sf
