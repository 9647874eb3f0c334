"""What can go wrong in single operations: NaN, division by zero, indices out of bounds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..base import dtypes
from ..control import cumulative, linear_solve, reduce, reduce_window
from ..core.avals import aval_of
from ..core.primitive import Primitive
from ..core.trace import context
from ..linalg import (
    cholesky,
    eig,
    eigh,
    lu,
    qr,
    svd,
    symmetric_product,
    triangular_solve,
    tridiagonal_solve,
)
from ..linalg import reductions as matrix_reductions
from ..ops import (
    arithmetic,
    collectives_reduce,
    contraction,
    convolution,
    exponential,
    fourier,
    gather,
    hyperbolic,
    linear,
    powers,
    reductions,
    rng_bit_generator,
    rounding,
    scatter,
    slicing,
    special,
    special_bessel,
    special_beta,
    special_gamma,
    trigonometric,
    windows,
)
from ..ops.bitwise import or_p
from ..ops.comparison import eq_p, gt_p, lt_p, ne_p
from ..ops.conversion import convert_element_type
from ..ops.dynamic_indices import dynamic_slice_in_dim
from ..ops.dynamic_slicing import dynamic_slice_p, dynamic_update_slice_p
from ..ops.joining import concatenate
from ..ops.linear import broadcast_in_dim, constant_like, reshape
from ..ops.reductions import argmax, reduce_or
from .checkify_error import (
    DivisionByZeroError,
    Error,
    ErrorCategory,
    NaNError,
    OOBError,
    failure,
    init_error,
)

Categories = frozenset[ErrorCategory]


def error_of_op(
    primitive: Primitive,
    operands: Sequence[Any],
    outs: Sequence[Any],
    params: dict[str, Any],
    categories: Categories,
) -> Error:
    """The error of an operation that was applied, in those categories that are checked."""
    error = init_error
    if DivisionByZeroError in categories and primitive is arithmetic.div_p:
        divisor = operands[1]
        zeros = eq_p.bind(divisor, constant_like(divisor, 0))
        error = failure(any_of(zeros), DivisionByZeroError, context.place, ())
    windows_of = INDEXING.get(primitive)
    if OOBError in categories and windows_of is not None:
        error = error.then(out_of_bounds(primitive, *windows_of(operands, params)))
    if NaNError in categories and primitive in MAKERS_OF_NAN:
        error = error.then(not_a_number(primitive, outs))
    return error


def any_of(flags: Any) -> Any:
    """Whether one element is true."""
    ndim = aval_of(flags).ndim
    return reduce_or(flags, tuple(range(ndim))) if ndim else flags


# ---------------------------------------------------------------- NaN


# Operations whose result may hold NaN though no operand does.  Others only hand on what they get.
MAKERS_OF_NAN = frozenset(
    {
        *(arithmetic.add_p, arithmetic.sub_p, arithmetic.mul_p, arithmetic.div_p),
        *(collectives_reduce.psum_p, contraction.dot_general_p, convolution.conv_general_dilated_p),
        *(exponential.exp_p, exponential.exp2_p, exponential.expm1_p, exponential.logistic_p),
        *(exponential.log_p, exponential.log1p_p, fourier.fft_p),
        *(hyperbolic.acosh_p, hyperbolic.asinh_p, hyperbolic.atanh_p),
        *(hyperbolic.cosh_p, hyperbolic.sinh_p, hyperbolic.tanh_p),
        *(powers.cbrt_p, powers.integer_pow_p, powers.pow_p, powers.rsqrt_p),
        *(powers.sqrt_p, powers.square_p),
        *(trigonometric.acos_p, trigonometric.asin_p, trigonometric.atan_p, trigonometric.atan2_p),
        *(trigonometric.cos_p, trigonometric.sin_p, trigonometric.tan_p),
        *(special.digamma_p, special.erf_p, special.erf_inv_p, special.erfc_p, special.lgamma_p),
        *(special.polygamma_p, special.zeta_p),
        *(special_bessel.bessel_i0e_p, special_bessel.bessel_i1e_p),
        special_beta.regularized_incomplete_beta_p,
        *(special_gamma.igamma_p, special_gamma.igammac_p, special_gamma.igamma_grad_a_p),
        *(special_gamma.random_gamma_grad_p, rng_bit_generator.rng_uniform_p, rounding.rem_p),
        *(linear.add_any_p, linear.reduce_sum_p, reductions.reduce_prod_p, reduce.reduce_p),
        *(cumulative.cumlogsumexp_p, cumulative.cummax_p, cumulative.cummin_p),
        *(cumulative.cumprod_p, cumulative.cumsum_p),
        *(reduce_window.reduce_window_p, windows.reduce_window_sum_p, slicing.pad_p),
        *(scatter.scatter_p, scatter.scatter_max_p, scatter.scatter_min_p, scatter.scatter_mul_p),
        *(gather.scatter_add_p, gather.scatter_sub_p),
        *(cholesky.cholesky_p, cholesky.cholesky_update_p, eig.eig_p, eigh.eigh_p, lu.lu_p),
        *(qr.geqrf_p, qr.geqp3_p, qr.qr_p, svd.svd_p, symmetric_product.symmetric_product_p),
        *(matrix_reductions.hessenberg_p, matrix_reductions.schur_p),
        matrix_reductions.tridiagonal_p,
        *(triangular_solve.triangular_solve_p, tridiagonal_solve.tridiagonal_solve_p),
        linear_solve.linear_solve_p,
    }
)


def not_a_number(primitive: Primitive, outs: Sequence[Any]) -> Error:
    """The error that a result is NaN somewhere; none if it has no floats."""
    floats = [x for x in outs if dtypes.issubdtype(aval_of(x).dtype, np.inexact)]
    found = [any_of(ne_p.bind(x, x)) for x in floats]
    if not found:
        return init_error
    failed = found[0]
    for other in found[1:]:
        failed = or_p.bind(failed, other)
    return failure(failed, NaNError, context.place, (primitive.name,))


# ---------------------------------------------------------------- indices

# The operand, an array of index vectors along its last axis, the operand's axis that each of their
# elements is for, and the sizes of the windows that begin there.
Windows = tuple[Any, Any, Sequence[int], Sequence[int]]


def _of_dynamic_slice(operands: Sequence[Any], params: dict[str, Any]) -> Windows:
    operand, *starts = operands
    return operand, _vector(starts), range(len(starts)), params["slice_sizes"]


def _of_dynamic_update_slice(operands: Sequence[Any], params: dict[str, Any]) -> Windows:
    operand, update, *starts = operands
    return operand, _vector(starts), range(len(starts)), aval_of(update).shape


def _of_gather(operands: Sequence[Any], params: dict[str, Any]) -> Windows:
    operand, indices = operands
    axes = params["dimension_numbers"].start_index_map
    return operand, indices, axes, [params["slice_sizes"][axis] for axis in axes]


def _of_scatter(operands: Sequence[Any], params: dict[str, Any]) -> Windows:
    operand, indices, updates = operands
    numbers = params["dimension_numbers"]
    single = {*numbers.inserted_window_dims, *numbers.operand_batching_dims}
    shape = aval_of(updates).shape
    sizes = iter([shape[dim] for dim in numbers.update_window_dims])
    ndim = aval_of(operand).ndim
    window = [1 if axis in single else next(sizes) for axis in range(ndim)]
    axes = numbers.scatter_dims_to_operand_dims
    return operand, indices, axes, [window[axis] for axis in axes]


def _vector(starts: Sequence[Any]) -> Any:
    """Scalars as one vector."""
    if not starts:
        return np.zeros(0, np.int32)
    wide = any(aval_of(x).dtype.itemsize > 4 for x in starts)
    dtype = np.int64 if wide else np.int32
    return concatenate(
        [broadcast_in_dim(convert_element_type(x, dtype), (1,), ()) for x in starts], 0
    )


INDEXING: dict[Primitive, Callable[[Sequence[Any], dict[str, Any]], Windows]] = {
    dynamic_slice_p: _of_dynamic_slice,
    dynamic_update_slice_p: _of_dynamic_update_slice,
    gather.gather_p: _of_gather,
    gather.scatter_add_p: _of_scatter,
    gather.scatter_sub_p: _of_scatter,
    scatter.scatter_p: _of_scatter,
    scatter.scatter_max_p: _of_scatter,
    scatter.scatter_min_p: _of_scatter,
    scatter.scatter_mul_p: _of_scatter,
}


def out_of_bounds(
    primitive: Primitive, operand: Any, indices: Any, axes: Sequence[int], sizes: Sequence[int]
) -> Error:
    """The error that a window reaches out of the operand; its payload tells the first index."""
    aval: Any = aval_of(indices)
    if not aval.size:
        return init_error
    shape = aval_of(operand).shape
    last = np.array([shape[axis] - size for axis, size in zip(axes, sizes)], np.int64)
    last = np.minimum(last, np.iinfo(aval.dtype).max).astype(aval.dtype)
    limits = broadcast_in_dim(last, aval.shape, (aval.ndim - 1,))
    outside = or_p.bind(lt_p.bind(indices, constant_like(indices, 0)), gt_p.bind(indices, limits))
    which = argmax(reshape(outside, (aval.size,)), 0, np.int32)
    index = dynamic_slice_in_dim(reshape(indices, (aval.size,)), which, 1)
    axis = rounding.rem_p.bind(which, np.int32(len(axes)))
    table = np.array([[axis, shape[axis]] for axis in axes], np.int32)
    row = reshape(dynamic_slice_in_dim(table, axis, 1), (2,))
    found = concatenate([convert_element_type(index, np.int32), row], 0)
    facts = (primitive.name, shape)
    return failure(any_of(outside), OOBError, context.place, facts, [found])
