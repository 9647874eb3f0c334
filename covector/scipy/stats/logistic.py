"""The logistic distribution."""

from ..._src.scipy.stats.two_sided import logistic as _logistic

cdf = _logistic.cdf
entropy = _logistic.entropy
isf = _logistic.isf
logcdf = _logistic.logcdf
logpdf = _logistic.logpdf
logsf = _logistic.logsf
pdf = _logistic.pdf
ppf = _logistic.ppf
sf = _logistic.sf
