"""The Bernoulli distribution."""

from ..._src.scipy.stats.counts import bernoulli as _bernoulli

cdf = _bernoulli.cdf
entropy = _bernoulli.entropy
isf = _bernoulli.isf
logcdf = _bernoulli.logcdf
logpmf = _bernoulli.logpmf
logsf = _bernoulli.logsf
pmf = _bernoulli.pmf
ppf = _bernoulli.ppf
sf = _bernoulli.sf
