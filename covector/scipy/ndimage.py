"""Arrays as images, under SciPy's names."""

from .._src.scipy.ndimage.coordinates import map_coordinates as map_coordinates
