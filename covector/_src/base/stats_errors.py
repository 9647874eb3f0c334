"""What errors about distributions and samples say."""

from __future__ import annotations

from typing import Any


def arguments(where: str, fact: str, signature: Any) -> str:
    names = ", ".join(
        name if p.default is p.empty else f"{name}={p.default}"
        for name, p in signature.parameters.items()
    )
    return f"[{where}] {fact}. Call {where}({names})."


# ---------------------------------------------------------------- samples


def nan_policy(where: str, policy: object) -> str:
    return (
        f"[{where}] Illegal nan_policy value {policy!r}; there are 'propagate' and 'omit'. "
        "Give one of them."
    )


def no_raising(where: str) -> str:
    return (
        f"[{where}] nan_policy='raise' would need to look at the elements, which are not known "
        f"when a program is compiled. Check `jnp.isnan(a).any()` before {where} is called."
    )


def rank_method(method: object, methods: Any) -> str:
    return f"[rankdata] unknown method {method!r}. Give one of {', '.join(map(repr, methods))}."


def sem_policy(policy: object) -> str:
    return (
        f"[sem] nan_policy {policy!r} is not supported. Give 'propagate', or 'omit' to leave NaN "
        "out."
    )


# ---------------------------------------------------------------- several variables


def dirichlet_alpha(shape: Any) -> str:
    return (
        f"[dirichlet.logpdf] `alpha` must be one-dimensional, but has shape {shape}. For several "
        "distributions use `vmap`."
    )


def dirichlet_shapes(x: Any, alpha: Any) -> str:
    return (
        f"[dirichlet.logpdf] The first axis of `x` holds as many numbers as `alpha`, or one less; "
        f"got x.shape={x}, alpha.shape={alpha}. Transpose `x` if its last axis holds them."
    )


def multinomial_counts(dtype: Any) -> str:
    return (
        f"[multinomial.logpmf] x and n must be of integer type, but their common dtype is {dtype}. "
        "Convert them: `x.astype(int)`."
    )


def singular_covariance() -> str:
    return (
        "[multivariate_normal.logpdf] allow_singular is not implemented. Leave it out, and add a "
        "small multiple of the identity matrix to `cov`."
    )


def covariance_shape(x: Any, mean: Any, cov: Any) -> str:
    return (
        f"[multivariate_normal.logpdf] got incompatible shapes: x {x}, mean {mean}, cov {cov}. For "
        f"means of {mean[-1]} elements give matrices of shape (..., {mean[-1]}, {mean[-1]})."
    )


# ---------------------------------------------------------------- kernel density


def kde_complex(what: str, dtype: Any) -> str:
    return (
        f"[gaussian_kde] complex {what} is not supported, but it has dtype {dtype}. Give its real "
        "and imaginary parts as two rows."
    )


def kde_too_small(shape: Any) -> str:
    return (
        f"[gaussian_kde] `dataset` input should have multiple elements, but has shape {shape}. "
        "Give at least two points."
    )


def kde_weights(shape: Any, count: int) -> str:
    fact = "should be one-dimensional" if len(shape) != 1 else f"should be of length {count}"
    return (
        f"[gaussian_kde] `weights` input {fact}, but has shape {shape}. Give one weight for each "
        f"of the {count} points."
    )


def kde_bandwidth(method: object) -> str:
    return (
        "[gaussian_kde] `bw_method` should be 'scott', 'silverman', a scalar, or a callable, but "
        f"is {method!r}. Give one of these."
    )


def kde_points(points: Any, variables: int) -> str:
    return (
        f"[gaussian_kde] points have dimension {points[0]}, dataset has dimension {variables}. "
        f"Give an array of shape ({variables}, number of points); this one has shape {points}."
    )


def kde_parameter(name: str, shape: Any, variables: int) -> str:
    return (
        f"[gaussian_kde.integrate_gaussian] {name} does not have dimension {variables}: its shape "
        f"is {shape}. Give one for the {variables} variables of the dataset."
    )


def kde_one_variable(variables: int) -> str:
    return (
        f"[gaussian_kde.integrate_box_1d] integrate_box_1d() only handles 1D pdfs, but the dataset "
        f"has {variables} variables. Make an estimate of one of them: `gaussian_kde(dataset[0])`."
    )


def kde_limits(low: Any, high: Any) -> str:
    return (
        "[gaussian_kde.integrate_box_1d] the limits of integration must be scalars, but have "
        f"shapes {low} and {high}. Map over them with `vmap`."
    )


def kde_variables(one: int, other: int) -> str:
    return (
        "[gaussian_kde.integrate_kde] KDEs are not the same dimensionality: they have "
        f"{one} and {other} variables. Give datasets with as many rows."
    )


def kde_boxes() -> str:
    return (
        "[gaussian_kde.integrate_box] only 1D box integrations are supported. Use "
        "`integrate_box_1d`, or take the mean over a sample of `resample`."
    )


def kde_is_immutable() -> str:
    return (
        "[gaussian_kde.set_bandwidth] dynamically changing the bandwidth is not supported: an "
        "estimate is immutable. Make a new one: `gaussian_kde(dataset, bw_method)`."
    )
