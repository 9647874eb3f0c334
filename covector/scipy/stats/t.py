"""Student's t distribution."""

from ..._src.scipy.stats.two_sided import t as _t

cdf = _t.cdf
entropy = _t.entropy
logcdf = _t.logcdf
logpdf = _t.logpdf
logsf = _t.logsf
pdf = _t.pdf
sf = _t.sf
