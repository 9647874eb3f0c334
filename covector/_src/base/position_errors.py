"""The wording of errors of NumPy's functions of positions: indices, edits, grids, files."""

from __future__ import annotations

from collections.abc import Sequence

Shape = Sequence[int]

# ---------------------------------------------------------------- ranges


def traced_range(name: str, what: str, aval: object, origin: str) -> str:
    made = f" It was made {origin}." if origin else ""
    return (
        f"[{name}] The slice {what} of jnp.{name} is a traced value of type {aval}, and so the "
        f"length of the range is not known.{made} Make the value a static argument "
        "(static_argnums or static_argnames of jit)."
    )


# ---------------------------------------------------------------- indices


def negative(where: str, what: str, value: int) -> str:
    return f"[{where}] {what} argument to {where} must be nonnegative, got {value}."


def rank_at_least_2(where: str, shape: Shape) -> str:
    return f"[{where}] The array must be at least 2-d, but its shape is {tuple(shape)}."


def rank_exactly_2(where: str, shape: Shape) -> str:
    return f"[{where}] Only 2-D inputs are accepted, but the shape is {tuple(shape)}."


def unequal_sizes(where: str, shape: Shape) -> str:
    return (
        f"[{where}] All dimensions of input must be of equal length, but the shape is "
        f"{tuple(shape)}."
    )


def mesh_of_array(shape: Shape) -> str:
    return f"[ix_] Arguments to jax.numpy.ix_ must be 1-dimensional, got shape {tuple(shape)}."


def mesh_of_mask() -> str:
    return (
        "[ix_] Boolean arguments to jax.numpy.ix_ are not implemented. Give `nonzero(mask)[0]` "
        "in place of a mask."
    )


def index_counts(indices: int, dims: int) -> str:
    return (
        f"[ravel_multi_index] There must be one array of indices for each dimension, but there "
        f"are {indices} for {dims}."
    )


def indices_dtype(where: str, dtype: object) -> str:
    return (
        f"[{where}] only int indices permitted, but their dtype is {dtype}. Convert them with "
        "`astype(int)`."
    )


def result_dtype(dtype: object) -> str:
    return f"[ravel_multi_index] dtype={dtype!r} is not an integer type."


def dtype_too_small(dims: Shape, dtype: object) -> str:
    return (
        f"[ravel_multi_index] dtype={dtype!r} not large enough to hold flattened index for "
        f"dims={tuple(dims)}. Give a wider one as `dtype`."
    )


def out_of_bounds(where: str, index: int, size: int) -> str:
    what = "coordinates" if where == "ravel_multi_index" else "choice"
    return (
        f"invalid entry in {what} array of {where}: {index}, where indices go from 0 to "
        f"{size - 1}. Give mode='wrap' or mode='clip' to bring it into bounds."
    )


def unknown_mode(where: str, mode: object, modes: Sequence[str]) -> str:
    listed = ", ".join(map(repr, modes))
    return f"[{where}] invalid mode={mode!r}. Expected one of {listed}."


def mode_needs_values(where: str, aval: object, origin: str) -> str:
    return (
        f"[{where}] With mode='raise' the indices must be known, but they are traced: {aval}. "
        f"{origin} Use mode='wrap' or mode='clip' instead."
    )


def flat_shape(shape: object) -> str:
    return f"[unravel_index] shape should be a scalar or 1D sequence, but it is {shape!r}."


# ---------------------------------------------------------------- edits


def condition_shape(shape: Shape) -> str:
    return f"[compress] condition must be a 1D array, but its shape is {tuple(shape)}."


def condition_too_long(size: int, length: int) -> str:
    return (
        f"[compress] condition contains entries that are out of bounds: it holds beyond place "
        f"{length - 1} of {length}, and has {size} places."
    )


def count_out_of_range(size: int, length: int) -> str:
    return (
        "[compress] size must be positive and not greater than the size of the array axis; got "
        f"size={size} for {length}."
    )


def in_place(where: str) -> str:
    return (
        f"[{where}] Arrays are immutable, so jax.numpy.{where} cannot modify them in-place: must "
        "use inplace=False, and the function's result."
    )


def wrapped_diagonal() -> str:
    return "[fill_diagonal] wrap=True is not implemented, must use wrap=False."


def place_sizes(arr: Shape, mask: Shape) -> str:
    return (
        "[place] arr and mask must be the same size, but their shapes are "
        f"{tuple(arr)} and {tuple(mask)}."
    )


def nothing_to_place() -> str:
    return "[place] Cannot place values from an empty array. Give at least one."


def insertion_places(what: object) -> str:
    return (
        "[insert] jnp.insert(): obj must be a slice, a one-dimensional array, or a scalar; got "
        f"{what}."
    )


def insertion_dtype(dtype: object) -> str:
    return (
        f"[insert] jnp.insert(): index array must be integer typed; its dtype is {dtype}. Give "
        "`nonzero(mask)[0]` in place of a mask."
    )


def deletion_mask(shape: Shape, size: int) -> str:
    return (
        "[delete] for boolean indices, obj must be one-dimensional with length matching specified "
        f"axis, but it has shape {tuple(shape)} for {size}."
    )


def deletion_dtype(dtype: object) -> str:
    return f"[delete] obj must be integer or bool, but its dtype is {dtype}."


def deleted_unknown(aval: object, origin: str) -> str:
    return (
        f"[delete] 'obj' array argument of jnp.delete() must be known, but it is traced: {aval}. "
        f"{origin} Give `assume_unique_indices=True` if no index is there twice."
    )


def trimmed_unknown(aval: object, origin: str) -> str:
    return (
        "[trim_zeros] The `filt` argument of trim_zeros() must be known, since the result's shape "
        f"depends on it, but it is traced: {aval}. {origin}"
    )


# ---------------------------------------------------------------- grids and joined ranges


def unknown_directive(where: str, directive: str) -> str:
    return (
        f"[{where}] could not understand directive {directive!r}. It is 'r', 'c', or up to three "
        "integers with commas: axis, least rank, and where the dimensions of shorter ones go."
    )


def late_directive(where: str, directive: str) -> str:
    return f"[{where}] string directive must be placed at the beginning, unlike {directive!r}."


# ---------------------------------------------------------------- functions applied to arrays


def applied_shape(given: Shape, result: Shape) -> str:
    return (
        "[apply_over_axes] function is not returning an array of the correct shape: of "
        f"{tuple(given)} it made {tuple(result)}. It may keep the axis or remove it."
    )


def piecewise_counts(conditions: int, functions: int) -> str:
    return (
        f"[piecewise] with {conditions} condition(s), either {conditions} or {conditions + 1} "
        f"functions are expected; got {functions}."
    )


# ---------------------------------------------------------------- files


def impure(name: str) -> str:
    return (
        f"[{name}] jnp.{name}() is not implemented because it may be non-pure: what it reads is "
        f"gone for the next call. Read with NumPy first: `jnp.asarray(np.{name}(...))`."
    )
