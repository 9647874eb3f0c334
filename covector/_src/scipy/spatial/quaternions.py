"""Rotations as quaternions x i + y j + z k + w, arrays of shape `(..., 4)` with w last."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import rotation_errors as errors
from ...numpy.composite import composite
from ...numpy.exponential import arctan2, cos, sin, sqrt
from ...numpy.joining import concatenate, stack
from ...numpy.linear_algebra.decompositions import eigh
from ...numpy.parts import absolute
from ...numpy.promotion import promote_dtypes_inexact, raise_rank
from ...numpy.reductions import argmax
from ...numpy.selection import where
from ...numpy.taking import take_along_axis

# Squares below this are small: the terms that are left out of series do not matter in doubles.
_SMALL = 1e-6


def _parts(q: Any) -> list[Any]:
    """The numbers in the last dimension."""
    return [q[..., i] for i in range(q.shape[-1])]


def _squares(v: Any) -> Any:
    return (v * v).sum(-1, keepdims=True)


def _length(v: Any) -> Any:
    """The lengths of vectors; the derivative at 0 is 0, among all that are possible."""
    squares = _squares(v)
    return where(squares == 0, 0, sqrt(where(squares == 0, 1, squares)))


def aligned(name: str, x: Any, y: Any, cores: tuple[int, int] = (1, 1)) -> tuple[Any, Any]:
    """Two arrays of a common dtype whose dimensions, but for the last ones, can be broadcast."""
    x, y = promote_dtypes_inexact(x, y)
    outer = x.shape[: x.ndim - cores[0]], y.shape[: y.ndim - cores[1]]
    try:
        rank = len(np.broadcast_shapes(*outer))
    except ValueError:
        raise ValueError(errors.does_not_fit(name, (x.shape, y.shape))) from None
    return raise_rank(x, x.ndim, rank + cores[0]), raise_rank(y, y.ndim, rank + cores[1])


@composite
def normalized(q: Any) -> Any:
    (q,) = promote_dtypes_inexact(q)
    return q / sqrt(_squares(q))


@composite
def conjugate(q: Any) -> Any:
    """The inverse, of quaternions of length 1."""
    signs = np.array([-1, -1, -1, 1], q.dtype)
    return q * signs.reshape((1,) * (q.ndim - 1) + (4,))


@composite
def product(p: Any, q: Any) -> Any:
    """The rotation by q, followed by that by p."""
    (px, py, pz, pw), (qx, qy, qz, qw) = map(_parts, aligned("Rotation.__mul__", p, q))
    return stack(
        [
            pw * qx + px * qw + py * qz - pz * qy,
            pw * qy - px * qz + py * qw + pz * qx,
            pw * qz + px * qy - py * qx + pz * qw,
            pw * qw - px * qx - py * qy - pz * qz,
        ],
        -1,
    )


@composite
def canonical(q: Any) -> Any:
    """Of the two quaternions of a rotation the one whose last number that is not 0, of w and then
    the others from the first on, is positive."""
    x, y, z, w = _parts(q)
    sign = where(w != 0, w, where(x != 0, x, where(y != 0, y, z)))[..., None]
    return where(sign < 0, -q, q)


@composite
def magnitude(q: Any) -> Any:
    """The angles, from 0 to pi."""
    return 2 * arctan2(_length(q[..., :3]), absolute(q[..., 3:]))[..., 0]


@composite
def mean(q: Any, weights: Any) -> Any:
    """The rotation nearest to all: F. L. Markley and others, J. Guid. Control Dyn. 30(4), 2007.

    It maximizes the weighted sum of squares of products with the quaternions, which do not depend
    on their signs: it is the eigenvector of the sum of their outer products.
    """
    outer = (weights.astype(q.dtype)[:, None, None] * q[:, :, None] * q[:, None, :]).sum(0)
    return eigh(outer)[1][:, -1]


# ---------------------------------------------------------------- matrices


@composite
def to_matrix(q: Any) -> Any:
    x, y, z, w = _parts(q)
    rows = [
        [x * x - y * y - z * z + w * w, 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), -x * x + y * y - z * z + w * w, 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), -x * x - y * y + z * z + w * w],
    ]
    return stack([stack(row, -1) for row in rows], -2)


@composite
def from_matrix(m: Any) -> Any:
    """The quaternions of rotation matrices.

    4 q q^T, which is linear in the matrix, has multiples of q for rows: the one with the largest
    element on the diagonal is not small.
    """
    (m,) = promote_dtypes_inexact(m)
    (a, b, c), (d, e, f), (g, h, i) = (_parts(m[..., row, :]) for row in range(3))
    rows = [
        [1 + a - e - i, b + d, c + g, h - f],
        [b + d, 1 - a + e - i, f + h, c - g],
        [c + g, f + h, 1 - a - e + i, d - b],
        [h - f, c - g, d - b, 1 + a + e + i],
    ]
    outer = stack([stack(row, -1) for row in rows], -2)
    best = argmax(stack([a, e, i, a + e + i], -1), -1)
    return normalized(take_along_axis(outer, best[..., None, None], -2)[..., 0, :])


@composite
def applied(m: Any, vectors: Any) -> Any:
    """Vectors multiplied by matrices."""
    m, vectors = aligned("Rotation.apply", m, vectors, (2, 1))
    return (m * vectors[..., None, :]).sum(-1)


# ---------------------------------------------------------------- vectors


@composite
def to_rotvec(q: Any) -> Any:
    """The axes, multiplied by the angles.

    The angle is 2 atan(r) for the ratio r of the vector's length to w; atan(r) / r is a series in
    the square of r, so that derivatives are right for small angles too.
    """
    q = where(q[..., 3:] < 0, -q, q)
    v, w = q[..., :3], q[..., 3:]
    squares = _squares(v)
    small = squares < _SMALL * w * w
    ratio = squares / where(small, w * w, 1)
    length = sqrt(where(small, 1, squares))
    near = (1 - ratio / 3 + ratio * ratio / 5) / where(small, w, 1)
    return 2 * v * where(small, near, arctan2(length, w) / length)


@composite
def from_rotvec(v: Any) -> Any:
    """The inverse of `to_rotvec`; sin(a / 2) / a and cos(a / 2) are series in the square of a."""
    (v,) = promote_dtypes_inexact(v)
    squares = _squares(v)
    small = squares < _SMALL
    angle = sqrt(where(small, 1, squares))
    near_sin = 0.5 - squares / 48 + squares * squares / 3840
    near_cos = 1 - squares / 8 + squares * squares / 384
    scale = where(small, near_sin, sin(angle / 2) / angle)
    return concatenate([scale * v, where(small, near_cos, cos(angle / 2))], -1)


@composite
def to_mrp(q: Any) -> Any:
    """The axes, multiplied by the tangents of a quarter of the angles."""
    sign = where(q[..., 3:] < 0, -1, 1).astype(q.dtype)
    return sign * q[..., :3] / (1 + sign * q[..., 3:])


@composite
def from_mrp(p: Any) -> Any:
    """The inverse of `to_mrp`, by the formulas for the tangent of a half."""
    (p,) = promote_dtypes_inexact(p)
    squares = _squares(p)
    return concatenate([2 * p, 1 - squares], -1) / (1 + squares)
