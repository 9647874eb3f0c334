"""Interpolation between rotations."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...base import rotation_errors as errors
from ...core.array import Array, ArrayLike
from ...core.trace import Tracer
from ...numpy.creation import asarray
from ...numpy.joining import diff
from ...numpy.searching import searchsorted
from ...numpy.selection import clip
from ...numpy.shaping import atleast_1d
from .rotation import Rotation


class Slerp(NamedTuple):
    """A function of time that rotates steadily from each of several rotations to the next.

    It is made by `Slerp.init`, and is a node of trees. Before the first and behind the last time
    the first and the last rotation go on.

    Attributes:
      times: those of the rotations.
      timedelta: the differences of neighbours.
      rotations: all but the last one.
      rotvecs: the rotation from each to the next, as a vector.

    >>> from covector.scipy.spatial.transform import Rotation, Slerp
    >>> slerp = Slerp.init([0, 1], Rotation.from_euler("z", [0, 90], degrees=True))
    >>> slerp(0.5).as_rotvec(degrees=True).round(1)
    Array([ 0.,  0., 45.], dtype=float32)
    """

    times: Array
    timedelta: Array
    rotations: Rotation
    rotvecs: Array

    @classmethod
    def init(cls, times: ArrayLike, rotations: Rotation) -> Slerp:
        """The function through given rotations.

        Args:
          times: a vector, which increases.
          rotations: as many, at least two.

        Raises:
          TypeError: these are no rotations.
          ValueError: there are too few, or the times are not as many, or known not to increase.
        """
        if not isinstance(rotations, Rotation):
            raise TypeError(errors.not_rotations(rotations))
        quat = rotations.quat
        if rotations.single or len(rotations) == 1:
            raise ValueError(errors.too_few_rotations(quat.shape))
        times = asarray(times, dtype=quat.dtype)
        if times.shape != (len(rotations),):
            raise ValueError(errors.times(times.shape, len(rotations)))
        known = times.concrete_value() if isinstance(times, Tracer) else times
        if known is not None and np.any(np.diff(np.asarray(known)) <= 0):
            raise ValueError(errors.times_do_not_increase())
        first = Rotation(quat[:-1])
        return cls(times, diff(times), first, (first.inv() * Rotation(quat[1:])).as_rotvec())

    def __call__(self, times: ArrayLike) -> Rotation:
        """The rotation at a time, or several at those of a vector."""
        places: Any = asarray(times, dtype=self.times.dtype)
        if places.ndim > 1:
            raise ValueError(errors.times_rank(places.shape))
        places, is_single = atleast_1d(places), places.ndim == 0
        i = clip(searchsorted(self.times, places) - 1, 0, self.timedelta.shape[0] - 1)
        part = (places - self.times[i]) / self.timedelta[i]
        out = self.rotations[i] * Rotation.from_rotvec(self.rotvecs[i] * part[:, None])
        return out[0] if is_single else out
