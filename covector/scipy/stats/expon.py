"""The exponential distribution."""

from ..._src.scipy.stats.one_sided import expon as _expon

cdf = _expon.cdf
entropy = _expon.entropy
isf = _expon.isf
logcdf = _expon.logcdf
logpdf = _expon.logpdf
logsf = _expon.logsf
pdf = _expon.pdf
ppf = _expon.ppf
sf = _expon.sf
