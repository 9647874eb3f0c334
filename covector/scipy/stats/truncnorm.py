"""The normal distribution cut to an interval."""

from ..._src.scipy.stats.normal import truncnorm as _truncnorm

cdf = _truncnorm.cdf
isf = _truncnorm.isf
logcdf = _truncnorm.logcdf
logpdf = _truncnorm.logpdf
logsf = _truncnorm.logsf
pdf = _truncnorm.pdf
ppf = _truncnorm.ppf
sf = _truncnorm.sf
