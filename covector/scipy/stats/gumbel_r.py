"""The right-skewed Gumbel distribution."""

from ..._src.scipy.stats.two_sided import gumbel_r as _gumbel_r

cdf = _gumbel_r.cdf
entropy = _gumbel_r.entropy
isf = _gumbel_r.isf
logcdf = _gumbel_r.logcdf
logpdf = _gumbel_r.logpdf
logsf = _gumbel_r.logsf
pdf = _gumbel_r.pdf
ppf = _gumbel_r.ppf
sf = _gumbel_r.sf
