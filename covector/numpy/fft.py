"""Fourier transforms of arrays, as in `numpy.fft`."""

from .._src.numpy.fourier import fft as fft
from .._src.numpy.fourier import fft2 as fft2
from .._src.numpy.fourier import fftfreq as fftfreq
from .._src.numpy.fourier import fftn as fftn
from .._src.numpy.fourier import fftshift as fftshift
from .._src.numpy.fourier import hfft as hfft
from .._src.numpy.fourier import ifft as ifft
from .._src.numpy.fourier import ifft2 as ifft2
from .._src.numpy.fourier import ifftn as ifftn
from .._src.numpy.fourier import ifftshift as ifftshift
from .._src.numpy.fourier import ihfft as ihfft
from .._src.numpy.fourier import irfft as irfft
from .._src.numpy.fourier import irfft2 as irfft2
from .._src.numpy.fourier import irfftn as irfftn
from .._src.numpy.fourier import rfft as rfft
from .._src.numpy.fourier import rfft2 as rfft2
from .._src.numpy.fourier import rfftfreq as rfftfreq
from .._src.numpy.fourier import rfftn as rfftn
