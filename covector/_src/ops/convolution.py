"""`conv_general_dilated`: windows of an array that move over another, with all its options.

The first two dimensions of each operand and of the result play parts of their own; the dimension
numbers tell which they are.  Leaving out the spatial dimensions, along which the windows move, a
convolution is a product of matrices of (batch, features) and (features, output features).  With
groups it is one product for each:

    groups of features   (m, g c) and (g o, c)   ->  (m, g o)
    groups of batches    (g m, c) and (g o, c)   ->  (m, g o)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..base import convolution_errors, dtypes
from ..base.dims import has_symbolic
from ..base.shapes import integers, without
from ..core.avals import ShapedArray, aval_of
from ..core.zeros import UndefinedPrimal, Zero
from .arithmetic import add_p, sub_p
from .base import Sample, draw
from .complex import complex_p, imag_p, real_p
from .conversion import convert
from .convolution_on_cpu import emit_otherwise, prefer_own_convolution
from .convolution_reference import convolved
from .convolution_shapes import (
    ConvDimensionNumbers,
    ConvGeneralDilatedDimensionNumbers,
    Convolution,
    conv_dimension_numbers,
    conv_shape_tuple,
    in_order,
    out_of_order,
)
from .families import check_same_dtypes
from .linear import Bilinear, full
from .precision import PrecisionLike, canonicalize_precision, precision_attributes
from .shaping import reshape, rev
from .windows_shapes import Sizes, adjoint_padding, dilated, pads_of_pairs, padtype_to_pads

# ---------------------------------------------------------------- the primitive


class ConvGeneralDilated(Bilinear):
    """Sum the products of a window, rhs, with what it covers of lhs, at each of its places."""

    def shape(
        self,
        x,
        y,
        *,
        window_strides,
        padding,
        lhs_dilation,
        rhs_dilation,
        dimension_numbers,
        batch_group_count,
        feature_group_count,
        **params,
    ):
        if x.ndim != y.ndim:
            raise ValueError(convolution_errors.ranks_differ(x.shape, y.shape))
        lhs_spec, rhs_spec, out_spec = dimension_numbers
        lhs, rhs = in_order(x.shape, lhs_spec), in_order(y.shape, rhs_spec)
        check_groups(lhs, rhs, feature_group_count, batch_group_count)
        if len(rhs) - 2 != len(window_strides):
            raise ValueError(convolution_errors.strides_count(window_strides, rhs[2:]))
        lhs = (*lhs[:2], *dilated(lhs[2:], lhs_dilation))
        rhs = (*rhs[:2], *dilated(rhs[2:], rhs_dilation))
        out = conv_shape_tuple(lhs, rhs, window_strides, padding, batch_group_count)
        return out_of_order(out, out_spec)

    def dtype(self, x, y, *, preferred_element_type, **params):
        check_same_dtypes(self.name, (x, y))
        if preferred_element_type is None:
            return x.dtype
        check_preferred(self.name, x.dtype, preferred_element_type)
        return preferred_element_type

    def ref(self, x, y, **params):
        preferred = params["preferred_element_type"]
        dtype = x.dtype if preferred is None else preferred
        return convolved(x, y, dtype, Convolution(**params))

    def transpose(self, ct, x, y, **params):
        conv = Convolution(**params)
        if type(x) is UndefinedPrimal:
            return cotangent_of_lhs(ct, x.aval, y, conv), None
        return None, cotangent_of_rhs(ct, x, y.aval, conv)

    def vmap(
        self,
        axis,
        dims,
        x,
        y,
        *,
        dimension_numbers,
        feature_group_count,
        batch_group_count,
        **params,
    ):
        (lhs_batch, lhs_features, *_), (outputs, *_), (out_batch, out_features, *_) = (
            dimension_numbers
        )
        groups = {
            "feature_group_count": feature_group_count,
            "batch_group_count": batch_group_count,
        }
        params = params | {"dimension_numbers": dimension_numbers}
        x_dim, y_dim = dims
        if axis.size == 0:
            avals = [
                aval if dim is None else aval.update(shape=without(aval.shape, (dim,)))
                for aval, dim in zip(map(aval_of, (x, y)), dims)
            ]
            out, _ = self.typecheck(tuple(avals), params | groups)
            return full((0, *out.shape), 0, out.dtype), 0
        if y_dim is None:  # the examples are so many more of the batch
            x = merged(x, x_dim, lhs_batch, batch_group_count)
            out = self.bind(x, y, **groups, **params)
            return parted(out, out_batch, axis.size), out_batch
        if x_dim is None:  # the windows of all examples are so many more outputs
            count = max(groups.values())
            out = self.bind(x, merged(y, y_dim, outputs, count), **groups, **params)
            if count == 1:
                return parted(out, out_features, axis.size), out_features
            out = parted(parted(out, out_features, count), out_features + 1, axis.size)
            return merged(out, out_features, out_features + 1), out_features
        # Each example, with its own windows, is a group.
        kind = "batch_group_count" if batch_group_count > 1 else "feature_group_count"
        x = merged(x, x_dim, lhs_batch if batch_group_count > 1 else lhs_features)
        groups[kind] *= axis.size
        out = self.bind(x, merged(y, y_dim, outputs), **groups, **params)
        return parted(out, out_features, axis.size), out_features

    def emit(self, b, x, y, **params):
        (out,), conv = b.avals_out, Convolution(**params)
        # XLA's convolutions of complex numbers are slow on CPUs, and missing on GPUs.
        if dtypes.issubdtype(out.dtype, np.complexfloating) and b.platform != "tpu":
            (found,) = b.written(lambda x, y: [of_real_numbers(x, y, conv)], [x, y])
            return found
        if b.platform == "cpu":
            found = emit_otherwise(b, x, y, conv)
            if found is not None:
                return found
            prefer_own_convolution(b, conv)
        return emit_convolution(b, x, y, out, conv)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for x_shape, y_shape, options in _SAMPLES:
            params = conv_params(len(x_shape)) | options
            for dtype in ("float32", "complex64", "int32"):
                args = (draw(rng, x_shape, dtype), draw(rng, y_shape, dtype))
                yield Sample(args, params)
        half = (draw(rng, (1, 1, 4), "bfloat16"), draw(rng, (1, 1, 2), "bfloat16"))
        yield Sample(half, conv_params(3))


def conv_params(ndim: int) -> dict[str, Any]:
    """The parameters of a convolution of arrays of `ndim` dimensions without any option."""
    ones = (1,) * (ndim - 2)
    same = tuple(range(ndim))
    return dict(
        window_strides=ones,
        padding=((0, 0),) * (ndim - 2),
        lhs_dilation=ones,
        rhs_dilation=ones,
        dimension_numbers=ConvDimensionNumbers(same, same, same),
        feature_group_count=1,
        batch_group_count=1,
        precision=None,
        preferred_element_type=None,
        out_sharding=None,
    )


# Shapes of lhs and rhs, and options, on which the contract tests sample convolutions.
_SAMPLES: tuple[tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]], ...] = (
    ((2, 3), (4, 3), {}),
    ((2, 1, 5), (3, 1, 2), {}),
    (
        (1, 2, 5, 4),
        (3, 2, 2, 3),
        dict(window_strides=(2, 1), padding=((1, 2), (0, -1)), lhs_dilation=(1, 2)),
    ),
    (
        (5, 2, 2),
        (3, 2, 2),
        dict(
            rhs_dilation=(2,),
            padding=((1, 0),),
            dimension_numbers=ConvDimensionNumbers((1, 2, 0), (2, 1, 0), (2, 0, 1)),
        ),
    ),
    ((1, 4, 3), (6, 2, 2), dict(feature_group_count=2, padding=((1, 1),))),
    ((4, 2, 3), (6, 2, 2), dict(batch_group_count=2, window_strides=(2,), padding=((1, 1),))),
    ((1, 1, 2), (2, 1, 3), {}),
    ((0, 1, 3), (2, 1, 2), {}),
)

conv_general_dilated_p = ConvGeneralDilated("conv_general_dilated")

# ---------------------------------------------------------------- types


def check_groups(lhs: Sizes, rhs: Sizes, features: int, batches: int) -> None:
    """Raise unless lhs and rhs, in the primitive's order, fall into such groups."""
    for what, count in (("feature_group_count", features), ("batch_group_count", batches)):
        if count < 1:
            raise ValueError(convolution_errors.groups_not_positive(what, count))
    if features > 1 and batches > 1:
        raise ValueError(convolution_errors.groups_of_both_kinds(features, batches))
    of_lhs, of_rhs = "lhs feature dimension size", "rhs output feature dimension size"
    for what, count, dimension, size, shape in (
        ("feature_group_count", features, of_lhs, lhs[1], lhs),
        ("feature_group_count", features, of_rhs, rhs[0], rhs),
        ("batch_group_count", batches, "lhs batch dimension size", lhs[0], lhs),
        ("batch_group_count", batches, of_rhs, rhs[0], rhs),
    ):
        if size % count:
            error = convolution_errors.groups_do_not_divide(what, count, dimension, size, shape)
            raise ValueError(error)
    if lhs[1] // features != rhs[1]:
        raise ValueError(convolution_errors.features_differ(lhs[1], features, rhs[1]))


def check_preferred(name: str, dtype: Any, preferred: Any) -> None:
    """Raise unless products of numbers of a dtype may be added up in the preferred one."""
    integer = dtypes.issubdtype(dtype, np.integer)
    kinds = (np.integer, np.floating, np.complexfloating)
    kind = next((kind for kind in kinds if dtypes.issubdtype(dtype, kind)), None)
    fits = kind is None or dtypes.issubdtype(preferred, kind)
    if integer and fits:
        signed = [dtypes.issubdtype(dt, np.signedinteger) for dt in (dtype, preferred)]
        fits = signed[1] or not signed[0]
    if not fits and not (integer and dtypes.issubdtype(preferred, np.floating)):
        raise TypeError(convolution_errors.preferred_type(name, preferred, dtype))
    if dtypes.itemsize_bits(preferred) < dtypes.itemsize_bits(dtype):
        raise TypeError(convolution_errors.preferred_narrow(name, preferred, dtype))


# ---------------------------------------------------------------- adjoints
#
# With the spatial dimensions left out, and in terms of groups g:
#
#     ct_lhs   of features   (m, g o) and (g c, o)  ->  (m, g c)    groups of features
#              of batches    (m, g o) and (g c, o)  ->  (m, g c)    the same; then (g m, c)
#     ct_rhs   of features   (g c, m) and (m, g o)  ->  (c, g o)    groups of batches
#              of batches    (c, g m) and (m, g o)  ->  (c, g o)    groups of features
#
# where rhs, which holds (g o, c), is first rearranged to (o, g c).


def cotangent_of_lhs(ct: Any, aval: ShapedArray, y: Any, conv: Convolution) -> Any:
    """The convolution of the cotangents with the window reversed; see `adjoint_padding`."""
    lhs_spec, rhs_spec, out_spec = conv.dimension_numbers
    spatial_sizes = in_order(aval_of(y).shape, rhs_spec[2:])
    groups = conv.groups
    if groups > 1:
        y = merged(parted(y, rhs_spec[0], groups), rhs_spec[0], rhs_spec[1])
    y = rev(y, rhs_spec[2:])
    dtype = aval_of(ct).dtype
    y = convert(y, dtype) if aval_of(y).dtype != dtype else y
    adjoint = conv._replace(
        window_strides=conv.lhs_dilation,
        padding=adjoint_padding(
            in_order(aval.shape, lhs_spec[2:]),
            spatial_sizes,
            conv.window_strides,
            in_order(aval_of(ct).shape, out_spec[2:]),
            conv.padding,
            conv.lhs_dilation,
            conv.rhs_dilation,
        ),
        lhs_dilation=conv.window_strides,
        dimension_numbers=ConvDimensionNumbers(out_spec, swapped(rhs_spec), lhs_spec),
        feature_group_count=groups,
        batch_group_count=1,
    )
    out = conv_general_dilated_p.bind(ct, y, **adjoint._asdict())
    if aval_of(out).dtype != aval.dtype:
        out = convert(out, aval.dtype)
    if conv.batch_group_count > 1:
        out = merged(parted(out, lhs_spec[1], groups), lhs_spec[1], lhs_spec[0])
    return out


def cotangent_of_rhs(ct: Any, x: Any, aval: ShapedArray, conv: Convolution) -> Any:
    """The convolution of lhs with the cotangents for the window.

    ct_rhs_j = sum_i ct_i x_{s i + b j - low}: the window's elements lie s apart, and its places b.
    The padding is such that there are as many places as rhs has elements.
    """
    if aval_of(ct).size == 0:
        return Zero(aval.to_cotangent_aval())
    lhs_spec, rhs_spec, out_spec = conv.dimension_numbers
    pads = [
        (low, m + k - 1 - n - low)
        for n, k, m, (low, _) in zip(
            dilated(in_order(aval_of(x).shape, lhs_spec[2:]), conv.lhs_dilation),
            dilated(in_order(aval.shape, rhs_spec[2:]), conv.rhs_dilation),
            dilated(in_order(aval_of(ct).shape, out_spec[2:]), conv.window_strides),
            conv.padding,
        )
    ]
    dtype = aval_of(ct).dtype
    x = convert(x, dtype) if aval_of(x).dtype != dtype else x
    adjoint = conv._replace(
        window_strides=conv.rhs_dilation,
        padding=tuple(pads),
        rhs_dilation=conv.window_strides,
        dimension_numbers=ConvDimensionNumbers(*map(swapped, (lhs_spec, out_spec, rhs_spec))),
        feature_group_count=conv.batch_group_count,
        batch_group_count=conv.feature_group_count,
    )
    out = conv_general_dilated_p.bind(x, ct, **adjoint._asdict())
    return convert(out, aval.dtype) if aval_of(out).dtype != aval.dtype else out


def swapped(spec: Sizes) -> tuple[int, ...]:
    """A spec with its first two dimensions in each other's role."""
    return (spec[1], spec[0], *spec[2:])


# ---------------------------------------------------------------- moving groups


def merged(x: Any, source: int, into: int, groups: int = 1) -> Any:
    """`x` without dimension `source`, which becomes the outer part of dimension `into`.

    `into` counts the dimensions that remain.  With `groups`, these stay outermost in it.
    """
    if groups > 1:
        x = parted(x, into + (source <= into), groups)
        x = merged(x, source + (into < source), into + 1)
        return merged(x, into, into)
    shape = aval_of(x).shape
    order = list(without(range(len(shape)), (source,)))
    order.insert(into, source)
    sizes = list(without(shape, (source,)))
    sizes[into] *= shape[source]
    return reshape(x, sizes, order)


def parted(x: Any, dim: int, outer: int) -> Any:
    """`x` with dimension `dim` as two, of which the first has size `outer`."""
    shape = aval_of(x).shape
    return reshape(x, (*shape[:dim], outer, shape[dim] // outer, *shape[dim + 1 :]))


# ---------------------------------------------------------------- lowering


def emit_convolution(b: Any, x: Any, y: Any, out: ShapedArray, conv: Convolution) -> Any:
    """Write the convolution of StableHLO."""
    symbolic = any(map(has_symbolic, conv.padding))
    return b.op(
        "convolution",
        x,
        y,
        out=out,
        window_strides=conv.window_strides,
        padding=np.array(conv.padding, object if symbolic else np.int64).reshape(-1, 2),
        lhs_dilation=conv.lhs_dilation,
        rhs_dilation=conv.rhs_dilation,
        dimension_numbers=numbers_attribute(conv.dimension_numbers),
        feature_group_count=conv.feature_group_count,
        batch_group_count=conv.batch_group_count,
        precision_config=precision_attributes(conv.precision),
    )


@lru_cache(maxsize=1024)
def numbers_attribute(numbers: ConvDimensionNumbers) -> str:
    """Dimension numbers as an attribute of StableHLO."""

    def named(spec: Sizes, first: str, second: str) -> str:
        names = dict(zip(spec, (first, second, *map(str, range(len(spec) - 2)))))
        return f"[{', '.join(names[dim] for dim in range(len(spec)))}]"

    lhs, rhs, out = numbers
    return f"#stablehlo.conv<{named(lhs, 'b', 'f')}x{named(rhs, 'o', 'i')}->{named(out, 'b', 'f')}>"


def of_real_numbers(x: Any, y: Any, conv: Convolution) -> Any:
    """A convolution of complex numbers as three of real ones, which is Gauss's way.

    With s = (a + bi) (c + di) and k = (a + b) c: s = k - b (c + d) + (k + a (d - c)) i.
    """
    (a, b), (c, d) = [(real_p.bind(z), imag_p.bind(z)) for z in (x, y)]
    dtype = conv.preferred_element_type
    real = dtype if dtype is None else np.empty(0, dtype).real.dtype
    params = conv._replace(preferred_element_type=real)._asdict()

    def product(x: Any, y: Any) -> Any:
        return conv_general_dilated_p.bind(x, y, **params)

    common = product(add_p.bind(a, b), c)
    re = sub_p.bind(common, product(b, add_p.bind(c, d)))
    return complex_p.bind(re, add_p.bind(common, product(a, sub_p.bind(d, c))))


# ---------------------------------------------------------------- the public function


def conv_general_dilated(
    lhs: Any,
    rhs: Any,
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: ConvGeneralDilatedDimensionNumbers = None,
    feature_group_count: int = 1,
    batch_group_count: int = 1,
    precision: PrecisionLike = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Any:
    """Convolve an array with windows, as neural networks do: without reversing them.

    Args:
      lhs: an array of n + 2 dimensions: a batch, features, and n in which the windows move.
      rhs: windows, of the same dtype: an array of n + 2 dimensions, which are output features,
        input features, and the n of a window.
      window_strides: by how much the windows move in each of the n dimensions.
      padding: how many zeros stand around lhs: pairs `(low, high)`, which may be negative, or
        `"VALID"`, `"SAME"` or `"SAME_LOWER"`, see `padtype_to_pads`.
      lhs_dilation: the steps between elements of lhs, with zeros in between; None means 1. This is
        how a convolution is transposed.
      rhs_dilation: the steps between elements of a window; None means 1.
      dimension_numbers: which dimension is which, as `conv_dimension_numbers` takes it. None
        means the order above, for lhs and the result; of three strings such as `("NHWC", "HWIO",
        "NHWC")`, the second says in which order the spatial dimensions are counted.
      feature_group_count: into how many groups the features of lhs fall. Each is convolved with
        its part of the output features of rhs, which has as many input features as a group.
      batch_group_count: into how many groups the batch falls, each with its part of the output
        features. The batch of the result is as large as a group.
      precision: how exactly to compute, as for `dot`.
      preferred_element_type: the dtype in which products are added up and returned.
      out_sharding: how the result is to be sharded.

    Returns:
      An array of n + 2 dimensions: the batch, output features, and the places of the window.

    Raises:
      ValueError: the shapes, groups or padding do not fit.
      TypeError: the dtypes or the dimension numbers do not.

    >>> from covector import lax
    >>> x = np.arange(5.0).reshape(1, 1, 5)
    >>> lax.conv_general_dilated(x, np.array([[[1.0, 10.0]]]), (1,), "VALID")
    Array([[[10., 21., 32., 43.]]], dtype=float32)
    """
    x, y = aval_of(lhs).shape, aval_of(rhs).shape
    where = "conv_general_dilated"
    specs = conv_dimension_numbers(x, y, dimension_numbers)
    numbers = ConvDimensionNumbers(*[integers(s, where, "dimension_numbers") for s in specs])
    strides = integers(window_strides, where, "window_strides")
    of_lhs = dilation_argument(lhs_dilation, len(x), "lhs_dilation")
    of_rhs = dilation_argument(rhs_dilation, len(y), "rhs_dilation")
    if preferred_element_type is not None:
        preferred_element_type = dtypes.check_user_dtype_supported(preferred_element_type, where)
    if not isinstance(padding, str):
        pads = pads_of_pairs(padding, where)
    elif any(step != 1 for step in of_lhs):
        raise ValueError(convolution_errors.padding_by_name_of_dilated(padding, of_lhs))
    else:
        sizes = in_order(x, numbers.lhs_spec[2:])
        window = dilated(in_order(y, numbers.rhs_spec[2:]), of_rhs)
        pads = tuple(padtype_to_pads(sizes, window, strides, padding))
    return conv_general_dilated_p.bind(
        lhs,
        rhs,
        window_strides=strides,
        padding=pads,
        lhs_dilation=of_lhs,
        rhs_dilation=of_rhs,
        dimension_numbers=numbers,
        feature_group_count=feature_group_count,
        batch_group_count=batch_group_count,
        precision=canonicalize_precision(precision),
        preferred_element_type=preferred_element_type,
        out_sharding=out_sharding,
    )


def dilation_argument(dilation: Any, ndim: int, what: str) -> tuple[int, ...]:
    """A dilation as a tuple; None for none."""
    if dilation is None:
        return (1,) * (ndim - 2)
    return integers(dilation, "conv_general_dilated", what)
