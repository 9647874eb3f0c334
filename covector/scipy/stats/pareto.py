"""The Pareto distribution."""

from ..._src.scipy.stats.one_sided import pareto as _pareto

cdf = _pareto.cdf
entropy = _pareto.entropy
isf = _pareto.isf
logcdf = _pareto.logcdf
logpdf = _pareto.logpdf
logsf = _pareto.logsf
pdf = _pareto.pdf
ppf = _pareto.ppf
sf = _pareto.sf
