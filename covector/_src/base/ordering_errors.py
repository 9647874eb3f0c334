"""The wording of errors of NumPy's functions about order: sorting, searching, sets, histograms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Shape = Sequence[int]

# ---------------------------------------------------------------- sorting


def kind_of_sort(where: str) -> str:
    return (
        f"[{where}] 'kind' argument to {where} is not supported. Use stable=True or stable=False "
        "to specify sort stability."
    )


def order_of_sort(where: str) -> str:
    return (
        f"[{where}] 'order' argument to {where} is not supported: there are no arrays with fields. "
        "Use `lexsort` to sort by several arrays."
    )


def no_keys() -> str:
    return "[lexsort] need sequence of keys with len > 0 in lexsort, but there is none."


def key_shapes(shapes: Iterable[Shape]) -> str:
    listed = ", ".join(str(tuple(shape)) for shape in shapes)
    return f"[lexsort] all keys need to be the same shape, but their shapes are {listed}."


def complex_partition(where: str, dtype: object) -> str:
    return (
        f"jnp.{where} for complex dtype is not implemented, and the array's dtype is {dtype}. Use "
        f"`{'sort' if where == 'partition' else 'argsort'}`."
    )


# ---------------------------------------------------------------- searching


def sorted_not_vector(shape: Shape) -> str:
    return (
        f"[searchsorted] a should be 1-dimensional, but has shape {tuple(shape)}. Search the rows "
        "of a matrix with `covector.vmap`."
    )


def search_side(side: object) -> str:
    return (
        f"[searchsorted] {side!r} is an invalid value for keyword 'side'. It is 'left' or 'right'."
    )


def search_method(method: object, methods: Iterable[str]) -> str:
    return (
        f"[searchsorted] {method!r} is an invalid value for keyword 'method'. Expected one of "
        f"{tuple(methods)}."
    )


def bins_not_vector(shape: Shape) -> str:
    return f"digitize: bins must be a 1-dimensional array; got shape {tuple(shape)}."


# ---------------------------------------------------------------- order statistics


def quantile_method(where: str, method: object, methods: Iterable[str]) -> str:
    listed = ", ".join(repr(name) for name in methods)
    return f"[{where}] method can only be one of {listed}, but is {method!r}."


def quantile_of_complex(where: str, dtype: object) -> str:
    return (
        f"[{where}] quantile does not support complex input, as the operation is poorly defined; "
        f"the array's dtype is {dtype}."
    )


def overwritten_input(where: str) -> str:
    return (
        f"[{where}] jax.numpy.{where} does not support overwrite_input=True or out != None: arrays "
        "are immutable."
    )


def quantile_rank(where: str, shape: Shape) -> str:
    return f"[{where}] q must be have rank <= 1, got shape {tuple(shape)}."


def quantile_weights_method(where: str, method: str) -> str:
    return (
        f"[{where}] {method} doesn't support weights. Only method 'inverted_cdf' supports weights."
    )


def quantile_weights_complex(where: str) -> str:
    return f"[{where}] Weights cannot be complex types."


def quantile_weights_shape(where: str, weights: Shape, expected: Shape) -> str:
    return (
        f"[{where}] Weights shape {tuple(weights)} must match reduction axes, of sizes "
        f"{tuple(expected)}, or the array."
    )


def quantile_weights_without_axis(where: str, weights: Shape, shape: Shape) -> str:
    return (
        f"[{where}] Weights shape must match 'a' shape when axis is None: they are "
        f"{tuple(weights)} and {tuple(shape)}."
    )


# ---------------------------------------------------------------- sets


def unknown_values(where: str, aval: object, behind: str) -> str:
    return (
        f"[{where}] The number of results depends on the values of the array, which is traced, of "
        f"type {aval}: {behind} Give their number as `size`."
    )


def nothing_to_fill_with(where: str) -> str:
    return (
        f"jnp.{where}: for zero-sized input with nonzero size argument, fill_value must be "
        "specified."
    )


def membership_method(method: object) -> str:
    return (
        f"[isin] method={method!r} is not implemented; options are 'compare_all', "
        "'binary_search', 'sort', and 'auto'."
    )


# ---------------------------------------------------------------- counting


def bincount_dtype(dtype: object) -> str:
    return (
        f"x argument to bincount must have an integer type; got {dtype}. Convert it: "
        "`x.astype(int)`."
    )


def unknown_length(aval: object, behind: str) -> str:
    return (
        "[bincount] The length of the result depends on the greatest element of x, which is "
        f"traced, of type {aval}: {behind} To avoid this error, pass a static `length` argument."
    )


def bincount_rank(shape: Shape) -> str:
    return f"[bincount] only 1-dimensional input supported, but the shape is {tuple(shape)}."


def bincount_weights(x: Shape, weights: Shape) -> str:
    return (
        f"[bincount] shape of weights must match shape of x, but they are {tuple(weights)} and "
        f"{tuple(x)}."
    )


def negative_bins(bins: int) -> str:
    return f"[histogram] The number of bins must be positive, got {bins}."


def bins_in_words(bins: str) -> str:
    return (
        f"[histogram_bin_edges] string values for `bins` not implemented, and it is {bins!r}. Give "
        "the number of bins, or their edges."
    )


def histogram_range(range_: object) -> str:
    return f"[histogram] `range` must be either None or a sequence of scalars, got {range_}"


def histogram_weights(weights: Shape, shape: Shape) -> str:
    return (
        f"[histogram] weights should have the same shape as a, but the shapes are "
        f"{tuple(weights)} and {tuple(shape)}."
    )


def sample_weights(weights: Shape, sample: Shape) -> str:
    return (
        f"[histogramdd] should have one weight for each sample, but the shape of the weights is "
        f"{tuple(weights)}, and that of the samples {tuple(sample)}."
    )


def sample_ranges(sample: Shape, range_: object) -> str:
    return (
        f"[histogramdd] For sample.shape={tuple(sample)}, range must be a sequence of {sample[1]} "
        f"pairs or Nones; got range={range_}"
    )


def sample_bins(count: int, dimensions: int) -> str:
    return (
        f"[histogramdd] should be a bin for each dimension: there are {count} for {dimensions} "
        "dimensions."
    )
