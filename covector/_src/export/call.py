"""Calling an exported program: eagerly, within traced functions, and differentiated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..api.custom_derivatives import custom_vjp
from ..base import export_errors as errors
from ..base import tree
from ..base.dims import Dim, has_symbolic
from ..base.tree_errors import child_keys, describe, is_leaf_def, mismatches
from ..base.tree_keys import keystr
from ..core.primitive import BuiltinPrimitive
from ..xla.dynamic import cast, refined
from ..xla.portable import UnreadableArtifact, add_program, call_function, from_artifact
from .safety import DisabledSafetyCheck
from .solving import Solution

if TYPE_CHECKING:
    from .exported import Exported


class CallExported(BuiltinPrimitive):
    """Calls the program of an `Exported`, which the parameter is."""

    multiple_results = True

    def effectful_abstract_eval(self, *avals, exported):
        check_types(exported, avals)
        effects = frozenset((*exported.ordered_effects, *exported.unordered_effects))
        outs = exported.out_avals
        if exported.is_symbolic:
            solution = Solution(exported.equations, [aval.shape for aval in avals])
            outs = [aval.update(shape=solution.shape(aval.shape)) for aval in outs]
        return list(outs), effects

    def vmap(self, axis, dims, *args, exported):
        raise NotImplementedError(errors.no_batching(exported.fun_name))

    def shown_params(self, params):
        return {"name": params["exported"].fun_name}

    def emit(self, b, *operands, exported):
        module, effects = b.module_context, b.ordered_effects
        tokens = module.current_tokens(effects)
        kept = exported.module_kept_var_idx
        types = [module.type_of(b.avals_in[i]) for i in kept]
        key = (self, exported, tuple(b.avals_in))
        function = module.cached_primitive_lowerings.get(key)
        if function is None:
            function = module.cached_primitive_lowerings[key] = _written(b, exported, types)
        given = [*tokens, *[operands[i] for i in kept]]
        results = call_function(function, given)
        module.tokens.update(zip(effects, results))
        outs = results[len(effects) :]
        return [cast(x, module.type_of(aval)) for x, aval in zip(outs, b.avals_out)]


def _written(b: Any, exported: Exported, types: Sequence[Any]) -> Any:
    """The program of an exported function, copied into the module that is being written.

    Args:
      b: writes the call.
      exported: the function.
      types: MLIR types of the arguments that the program takes.
    """
    module = b.module_context
    artifact = exported.module_for(platform_for(exported, b.platform))
    try:
        program = from_artifact(artifact)
    except UnreadableArtifact as reason:
        raise ValueError(errors.program_unreadable(exported.fun_name, reason)) from None
    if exported.is_symbolic and not any(has_symbolic(aval.shape) for aval in b.avals_in):
        tokens = module.token_types(b.ordered_effects)
        outs = [module.type_of(aval) for aval in b.avals_out]
        program = refined(program, [*tokens, *types], [*tokens, *outs])
    return add_program(module, program, f"call_exported_{exported.fun_name}")


call_exported_p = CallExported("call_exported")


def platform_for(exported: Exported, platform: str) -> str:
    """The platform whose program is called on another one.

    Raises:
      ValueError: the function was not exported for the platform.
    """
    if platform in exported.platforms:
        return platform
    if DisabledSafetyCheck.platform() in exported.disabled_safety_checks:
        return exported.platforms[0]
    raise ValueError(errors.wrong_platform(exported.fun_name, exported.platforms, platform))


def call_on_trees(exported: Exported, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call an exported program with the arguments as the user gives them.

    Raises:
      ValueError: they are not in the containers, or not of the shapes and dtypes, that the function
        was exported for; or the program is not for this platform.
    """
    leaves, in_tree = tree.flatten((args, kwargs))
    if in_tree != exported.in_tree:
        found = [
            (place(mismatch.path), describe(mismatch.first), describe(mismatch.second))
            for mismatch in mismatches(in_tree, exported.in_tree, prefix=False)
        ]
        raise ValueError(errors.trees_differ(exported.fun_name, found))
    return tree.unflatten(exported.out_tree, exported.call_flat(*leaves))


def differentiable(exported: Exported) -> Any:
    """The function of flat arguments that calls an exported program, with its exported gradient."""

    def primal(*leaves: Any) -> tuple[Any, ...]:
        return tuple(call_exported_p.bind(*leaves, exported=exported))

    def forward(*leaves: Any) -> tuple[Any, tuple[Any, ...]]:
        return fun(*leaves), leaves

    def backward(leaves: tuple[Any, ...], cts: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(exported.vjp().call_flat(*leaves, *cts))

    primal.__name__ = primal.__qualname__ = exported.fun_name
    fun = custom_vjp(primal)
    fun.defvjp(forward, backward)
    return fun


def check_types(exported: Exported, avals: Sequence[Any]) -> None:
    """Raise ValueError unless arguments have the types that a function was exported for."""
    name = exported.fun_name
    for i, (want, got) in enumerate(zip(exported.in_avals, avals)):
        if len(want.shape) != len(got.shape):
            raise ValueError(
                errors.rank_differs(name, argument(exported, i), want.shape, got.shape)
            )
        if want.dtype != got.dtype:
            raise ValueError(
                errors.dtype_differs(name, argument(exported, i), want.dtype, got.dtype)
            )
        for axis, (size, given) in enumerate(zip(want.shape, got.shape)):
            if not isinstance(size, Dim) and size != given:
                where = argument(exported, i)
                raise ValueError(errors.size_differs(name, where, axis, want.shape, got.shape))


def argument(exported: Exported, index: int) -> str:
    """The place of a flat argument, such as `args[0]['w']`."""
    return argument_of(exported.in_tree, index)


def argument_of(in_tree: Any, index: int) -> str:
    """The place of a flat argument, by the structure of the arguments."""
    return place(_paths(in_tree)[index])


def _paths(treedef: Any) -> list[tuple[Any, ...]]:
    """The paths to the leaves; no code of users' containers sees anything but placeholders."""
    if is_leaf_def(treedef):
        return [()]
    children = zip(child_keys(treedef), treedef.children())
    return [(key, *path) for key, child in children for path in _paths(child)]


def place(path: Sequence[Any]) -> str:
    """A place in the pair of positional and keyword arguments."""
    if not path:
        return "args, kwargs"
    return ("args", "kwargs")[path[0].idx] + keystr(path[1:])
