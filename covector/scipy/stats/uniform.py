"""The uniform distribution."""

from ..._src.scipy.stats.bounded import uniform as _uniform

cdf = _uniform.cdf
entropy = _uniform.entropy
isf = _uniform.isf
logcdf = _uniform.logcdf
logpdf = _uniform.logpdf
logsf = _uniform.logsf
pdf = _uniform.pdf
ppf = _uniform.ppf
sf = _uniform.sf
