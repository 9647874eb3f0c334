"""The wording of errors of `numpy.linalg`."""

from __future__ import annotations

from collections.abc import Sequence

Shape = Sequence[int]


def not_square(where: str, shape: Shape) -> str:
    return f"[{where}] Argument to {where} must have shape [..., n, n], got {tuple(shape)}."


def not_square_for_order(where: str, p: object, shape: Shape) -> str:
    return (
        f"[{where}] for p={p}, the array must be square, but its shape is {tuple(shape)}. Leave p "
        "at None, or make it 2 or -2, for other matrices."
    )


def empty_matrices(where: str, shape: Shape) -> str:
    return f"[{where}] the array must not be empty, but its shape is {tuple(shape)}."


def unknown_choice(where: str, what: str, value: object, choices: Sequence[object]) -> str:
    listed = ", ".join(map(repr, choices))
    return f"[{where}] {what} must be one of {listed}, got {value!r}."


def qr_mode(mode: object) -> str:
    return (
        f"[qr] Unsupported QR decomposition mode {mode!r}; there are 'reduced', 'complete', 'r' "
        "and 'raw'."
    )


def slogdet_complex() -> str:
    return "[slogdet] slogdet method='qr' not implemented for complex inputs. Leave it at None."


def slogdet_method(method: object) -> str:
    return (
        f"[slogdet] Unknown slogdet method '{method}'. Supported methods are 'lu' (`None`), and "
        "'qr'."
    )


def two_tolerances(where: str, both: str) -> str:
    return f"{where}: only one of {both} may be specified."


def vector_order(order: object) -> str:
    text = f"Invalid order '{order}' for vector norm."
    if order in ("inf", "-inf"):
        return f"{text} The infinity is a number: {str(order).replace('inf', 'jnp.inf')}."
    return f"{text} It is a number, such as 1, 2 or jnp.inf."


def matrix_order(order: object) -> str:
    return (
        f"Invalid order '{order}' for matrix norm. There are 1, 2, jnp.inf, their negatives, 'fro' "
        "and 'nuc'."
    )


def axes_of_norm(axis: object) -> str:
    return (
        f"[norm] Improper number of axes for norm: axis={axis}. Pass one axis to compute a "
        "vector-norm, or two axes to compute a matrix-norm."
    )


def solve_rank(shape: Shape) -> str:
    return f"[solve] left hand array must be at least two dimensional; got a.shape={tuple(shape)}."


def solve_vectors(a: Shape, b: Shape) -> str:
    return (
        f"[solve] Invalid shapes for solve: {tuple(a)}, {tuple(b)}. Only a `b` of one dimension is "
        "a vector; for a batch of vectors, use solve(a, b[..., None]).squeeze(-1)."
    )


def solve_shapes(a: Shape, b: Shape) -> str:
    return (
        "[solve] The arguments to solve must have shapes a=[..., m, m] and b=[..., m, k] or b=[m]; "
        f"got a={tuple(a)} and b={tuple(b)}."
    )


def lstsq_rows(a: Shape, b: Shape) -> str:
    return (
        f"[lstsq] Leading dimensions of input arrays must match, but the shapes are {tuple(a)} and "
        f"{tuple(b)}."
    )


def lstsq_rank(ndim: int, allowed: str) -> str:
    return f"[lstsq] {ndim}-dimensional array given. Array must be {allowed}-dimensional."


def power_rank(ndim: int) -> str:
    return f"[matrix_power] {ndim}-dimensional array given. Array must be at least two-dimensional."


def power_square(shape: Shape) -> str:
    return (
        "[matrix_power] Last 2 dimensions of the array must be square, but the shape is "
        f"{tuple(shape)}."
    )


def power_exponent(n: object) -> str:
    return f"[matrix_power] exponent must be an integer, got {n}."


def cross_vectors(a: Shape, b: Shape, axis: int) -> str:
    return (
        "[cross] Both input arrays must be (arrays of) 3-dimensional vectors, but their sizes "
        f"along axis {axis} are {a[axis]} and {b[axis]}."
    )


def outer_vectors(a: Shape, b: Shape) -> str:
    return (
        "[outer] Input arrays must be one-dimensional, but their shapes are "
        f"{tuple(a)} and {tuple(b)}."
    )


def tensorinv_index(ind: int) -> str:
    return f"[tensorinv] ind must be a positive integer; got ind={ind}."


def tensorinv_shape(shape: Shape, ind: int) -> str:
    return (
        "[tensorinv] tensorinv is only possible when the product of the first `ind` dimensions "
        f"equals that of the remaining dimensions; got shape {tuple(shape)} with ind={ind}."
    )


def tensorsolve_leading(a: Shape, b: Shape) -> str:
    return (
        "[tensorsolve] After moving axes to end, leading shape of a must match shape of b; got "
        f"a.shape={tuple(a)}, b.shape={tuple(b)}."
    )


def tensorsolve_size(a: Shape, rank: int) -> str:
    return (
        "[tensorsolve] Input arrays must have prod(a.shape[:b.ndim]) == prod(a.shape[b.ndim:]); "
        f"got a.shape={tuple(a)}, b.ndim={rank}."
    )


def multi_dot_count(count: int) -> str:
    return f"[multi_dot] multi_dot requires at least two arrays; got len(arrays)={count}."


def multi_dot_ranks(shapes: Sequence[Shape]) -> str:
    return (
        "[multi_dot] input arrays must all be two-dimensional, except for the first and last array "
        f"which may be 1 or 2 dimensional. Got array shapes {[*map(tuple, shapes)]}."
    )


def multi_dot_sizes(shapes: Sequence[Shape]) -> str:
    return (
        "[multi_dot] last dimension of each array must match first dimension of following array. "
        f"Got array shapes {[*map(tuple, shapes)]}."
    )


def not_matrices(where: str, shape: Shape) -> str:
    return f"[{where}] the array must be at least 2D, but its shape is {tuple(shape)}."


def least_of_nothing(shape: Shape) -> str:
    return (
        "[norm] zero-size array to reduction operation min which has no identity: of an array of "
        f"shape {tuple(shape)} there is no least element."
    )
