"""The generalized normal distribution."""

from ..._src.scipy.stats.normal import gennorm as _gennorm

cdf = _gennorm.cdf
entropy = _gennorm.entropy
isf = _gennorm.isf
logcdf = _gennorm.logcdf
logpdf = _gennorm.logpdf
logsf = _gennorm.logsf
pdf = _gennorm.pdf
ppf = _gennorm.ppf
sf = _gennorm.sf
