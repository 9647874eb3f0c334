"""Texts of errors of Python callbacks: pure_callback, io_callback, and those of covector.debug."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .custom_errors import name_of


def wrong_number_of_outputs(where: str, want: int, got: int) -> str:
    return (
        f"[{where}] Mismatched number of outputs from callback. Expected: {want}, Actual: {got}. "
        "result_shape_dtypes says how many arrays the function returns."
    )


def output_not_an_array(where: str, position: int, value: object) -> str:
    return (
        f"[{where}] the function returned {value!r} of type {type(value).__name__} for value "
        f"#{position}, which cannot be an array."
    )


def wrong_output(where: str, what: str, position: int, want: object, got: object) -> str:
    return (
        f"[{where}] Incorrect output {what} for return value #{position}: Expected: {want}, "
        f"Actual: {got}. It must be what result_shape_dtypes says."
    )


def no_64_bits(where: str, dtype: object) -> str:
    return (
        f"[{where}] result_shape_dtypes cannot specify 64-bit types when `jax_enable_x64` is "
        f"disabled, but names {dtype}. Use a type of 32 bits, or switch on "
        "`covector.enable_x64`."
    )


def no_shape_or_dtype(where: str, leaf: object) -> str:
    return (
        f"[{where}] result_shape_dtypes must be a tree of values with a shape and a dtype, such as "
        f"`covector.ShapeDtypeStruct`, but has the leaf {leaf!r}."
    )


def unknown_vmap_method(where: str, methods: Sequence[Any], method: object) -> str:
    return f"[{where}] vmap_method must be one of {list(methods)}, but is {method!r}."


def no_vmap_method(name: str, method: object) -> str:
    return (
        f"[vmap] vmap is only supported for the {name} primitive where vmap_method says how: by "
        "'sequential', 'sequential_unrolled', 'expand_dims', 'broadcast_all' or "
        f"'legacy_vectorized'. It is {method!r}."
    )


def not_differentiable(where: str, kind: str, mode: str, instead: str) -> str:
    return f"[{where}] {kind} callbacks do not support {mode}. {instead}"


def no_vmap_of_ordered_io() -> str:
    return (
        "[io_callback] Cannot `vmap` ordered IO callback: the calls for the examples of a batch "
        "have no order among those of other ops. Pass ordered=False."
    )


def per_example(effect: object, where: str) -> str:
    kind = str(effect).removeprefix("Ordered")
    return (
        f"[vmap] {kind} effect not supported in {where}: all examples go through the code that one "
        "of them asks for, so the callback would be called for others, too. Use "
        "covector.debug.callback if that is no harm."
    )


def not_recomputed(effects: Sequence[Any]) -> str:
    return (
        "[checkpoint] Effects not supported in partial-eval of `checkpoint`/`remat`: "
        f"{', '.join(map(str, effects))}. What is computed again would happen twice. Move the "
        "callback out of the function."
    )


def not_callable(fun: object) -> str:
    return (
        "[debug.callback] the first argument must be callable, but is "
        f"{fun!r} of type {type(fun).__name__}."
    )


def options_with_arguments(where: str, args: Any, kwargs: Any) -> str:
    return (
        f"[debug.{where}] debug_{where} received unexpected arguments in the two-call form: "
        f"{args=} {kwargs=}. Without a first argument it takes options only, and returns what "
        "takes the arguments."
    )


def unused_positional(values: Sequence[Any]) -> str:
    return (
        f"[debug.print] Unused positional arguments to `debug.print`: {list(values)}. The format "
        "string has no place for them."
    )


def unused_keywords(names: Sequence[str]) -> str:
    return (
        f"[debug.print] Unused keyword arguments to `debug.print`: {list(names)}. The format "
        'string has no place for them. You may be passing an f-string (f"{x}"), which Python fills '
        'in before the call; pass the plain string "{x}".'
    )


def no_callbacks_on(platform: str) -> str:
    return f"Python callbacks are not supported on {platform}; they are on cpu and gpu."


def callback_failed(name: str, fun: Any, number: int) -> str:
    return f"covector.{name} of {name_of(fun)} raised an exception [callback failure {number}]"


def unknown_debugger(backend: object) -> str:
    return f"[debug.breakpoint] there is no debugger {backend!r}. The one there is is 'cli'."


def no_picture_of(where: str, shape: Sequence[int]) -> str:
    return (
        f"[debug.{where}] only arrays with 1 or 2 dimensions can be shown, but the shape is "
        f"{tuple(shape)}. Reshape the array, or show a part of it."
    )


def token_and_ordered() -> str:
    return (
        "[debug.breakpoint] `ordered` and `token` are mutually exclusive arguments: the stop is "
        "either where token is computed, or in the order of effects. Give one of them."
    )


def barrier_in_callback() -> str:
    return (
        "[effects_barrier] it was called within a callback, and would wait for that callback, too. "
        "Call it in the program that started the computation."
    )
