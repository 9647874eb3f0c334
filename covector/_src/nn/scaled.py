"""Products of matrices in short floats, with a scale for each block of elements.

A matrix is quantized block by block along the contracted axis: the largest modulus of a block
becomes the largest number of the short dtype, and the quotient is the block's scale.  Products are
taken of the numbers that this stands for, on every platform alike.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np

from ..api.custom_derivatives import custom_vjp
from ..api.jit import jit
from ..base import dtypes
from ..base import nn_errors as errors
from ..core.array import Array
from ..numpy.creation import asarray
from ..numpy.joining import repeat
from ..numpy.reductions import max
from ..numpy.selection import clip, where
from ..numpy.shaping import reshape, transpose
from ..ops.contraction import dot_general
from ..ops.conversion import bitcast_convert_type

FLOAT32 = np.dtype(np.float32)
RESULTS = frozenset(map(np.dtype, (np.float32, np.float16, dtypes.bfloat16)))


@dataclass(slots=True)
class BlockScaleConfig:
    """How an operand of `scaled_dot_general` is quantized.

    Attributes:
      mode: "mxfp8" or "nvfp4".
      block_size: how many elements share a scale.
      data_type: the dtype of the elements.
      scale_type: that of the scales.
      global_scale: what all elements are divided by beforehand; None for nothing.
      infer_only: whether there is no derivative.
    """

    mode: str
    block_size: int
    data_type: Any
    scale_type: Any
    global_scale: Any
    infer_only: bool


def get_scaled_dot_general_config(mode: str, global_scale: Any = None) -> BlockScaleConfig:
    """A configuration of `scaled_dot_general`.

    Args:
      mode: "nvfp4", elements of 4 bits in blocks of 16 with scales of 8 bits and one float32 for
        all; or "mxfp8", elements of 8 bits in blocks of 32 with powers of 2 for scales.
      global_scale: an array of shape (1,), for "nvfp4"; by default 1.

    Raises:
      ValueError: there is no such mode.

    >>> from covector import nn
    >>> nn.get_scaled_dot_general_config("mxfp8").block_size
    32
    """
    if mode == "mxfp8":
        e4m3, e8m0 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e8m0fnu
        return BlockScaleConfig(mode, 32, e4m3, e8m0, None, False)
    if mode == "nvfp4":
        one = asarray(np.ones(1, FLOAT32)) if global_scale is None else global_scale
        e2m1, e4m3 = ml_dtypes.float4_e2m1fn, ml_dtypes.float8_e4m3fn
        return BlockScaleConfig(mode, 16, e2m1, e4m3, one, False)
    raise ValueError(errors.scaling_mode(mode))


# ---------------------------------------------------------------- the product


def scaled_matmul(
    lhs: Array,
    rhs: Array,
    lhs_scales: Array,
    rhs_scales: Array,
    preferred_element_type: Any = np.float32,
) -> Array:
    """Products of matrices whose elements are scaled in blocks along the contracted axis.

    Args:
      lhs: shape (b, m, k).
      rhs: shape (b, n, k).
      lhs_scales: shape (b, m, j): each scales k / j elements of `lhs` in a row.
      rhs_scales: shape (b, n, j), likewise.
      preferred_element_type: the dtype of the result. Products are computed in float32.

    Returns:
      An array of shape (b, m, n).

    Raises:
      ValueError: shapes do not fit.

    >>> import covector.numpy as jnp
    >>> from covector import nn
    >>> x, y = jnp.array([[[1.0, 2.0]]]), jnp.array([[[3.0, 4.0]]])
    >>> nn.scaled_matmul(x, y, jnp.array([[[2.0]]]), jnp.array([[[0.5]]]))
    Array([[[11.]]], dtype=float32)
    """
    _check_operands(lhs.shape, rhs.shape, lhs_scales.shape, rhs_scales.shape)
    dtype = dtypes.check_user_dtype_supported(preferred_element_type, "scaled_matmul")
    return _scaled_matmul(lhs, rhs, lhs_scales, rhs_scales, preferred_element_type=dtype)


@jit(static_argnames=("preferred_element_type",))
def _scaled_matmul(
    lhs: Any, rhs: Any, lhs_scales: Any, rhs_scales: Any, preferred_element_type: Any
) -> Any:
    out = dot_general(
        _dequantized(lhs, lhs_scales),
        _dequantized(rhs, rhs_scales),
        (((2,), (2,)), ((0,), (0,))),
        preferred_element_type=FLOAT32,
    )
    return out.astype(preferred_element_type)


def _dequantized(x: Any, scales: Any) -> Any:
    size = x.shape[-1] // scales.shape[-1]
    return x.astype(FLOAT32) * repeat(scales.astype(FLOAT32), size, axis=-1)


def _check_operands(a: Any, b: Any, a_scales: Any, b_scales: Any) -> None:
    """Raise unless the shapes of operands and scales fit together."""
    shapes = a, b, a_scales, b_scales
    if any(len(shape) != 3 for shape in shapes):
        raise ValueError(errors.scaled_ranks(shapes))
    for what, x, y in (("inputs a and b", a, b), ("scales", a_scales, b_scales)):
        if x[0] != y[0] or x[2] != y[2]:
            raise ValueError(errors.scaled_contraction(what, x, y))
    if a_scales[1] != a[1] or b_scales[1] != b[1]:
        raise ValueError(errors.scaled_rows(*shapes))
    if not a_scales[2] or a[2] % a_scales[2]:
        raise ValueError(errors.scaled_blocks("the operands", a[2], a_scales[2]))


# ---------------------------------------------------------------- quantization


def _quantized(x: Any, config: BlockScaleConfig) -> tuple[Any, Any]:
    """Short floats, and the scale of each block of them along the last axis."""
    size, block = x.shape[-1], config.block_size
    if size < block or size % block:
        raise ValueError(errors.block_size(size, block))
    blocks = reshape(x, (*x.shape[:-1], size // block, block))
    if config.global_scale is not None:
        blocks = blocks / config.global_scale
    limit = dtypes.finfo(config.data_type).max.astype(blocks.dtype)
    scales = max(abs(blocks), axis=-1, keepdims=True) / limit
    if config.mode == "mxfp8":
        scales = _power_of_2_above(scales)
        values = scales.astype(FLOAT32).astype(blocks.dtype)
        # In float16 the smallest scales would be 0.
        values = where(values == 0, dtypes.finfo(blocks.dtype).smallest_normal / 2, values)
    else:
        scales = clip(scales, 0, dtypes.finfo(config.scale_type).max.astype(blocks.dtype))
        scales = scales.astype(config.scale_type)
        values = scales.astype(FLOAT32)
    elements = clip(blocks / values, -limit, limit).astype(config.data_type)
    return reshape(elements, x.shape), reshape(scales, scales.shape[:-1])


def _power_of_2_above(x: Any) -> Any:
    """The least power of 2 that is not below a positive number: its exponent is all that e8m0 has.

    From 2^127 on it is 2^127, below 2^-127 that.
    """
    bits = bitcast_convert_type(x.astype(FLOAT32), np.uint32)
    exponent, mantissa = bits >> 23, bits & 0x7FFFFF
    # Exponent 0 stands for 2^-127 in e8m0; in float32 that is denormal, of the mantissa 2^22.
    rounds_up = (mantissa > 0) & (exponent != 0xFE) & ((exponent != 0) | (mantissa > 0x400000))
    exponent = where(rounds_up, exponent + 1, exponent).astype(np.uint8)
    return bitcast_convert_type(exponent, ml_dtypes.float8_e8m0fnu)


# ---------------------------------------------------------------- general contractions


def scaled_dot_general(
    lhs: Any,
    rhs: Any,
    dimension_numbers: Any,
    preferred_element_type: Any = np.float32,
    configs: Sequence[BlockScaleConfig] | None = None,
    implementation: str | None = None,
) -> Array:
    """`lax.dot_general` of operands that are quantized first, as their gradients are.

    Args:
      lhs, rhs: arrays of floats.
      dimension_numbers: as for `lax.dot_general`.
      preferred_element_type: the dtype of the result: float32, float16 or bfloat16.
      configs: how to quantize `lhs`, `rhs` and cotangents of the result; by default nothing is.
      implementation: of no effect.

    Returns:
      An array of the shape that `lax.dot_general` gives.

    >>> import covector.numpy as jnp
    >>> from covector import nn
    >>> configs = [nn.get_scaled_dot_general_config("mxfp8")] * 3
    >>> x = jnp.ones((2, 32))
    >>> nn.scaled_dot_general(x, x, (((1,), (1,)), ((), ())), configs=configs)
    Array([[32., 32.],
           [32., 32.]], dtype=float32)
    """
    if implementation is not None:
        warnings.warn(
            "scaled_dot_general: the argument `implementation` has no effect; leave it out.",
            DeprecationWarning,
            stacklevel=2,
        )
    if configs is None:
        return dot_general(
            lhs, rhs, dimension_numbers, preferred_element_type=preferred_element_type
        )
    dtype = np.dtype(preferred_element_type)
    if dtype not in RESULTS:
        raise TypeError(errors.scaled_result_dtype(dtype))
    (lhs_contract, rhs_contract), (lhs_batch, rhs_batch) = dimension_numbers
    lhs, rhs = asarray(lhs), asarray(rhs)
    lhs_kept = _others(lhs.ndim, lhs_contract, lhs_batch)
    rhs_kept = _others(rhs.ndim, rhs_contract, rhs_batch)
    batch = [lhs.shape[i] for i in lhs_batch]
    rows, columns = [lhs.shape[i] for i in lhs_kept], [rhs.shape[i] for i in rhs_kept]
    out = _quantized_matmul(
        _as_matrices(lhs, lhs_batch, lhs_kept, lhs_contract),
        _as_matrices(rhs, rhs_batch, rhs_kept, rhs_contract),
        dtype,
        tuple(configs),
    )
    return reshape(out, (*batch, *rows, *columns))


def _others(ndim: int, *taken: Sequence[int]) -> list[int]:
    return [i for i in range(ndim) if not any(i in axes for axes in taken)]


def _as_matrices(x: Any, *groups: Sequence[int]) -> Any:
    """An array in which each group of axes has become one."""
    sizes = [math.prod([x.shape[i] for i in axes]) for axes in groups]
    return reshape(transpose(x, [i for axes in groups for i in axes]), sizes)


@partial(custom_vjp, nondiff_argnums=(2, 3))
def _quantized_matmul(x: Any, y: Any, dtype: Any, configs: Any) -> Any:
    """Products of shape (b, m, n) of arrays of shape (b, m, k) and (b, n, k)."""
    of_x, of_y = configs[:2]
    (x, x_scales), (y, y_scales) = _quantized(x, of_x), _quantized(y, of_y)
    if of_x.global_scale is None:
        return scaled_matmul(x, y, x_scales, y_scales, dtype)
    out = scaled_matmul(x, y, x_scales, y_scales, FLOAT32)
    return (out * (of_x.global_scale * of_y.global_scale)).astype(dtype)


def _forward(x: Any, y: Any, dtype: Any, configs: Any) -> Any:
    return _quantized_matmul(x, y, dtype, configs), (x, y)


def _backward(dtype: Any, configs: Any, residuals: Any, ct: Any) -> Any:
    """Cotangents, as if rounding were the identity ("straight through"), and clipping not."""
    x, y = residuals
    of_x, of_y, of_ct = configs
    ct_of_x = _pulled_back(ct, transpose(y, (0, 2, 1)), (of_ct, of_y), x.dtype)
    ct_of_y = _pulled_back(
        transpose(ct, (0, 2, 1)), transpose(x, (0, 2, 1)), (of_ct, of_x), y.dtype
    )
    return _where_not_clipped(x, of_x, ct_of_x), _where_not_clipped(y, of_y, ct_of_y)


def _pulled_back(ct: Any, y: Any, configs: Any, dtype: Any) -> Any:
    """The products of a cotangent and an operand: in "mxfp8" quantized, in "nvfp4" not."""
    if configs[0].mode == "mxfp8":
        return _quantized_matmul(ct, y, dtype, configs)
    return dot_general(ct, y, (((2,), (2,)), ((0,), (0,))), preferred_element_type=dtype)


def _where_not_clipped(x: Any, config: BlockScaleConfig, ct: Any) -> Any:
    """A cotangent, or 0 where the operand was too large for the dtype of the elements."""
    if config.global_scale is None:
        return ct
    limit = float(dtypes.finfo(config.data_type).max) * float(dtypes.finfo(config.scale_type).max)
    return where(abs(x) <= config.global_scale * limit, ct, 0).astype(ct.dtype)


_quantized_matmul.defvjp(_forward, _backward)
