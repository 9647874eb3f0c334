"""The normal distribution."""

from ..._src.scipy.stats.normal import norm as _norm

cdf = _norm.cdf
entropy = _norm.entropy
isf = _norm.isf
logcdf = _norm.logcdf
logpdf = _norm.logpdf
logsf = _norm.logsf
pdf = _norm.pdf
ppf = _norm.ppf
sf = _norm.sf
