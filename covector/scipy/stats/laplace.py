"""The Laplace distribution."""

from ..._src.scipy.stats.two_sided import laplace as _laplace

cdf = _laplace.cdf
entropy = _laplace.entropy
isf = _laplace.isf
logcdf = _laplace.logcdf
logpdf = _laplace.logpdf
logsf = _laplace.logsf
pdf = _laplace.pdf
ppf = _laplace.ppf
sf = _laplace.sf
