"""Symbolic shapes, for arguments of functions that are exported."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..api.shape_dtype import ShapeDtypeStruct, abstractify
from ..base import dim_errors as errors
from ..base import tree
from ..base.dim_parser import parse
from ..base.dim_scope import SymbolicScope
from ..base.dims import Size
from ..base.tree_errors import prefix_errors


def symbolic_shape(
    shape_spec: str | None,
    *,
    constraints: Sequence[str] = (),
    scope: SymbolicScope | None = None,
    like: Sequence[int | None] | None = None,
) -> tuple[Size, ...]:
    """A shape with symbolic sizes, from a string.

    Args:
      shape_spec: sizes with commas between them, in parentheses or not. A size is an integer, a
        variable, which stands for any positive integer, or made of these by `+`, `-`, `*`, `^`,
        `floordiv`, `mod`, `max` and `min`. For `_`, and for `...` at the end, sizes of `like` are
        taken. None is `...`.
      constraints: what else is known of the variables, see `SymbolicScope`.
      scope: where the variables belong; by default a new scope with these constraints.
      like: a shape, in which None is a size that is not known.

    Returns:
      A tuple of ints and symbolic sizes.

    Raises:
      ValueError: the string is no shape, or does not fit `like`.

    >>> from covector import export
    >>> b, n = export.symbolic_shape("b, 2*n")
    >>> b * n // 2, n + n, b >= 1
    (b*n, 4*n, True)
    """
    if shape_spec is not None and not isinstance(shape_spec, str):
        raise ValueError(errors.shape_not_text("symbolic_shape", shape_spec))
    return parse(shape_spec, like, _scope("symbolic_shape", scope, constraints))


def _scope(where: str, scope: SymbolicScope | None, constraints: Sequence[str]) -> SymbolicScope:
    if scope is None:
        return SymbolicScope(constraints)
    if constraints:
        raise ValueError(errors.scope_and_constraints(where))
    return scope


def symbolic_args_specs(
    args: Any,
    shapes_specs: Any,
    constraints: Sequence[str] = (),
    scope: SymbolicScope | None = None,
) -> Any:
    """The types of arguments, with symbolic sizes where strings say so.

    Args:
      args: a tree of arrays or `ShapeDtypeStruct`s.
      shapes_specs: a tree of strings as for `symbolic_shape`, or None for shapes as they are; one
        stands for all leaves that it is a prefix of.
      constraints: what else is known of the variables.
      scope: where the variables belong; by default a new scope with these constraints.

    Returns:
      A tree of `ShapeDtypeStruct`s, to export a function for.

    >>> import covector.numpy as jnp
    >>> from covector import export
    >>> export.symbolic_args_specs((jnp.ones((4, 3)), jnp.ones(3)), ("b, _", "..."))
    (ShapeDtypeStruct(shape=(b, 3), dtype=float32), ShapeDtypeStruct(shape=(3,), dtype=float32))
    """
    if isinstance(args, tuple) and isinstance(shapes_specs, list):
        shapes_specs = tuple(shapes_specs)
    is_none = lambda x: x is None  # noqa: E731
    try:
        specs = tree.broadcast_prefix(shapes_specs, args, is_leaf=is_none)
    except ValueError:
        given = tree.structure(shapes_specs, is_leaf=is_none)
        problem, *_ = prefix_errors(given, tree.structure(args))
        raise problem("symbolic_args_specs shapes_specs") from None
    scope = _scope("symbolic_args_specs", scope, constraints)
    leaves, treedef = tree.flatten(args)
    structs = []
    for leaf, spec in zip(leaves, specs):
        like = leaf if isinstance(leaf, ShapeDtypeStruct) else abstractify(leaf)
        shape = symbolic_shape(spec, like=like.shape, scope=scope)
        structs.append(ShapeDtypeStruct(shape, like.dtype))
    return tree.unflatten(treedef, structs)
