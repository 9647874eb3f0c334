"""`composite`: an operation with a name of its own, made of others.

To a compiler that knows the name it is one operation; to any other, what it is made of.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Any

import numpy as np

from ..base import composite_errors, tree
from ..base.errors import UnexpectedTracerError
from ..base.frozen import HashableArray, frozen
from ..core.avals import aval_of
from ..core.check import check_applied
from ..core.jaxpr import ClosedJaxpr, eval_jaxpr
from ..core.primitive import BuiltinPrimitive
from ..core.trace import Tracer
from ..ops.linear import bring_to
from ..transforms.flatten import FlatFunction
from ..transforms.linearize import constvars_to_invars
from ..transforms.stage import stage
from ..transforms.vmap import vmap_jaxpr


class CompositeOp(BuiltinPrimitive):
    """A jaxpr under a name, a version and attributes."""

    multiple_results = True

    def check_operands(self, avals, params):
        check_applied(params["jaxpr"], avals)

    def effectful_abstract_eval(self, *avals, jaxpr, **params):
        return list(jaxpr.out_avals), jaxpr.effects

    def ref(self, *args, jaxpr, **params):
        return eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, *args)

    def jvp(self, primals, tangents, *, name, **params):
        raise ValueError(composite_errors.no_derivative(name))

    def vmap(self, axis, dims, *args, jaxpr, **params):
        # A batch is another operation than the one that the name stands for: only what it is made
        # of remains.
        args = [x if dim is None else bring_to(x, axis.size, dim, 0) for x, dim in zip(args, dims)]
        mapped, batched = vmap_jaxpr(jaxpr, axis, tuple([d is not None for d in dims]), False)
        outs = eval_jaxpr(mapped.jaxpr, mapped.consts, *args)
        return outs, [0 if out else None for out in batched]

    def emit(self, b, *operands, name, attributes, version, jaxpr):
        outs = b.op(
            "composite",
            *operands,
            name=name,
            decomposition=b.function(name, jaxpr),
            composite_attributes=dict(_given(attributes)),
            version=np.int32(version),
        )
        return outs if len(jaxpr.out_avals) > 1 else [outs]


def _given(attributes: Any) -> list[tuple[str, Any]]:
    """The attributes of the operation, by name: those that are not None."""
    values = [
        (name, tree.unflatten(treedef, [_unwrapped(leaf) for leaf in leaves]))
        for name, leaves, treedef in attributes
    ]
    return [(name, value) for name, value in values if value is not None]


def _unwrapped(leaf: Any) -> Any:
    if isinstance(leaf, HashableArray):
        return leaf.val
    return np.float64(leaf) if isinstance(leaf, float) else leaf


composite_p = CompositeOp("composite")


def composite(decomposition: Callable[..., Any], name: str, version: int = 0) -> Callable[..., Any]:
    """A function as one operation with a name, which compilers may know.

    The compiled program has an operation of this name, and the function as what to do where the
    name is not known; the results are the same.

    Args:
      decomposition: a function of arrays, given by position, and attributes, given by keyword,
        that returns an array or a tree of arrays. It may not use traced values from outside.
      name: the name, usually with a namespace: `"my.tangent"`.
      version: an integer that grows when the meaning of the name changes.

    Returns:
      The function. Its attributes are numbers, strings, dtypes, NumPy arrays, or None for those
      that the operation is not to have. It has no derivative, unless `covector.custom_jvp` or
      `covector.custom_vjp` gives one; batches of it are batches of `decomposition`.

    Raises:
      UnexpectedTracerError: when it is called, if an attribute, or a value that `decomposition`
        uses from outside, is traced.

    >>> from functools import partial
    >>> from covector import lax
    >>> @partial(lax.composite, name="my.scale")
    ... def scale(x, *, factor):
    ...     return lax.mul(x, factor)
    >>> scale(3.0, factor=2.0)
    Array(6., dtype=float32, weak_type=True)
    """

    @wraps(decomposition)
    def function(*args: Any, **attributes: Any) -> Any:
        if any(isinstance(value, Tracer) for value in attributes.values()):
            raise UnexpectedTracerError(composite_errors.traced_attribute(name))
        leaves, _ = tree.flatten(args)
        in_tree = tree.structure((args, {}))
        flat = FlatFunction(partial(decomposition, **attributes), in_tree)
        jaxpr, consts = stage(flat, [aval_of(x) for x in leaves])
        if any(isinstance(const, Tracer) for const in consts):
            raise UnexpectedTracerError(composite_errors.traced_constant(name))
        outs = composite_p.bind(
            *consts,
            *leaves,
            name=name,
            attributes=tuple([_hashable(key, value) for key, value in attributes.items()]),
            version=version,
            jaxpr=ClosedJaxpr(constvars_to_invars(jaxpr)),
        )
        return tree.unflatten(flat.out_tree, outs)

    return function


def _hashable(name: str, value: Any) -> tuple[str, tuple[Any, ...], Any]:
    """An attribute as a parameter: its name, its leaves, and the tree of them."""
    leaves, treedef = tree.flatten(value)
    wrapped = [frozen(x) for x in leaves]
    return name, tuple(wrapped), treedef
