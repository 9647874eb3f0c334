"""Student's t distribution."""

from ..._src.scipy.stats.two_sided import t as _t

cdf = _t.cdf
entropy = _t.entropy
isf = _t.isf
logcdf = _t.logcdf
logpdf = _t.logpdf
logsf = _t.logsf
pdf = _t.pdf
ppf = _t.ppf
sf = _t.sf
