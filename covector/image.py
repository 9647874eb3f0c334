"""Images in other sizes."""

from ._src.image.methods import ResizeMethod as ResizeMethod
from ._src.image.resampling import resize as resize
from ._src.image.resampling import scale_and_translate as scale_and_translate
