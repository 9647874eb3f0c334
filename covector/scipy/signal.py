"""Signals: convolution, trends and spectra, under SciPy's names."""

from .._src.scipy.signal.convolution import convolve as convolve
from .._src.scipy.signal.convolution import convolve2d as convolve2d
from .._src.scipy.signal.convolution import correlate as correlate
from .._src.scipy.signal.convolution import correlate2d as correlate2d
from .._src.scipy.signal.convolution import fftconvolve as fftconvolve
from .._src.scipy.signal.spectra import csd as csd
from .._src.scipy.signal.spectra import stft as stft
from .._src.scipy.signal.spectra import welch as welch
from .._src.scipy.signal.synthesis import istft as istft
from .._src.scipy.signal.trends import detrend as detrend
