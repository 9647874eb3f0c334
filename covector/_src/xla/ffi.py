"""Foreign functions: kernels in other languages, which XLA finds by a name.

A kernel is registered once per process. Programs then call it by its name, through `ffi_call_p`
or through a user's own primitive, whose lowering rule `ffi_lowering` makes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jaxlib
from jaxlib.mlir import ir

from ..base import ffi_errors as errors
from ..base.frozen import thawed
from ..control.vmap_methods import MappedByMethod
from ..core.avals import AbstractValue
from ..core.effects import Effect, no_effects
from . import lapack
from .capsules import pycapsule as pycapsule
from .emitter import Emitter, alias_attribute, layout_attribute, layouts
from .ir_values import i32_attr, ir_attribute
from .layout import Layout
from .native import xla_client

# ---------------------------------------------------------------- registering


def register_ffi_target(
    name: str, fn: Any, platform: str = "cpu", api_version: int = 1, **kwargs: Any
) -> None:
    """Make a foreign function known under a name.

    Args:
      name: by which programs call it.
      fn: a capsule with the address of the handler (see `pycapsule`), or a dict of capsules by
        stage: `"instantiate"`, `"prepare"`, `"initialize"`, `"execute"`.
      platform: where it runs: `"cpu"`, `"CUDA"`, `"ROCM"`.
      api_version: 1 for a handler of XLA's typed interface, 0 for one of the older kind.
      **kwargs: further options of jaxlib's `register_custom_call_target`.
    """
    xla_client.register_custom_call_target(name, fn, platform, api_version, **kwargs)


def register_ffi_type(name: str, type_registration: dict[str, Any], platform: str = "cpu") -> None:
    """Make a type known by which foreign functions keep state between their stages.

    Args:
      name: of the type, unique in the process.
      type_registration: capsules by name: `"type_id"`, with the address of the id that XLA writes
        into, and, if jaxlib is to know how to destroy it, `"type_info"`.
      platform: where it is used.
    """
    xla_client.register_custom_type(name, type_registration, platform=platform)


def register_ffi_type_id(name: str, obj: Any, platform: str = "cpu") -> None:
    """What `register_ffi_type` has replaced.

    Raises:
      ValueError: always.
    """
    raise ValueError(errors.type_ids_are_gone(name))


def register_ffi_target_as_batch_partitionable(name: str) -> None:
    """Say that a foreign function treats leading dimensions as batches.

    On several devices each then calls it on its own part of a batch.

    Args:
      name: of the registered function.
    """
    xla_client.register_custom_call_as_batch_partitionable(name)


def include_dir() -> str:
    """The folder with the C++ headers of XLA's interface for foreign functions.

    Pass it to a compiler as a place of headers: they are `xla/ffi/api/ffi.h` and its neighbours.
    """
    return str(Path(jaxlib.__path__[0], "include").absolute())


# ---------------------------------------------------------------- lowering


def minor_to_major(layout: Sequence[int] | Layout | None, default: Sequence[int]) -> Any:
    """The dimensions of an array by growing stride; a sequence of dimensions has that order."""
    if layout is None:
        return tuple(default)
    if isinstance(layout, Layout):
        if layout.tiling:
            raise ValueError(errors.tiled(layout))
        return layout.major_to_minor[::-1]
    return tuple(layout)


def orders_in_memory(
    given: Sequence[Any] | None, avals: Sequence[AbstractValue]
) -> list[Sequence[int]]:
    """The dimensions of arrays by growing stride; rows one after another where nothing is given."""
    defaults = layouts(avals)
    return [
        minor_to_major(layout, default)
        for layout, default in zip(given or [None] * len(defaults), defaults)
    ]


def build_ffi_lowering_function(
    call_target_name: str,
    *,
    operand_layouts: Sequence[Any] | None = None,
    result_layouts: Sequence[Any] | None = None,
    backend_config: Mapping[str, ir.Attribute] | str | None = None,
    skip_ffi_layout_processing: bool = False,
    **lowering_args: Any,
) -> Callable[..., ir.OpView]:
    """A function that writes the call of a foreign function.

    Args:
      call_target_name: the name of the registered function.
      operand_layouts: for each operand how it is to lie in memory: the dimensions by growing
        stride, a `Layout`, or None for rows one after another, which all have by default.
      result_layouts: the same for the results.
      backend_config: attributes by name, for all calls.
      skip_ffi_layout_processing: whether the layouts are left to the compiler; they may then be
        passed as MLIR attributes.
      **lowering_args: `result_types`, `has_side_effect`, `api_version`, `operand_output_aliases`
        (indices of results by those of operands whose memory they take), `extra_attributes`.

    Returns:
      A function of the context of a lowering rule, MLIR values of the operands, and attributes by
      keyword, which writes the call and returns the operation. Attributes are numbers (those of
      Python have 64 bits), truth values, strings, NumPy arrays, and dicts and sequences of these.
    """

    def write(ctx: Emitter, *operands: ir.Value, **attributes: Any) -> ir.OpView:
        options = {"api_version": 4, **lowering_args}
        if options["api_version"] < 4:
            if attributes:
                names = list(attributes)
                raise ValueError(errors.attributes_without_types(names, options["api_version"]))
            config: Any = backend_config
        else:
            if not isinstance(backend_config, (dict, type(None))):
                raise ValueError(errors.config_not_a_dict(backend_config))
            own = {name: ir_attribute(value) for name, value in attributes.items()}
            config = {**(backend_config or {}), **own}
        if "result_types" not in options:
            options["result_types"] = [ctx.module_context.type_of(aval) for aval in ctx.avals_out]
        if not skip_ffi_layout_processing:
            for what, given, avals in (
                ("operand_layouts", operand_layouts, ctx.avals_in),
                ("result_layouts", result_layouts, ctx.avals_out),
            ):
                orders = orders_in_memory(given, avals)
                options[what] = ir.ArrayAttr.get([layout_attribute(order) for order in orders])
        return _custom_call(call_target_name, operands, backend_config=config, **options)

    return write


def ffi_lowering(
    call_target_name: str,
    *,
    operand_layouts: Sequence[Any] | None = None,
    result_layouts: Sequence[Any] | None = None,
    backend_config: Mapping[str, ir.Attribute] | str | None = None,
    skip_ffi_layout_processing: bool = False,
    **lowering_args: Any,
) -> Callable[..., Sequence[ir.Value]]:
    """A lowering rule that calls a foreign function.

    Args:
      call_target_name, operand_layouts, result_layouts, backend_config,
        skip_ffi_layout_processing, **lowering_args: as for `build_ffi_lowering_function`.

    Returns:
      A rule for `covector.interpreters.mlir.register_lowering`. The parameters of the primitive
      are the attributes of the call.
    """
    layouts = dict(operand_layouts=operand_layouts, result_layouts=result_layouts)
    lowering_args |= layouts | dict(skip_ffi_layout_processing=skip_ffi_layout_processing)
    write = build_ffi_lowering_function(
        call_target_name, backend_config=backend_config, **lowering_args
    )

    def rule(ctx: Emitter, *operands: ir.Value, **params: Any) -> Sequence[ir.Value]:
        return list(write(ctx, *operands, **params).operation.results)

    return rule


def _custom_call(
    target: str,
    operands: Sequence[ir.Value],
    *,
    result_types: Sequence[ir.Type],
    backend_config: dict[str, ir.Attribute] | str | None,
    api_version: int,
    has_side_effect: bool = False,
    operand_output_aliases: Mapping[int, int] | None = None,
    extra_attributes: Mapping[str, ir.Attribute] | None = None,
    **layouts: ir.Attribute,
) -> ir.OpView:
    """Write a custom call; a dict of attributes means that the target's interface is typed."""
    lapack.load_for(target)
    attributes = dict(call_target_name=ir.StringAttr.get(target), **layouts)
    if isinstance(backend_config, dict):
        attributes["backend_config"] = ir.StringAttr.get("")
        attributes["mhlo.backend_config"] = ir.DictAttr.get(backend_config)
    else:
        attributes["backend_config"] = ir.StringAttr.get(backend_config or "")
        attributes["api_version"] = i32_attr(api_version)
    if has_side_effect:
        attributes["has_side_effect"] = ir.BoolAttr.get(True)
    if operand_output_aliases:
        aliases = {result: operand for operand, result in operand_output_aliases.items()}
        attributes["output_operand_aliases"] = alias_attribute(aliases, len(result_types))
    attributes.update(extra_attributes or {})
    return ir.Operation.create(
        "stablehlo.custom_call", results=result_types, operands=operands, attributes=attributes
    ).opview


# ---------------------------------------------------------------- the primitive


class FfiEffect(Effect):
    """A foreign call that is made even if nothing uses its results."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "FFI"


ffi_effect = FfiEffect()


class FfiCall(MappedByMethod):
    """The call of a foreign function.

    Parameters:
      target_name: the name of the function.
      result_avals: the types of the results.
      has_side_effect: whether it does more than compute them.
      input_layouts, output_layouts: for each operand and result the dimensions by growing stride.
      input_output_aliases: pairs of an operand and a result that takes its memory.
      custom_call_api_version: the function's interface; 4 is the typed one.
      legacy_backend_config: what functions of an older interface are told.
      attributes: pairs of a name and a value.
      vmap_method: see `MappedByMethod`.
    """

    def effectful_abstract_eval(self, *avals, result_avals, has_side_effect, **params):
        return list(result_avals), frozenset({ffi_effect}) if has_side_effect else no_effects

    def jvp(self, primals, tangents, *, target_name, **params):
        raise ValueError(errors.not_differentiable(target_name))

    def transpose(self, cts, *args, target_name, **params):
        raise ValueError(errors.not_differentiable(target_name))

    def batched_params(self, longer, *, input_layouts, output_layouts, **params):
        inputs = [
            _behind_batch(order) if is_longer else order
            for order, is_longer in zip(input_layouts, longer)
        ]
        outputs = [_behind_batch(order) for order in output_layouts]
        return dict(params, input_layouts=tuple(inputs), output_layouts=tuple(outputs))

    def emit(self, b, *operands, target_name, attributes, **params):
        rule = ffi_lowering(
            target_name,
            operand_layouts=params["input_layouts"],
            result_layouts=params["output_layouts"],
            backend_config=params["legacy_backend_config"],
            has_side_effect=params["has_side_effect"],
            operand_output_aliases=dict(params["input_output_aliases"]),
            api_version=params["custom_call_api_version"],
        )
        return rule(b, *operands, **{name: thawed(value) for name, value in attributes})


def _behind_batch(order: Sequence[int]) -> tuple[int, ...]:
    """An order in memory with a new dimension 0 of the largest stride."""
    return (*[dim + 1 for dim in order], 0)


ffi_call_p = FfiCall("ffi_call")
