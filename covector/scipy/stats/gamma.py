"""The gamma distribution."""

from ..._src.scipy.stats.one_sided import gamma as _gamma

cdf = _gamma.cdf
entropy = _gamma.entropy
isf = _gamma.isf
logcdf = _gamma.logcdf
logpdf = _gamma.logpdf
logsf = _gamma.logsf
pdf = _gamma.pdf
ppf = _gamma.ppf
sf = _gamma.sf
