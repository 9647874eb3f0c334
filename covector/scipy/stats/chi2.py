"""The chi-squared distribution."""

from ..._src.scipy.stats.one_sided import chi2 as _chi2

cdf = _chi2.cdf
entropy = _chi2.entropy
isf = _chi2.isf
logcdf = _chi2.logcdf
logpdf = _chi2.logpdf
logsf = _chi2.logsf
pdf = _chi2.pdf
ppf = _chi2.ppf
sf = _chi2.sf
