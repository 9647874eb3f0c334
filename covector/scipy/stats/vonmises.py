"""The von Mises distribution."""

from ..._src.scipy.stats.bounded import vonmises as _vonmises

entropy = _vonmises.entropy
logpdf = _vonmises.logpdf
pdf = _vonmises.pdf
