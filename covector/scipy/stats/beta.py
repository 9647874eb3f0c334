"""The beta distribution."""

from ..._src.scipy.stats.bounded import beta as _beta

cdf = _beta.cdf
entropy = _beta.entropy
isf = _beta.isf
logcdf = _beta.logcdf
logpdf = _beta.logpdf
logsf = _beta.logsf
pdf = _beta.pdf
ppf = _beta.ppf
sf = _beta.sf
