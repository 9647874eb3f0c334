"""The geometric distribution."""

from ..._src.scipy.stats.counts import geom as _geom

cdf = _geom.cdf
isf = _geom.isf
logcdf = _geom.logcdf
logpmf = _geom.logpmf
logsf = _geom.logsf
pmf = _geom.pmf
ppf = _geom.ppf
sf = _geom.sf
