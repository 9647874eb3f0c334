"""The Dirichlet distribution."""

from ..._src.scipy.stats.dirichlet import logpdf as logpdf
from ..._src.scipy.stats.dirichlet import pdf as pdf
