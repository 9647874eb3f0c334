"""The geometric distribution."""

from ..._src.scipy.stats.counts import geom as _geom

cdf = _geom.cdf
logcdf = _geom.logcdf
logpmf = _geom.logpmf
logsf = _geom.logsf
pmf = _geom.pmf
sf = _geom.sf
