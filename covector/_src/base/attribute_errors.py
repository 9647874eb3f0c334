"""Texts of errors about attributes for the compiler, and about where to compute."""


def compute_type_not_text(got: object) -> str:
    return (
        f"[compute_on] `compute_on`'s compute_type argument must be a string, and is {got!r}, a "
        f'{type(got).__name__}. Say "device" or "device_host".'
    )


def unknown_compute_type(got: str) -> str:
    return (
        f'[compute_on] Invalid compute type {got}: it is "device", "device_host", '
        '"tpu_sparsecore", or "gpu_stream:" with a number.'
    )


def trees_differ(x: object, y: object) -> str:
    return (
        f"[shard_alike] Trees should be equal, and are {x} and {y}: what is to lie alike must have "
        "the same structure."
    )


def shapes_differ(x: object, y: object) -> str:
    return (
        f"[shard_alike] The leaves shapes of `x` and `y` should match, and there are {x} and {y}: "
        "arrays of different shapes cannot be cut alike."
    )


def not_a_layout(got: object) -> str:
    return (
        "[with_layout_constraint] layouts passed to `with_layout_constraint` must be of type "
        f"`Layout`, and one is {got!r} of type {type(got)}."
    )


def layout_of_other_rank(order: tuple[int, ...], aval: object) -> str:
    return (
        f"[with_layout_constraint] an argument of type {aval} is incompatible with its layout: "
        f"major_to_minor={order} must name each of its dimensions once."
    )
