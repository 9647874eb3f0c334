"""The normal distribution of several variables."""

from ..._src.scipy.stats.multivariate_normal import logpdf as logpdf
from ..._src.scipy.stats.multivariate_normal import pdf as pdf
