"""The wrapped Cauchy distribution."""

from ..._src.scipy.stats.bounded import wrapcauchy as _wrapcauchy

cdf = _wrapcauchy.cdf
entropy = _wrapcauchy.entropy
isf = _wrapcauchy.isf
logcdf = _wrapcauchy.logcdf
logpdf = _wrapcauchy.logpdf
logsf = _wrapcauchy.logsf
pdf = _wrapcauchy.pdf
ppf = _wrapcauchy.ppf
sf = _wrapcauchy.sf
