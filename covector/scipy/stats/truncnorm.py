"""The normal distribution cut to an interval."""

from ..._src.scipy.stats.normal import truncnorm as _truncnorm

cdf = _truncnorm.cdf
logcdf = _truncnorm.logcdf
logpdf = _truncnorm.logpdf
logsf = _truncnorm.logsf
pdf = _truncnorm.pdf
sf = _truncnorm.sf
