"""Discrete cosine transforms under SciPy's names."""

from .._src.scipy.fft import dct as dct
from .._src.scipy.fft import dctn as dctn
from .._src.scipy.fft import idct as idct
from .._src.scipy.fft import idctn as idctn
