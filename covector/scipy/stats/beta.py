"""The beta distribution."""

from ..._src.scipy.stats.bounded import beta as _beta

cdf = _beta.cdf
entropy = _beta.entropy
logcdf = _beta.logcdf
logpdf = _beta.logpdf
logsf = _beta.logsf
pdf = _beta.pdf
sf = _beta.sf
