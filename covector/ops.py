"""Reductions over the rows of arrays that bear the same number."""

from __future__ import annotations

from ._src.numpy.segments import segment_max as segment_max
from ._src.numpy.segments import segment_min as segment_min
from ._src.numpy.segments import segment_prod as segment_prod
from ._src.numpy.segments import segment_sum as segment_sum
