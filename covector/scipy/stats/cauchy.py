"""The Cauchy distribution."""

from ..._src.scipy.stats.two_sided import cauchy as _cauchy

cdf = _cauchy.cdf
entropy = _cauchy.entropy
isf = _cauchy.isf
logcdf = _cauchy.logcdf
logpdf = _cauchy.logpdf
logsf = _cauchy.logsf
pdf = _cauchy.pdf
ppf = _cauchy.ppf
sf = _cauchy.sf
