"""Convolution of BCOO arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import sparse_errors as errors
from ..core.avals import aval_of
from ..numpy.creation import asarray
from ..numpy.joining import concatenate
from ..numpy.promotion import promote_dtypes
from ..numpy.selection import where
from ..numpy.shaping import broadcast_to
from ..ops.convolution import conv_general_dilated
from ..transforms.stage import stage
from .bcoo import BCOO, bcoo_fromdense, beside, inside, merge_leading


def bcoo_conv_general_dilated(
    lhs: Any,
    rhs: Any,
    *,
    window_strides: Sequence[int],
    padding: Any,
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: Any = None,
    feature_group_count: int = 1,
    batch_group_count: int = 1,
    precision: None = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> BCOO:
    """Convolve two arrays, of which one or both are sparse; see `lax.conv_general_dilated`.

    Every pair of stored elements gives an element of the result, at

        place = (place in lhs * lhs_dilation + low padding - place in rhs * rhs_dilation) / stride

    in each spatial dimension, if that is an integer within the result.

    Args:
      lhs, rhs: arrays; all elements of a dense one are stored.
      window_strides, padding, lhs_dilation, rhs_dilation, dimension_numbers: as of
        `lax.conv_general_dilated`.
      feature_group_count, batch_group_count: must be 1.
      precision, preferred_element_type, out_sharding: of no effect.

    Returns:
      A sparse array; if it has one batch element and one feature, its first two dimensions are
      batch dimensions, and otherwise all are sparse.

    >>> import covector.numpy as jnp
    >>> from covector.experimental import sparse
    >>> x = sparse.BCOO.fromdense(jnp.array([[[0.0, 1.0, 0.0]]]))
    >>> window = jnp.array([[[1.0, 2.0, 3.0]]])
    >>> y = sparse.bcoo_conv_general_dilated(x, window, window_strides=(1,), padding="SAME")
    >>> y.todense()
    Array([[[3., 2., 1.]]], dtype=float32)
    """
    if feature_group_count != 1 or batch_group_count != 1:
        what = "convolution in groups"
        raise NotImplementedError(errors.not_implemented("bcoo_conv_general_dilated", what))

    def dense(x: Any, y: Any) -> Any:
        geometry = (window_strides, padding, lhs_dilation, rhs_dilation, dimension_numbers)
        return [conv_general_dilated(x, y, *geometry)]

    lhs, rhs = _all_sparse(lhs), _all_sparse(rhs)
    x, y = promote_dtypes(lhs.data, rhs.data)
    avals = [aval_of(x).update(shape=mat.shape) for x, mat in ((x, lhs), (y, rhs))]
    jaxpr, _ = stage(dense, avals)
    numbers = jaxpr.eqns[-1].params
    shape, layout = jaxpr.outvars[0].aval.shape, numbers["dimension_numbers"]
    places = _places(lhs, rhs, shape, layout, numbers)
    data = (x[:, None] * y[None]).reshape(-1)
    order = np.argsort(layout.out_spec)
    out = BCOO((data, places[:, order]), shape=shape)
    if out.ndim < 3 or shape[:2] != (1, 1):
        return out
    valid = inside(out.indices, shape)
    indices = where(valid[:, None], out.indices[:, 2:], beside(shape[2:], out.indices))
    return BCOO((data[None, None], indices[None, None]), shape=shape)


def _all_sparse(x: Any) -> BCOO:
    """An array without batch and dense dimensions."""
    if not isinstance(x, BCOO):
        x = asarray(x)
        return bcoo_fromdense(x, nse=x.size)
    return x.update_layout(n_batch=0, n_dense=0)


def _places(lhs: BCOO, rhs: BCOO, shape: Sequence[int], layout: Any, numbers: Any) -> Any:
    """For each pair of elements its place in the result: batch, feature and spatial dimensions."""
    i = lhs.indices[:, np.array(layout.lhs_spec)][:, None]
    j = rhs.indices[:, np.array(layout.rhs_spec)][None]
    sizes = [shape[d] for d in layout.out_spec]
    at = i[..., 2:] * beside(numbers["lhs_dilation"], i)
    at = at + beside([low for low, _ in numbers["padding"]], i)
    at = at - j[..., 2:] * beside(numbers["rhs_dilation"], i)
    steps = beside(numbers["window_strides"], i)
    pairs = at.shape[:2]
    valid = inside(lhs.indices, lhs.shape)[:, None] & inside(rhs.indices, rhs.shape)[None]
    valid = valid & (i[..., 1] == j[..., 1])
    valid = valid & ((at >= 0) & (at % steps == 0)).all(-1)
    ends = [broadcast_to(x, (*pairs, 1)) for x in (i[..., :1], j[..., :1])]
    places = concatenate([*ends, at // steps], -1)
    valid = valid & inside(places, sizes)
    return merge_leading(where(valid[..., None], places, beside(sizes, places)))
