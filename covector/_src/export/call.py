"""Calling an exported program: eagerly, within traced functions, and differentiated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..api.custom_derivatives import custom_vjp
from ..base import export_errors as errors
from ..base import tree
from ..base.tree_errors import child_keys, describe, is_leaf_def, mismatches
from ..base.tree_keys import keystr
from ..core.primitive import BuiltinPrimitive
from ..xla.portable import UnreadableArtifact, add_artifact, call_function
from .safety import DisabledSafetyCheck

if TYPE_CHECKING:
    from .exported import Exported


class CallExported(BuiltinPrimitive):
    """Calls the program of an `Exported`, which the parameter is."""

    multiple_results = True

    def effectful_abstract_eval(self, *avals, exported):
        check_types(exported, avals)
        effects = frozenset((*exported.ordered_effects, *exported.unordered_effects))
        return list(exported.out_avals), effects

    def vmap(self, axis, dims, *args, exported):
        raise NotImplementedError(errors.no_batching(exported.fun_name))

    def shown_params(self, params):
        return {"name": params["exported"].fun_name}

    def emit(self, b, *operands, exported):
        module = b.module_context
        artifact = exported.module_for(platform_for(exported, b.platform))
        key = (self, exported)
        function = module.cached_primitive_lowerings.get(key)
        if function is None:
            name = f"call_exported_{exported.fun_name}"
            try:
                function = add_artifact(module, artifact, name)
            except UnreadableArtifact as reason:
                raise ValueError(errors.program_unreadable(exported.fun_name, reason)) from None
            module.cached_primitive_lowerings[key] = function
        effects = b.ordered_effects
        given = [operands[i] for i in exported.module_kept_var_idx]
        results = call_function(function, [*module.current_tokens(effects), *given])
        module.tokens.update(zip(effects, results))
        return results[len(effects) :]


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


def call(exported: Exported) -> Any:
    """The function that calls an exported program."""
    return exported.call


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
            if size != given:
                where = argument(exported, i)
                raise ValueError(errors.size_differs(name, where, axis, want.shape, got.shape))


def argument(exported: Exported, index: int) -> str:
    """The place of a flat argument, such as `args[0]['w']`."""
    return place(_paths(exported.in_tree)[index])


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
