"""The left-skewed Gumbel distribution."""

from ..._src.scipy.stats.two_sided import gumbel_l as _gumbel_l

cdf = _gumbel_l.cdf
entropy = _gumbel_l.entropy
isf = _gumbel_l.isf
logcdf = _gumbel_l.logcdf
logpdf = _gumbel_l.logpdf
logsf = _gumbel_l.logsf
pdf = _gumbel_l.pdf
ppf = _gumbel_l.ppf
sf = _gumbel_l.sf
