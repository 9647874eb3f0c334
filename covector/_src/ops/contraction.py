"""Products of arrays that sum over dimensions of both: `dot_general` and what is made of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..base import dot_errors, dtypes
from ..base.shapes import integers_or_integer, without
from ..core.avals import aval_of
from ..core.zeros import UndefinedPrimal
from . import linear
from .base import Sample, draw
from .conversion import convert
from .linear import Bilinear
from .precision import (
    ON_CPU,
    DotAlgorithm,
    DotAlgorithmPreset,
    PrecisionLike,
    canonicalize_precision,
    is_algorithm,
    is_float8,
    precision_attributes,
)

Dims = tuple[int, ...]
DotDimensionNumbers = tuple[
    tuple[Sequence[int], Sequence[int]], tuple[Sequence[int], Sequence[int]]
]

# ---------------------------------------------------------------- the primitive


class DotGeneral(Bilinear):
    """Multiply, along batch dimensions; and sum, over contracting dimensions.

    `dimension_numbers` are `((lhs_contracting, rhs_contracting), (lhs_batch, rhs_batch))`. The
    dimensions of the output are the batch dimensions, then what is left of lhs, then of rhs.
    """

    def shown_params(self, params):
        shown = {name: value for name, value in params.items() if value is not None}
        numbers = shown["dimension_numbers"]
        shown["dimension_numbers"] = tuple([tuple(map(list, pair)) for pair in numbers])
        shown.pop("out_sharding", None)
        return shown

    def shape(self, x, y, *, dimension_numbers, precision, preferred_element_type, out_sharding):
        check_dimension_numbers(x.shape, y.shape, dimension_numbers)
        (x_contract, y_contract), (x_batch, y_batch) = dimension_numbers
        return (
            *[x.shape[dim] for dim in x_batch],
            *without(x.shape, (*x_contract, *x_batch)),
            *without(y.shape, (*y_contract, *y_batch)),
        )

    def dtype(self, x, y, *, precision, preferred_element_type, **params):
        dtype = product_dtype(x.dtype, y.dtype)
        if preferred_element_type is None:
            return dtype
        # A float may be made narrower: the products are added up in full and then rounded.
        narrower = dtypes.itemsize_bits(preferred_element_type) < dtypes.itemsize_bits(dtype)
        if narrower and not (is_algorithm(precision) or dtypes.issubdtype(dtype, np.floating)):
            raise TypeError(dot_errors.preferred_too_narrow(preferred_element_type, dtype))
        return preferred_element_type

    def ref(self, x, y, *, dimension_numbers, preferred_element_type, **params):
        (x_contract, y_contract), (x_batch, y_batch) = dimension_numbers
        dtype = preferred_element_type
        if dtype is None:
            dtype = product_dtype(np.result_type(x), np.result_type(y))
        narrow = dtypes.issubdtype(dtype, np.floating) and dtypes.itemsize_bits(dtype) < 32
        wide = np.float32 if narrow else dtype
        # Name the dimensions: those of lhs by number, those of rhs by the partner's or further on.
        of_x = list(range(np.ndim(x)))
        of_y = list(range(np.ndim(x), np.ndim(x) + np.ndim(y)))
        for i, j in zip((*x_contract, *x_batch), (*y_contract, *y_batch)):
            of_y[j] = i
        x_kept = without(of_x, (*x_contract, *x_batch))
        y_kept = without(of_y, (*y_contract, *y_batch))
        out = [*x_batch, *x_kept, *y_kept]
        return np.einsum(np.asarray(x, wide), of_x, np.asarray(y, wide), of_y, out).astype(dtype)

    def transpose(self, ct, x, y, *, dimension_numbers, out_sharding, **params):
        if type(x) is UndefinedPrimal:
            return cotangent_of_operand(ct, x.aval, y, dimension_numbers, False, **params), None
        swapped = tuple([(of_y, of_x) for of_x, of_y in dimension_numbers])
        return None, cotangent_of_operand(ct, y.aval, x, swapped, True, **params)

    def vmap(self, axis, dims, x, y, *, dimension_numbers, **params):
        ndims = (aval_of(x).ndim, aval_of(y).ndim)
        numbers, dim = batched_dimension_numbers(ndims, dims, dimension_numbers)
        return self.bind(x, y, dimension_numbers=numbers, **params), dim

    def emit(self, b, x, y, *, dimension_numbers, precision, **params):
        (out,) = b.avals_out
        lhs, rhs, total = computed_dtypes(b, precision)
        x, y = b.convert(x, b.avals_in[0], lhs), b.convert(y, b.avals_in[1], rhs)
        attributes: dict[str, Any] = dict(
            dot_dimension_numbers=dimension_numbers_attribute(dimension_numbers),
            precision_config=precision_attributes(precision),
        )
        if is_algorithm(precision) and precision is not DotAlgorithmPreset.DEFAULT:
            attributes["algorithm"] = precision.attribute(lhs, rhs)
        aval = out.update(dtype=np.dtype(total))
        return b.convert(b.op("dot_general", x, y, out=aval, **attributes), aval, out.dtype)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        matmul = (((1,), (0,)), ((), ()))
        for x_shape, y_shape, numbers in [
            ((3,), (3,), (((0,), (0,)), ((), ()))),
            ((2, 3), (3, 4), matmul),
            ((2, 0), (0, 4), matmul),
            ((2,), (3,), (((), ()), ((), ()))),
            ((2, 3, 4), (4, 3, 2), (((1, 2), (1, 0)), ((0,), (2,)))),
            ((3, 2, 4, 1), (1, 5, 2, 4), (((2,), (3,)), ((1, 3), (2, 0)))),
        ]:
            for dtype in ("float32", "bfloat16", "complex64", "int32", "bool"):
                args = (draw(rng, x_shape, dtype), draw(rng, y_shape, dtype))
                yield Sample(args, dot_params(numbers))


def dot_params(numbers: Any, precision: Any = None, dtype: Any = None) -> dict[str, Any]:
    """The parameters of a `dot_general`."""
    return dict(
        dimension_numbers=numbers,
        precision=precision,
        preferred_element_type=dtype,
        out_sharding=None,
    )


dot_general_p = DotGeneral("dot_general")

# ---------------------------------------------------------------- types of products


def check_dimension_numbers(x: Dims, y: Dims, numbers: Any) -> None:
    """Raise unless operands of shapes `x` and `y` may be multiplied by these dimension numbers."""
    (x_contract, y_contract), (x_batch, y_batch) = numbers
    if len(x_batch) != len(y_batch):
        raise TypeError(dot_errors.batch_counts_differ(x_batch, y_batch))
    for side, shape, contract, batch in (
        ("lhs", x, x_contract, x_batch),
        ("rhs", y, y_contract, y_batch),
    ):
        if not all(0 <= dim < len(shape) for dim in (*contract, *batch)):
            raise TypeError(dot_errors.dims_out_of_range(side, batch, contract, shape))
        for kind, listed in (("batch", batch), ("contracting", contract)):
            if len(set(listed)) != len(listed):
                raise TypeError(dot_errors.dims_repeat(side, kind, listed))
        if set(batch) & set(contract):
            raise TypeError(dot_errors.dims_overlap(side, batch, contract))
    for kind, of_x, of_y in (
        ("lhs batch dimensions and rhs batch", x_batch, y_batch),
        ("contracting", x_contract, y_contract),
    ):
        x_sizes, y_sizes = [x[dim] for dim in of_x], [y[dim] for dim in of_y]
        if x_sizes != y_sizes:
            raise TypeError(dot_errors.sizes_differ(kind, x_sizes, y_sizes, x, y))


@lru_cache(maxsize=1024)
def product_dtype(x: Any, y: Any) -> Any:
    """The dtype of a product, as XLA has it: that of the operand whose numbers are richer."""
    rank_x, rank_y = richness(x), richness(y)
    if rank_x == rank_y and x != y:
        raise TypeError(dot_errors.dtypes_incompatible(x, y))
    return x if rank_x >= rank_y else y


def richness(dtype: Any) -> tuple:
    """A key by which dtypes are ordered: complex, range, exactness, width, signedness."""
    is_complex = dtypes.issubdtype(dtype, np.complexfloating)
    if dtypes.issubdtype(dtype, np.inexact):
        info = dtypes.finfo(dtype)
        return is_complex, info.maxexp, info.nmant, info.bits, True
    width = 1 if dtype == np.bool_ else dtypes.itemsize_bits(dtype)
    return is_complex, -1, -1, width, not dtypes.issubdtype(dtype, np.unsignedinteger)


# ---------------------------------------------------------------- adjoint and batches


def cotangent_of_operand(
    ct: Any,
    aval: Any,
    other: Any,
    numbers: Any,
    other_first: bool,
    *,
    precision: Any,
    preferred_element_type: Any,
) -> Any:
    """The cotangent of one operand x of a product, given the other operand y.

    In <ct, x.y>, the dimensions of ct are those of the batch, those kept of x and those kept of y
    (or of y and x, with `other_first`).  So the gradient in x is the product of ct and y over the
    dimensions kept of y, batch by batch.  Its dimensions are those of the batch, those kept of x,
    and those in which y was contracted, in their order in y: to be permuted into that of x.
    """
    (x_contract, y_contract), (x_batch, y_batch) = numbers
    x_kept = without(range(aval.ndim), (*x_contract, *x_batch))
    y_kept = without(range(aval_of(other).ndim), (*y_contract, *y_batch))
    start = len(x_batch) + (0 if other_first else len(x_kept))
    of_ct = tuple(range(start, start + len(y_kept)))
    product = dot_general(
        ct,
        other,
        ((of_ct, y_kept), (tuple(range(len(x_batch))), y_batch)),
        precision,
        preferred_element_type,
    )
    by_y = [x_dim for _, x_dim in sorted(zip(y_contract, x_contract))]
    result = linear.transpose(product, linear.inverse([*x_batch, *x_kept, *by_y]))
    if aval_of(result).dtype == aval.dtype:
        return result
    return convert(result, aval.dtype, aval.weak_type)


def batched_dimension_numbers(ndims: Any, dims: Any, numbers: Any) -> tuple[Any, int]:
    """Dimension numbers of a product of batches, and the batch's dimension in the output.

    Where both operands are batches, theirs is a further batch dimension of the product, the first;
    where one is, it is a dimension that this operand keeps.
    """
    (x_contract, y_contract), (x_batch, y_batch) = numbers
    x_dim, y_dim = dims
    new_x_contract, new_x_batch = shifted(x_contract, x_dim), shifted(x_batch, x_dim)
    new_y_contract, new_y_batch = shifted(y_contract, y_dim), shifted(y_batch, y_dim)
    if x_dim is not None and y_dim is not None:
        batch = ((x_dim, *new_x_batch), (y_dim, *new_y_batch))
        return ((new_x_contract, new_y_contract), batch), 0
    new = ((new_x_contract, new_y_contract), (new_x_batch, new_y_batch))
    if y_dim is None:
        kept = without(range(ndims[0] - 1), (*x_contract, *x_batch))
        return new, len(x_batch) + sum([dim < x_dim for dim in kept])
    kept = without(range(ndims[1] - 1), (*y_contract, *y_batch))
    return new, ndims[0] - len(x_contract) + sum([dim < y_dim for dim in kept])


def shifted(dims: Dims, dim: int | None) -> Dims:
    """Dimensions of an example as those of a batch along `dim`."""
    return dims if dim is None else tuple([d + (d >= dim) for d in dims])


# ---------------------------------------------------------------- lowering


def computed_dtypes(b: Any, precision: Any) -> tuple[Any, Any, Any]:
    """The dtypes that operands are converted to, and in which the product is computed."""
    x, y, out = b.avals_in[0].dtype, b.avals_in[1].dtype, b.avals_out[0].dtype
    if is_algorithm(precision):
        # CPUs would ignore an algorithm that they do not know.
        if b.platform == "cpu" and precision not in ON_CPU:
            raise ValueError(dot_errors.algorithm_not_on_cpu(precision, ON_CPU))
        return algorithm_dtypes(precision, x, y, out)
    if x != y and not (is_float8(x) and is_float8(y)):
        return out, out, out
    return x, y, out


def algorithm_dtypes(algorithm: Any, x: Any, y: Any, out: Any) -> tuple[Any, Any, Any]:
    """The dtypes in which an algorithm takes operands of given dtypes and gives the result."""
    if isinstance(algorithm, DotAlgorithm):
        given = (algorithm.lhs_precision_type, algorithm.rhs_precision_type)
        return (*map(np.dtype, given), np.dtype(algorithm.accumulation_type))

    def supported(dtype: Any, choices: tuple[Any, ...] | None) -> Any:
        return dtype if choices is None or dtype in choices else np.dtype(choices[0])

    x = supported(x, algorithm.supported_lhs_types)
    y = supported(y, algorithm.supported_rhs_types)
    return x, y, supported(out, algorithm.supported_output_types(x, y))


@lru_cache(maxsize=1024)
def dimension_numbers_attribute(numbers: Any) -> str:
    (x_contract, y_contract), (x_batch, y_batch) = numbers
    return (
        f"#stablehlo.dot<lhs_batching_dimensions = {list(x_batch)}, "
        f"rhs_batching_dimensions = {list(y_batch)}, "
        f"lhs_contracting_dimensions = {list(x_contract)}, "
        f"rhs_contracting_dimensions = {list(y_contract)}>"
    )


# ---------------------------------------------------------------- public functions


def dot_general(
    lhs: Any,
    rhs: Any,
    dimension_numbers: DotDimensionNumbers,
    precision: PrecisionLike = None,
    preferred_element_type: Any = None,
    *,
    out_sharding: Any = None,
) -> Any:
    """The same as `dot`, which takes these arguments by keyword.

    >>> from covector import lax
    >>> x, y = np.ones((5, 2, 3)), np.ones((5, 3, 4))
    >>> lax.dot_general(x, y, (((2,), (1,)), ((0,), (0,)))).shape
    (5, 2, 4)
    """
    return _dot(lhs, rhs, dimension_numbers, precision, preferred_element_type, out_sharding)


def dot(
    lhs: Any,
    rhs: Any,
    *,
    dimension_numbers: DotDimensionNumbers | None = None,
    precision: PrecisionLike = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Any:
    """Multiply arrays, and sum over dimensions of both.

    Args:
      lhs, rhs: arrays. Their dtypes may differ; the richer one is that of the product.
      dimension_numbers: `((lhs_contracting, rhs_contracting), (lhs_batch, rhs_batch))`: the
        dimensions that are summed over in pairs, and those that are matched in pairs but kept. May
        be left out for vectors and matrices, where the last of lhs meets the first of rhs.
      precision: how exactly to compute, for devices that offer a choice: None, a `Precision` or
        its name, a pair of such for the two operands, or an algorithm: a `DotAlgorithm`, a
        `DotAlgorithmPreset` or its name.
      preferred_element_type: the dtype of the result, in which products are best added up too.
      out_sharding: how the result is to be sharded.

    Returns:
      An array whose dimensions are those of the batch, then what is left of lhs, then of rhs.

    Raises:
      TypeError: the dimension numbers do not fit the shapes.
      ValueError: they are needed, or the precision is unknown.

    >>> from covector import lax
    >>> lax.dot(np.array([[1, 2], [3, 4]]), np.array([5, 6]))
    Array([17, 39], dtype=int32)
    """
    if dimension_numbers is None:
        x, y = aval_of(lhs).shape, aval_of(rhs).shape
        if not (0 < len(x) <= 2 and 0 < len(y) <= 2 and x[-1] == y[0]):
            raise ValueError(dot_errors.dimension_numbers_needed(x, y))
        dimension_numbers = (((len(x) - 1,), (0,)), ((), ()))
    return _dot(lhs, rhs, dimension_numbers, precision, preferred_element_type, out_sharding)


def _dot(lhs, rhs, dimension_numbers, precision, preferred_element_type, out_sharding):
    if preferred_element_type is not None:
        preferred_element_type = dtypes.check_user_dtype_supported(preferred_element_type, "dot")
    return dot_general_p.bind(
        lhs,
        rhs,
        dimension_numbers=canonical_dimension_numbers(dimension_numbers),
        precision=canonicalize_precision(precision),
        preferred_element_type=preferred_element_type,
        out_sharding=out_sharding,
    )


def canonical_dimension_numbers(numbers: Any) -> Any:
    """Dimension numbers as nested tuples; a single dimension may be given as an integer."""
    try:
        return _canonical_dimension_numbers(numbers)
    except TypeError:  # they contain lists
        return _canonical_dimension_numbers.__wrapped__(numbers)


@lru_cache(maxsize=1024)
def _canonical_dimension_numbers(numbers: Any) -> Any:
    return tuple(
        [
            tuple([integers_or_integer(dims, "dot_general", "dimension_numbers") for dims in pair])
            for pair in numbers
        ]
    )


def batch_matmul(lhs: Any, rhs: Any, precision: PrecisionLike = None) -> Any:
    """Multiply batches of matrices.

    Args:
      lhs, rhs: arrays of shapes `(*batch, n, k)` and `(*batch, k, m)`.
      precision: as for `dot`.

    Returns:
      An array of shape `(*batch, n, m)`. `ValueError` is raised if the ranks differ or are below 2.

    >>> from covector import lax
    >>> lax.batch_matmul(np.ones((5, 2, 3)), np.ones((5, 3, 4))).shape
    (5, 2, 4)
    """
    x, y = aval_of(lhs).shape, aval_of(rhs).shape
    if len(x) != len(y) or len(x) < 2:
        raise ValueError(dot_errors.batch_matmul_ranks(x, y))
    batch = tuple(range(len(x) - 2))
    contract = ((len(x) - 1,), (len(y) - 2,))
    return dot_general(lhs, rhs, (contract, (batch, batch)), precision)
