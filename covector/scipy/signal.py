"""Signals: convolution, trends and spectra, under SciPy's names."""

from .._src.scipy.signal.convolution import convolve as convolve
from .._src.scipy.signal.convolution import convolve2d as convolve2d
from .._src.scipy.signal.convolution import correlate as correlate
from .._src.scipy.signal.convolution import correlate2d as correlate2d
from .._src.scipy.signal.convolution import fftconvolve as fftconvolve
