"""Rotations in space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...base import rotation_errors as errors
from ...core.array import Array, ArrayLike
from ...numpy.creation import asarray, ones
from ...numpy.exponential import deg2rad, rad2deg
from ...numpy.joining import concatenate
from ...numpy.promotion import as_array
from ...numpy.shaping import atleast_1d, atleast_2d, broadcast_to, roll, swapaxes
from ...random.normal import normal
from . import quaternions
from .euler import axes_argument, from_euler, to_euler


def _array(where: str, what: str, x: Any, core: tuple[int, ...]) -> Any:
    """An argument as an array whose last dimensions are these."""
    x = as_array(where, np.asarray(x) if isinstance(x, (list, tuple)) else x)
    if x.aval.shape[-len(core) :] != core:
        wanted = "(..., " + ", ".join(map(str, core)) + ")"
        raise ValueError(errors.last_dimensions(where, what, wanted, x.aval.shape))
    return x


class Rotation(NamedTuple):
    """One or several rotations in space.

    It is a node of trees, so that it may be an argument or a result of transformed functions.

    Attributes:
      quat: their quaternions of length 1, of shape (4,), or (n, 4) for several, with the scalar
        last. The constructor takes them as they are; `from_quat` divides them by their lengths.

    >>> from covector.scipy.spatial.transform import Rotation
    >>> r = Rotation.from_euler("z", 90, degrees=True)
    >>> r.apply([1.0, 0.0, 0.0]).round(3)
    Array([0., 1., 0.], dtype=float32)
    >>> r.as_rotvec(degrees=True).round()
    Array([ 0.,  0., 90.], dtype=float32)
    """

    quat: Array

    # ------------------------------------------------------------ constructors

    @classmethod
    def concatenate(cls, rotations: Sequence[Rotation]) -> Rotation:
        """All rotations of several objects in one."""
        return cls(concatenate([atleast_2d(rotation.quat) for rotation in rotations]))

    @classmethod
    def from_euler(cls, seq: str, angles: ArrayLike, degrees: bool = False) -> Rotation:
        """Rotations about axes of coordinates, one after the other.

        Args:
          seq: one to three axes: "x", "y" and "z" for those that stay in place, "X", "Y" and "Z"
            for those that rotate along.
          angles: for each axis one, in the last dimension; a number if there is one axis, or a
            vector for several rotations about it.
          degrees: whether angles are in degrees and not in radians.

        Raises:
          ValueError: `seq` is not of this kind, or the angles are not as many.
        """
        axes = axes_argument("Rotation.from_euler", seq, "1,3")
        angles = np.asarray(angles) if isinstance(angles, (list, tuple)) else angles
        angles = atleast_1d(as_array("Rotation.from_euler", angles))
        if len(axes) == 1 and angles.shape[-1] != 1:
            angles = angles[..., None]
        if angles.shape[-1] != len(axes):
            raise ValueError(errors.angles(angles.shape, seq))
        return cls(from_euler(angles, axes=axes, intrinsic=seq.isupper(), degrees=bool(degrees)))

    @classmethod
    def from_matrix(cls, matrix: ArrayLike) -> Rotation:
        """The rotations of orthogonal matrices with determinant 1, of shape `(..., 3, 3)`."""
        where = "Rotation.from_matrix"
        return cls(quaternions.from_matrix(_array(where, "matrix", matrix, (3, 3))))

    @classmethod
    def from_mrp(cls, mrp: ArrayLike) -> Rotation:
        """The rotations of modified Rodrigues parameters, of shape `(..., 3)`.

        These are the axes, multiplied by the tangents of a quarter of the angles.
        """
        return cls(quaternions.from_mrp(_array("Rotation.from_mrp", "mrp", mrp, (3,))))

    @classmethod
    def from_quat(cls, quat: ArrayLike) -> Rotation:
        """The rotations of quaternions of any length, of shape `(..., 4)`, with the scalar last."""
        return cls(quaternions.normalized(_array("Rotation.from_quat", "quat", quat, (4,))))

    @classmethod
    def from_rotvec(cls, rotvec: ArrayLike, degrees: bool = False) -> Rotation:
        """The rotations about vectors, of shape `(..., 3)`, by angles that are their lengths."""
        rotvec = _array("Rotation.from_rotvec", "rotvec", rotvec, (3,))
        return cls(quaternions.from_rotvec(deg2rad(rotvec) if degrees else rotvec))

    @classmethod
    def identity(cls, num: int | None = None, dtype: Any = float) -> Rotation:
        """The rotation that leaves all in place, or several of it."""
        quat = asarray([0, 0, 0, 1], dtype=dtype)
        return cls(quat if num is None else broadcast_to(quat, (num, 4)))

    @classmethod
    def random(cls, random_key: ArrayLike, num: int | None = None) -> Rotation:
        """A rotation, or several, all being equally likely.

        Normally distributed quaternions point in all directions alike.
        """
        shape = (4,) if num is None else (num, 4)
        return cls(quaternions.normalized(normal(random_key, shape)))

    # ------------------------------------------------------------ as a sequence

    @property
    def single(self) -> bool:
        """Whether this is one rotation, not a sequence of them."""
        return self.quat.ndim == 1

    def __getitem__(self, indexer: Any) -> Rotation:
        if self.single:
            raise TypeError(errors.single("is not subscriptable"))
        return Rotation(self.quat[indexer])

    def __len__(self) -> int:
        if self.single:
            raise TypeError(errors.single("has no len()"))
        return self.quat.shape[0]

    # ------------------------------------------------------------ operations

    def __mul__(self, other: Rotation) -> Rotation:
        """These rotations after the others; one and several can be combined."""
        if not isinstance(other, Rotation):
            return NotImplemented
        return Rotation.from_quat(quaternions.product(self.quat, other.quat))

    def apply(self, vectors: ArrayLike, inverse: bool = False) -> Array:
        """Rotate vectors.

        Args:
          vectors: an array of shape `(..., 3)`; its other dimensions are broadcast with those of
            the rotations.
          inverse: whether to rotate the other way round.
        """
        vectors = _array("Rotation.apply", "vectors", vectors, (3,))
        matrix = self.as_matrix()
        return quaternions.applied(swapaxes(matrix, -1, -2) if inverse else matrix, vectors)

    def inv(self) -> Rotation:
        """The inverse rotations."""
        return Rotation(quaternions.conjugate(self.quat))

    def magnitude(self) -> Array:
        """The angles of rotation, from 0 to pi."""
        return quaternions.magnitude(self.quat)

    def mean(self, weights: ArrayLike | None = None) -> Rotation:
        """The rotation that is nearest to all, in the sense of least squares of matrices.

        Args:
          weights: how much each counts, a vector; by default all alike.
        """
        quat = atleast_2d(self.quat)
        weights = ones(quat.shape[0], quat.dtype) if weights is None else asarray(weights)
        if weights.shape != quat.shape[:1]:
            raise ValueError(errors.weights(weights.shape, quat.shape[0]))
        return Rotation(quaternions.mean(quat, weights))

    # ------------------------------------------------------------ representations

    def as_euler(self, seq: str, degrees: bool = False) -> Array:
        """The angles of rotations about three axes, the inverse of `from_euler`.

        Angles are from -pi to pi; the middle one is from 0 to pi if the first and last axes are the
        same, and otherwise from -pi / 2 to pi / 2. Where the first and the last axis come to lie in
        one, the last angle is 0.

        Args:
          seq: three axes, as for `from_euler`.
          degrees: whether angles are in degrees and not in radians.
        """
        axes = axes_argument("Rotation.as_euler", seq, "3")
        return to_euler(self.quat, axes=axes, intrinsic=seq.isupper(), degrees=bool(degrees))

    def as_matrix(self) -> Array:
        """Orthogonal matrices, of shape `(..., 3, 3)`."""
        return quaternions.to_matrix(self.quat)

    def as_mrp(self) -> Array:
        """Modified Rodrigues parameters, of shape `(..., 3)`, as for `from_mrp`."""
        return quaternions.to_mrp(self.quat)

    def as_rotvec(self, degrees: bool = False) -> Array:
        """The axes, multiplied by the angles, of shape `(..., 3)`."""
        rotvec = quaternions.to_rotvec(self.quat)
        return rad2deg(rotvec) if degrees else rotvec

    def as_quat(self, canonical: bool = False, scalar_first: bool = False) -> Array:
        """Quaternions, of shape `(..., 4)`.

        Args:
          canonical: whether, of the two of each rotation, to return the one with a positive scalar.
          scalar_first: whether the scalar is the first of the four numbers and not the last.
        """
        quat = quaternions.canonical(self.quat) if canonical else self.quat
        return roll(quat, 1, -1) if scalar_first else quat
