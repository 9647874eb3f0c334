"""Helpers for libraries that write transformations of their own, under the names of `api_util`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..base import extension_errors, tree
from ..core.avals import AbstractValue, aval_of
from ..core.jaxpr import DebugInfo
from ..transforms.signatures import debug_info as info_of_call


def debug_info(
    traced_for: str,
    fun: Callable[..., Any],
    args: Sequence[Any],
    kwargs: dict[str, Any],
    *,
    static_argnums: Sequence[int] = (),
    static_argnames: Sequence[str] = (),
) -> DebugInfo:
    """What a function and its flat arguments are called, for errors and printed jaxprs.

    Args:
      traced_for: the transformation, e.g. `"jit"`.
      fun: the user's function.
      args, kwargs: what it is called with.
      static_argnums, static_argnames: which of these are no trees of arrays.

    >>> info = debug_info("jit", lambda x, n, y: x, ({"a": 1.0}, 2), {"y": 3}, static_argnums=[1])
    >>> info.arg_names
    ("x['a']", 'y')
    """
    static = {n % len(args) for n in static_argnums} if args else set()
    dynamic = tuple(x for i, x in enumerate(args) if i not in static)
    named = {name: x for name, x in kwargs.items() if name not in static_argnames}
    return info_of_call(traced_for, fun, dynamic, named, (tuple((i, None) for i in static), ()))


def donation_vector(
    donate_argnums: Iterable[int], donate_argnames: Iterable[str], in_tree: Any, kws: bool = True
) -> tuple[bool, ...]:
    """For each leaf of the arguments, whether it is donated.

    Args:
      donate_argnums, donate_argnames: which arguments are.
      in_tree: the structure of `(args, kwargs)`; without `kws`, of `args`.
      kws: whether there are keyword arguments.

    >>> import covector as cv
    >>> in_tree = cv.tree.structure(((1, [2, 3]), {"z": 4}))
    >>> donation_vector((1,), ("z",), in_tree)
    (False, True, True, True)
    """
    nums, names = set(donate_argnums), set(donate_argnames)
    value = tree.unflatten(in_tree, [0] * in_tree.num_leaves)
    args, kwargs = value if kws else (value, {})
    flags: list[bool] = []
    for i, arg in enumerate(args):
        flags += [i in nums] * len(tree.leaves(arg))
    for name in sorted(kwargs):
        flags += [name in names] * len(tree.leaves(kwargs[name]))
    return tuple(flags)


def rebase_donate_argnums(
    donate_argnums: Iterable[int], static_argnums: Iterable[int]
) -> tuple[int, ...]:
    """Positions of donated arguments once the static ones are taken out.

    Raises:
      ValueError: an argument is both.

    >>> rebase_donate_argnums((1, 4), (0, 2))
    (0, 2)
    """
    static, donated = sorted(set(static_argnums)), sorted(set(donate_argnums))
    both = sorted({*static} & {*donated})
    if both:
        raise ValueError(extension_errors.donated_and_static(both))
    return tuple(n - sum(s < n for s in static) for n in donated)


def flatten_axes(
    name: str, treedef: Any, axis_tree: Any, *, kws: bool = False, tupled_args: bool = False
) -> list[Any]:
    """One entry of a specification such as `in_axes` for each leaf of the value it is for.

    Args:
      name: what the specification is called, for errors.
      treedef: the structure of the value; with `kws`, of `(args, kwargs)`.
      axis_tree: a tree prefix of the value (of `args`, with `kws`), in which None is an entry.
      kws: whether the value has keyword arguments beside; their entries are 0.
      tupled_args: unused; with it JAX words an error otherwise.
    """
    if not kws:
        return tree.flatten_axes(name, treedef, axis_tree)
    args, kwargs = treedef.children()
    return tree.flatten_axes(name, args, axis_tree) + [0] * kwargs.num_leaves


def safe_map(fun: Callable[..., Any], *sequences: Iterable[Any]) -> list[Any]:
    """`list(map(fun, *sequences))` for sequences of one length.

    Raises:
      ValueError: their lengths differ.
    """
    return [fun(*items) for items in zip(*sequences, strict=True)]


def shaped_abstractify(x: Any) -> AbstractValue:
    """The type of a value that may be an argument: an array, a number, or a `ShapeDtypeStruct`.

    >>> shaped_abstractify(1.0)
    ShapedArray(float32[], weak_type=True)
    """
    return aval_of(x)
