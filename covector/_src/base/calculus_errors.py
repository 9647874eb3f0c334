"""The wording of errors of NumPy's functions of numbers: polynomials, samples, floats, integers."""

from __future__ import annotations

from collections.abc import Sequence

Shape = Sequence[int]

# ---------------------------------------------------------------- dtypes


def not_integers(where: str, dtype: object) -> str:
    return (
        f"[{where}] Arguments to jax.numpy.{where} must be integers, but their common dtype is "
        f"{dtype}. Convert them with `astype(int)`."
    )


def not_for_complex(where: str, dtype: object) -> str:
    return (
        f"[{where}] jnp.{where} does not support complex-valued inputs, but the dtype is {dtype}. "
        "Apply it to the real and the imaginary part."
    )


def not_floats(where: str, dtype: object) -> str:
    return (
        f"[{where}] Unsupported input type to jax.numpy.{where}: {dtype}. It must be real; take "
        "`x.real`."
    )


def ldexp_dtypes(x1: object, x2: object) -> str:
    return (
        f"[ldexp] ldexp not supported for input types {(x1, x2)}. The first must be real, the "
        "second an integer: use `astype(int)`."
    )


def not_bytes(where: str, dtype: object) -> str:
    return (
        f"[{where}] Expected an input array of unsigned byte data type, but the dtype is {dtype}. "
        "Convert it with `astype('uint8')`."
    )


def not_bits(where: str, dtype: object) -> str:
    return (
        f"[{where}] Expected an input array of integer or boolean data type, but the dtype is "
        f"{dtype}. Compare it with 0."
    )


def bit_order(where: str, order: object) -> str:
    return f"[{where}] 'order' must be either 'little' or 'big', but `bitorder` is {order!r}."


# ---------------------------------------------------------------- polynomials


def not_a_polynomial(where: str, shape: Shape) -> str:
    return (
        f"[{where}] Input must be a rank-1 array of coefficients, but its shape is {tuple(shape)}. "
        "Apply the function to rows with `vmap`."
    )


def roots_of_unknown(aval: object, origin: str) -> str:
    return (
        "[roots] How many leading coefficients are 0 must be known, but the polynomial is traced: "
        f"{aval}. {origin} Give `strip_zeros=False`; then roots that do not exist are NaN."
    )


def rest_unknown(aval: object, origin: str) -> str:
    return (
        "[polydiv] With `trim_leading_zeros` the polynomials must be known, but the rest is "
        f"traced: {aval}. {origin} Leave that argument out."
    )


def not_a_vector(shape: Shape) -> str:
    return (
        f"[vander] x must be a one-dimensional array, but its shape is {tuple(shape)}. Apply the "
        "function to rows with `vmap`."
    )


def negative_count_of_powers(count: int) -> str:
    return f"[vander] N must be nonnegative, but it is {count}."


def not_zeros_of_a_polynomial(shape: Shape) -> str:
    return (
        "[poly] input must be 1d or non-empty square 2d array, but its shape is "
        f"{tuple(shape)}. Give a vector of zeros, or a matrix whose eigenvalues they are."
    )


def negative_order(where: str, m: int) -> str:
    what = "integral" if where == "polyint" else "derivative"
    other = "polyder" if where == "polyint" else "polyint"
    return f"[{where}] Order of {what} must be positive, but it is {m}. See `{other}`."


def integration_constants(shape: Shape, m: int) -> str:
    return (
        "[polyint] k must be a scalar or a rank-1 array of length 1 or m, but its shape is "
        f"{tuple(shape)} and m is {m}."
    )


def negative_degree(deg: int) -> str:
    return f"[polyfit] expected deg >= 0, but it is {deg}."


def points_to_fit(x: Shape, y: Shape) -> str:
    rule = "expected 1D or 2D array for y"
    if len(x) != 1:
        rule = "expected 1D vector for x"
    elif x == (0,):
        rule = "expected non-empty vector for x"
    elif len(y) in (1, 2):
        rule = "expected x and y to have same length"
    return f"[polyfit] {rule}, but x is of shape {tuple(x)} and y of shape {tuple(y)}."


def fit_weights(w: Shape, count: int) -> str:
    rule = "a 1-d array for weights" if len(w) != 1 else "w and y to have the same length"
    return f"[polyfit] expected {rule}, but w is of shape {tuple(w)}, for {count} points."


def too_few_points(count: int, order: int) -> str:
    return (
        f"[polyfit] the number of data points must exceed order to scale the covariance matrix, "
        f"but there are {count} for {order} coefficients. Give cov='unscaled'."
    )


# ---------------------------------------------------------------- samples of functions


def edge_order(order: object) -> str:
    return f"[gradient] `edge_order` is 1 or 2, but {order!r} was given."


def too_few_samples(shape: Shape, axes: Shape, needed: int) -> str:
    return (
        "[gradient] Shape of array too small to calculate a numerical gradient, at least "
        f"{needed} elements are required along each axis, but the shape is {tuple(shape)} and the "
        f"axes are {tuple(axes)}."
    )


def spacing_count(count: int, axes: Shape) -> str:
    return (
        f"[gradient] Invalid number of spacing arguments {count} for axes {tuple(axes)}. Give "
        "none, one for all axes, or one for each."
    )


def spacing_shape(h: Shape, size: int) -> str:
    if len(h) > 1:
        return f"[gradient] Spacing arrays must be 1D arrays or scalars; one has shape {tuple(h)}."
    return (
        "[gradient] Spacing arrays must have the same length as the dimension along which the "
        f"gradient is calculated, but these are {h[0]} and {size}."
    )


def interpolation_points(xp: Shape, fp: Shape) -> str:
    return (
        "[interp] xp and fp must be one-dimensional arrays of equal size, but their shapes are "
        f"{tuple(xp)} and {tuple(fp)}."
    )


def interpolation_outside(side: str, value: object) -> str:
    return f"[interp] the only valid string value of `{side}` is 'extrapolate', but got: {value!r}."


def interpolation_period(shape: Shape) -> str:
    return f"[interp] period must be a scalar; got an array of shape {tuple(shape)}."


# ---------------------------------------------------------------- covariances


def too_many_dimensions(what: str, shape: Shape) -> str:
    return f"[cov] {what} has more than 2 dimensions: its shape is {tuple(shape)}."


def covariance_dtype(where: str, dtype: object) -> str:
    return f"[{where}] {where}: dtype must be a subclass of float or complex; got dtype={dtype!r}."


def sample_weights(what: str, shape: Shape, count: int) -> str:
    rule = "cannot handle multidimensional" if len(shape) > 1 else "incompatible numbers of samples"
    return f"[cov] {rule} {what}: their shape is {tuple(shape)}, for {count} observations."


def frequencies_dtype(dtype: object) -> str:
    return f"[cov] fweights must be integer, but their dtype is {dtype}. Other weights: `aweights`."
