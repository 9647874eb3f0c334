"""What is told to the compiler: attributes, where to compute, and how arrays are to lie."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from contextlib import ContextDecorator
from typing import Any

from ..base import attribute_errors as errors
from ..base import config, tree
from ..core.avals import aval_of
from ..core.scopes import AttributeScope
from ..core.trace import context
from ..ops.attributes import layout_constraint_p, shard_alike_p, texts_of, xla_metadata_value_p
from ..xla.layout import Layout

# ---------------------------------------------------------------- set_xla_metadata


class Attributes(ContextDecorator):
    """Context manager: what is traced in it carries attributes; it may be entered again within.

    The names of scopes take them along to where a program is written (`core.scopes`), and a flag
    of which the keys of caches are part keeps programs apart that differ in them.
    """

    __slots__ = ("_outer", "_scope")

    def __init__(self, attributes: Mapping[str, str | None]):
        self._scope = AttributeScope(attributes)
        self._outer: list[Any] = []

    def _recreate_cm(self) -> Attributes:  # for each call of a decorated function
        return Attributes(self._scope.attributes)

    def __enter__(self) -> None:
        cover = config.compiler_attributes((*config.compiler_attributes.value, self._scope))
        self._outer.append((context.name_stack, cover))
        cover.__enter__()
        context.name_stack = (*context.name_stack, self._scope)

    def __exit__(self, *exception: object) -> None:
        context.name_stack, cover = self._outer.pop()
        cover.__exit__(None, None, None)


class Metadata(Attributes):
    """The attributes of `set_xla_metadata`, also as a decorator of functions."""

    __slots__ = ()

    def __call__(self, fun: Callable[..., Any]) -> Any:
        return _Within(fun, self)


class _Within:
    """A function that is called within attributes, and so are its methods, such as `lower`."""

    def __init__(self, fun: Callable[..., Any], attributes: Attributes):
        functools.update_wrapper(self, fun)  # also copies what it has of its own
        self._fun = fun
        self._attributes = attributes

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        with self._attributes._recreate_cm():  # threads may call it at the same time
            return self._fun(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._fun, name)
        return _Within(found, self._attributes) if callable(found) else found


def set_xla_metadata(x: Any = None, **kwargs: Any) -> Any:
    """Attributes for passes of XLA, on operations of the compiled program.

    The operations of what is traced in `with set_xla_metadata(...)`, or in a function that it
    decorates, carry them as frontend attributes; so do those of derivatives. Given values, it
    returns them, and the operations that made them carry the attributes.

    Args:
      x: a tree of arrays, or None.
      **kwargs: names and values, which are written as text. None takes away an attribute that a
        scope around sets.

    Returns:
      `x`; without it a context manager, which is a decorator too.

    >>> import covector as cv
    >>> from covector.experimental.xla_metadata import set_xla_metadata
    >>> def f(x):
    ...     with set_xla_metadata(speed="fast"):
    ...         return cv.lax.sin(x)
    >>> 'speed = "fast"' in cv.jit(f).lower(1.0).as_text()
    True
    """
    if x is None:
        return Metadata({k: None if v is None else texts_of({k: v})[k] for k, v in kwargs.items()})
    given = tuple(sorted(kwargs.items()))
    return tree.map(lambda leaf: xla_metadata_value_p.bind(leaf, xla_metadata_kvs=given), x)


# ---------------------------------------------------------------- compute_on

_COMPUTE_TYPES = {"device_host": "host", "device": "dense", "tpu_sparsecore": "sparseoffload"}
_STREAM = "gpu_stream:"


def compute_on(compute_type: str) -> Attributes:
    """Say for what is traced within where the compiler is to let it be computed.

    A context manager, and a decorator. CPUs compute it in place, whatever is said; so do GPUs
    without such an offer. The innermost one counts.

    Args:
      compute_type: `"device"`; `"device_host"`, the CPU that the device belongs to;
        `"tpu_sparsecore"`; or `"gpu_stream:1"`, and so on: the stream of that number.

    Raises:
      TypeError: it is not a string.
      ValueError: it is none of these.

    >>> import covector as cv
    >>> from covector.experimental.compute_on import compute_on
    >>> @cv.jit
    ... @compute_on("device_host")
    ... def f(x):
    ...     return 2 * x
    >>> '_xla_compute_type = "host"' in f.lower(1.0).as_text()
    True
    """
    if not isinstance(compute_type, str):
        raise TypeError(errors.compute_type_not_text(compute_type))
    stream = compute_type.removeprefix(_STREAM)
    if stream == compute_type and compute_type not in _COMPUTE_TYPES:
        raise ValueError(errors.unknown_compute_type(compute_type))
    on_stream = stream != compute_type
    return Attributes(
        {
            "_xla_compute_type": _COMPUTE_TYPES.get(compute_type),
            "_xla_stream_annotation": stream if on_stream else None,
            "inlineable": "false" if on_stream else None,
        }
    )


# ---------------------------------------------------------------- with_layout_constraint


def with_layout_constraint(x: Any, layouts: Any) -> Any:
    """Let arrays lie in memory in a given order where a compiled function computes with them.

    Outside of compiled functions arrays keep the order that they have. What a function returns lies
    in memory as its caller expects it, whatever was said on the way.

    Args:
      x: a tree of arrays.
      layouts: a `Layout`, or a tree of them that is a prefix of `x`.

    Returns:
      `x`.

    Raises:
      ValueError: something else than a `Layout`, or one for another number of dimensions.

    >>> import covector as cv, covector.numpy as jnp
    >>> from covector.experimental.layout import Layout, with_layout_constraint
    >>> by_columns = Layout(major_to_minor=(1, 0))
    >>> f = cv.jit(lambda x: 2 * with_layout_constraint(x.T, by_columns))
    >>> f(jnp.ones((1, 2)))
    Array([[2.],
           [2.]], dtype=float32)
    """
    leaves, treedef = tree.flatten(x)
    chosen = tree.flatten_axes("with_layout_constraint layouts", treedef, layouts)
    for layout, leaf in zip(chosen, leaves):
        if not isinstance(layout, Layout):
            raise ValueError(errors.not_a_layout(layout))
        aval = aval_of(leaf)
        if sorted(layout.major_to_minor) != list(range(aval.ndim)):
            raise ValueError(errors.layout_of_other_rank(layout.major_to_minor, aval))
    outs = [layout_constraint_p.bind(leaf, layout=layout) for leaf, layout in zip(leaves, chosen)]
    return treedef.unflatten(outs)


# ---------------------------------------------------------------- shard_alike


def shard_alike(x: Any, y: Any) -> tuple[Any, Any]:
    """Let two arrays be spread over devices in the same way, whichever the compiler chooses.

    Args:
      x, y: trees of arrays, of the same structure and shapes.

    Returns:
      `x` and `y`.

    Raises:
      ValueError: structures or shapes differ.

    >>> import covector as cv, covector.numpy as jnp
    >>> from covector.experimental.shard_alike import shard_alike
    >>> cv.jit(shard_alike)(jnp.arange(2), jnp.ones(2))
    (Array([0, 1], dtype=int32), Array([1., 1.], dtype=float32))
    """
    (xs, x_tree), (ys, y_tree) = tree.flatten(x), tree.flatten(y)
    if x_tree != y_tree:
        raise ValueError(errors.trees_differ(x_tree, y_tree))
    for a, b in zip(xs, ys):
        if aval_of(a).shape != aval_of(b).shape:
            raise ValueError(errors.shapes_differ(aval_of(a), aval_of(b)))
    pairs = [shard_alike_p.bind(a, b) for a, b in zip(xs, ys)]
    alike = [tree.unflatten(x_tree, [pair[i] for pair in pairs]) for i in (0, 1)]
    return alike[0], alike[1]
