"""Policies of rematerialization: which intermediate values are saved for the backward pass."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from ..control.checkpoint_policy import Offloadable, Recompute, Saveable
from ..ops.names import name_p


def everything_saveable(*_: Any, **__: Any) -> bool:
    """Save every value: nothing is computed twice."""
    return True


def nothing_saveable(*_: Any, **__: Any) -> bool:
    """Save nothing but the inputs: everything is computed twice."""
    return False


class DotsSaveable:
    """Save the results of matrix products and convolutions.

    Args:
      only_if_no_batch_dims: whether products over batches are computed again.
    """

    def __init__(self, only_if_no_batch_dims: bool):
        self.only_if_no_batch_dims = only_if_no_batch_dims

    def __call__(self, prim: Any, *args: Any, **params: Any) -> bool:
        # By their names: this module loads with the package, convolutions when they are used.
        if prim.name == "conv_general_dilated":
            return not self.only_if_no_batch_dims
        if prim.name != "dot_general":
            return False
        _, (batch, _) = params["dimension_numbers"]
        return not (batch and self.only_if_no_batch_dims)

    def __repr__(self) -> str:
        return f"DotsSaveable(only_if_no_batch_dims={self.only_if_no_batch_dims})"


dots_saveable = DotsSaveable(False)
dots_with_no_batch_dims_saveable = DotsSaveable(True)


class NamePolicy:
    """A policy about names given by `checkpoint_name`; equal ones are the same policy.

    Args:
      shown: what it is called when it is printed, and its arguments.
      decide: whether a value is saved, from its name, or None for a value without one.
    """

    def __init__(self, shown: tuple[str, dict[str, Any]], decide: Callable[[str | None], Any]):
        self.shown = shown
        self.decide = decide

    def __call__(self, prim: Any, *args: Any, **params: Any) -> Any:
        return self.decide(params["name"] if prim is name_p else None)

    def __repr__(self) -> str:
        name, fields = self.shown
        return f"{name}({', '.join(f'{k}={v!r}' for k, v in fields.items())})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NamePolicy) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))


def save_only_these_names(*names_which_can_be_saved: str) -> NamePolicy:
    """Save the values that `checkpoint_name` gave one of these names."""
    names = frozenset(names_which_can_be_saved)
    shown = "SaveOnlyTheseNames", {"saveable_names": names}
    return NamePolicy(shown, lambda name: name in names)


def save_any_names_but_these(*names_not_to_save: str) -> NamePolicy:
    """Save the values that `checkpoint_name` gave any other name than these."""
    names = frozenset(names_not_to_save)
    shown = "SaveAnyNamesButThese", {"names_not_to_save": names}
    return NamePolicy(shown, lambda name: name is not None and name not in names)


def save_anything_except_these_names(*names_not_to_save: str) -> NamePolicy:
    """Save every value but those that `checkpoint_name` gave one of these names."""
    names = frozenset(names_not_to_save)
    shown = "SaveAnythingExceptTheseNames", {"names_not_to_save": names}
    return NamePolicy(shown, lambda name: name not in names)


def save_from_both_policies(policy_1: Callable[..., Any], policy_2: Callable[..., Any]) -> Any:
    """Save the values that one policy or the other saves."""

    def either(prim: Any, *args: Any, **params: Any) -> Any:
        return policy_1(prim, *args, **params) or policy_2(prim, *args, **params)

    return either


def offload_dot_with_no_batch_dims(offload_src: str, offload_dst: str) -> Callable[..., Any]:
    """Keep the results of matrix products without batches in another memory, if there is one."""
    place = Offloadable(offload_src, offload_dst)

    def policy(prim: Any, *args: Any, **params: Any) -> Any:
        return place if dots_with_no_batch_dims_saveable(prim, *args, **params) else Recompute

    return policy


def save_and_offload_only_these_names(
    *,
    names_which_can_be_saved: tuple[str, ...] | list[str],
    names_which_can_be_offloaded: tuple[str, ...] | list[str],
    offload_src: str,
    offload_dst: str,
) -> NamePolicy:
    """Save values by name, and keep others by name in another memory, if there is one."""
    saved, offloaded = map(frozenset, (names_which_can_be_saved, names_which_can_be_offloaded))
    if saved & offloaded:
        raise ValueError(
            "[save_and_offload_only_these_names] a name is to be saved or offloaded, but these are "
            f"in both lists: {sorted(saved & offloaded)}."
        )
    place = Offloadable(offload_src, offload_dst)
    fields = {"saveable_names": saved, "offloadable_names": offloaded, "offload": place}

    def decide(name: str | None) -> Any:
        return Saveable if name in saved else place if name in offloaded else Recompute

    return NamePolicy(("SaveAndOffloadOnlyTheseNames", fields), decide)


checkpoint_policies = SimpleNamespace(
    checkpoint_dots=dots_saveable,
    checkpoint_dots_with_no_batch_dims=dots_with_no_batch_dims_saveable,
    dots_saveable=dots_saveable,
    dots_with_no_batch_dims_saveable=dots_with_no_batch_dims_saveable,
    everything_saveable=everything_saveable,
    nothing_saveable=nothing_saveable,
    offload_dot_with_no_batch_dims=offload_dot_with_no_batch_dims,
    save_and_offload_only_these_names=save_and_offload_only_these_names,
    save_any_names_but_these=save_any_names_but_these,
    save_anything_except_these_names=save_anything_except_these_names,
    save_from_both_policies=save_from_both_policies,
    save_only_these_names=save_only_these_names,
)
