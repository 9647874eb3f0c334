"""Scaled dot-product attention.

Letters for sizes: b batch, t queries, s keys, k heads of keys, g heads of queries for each of
those, h the size of a head.
"""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np

from ..base import dtypes
from ..base import nn_errors as errors
from ..core.array import ArrayLike
from ..numpy.composite import composite_list
from ..numpy.creation import asarray
from ..numpy.einsum import einsum
from ..numpy.selection import where
from ..numpy.shaping import expand_dims, moveaxis, reshape
from ..ops.creation import broadcasted_iota
from ..ops.identities import stop_gradient
from ..ops.precision import DotAlgorithmPreset
from ..scipy.special.log_sums import logsumexp
from ..xla.devices import default_backend
from .softmax import softmax

BOOL, INT32, FLOAT32 = np.dtype(bool), np.dtype(np.int32), np.dtype(np.float32)


def dot_product_attention(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    bias: Any = None,
    mask: Any = None,
    *,
    scale: Any = None,
    is_causal: bool = False,
    query_seq_lengths: Any = None,
    key_value_seq_lengths: Any = None,
    local_window_size: int | tuple[int, int] | None = None,
    implementation: str | None = None,
    return_residual: bool = False,
) -> Any:
    """Means of values, weighted by how well their keys fit each query.

    The weights are softmax(query . key * scale + bias) over the keys. Heads of queries may be more
    than heads of keys and values: each of those then serves a group of them.

    Args:
      query: shape (b, t, n, h), or (t, n, h) without a batch, for n heads of queries.
      key: shape (b, s, k, h) or (s, k, h); k divides n.
      value: of the shape and dtype of `key`.
      bias: added to the scaled products; rank 4 (or less), broadcasts to (b, n, t, s).
      mask: booleans of such a shape: which keys each query may see. A query that may see none gives
        the mean of all values.
      scale: of the products; by default 1 / sqrt(h).
      is_causal: whether a query sees only the keys up to its own position.
      query_seq_lengths: int32, shape (b,): queries from there on give 0.
      key_value_seq_lengths: int32, shape (b,): keys from there on are not seen.
      local_window_size: how many keys to the left and to the right of its own position a query
        sees; a pair, or one number for both.
      implementation: "xla", or None, which is the same.
      return_residual: whether to return also the logarithms of the softmax's denominators, of shape
        (b, t, n), which have no derivative.

    Returns:
      An array of the shape of `query`, or a pair.

    Raises:
      ValueError: shapes or dtypes do not fit.

    >>> import covector.numpy as jnp
    >>> from covector import nn
    >>> query = jnp.zeros((3, 1, 2))
    >>> value = jnp.arange(6.0).reshape(3, 1, 2)
    >>> nn.dot_product_attention(query, value, value, is_causal=True)[:, 0]
    Array([[0., 1.],
           [1., 2.],
           [2., 3.]], dtype=float32)
    """
    shape = np.shape(query)
    query, key, value = [_of_rank_4(x) for x in (query, key, value)]
    bias, mask = [None if x is None else _of_rank_4(x) for x in (bias, mask)]
    lengths = [
        None if x is None else asarray(x) for x in (query_seq_lengths, key_value_seq_lengths)
    ]
    _check(query, key, value, bias, mask, *lengths)
    if implementation not in (None, "xla"):
        raise ValueError(errors.attention_implementation(implementation))
    if isinstance(local_window_size, int):
        local_window_size = (local_window_size, local_window_size)
    optional = [bias, mask, *lengths]
    outs = _attention(
        *[query, key, value, key.shape[-1] ** -0.5 if scale is None else scale],
        *[x for x in optional if x is not None],
        given=tuple([x is not None for x in optional]),
        is_causal=bool(is_causal),
        window=local_window_size,
        with_residual=bool(return_residual),
    )
    outs = [reshape(out, to) for out, to in zip(outs, (shape, shape[:-1]))]
    return tuple(outs) if return_residual else outs[0]


# ---------------------------------------------------------------- arguments


def _of_rank_4(x: Any) -> Any:
    x = asarray(x)
    return expand_dims(x, tuple(range(4 - x.ndim))) if x.ndim < 4 else x


def _check(
    query: Any, key: Any, value: Any, bias: Any, mask: Any, query_lengths: Any, key_lengths: Any
) -> None:
    """Raise unless shapes and dtypes fit together."""
    _check_type("key", key, (None,) * 4, None)
    b, _, k, h = key.shape
    _check_type("value", value, key.shape, key.dtype)
    _check_type("query", query, (b, None, None, h), key.dtype)
    heads = query.shape[2]
    if heads % k:
        raise ValueError(errors.attention_heads(heads, k))
    for name, x, dtype in (("mask", mask, BOOL), ("bias", bias, None)):
        if x is not None:
            _check_type(name, x, (None,) * 4, dtype)
            _check_type(name, x, (None, 1 if x.shape[1] == 1 else heads, None, None), dtype)
    for name, x in (("query_seq_lengths", query_lengths), ("key_value_seq_lengths", key_lengths)):
        if x is not None:
            _check_type(name, x, (b,), INT32)


def _check_type(name: str, x: Any, shape: tuple[int | None, ...], dtype: Any) -> None:
    """Raise unless an argument has these sizes, None for any, and this dtype, None for any."""
    if x.ndim != len(shape):
        raise ValueError(errors.attention_rank(name, len(shape), x.shape))
    if dtype is not None and x.dtype != dtype:
        raise ValueError(errors.attention_dtype(name, dtype, x.dtype))
    if any(want not in (None, size) for want, size in zip(shape, x.shape)):
        raise ValueError(errors.attention_shape(name, shape, x.shape))


# ---------------------------------------------------------------- the computation


@composite_list
def _attention(
    query: Any,
    key: Any,
    value: Any,
    scale: Any,
    *extras: Any,
    given: tuple[bool, ...],
    is_causal: bool,
    window: tuple[int, int] | None,
    with_residual: bool,
) -> list[Any]:
    """The means, and the logarithms of denominators; extras are the optional arguments given."""
    rest = iter(extras)
    bias, mask, query_lengths, key_lengths = [next(rest) if there else None for there in given]
    groups = query.shape[2] // key.shape[2]
    query = reshape(query, (*query.shape[:2], key.shape[2], groups, query.shape[3]))
    logits = einsum(
        "btkgh,bskh->bkgts",
        query,
        key,
        precision=_precision(query.dtype),
        preferred_element_type=dtypes.promote_types(query.dtype, FLOAT32),
    )
    logits = logits * asarray(scale, logits.dtype)
    if bias is not None:
        logits = (logits + _in_groups(bias, groups)).astype(logits.dtype)
    masks = [] if mask is None else [_in_groups(mask, groups)]
    masks += _position_masks(*logits.shape[-2:], query_lengths, key_lengths, is_causal, window)
    if masks:
        visible = functools.reduce(operator.and_, masks)
        logits = where(visible, logits, _very_small(logits.dtype))
    logits = logits.astype(FLOAT32)
    out = einsum("bkgts,bskh->btkgh", softmax(logits).astype(key.dtype), value)
    if query_lengths is not None:
        positions = broadcasted_iota(INT32, (1, query.shape[1], 1, 1, 1), 1)
        exist = positions < query_lengths[:, None, None, None, None]
        out = out * exist.astype(out.dtype)
    if not with_residual:
        return [out]
    residual = logsumexp(logits, axis=-1).astype(key.dtype)
    return [out, stop_gradient(moveaxis(residual, -1, 1))]


def _in_groups(x: Any, groups: int) -> Any:
    """A bias or mask of shape (b, n, t, s) in the shape (b, k, g, t, s); n may be 1."""
    b, n, t, s = x.shape
    return reshape(x, (b, 1, 1, t, s) if n == 1 else (b, n // groups, groups, t, s))


def _position_masks(
    t: int, s: int, query_lengths: Any, key_lengths: Any, is_causal: bool, window: Any
) -> list[Any]:
    """What the positions of queries and keys say about which keys a query sees."""
    queries = broadcasted_iota(INT32, (1, 1, 1, t, 1), 3)
    keys = broadcasted_iota(INT32, (1, 1, 1, 1, s), 4)
    masks = []
    if is_causal:
        masks.append(queries >= keys)
    if window is not None:
        left, right = window
        masks.append((queries <= keys + left) & (queries >= keys - right))
    for positions, lengths in ((queries, query_lengths), (keys, key_lengths)):
        if lengths is not None:
            masks.append(positions < lengths[:, None, None, None, None])
    return masks


def _precision(dtype: Any) -> Any:
    """How to add up products of short floats: in float32.

    It is said explicitly for the sake of the derivative, whose products have operands of two
    dtypes.  CPUs have no such product of float16, and know best how to do it.
    """
    if dtype == dtypes.bfloat16:
        return DotAlgorithmPreset.BF16_BF16_F32
    if dtype == np.float16 and default_backend() != "cpu":
        return DotAlgorithmPreset.F16_F16_F32
    return None


def _very_small(dtype: Any) -> Any:
    """What stands for -inf: finite, so that softmax over nothing visible is no NaN."""
    # Softmax is computed in float32, where it must be finite, too.
    limit = min(float(dtypes.finfo(dtype).max), float(dtypes.finfo(FLOAT32).max))
    return np.array(-0.7 * limit, dtype)
