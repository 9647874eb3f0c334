"""`ffi_call`: foreign functions as functions of arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..base import callback_errors
from ..base import ffi_errors as errors
from ..base.frozen import frozen
from ..control.vmap_methods import VMAP_METHODS
from ..core.avals import AbstractValue, ShapedArray, abstract_token, aval_of
from ..xla.ffi import ffi_call_p, orders_in_memory
from ..xla.layout import Layout


def ffi_call(
    target_name: str,
    result_shape_dtypes: Any,
    *,
    has_side_effect: bool = False,
    vmap_method: str | None = None,
    input_layouts: Sequence[Any] | None = None,
    output_layouts: Any = None,
    input_output_aliases: dict[int, int] | None = None,
    custom_call_api_version: int = 4,
    legacy_backend_config: str | None = None,
) -> Callable[..., Any]:
    """A function that calls a foreign function.

    Args:
      target_name: the name under which the foreign function was registered; see
        `register_ffi_target`.
      result_shape_dtypes: a value with `shape` and `dtype`, such as a `ShapeDtypeStruct`, or a
        sequence of them: the types of the results.
      has_side_effect: whether it is called even if nothing uses its results.
      vmap_method: how it is mapped, as for `covector.pure_callback`; None means that it cannot be.
      input_layouts: for each argument how it is to lie in memory: the dimensions, that of the
        largest stride first; a `Layout`; or None for rows one after another, which all have by
        default. Matrices by columns in a batch are `(0, 2, 1)`.
      output_layouts: the same for the result, or for each of a sequence of them.
      input_output_aliases: indices of results by those of arguments whose memory they take. The
        foreign function sees the same address twice; an argument that is still needed is copied.
      custom_call_api_version: 4 for foreign functions with XLA's typed interface, less for older
        ones.
      legacy_backend_config: what those older ones are told.

    Returns:
      A function of arrays by position, and attributes by keyword, that returns an array, or a list
      or tuple of them as `result_shape_dtypes` is. An attribute is a number (NumPy's keep their
      width, Python's have 64 bits), truth value, string, NumPy array, or a dict of these.

    Raises:
      ValueError: a result has no shape or dtype; layouts are not as many as arrays; what shares
        memory differs in type or layout; at differentiation.
      NotImplementedError: it is mapped, and `vmap_method` is None.

    >>> import covector as cv, numpy as np
    >>> from covector import ffi
    >>> matrix = np.array([[4.0, 2.0], [2.0, 10.0]], np.float32)
    >>> cholesky = ffi.ffi_call(  # of LAPACK, as jaxlib wraps it: matrices by columns
    ...     "lapack_spotrf_ffi", (matrix, cv.ShapeDtypeStruct((), "int32")),
    ...     input_layouts=[(1, 0)], output_layouts=[(1, 0), ()])
    >>> factor, info = cholesky(matrix, uplo=np.uint8(ord("L")))
    >>> print(cv.numpy.tril(factor))
    [[2. 0.]
     [1. 3.]]
    """
    if vmap_method not in VMAP_METHODS:
        raise ValueError(callback_errors.unknown_vmap_method("ffi_call", VMAP_METHODS, vmap_method))
    several = isinstance(result_shape_dtypes, Sequence)
    avals = result_types(result_shape_dtypes if several else [result_shape_dtypes])
    if custom_call_api_version >= 4 and legacy_backend_config is not None:
        raise ValueError(errors.legacy_config(custom_call_api_version))
    if not several:
        output_layouts = (output_layouts,)

    def call(*args: Any, **attributes: Any) -> Any:
        if attributes and custom_call_api_version < 4:
            names = list(attributes)
            raise ValueError(errors.attributes_without_types(names, custom_call_api_version))
        in_avals = [aval_of(x) for x in args]
        inputs = _orders("input", input_layouts, in_avals)
        outputs = _orders("output", output_layouts, avals)
        outs = ffi_call_p.bind(
            *args,
            result_avals=avals,
            vmap_method=vmap_method,
            target_name=target_name,
            has_side_effect=has_side_effect,
            input_layouts=inputs,
            output_layouts=outputs,
            input_output_aliases=_aliases(
                input_output_aliases or {}, in_avals, avals, inputs, outputs
            ),
            custom_call_api_version=custom_call_api_version,
            legacy_backend_config=legacy_backend_config,
            attributes=tuple([_attribute(*pair) for pair in sorted(attributes.items())]),
        )
        if not several:
            return outs[0]
        return tuple(outs) if isinstance(result_shape_dtypes, tuple) else outs

    return call


def result_types(results: Sequence[Any]) -> tuple[AbstractValue, ...]:
    """The types of results, of 64 bits where they are said to be."""
    avals: list[AbstractValue] = []
    for i, result in enumerate(results):
        if result is abstract_token:
            avals.append(abstract_token)
        elif hasattr(result, "shape") and hasattr(result, "dtype"):
            avals.append(ShapedArray(tuple(result.shape), np.dtype(result.dtype)))
        else:
            raise ValueError(errors.not_a_result_type(i, result))
    return tuple(avals)


def _orders(
    what: str, layouts: Sequence[Any] | None, avals: Sequence[AbstractValue]
) -> tuple[Sequence[int], ...]:
    """The dimensions of each array by growing stride; the user gives them the other way round."""
    if layouts is not None and len(layouts) != len(avals):
        raise ValueError(errors.number_of_layouts(what, len(layouts), len(avals)))
    given = [
        layout if layout is None or isinstance(layout, Layout) else tuple(layout)[::-1]
        for layout in layouts or ()
    ]
    return tuple(orders_in_memory(given, avals))


def _aliases(
    aliases: Mapping[int, int],
    in_avals: Sequence[AbstractValue],
    out_avals: Sequence[AbstractValue],
    inputs: Sequence[Sequence[int]],
    outputs: Sequence[Sequence[int]],
) -> tuple[tuple[int, int], ...]:
    """Pairs of an argument and a result that may share memory, or ValueError."""
    pairs = sorted((int(given), int(result)) for given, result in aliases.items())
    for pair in pairs:
        given, result = pair
        for index, avals, what in ((given, in_avals, "input"), (result, out_avals, "output")):
            if index >= len(avals):
                raise ValueError(errors.alias_out_of_range(pair, what, len(avals)))
        if _type(in_avals[given]) != _type(out_avals[result]):
            types = in_avals[given], out_avals[result]
            raise ValueError(errors.alias_types_differ(pair, *types))
        if inputs[given] != outputs[result]:
            raise ValueError(errors.alias_layouts_differ(pair, inputs[given], outputs[result]))
    return tuple(pairs)


def _type(aval: AbstractValue) -> Any:
    return (aval.shape, aval.dtype) if isinstance(aval, ShapedArray) else aval


def _attribute(name: str, value: Any) -> tuple[str, Any]:
    """An attribute as a parameter, which is hashable."""
    value = frozen(value)
    try:
        hash(value)
    except TypeError:
        raise TypeError(errors.not_hashable(name, value)) from None
    return name, value
