"""Lowering rules that users register, for their primitives or for ours.

A primitive to which one is registered has a `LoweringRules` in its slot `emit`: it chooses by
platform, and writes what a rule makes as a function of its own, so that a rule runs once per
module for operands of the same types, however many eqns there are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from jaxlib.mlir import ir
from jaxlib.mlir._mlir_libs import _jax_mlir_ext

from ..base.extension_errors import unknown_platform, wrong_lowering_results
from ..control.discharge import discharge, makes_refs
from ..core.avals import AbstractValue
from ..core.jaxpr import ClosedJaxpr, Jaxpr
from ..core.primitive import Primitive
from ..transforms.stage import stage_closed
from .callbacks import HostCallback
from .emitter import Emitter
from .module import ModuleContext

# Writes the body of a function in place of a call of it.
inlined_func_call = _jax_mlir_ext.inlined_func_call

# The platforms for which a rule may be registered, and the names under which each is looked up:
# PJRT calls every GPU "gpu", users may tell the makers apart.
PLATFORMS: dict[str, tuple[str, ...]] = {
    "cpu": ("cpu",),
    "gpu": ("gpu", "cuda", "rocm"),
    "cuda": ("cuda", "gpu"),
    "rocm": ("rocm", "gpu"),
    "tpu": ("tpu",),
}


class Entry(NamedTuple):
    """A registered rule, and how its operations are written into the module."""

    rule: Callable[..., Any]
    inline: bool
    cacheable: bool


class LoweringRules:
    """The `emit` rule of a primitive whose lowering was registered.

    Args:
      otherwise: what to call on platforms without a rule.
    """

    def __init__(self, otherwise: Callable[..., Any]):
        self.otherwise = otherwise
        self.entries: dict[str | None, Entry] = {}

    def __call__(self, b: Emitter, *operands: Any, **params: Any) -> Any:
        entry = self.find(b.platform)
        if entry is None:
            return self.otherwise(b, *operands, **params)
        if not entry.cacheable or b.ordered_effects:  # whose tokens are not those of a function
            return _results(b, entry.rule(b, *operands, **params))
        key = (b.primitive, entry, *b.avals_in, *b.avals_out, *params.items())
        functions = b.module_context.cached_primitive_lowerings
        try:
            function = functions.get(key)
        except TypeError:  # a parameter is not hashable
            return _results(b, entry.rule(b, *operands, **params))
        if function is None:
            function = functions[key] = _write(b, entry, params)
        if entry.inline:
            return list(inlined_func_call(function, list(operands)))
        return _call(b, function, operands)

    def find(self, platform: str) -> Entry | None:
        """The rule that holds on a platform."""
        for name in (*PLATFORMS.get(platform, (platform,)), None):
            if name in self.entries:
                return self.entries[name]
        return None


def _write(b: Emitter, entry: Entry, params: dict[str, Any]) -> Any:
    """The function of what a rule makes; outside the module if its calls are written in place."""
    module = b.module_context
    in_types = [module.type_of(aval) for aval in b.avals_in]
    out_types = [module.type_of(aval) for aval in b.avals_out]
    name = b.primitive.name
    attributes = {
        "sym_name": ir.StringAttr.get(name if entry.inline else module.fresh_name(name)),
        "function_type": ir.TypeAttr.get(ir.FunctionType.get(in_types, out_types)),
        "sym_visibility": ir.StringAttr.get("private"),
    }
    place = False if entry.inline else ir.InsertionPoint.at_block_begin(module.module.body)
    function = ir.Operation.create("func.func", attributes=attributes, regions=1, ip=place)
    block = function.regions[0].blocks.append(*in_types)
    with ir.InsertionPoint(block), module.without_parameters():
        results = _results(b, entry.rule(b, *block.arguments, **params))
        ir.Operation.create("func.return", results=[], operands=results)
    return function


def _results(b: Emitter, out: Any) -> list[Any]:
    """What a rule returned as a list of values, which have the types that the eqn has."""
    values = [x.result if isinstance(x, ir.OpView) else x for x in flatten_ir_values([out])]
    got = [value.type for value in values]
    want = [b.module_context.type_of(aval) for aval in b.avals_out]
    if got != want:
        raise TypeError(wrong_lowering_results(b.primitive.name, got, want))
    return values


def _call(b: Emitter, function: Any, operands: Sequence[Any]) -> list[Any]:
    callee = ir.FlatSymbolRefAttr.get(function.attributes["sym_name"].value)
    op = ir.Operation.create(
        "func.call",
        results=[b.module_context.type_of(aval) for aval in b.avals_out],
        operands=list(operands),
        attributes={"callee": callee},
    )
    return list(op.results)


def flatten_ir_values(values: Any) -> list[Any]:
    """The MLIR values in nested lists and tuples, in their order."""
    flat: list[Any] = []
    for value in values:
        if isinstance(value, (list, tuple, ir.OpResultList)):
            flat += flatten_ir_values(value)
        else:
            flat.append(value)
    return flat


# ---------------------------------------------------------------- for users


def register_lowering(
    prim: Primitive,
    rule: Callable[..., Any],
    platform: str | None = None,
    inline: bool = True,
    cacheable: bool = True,
) -> None:
    """Say which StableHLO operations a primitive stands for.

    Args:
      prim: the primitive.
      rule: is called as `rule(ctx, *operands, **params)` while a program is written: the operands
        are MLIR values (`jaxlib.mlir.ir.Value`), the parameters those of the eqn, and `ctx` has
        the types of operands and results (`avals_in`, `avals_out`) and the module that is being
        written (`module_context`). It returns the value of the result, or a sequence with one
        value for each result.
      platform: where the rule holds (`"cpu"`, `"gpu"`, `"cuda"`, `"rocm"`, `"tpu"`); None is
        everywhere where no rule of the platform's own was registered.
      inline: whether the operations stand where the primitive was used, or in a function that is
        called there.
      cacheable: whether the rule makes the same operations each time that the types of its
        operands and its parameters are the same; if so, it is called once for all such uses
        within a module.

    Raises:
      NotImplementedError: there is no such platform.
    """
    if platform is not None and platform not in PLATFORMS:
        name = getattr(prim, "name", repr(prim))
        raise NotImplementedError(unknown_platform(name, platform, list(PLATFORMS)))
    rules = vars(prim).get("emit")
    if not isinstance(rules, LoweringRules):
        rules = prim.emit = LoweringRules(prim.emit)
    rules.entries[platform] = Entry(rule, inline, cacheable)


def lower_fun(fun: Callable[..., Any], multiple_results: bool = True) -> Callable[..., Any]:
    """A lowering rule from a traceable function.

    Args:
      fun: computes what the primitive does from other operations; it takes the operands and, by
        name, the parameters.
      multiple_results: whether `fun` returns a sequence of results, or one result.

    Returns:
      A rule for `register_lowering`.
    """

    def rule(ctx: Emitter, *operands: Any, **params: Any) -> list[Any]:
        def flat(*args: Any) -> Sequence[Any]:
            out = fun(*args, **params)
            return out if multiple_results else [out]

        closed = stage_closed(flat, ctx.avals_in)
        return ctx.inline(discharge(closed).jaxpr if makes_refs(closed) else closed, operands)

    return rule


def jaxpr_subcomp(
    ctx: ModuleContext,
    jaxpr: Jaxpr,
    name_stack: Any,
    tokens: Any,
    consts_for_constvars: Sequence[Any],
    *args: Any,
    **_unused: Any,
) -> tuple[tuple[Any, ...], Any]:
    """Write the operations of a jaxpr at the current place.

    Args:
      ctx: the module.
      jaxpr: the program.
      name_stack: the names of the scopes around it.
      tokens: the tokens of ordered effects, which are handed through.
      consts_for_constvars: MLIR values of its constants.
      *args: MLIR values of its inputs.

    Returns:
      The MLIR values of its outputs, and the tokens.
    """
    scopes = name_stack if isinstance(name_stack, tuple) else ()
    return tuple(ctx.write_eqns(jaxpr, [*consts_for_constvars, *args], scopes)), tokens


def core_call_lowering(
    ctx: Emitter, *args: Any, name: str, backend: Any = None, call_jaxpr: Jaxpr | ClosedJaxpr
) -> list[Any]:
    """A lowering rule for primitives that apply a jaxpr: a call of the jaxpr's function.

    Args:
      ctx: where to write.
      *args: MLIR values of the jaxpr's inputs.
      name: of the function.
      backend: unused.
      call_jaxpr: the program; if it is not closed, it has no constants.
    """
    closed = call_jaxpr if isinstance(call_jaxpr, ClosedJaxpr) else ClosedJaxpr(call_jaxpr)
    return ctx.call(name, closed, args)


def emit_python_callback(
    ctx: Any,
    callback: Callable[..., Any],
    token: Any,
    operands: Sequence[Any],
    operand_avals: Sequence[AbstractValue],
    result_avals: Sequence[AbstractValue],
    *,
    has_side_effect: bool,
    returns_token: bool = True,
    partitioned: bool = False,
    sharding: Any = None,
) -> tuple[list[Any], Any, Any]:
    """Write the call of a Python function.

    Args:
      ctx: what the lowering rule was given.
      callback: takes arrays, and returns a sequence of what NumPy can make arrays of.
      token: the token after which it is called, or None.
      operands, operand_avals: MLIR values and their types.
      result_avals: the types of what the function returns.
      has_side_effect: whether it is called even if nothing uses its results.
      returns_token: whether the caller goes on with the token; it is returned in any case.
      partitioned, sharding: where it is called in programs on several devices; one calls it here.

    Returns:
      The results as MLIR values, the token after the call (None if none was given), and an object
      that lives as long as the program.
    """
    b = ctx.replace(avals_in=list(operand_avals), avals_out=list(result_avals))
    tokens = [] if token is None else [token]
    name = getattr(ctx.primitive, "name", "emit_python_callback")
    called = HostCallback(callback, name, operand_avals, result_avals, bool(tokens))
    results = b.host_call(called, tokens, operands, has_side_effect)
    return results[len(tokens) :], results[0] if tokens else None, called
