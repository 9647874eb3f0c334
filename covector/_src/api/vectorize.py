"""`vmap`: a function of single examples as one of batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..base import dtypes, tree
from ..base import transform_errors as errors
from ..base.tree_keys import keystr
from ..control.discharge import WithBoxes, check_aliases, read, write
from ..core.avals import aval_getters, aval_of, is_valid_type
from ..core.axis import Axis
from ..core.refs import Ref
from ..core.scopes import VMAP
from ..core.trace import Scope, context, eval_trace
from ..core.zeros import Zero
from ..ops.linear import bring_to, reduce_sum
from ..transforms.flatten import FlatFunction
from ..transforms.signatures import argument_names, debug_info
from ..transforms.vmap import example_aval
from ..transforms.vmap import vmap as vmap_of_flat
from .values import to_array
from .vmappable import FunctionOfExamples, is_axis, is_vmappable, vmappable
from .wrapping import check_callable, named_after


def vmap(
    fun: Callable[..., Any],
    in_axes: Any = 0,
    out_axes: Any = 0,
    axis_name: Any = None,
    axis_size: int | None = None,
    spmd_axis_name: Any = None,
    sum_match: bool = False,
) -> Callable[..., Any]:
    """Turn a function of one example into a function of many.

    The function is not called in a loop: each operation in it becomes one on the whole batch.

    Args:
      fun: a function of trees of arrays (for one example) that returns a tree of arrays.
      in_axes: which axis of each argument counts the examples: an integer for all positional
        arguments, or a tuple with one entry for each. An entry is an integer (negative ones count
        from the end), None for an argument that all examples share, or a tree of these with the
        containers of the argument, down to where one entry stands for a whole subtree. Arguments
        passed by keyword are mapped over their axis 0.
      out_axes: along which axis the results are stacked: an integer, or a tree of them as for
        `in_axes`. None is for results that are the same for all examples.
      axis_name: a name under which collectives such as `lax.psum` address the axis.
      axis_size: the number of examples; needed only if no argument tells it.
      spmd_axis_name: a mesh axis, or a tuple of them, over which the examples are distributed.
      sum_match: whether None in `out_axes` asks for the sum over the examples of a result that
        differs between them.

    Returns:
      A function with the arguments of `fun`, each with one more axis where `in_axes` says so.

    Raises:
      ValueError: mapped axes differ in size; an array lacks the axis; an entry of `out_axes` is
        None for a result that differs between examples; the trees do not fit.
      TypeError: an entry of `in_axes` or `out_axes` is no integer, or a result is no array.

    >>> import covector as cv, covector.numpy as jnp
    >>> matrix, vectors = jnp.eye(2) * 3.0, jnp.arange(6.0).reshape(3, 2)
    >>> print(cv.vmap(jnp.dot, in_axes=(None, 0))(matrix, vectors))
    [[ 0.  3.]
     [ 6.  9.]
     [12. 15.]]
    """
    check_callable("vmap", fun)
    in_axes = tuple(in_axes) if isinstance(in_axes, list) else in_axes
    if in_axes is not None and type(in_axes) is not tuple and not is_axis(in_axes):
        raise TypeError(errors.axes_not_a_tuple(in_axes))
    for what, axes in (("in_axes", in_axes), ("out_axes", out_axes)):
        if not all(map(is_axis, tree.leaves(axes))):
            raise TypeError(errors.axes_not_integers(what, axes))
    if spmd_axis_name is not None and not isinstance(spmd_axis_name, tuple):
        spmd_axis_name = (spmd_axis_name,)

    @named_after(fun, "Vectorized version of {0}: arguments and results have one more axis.")
    def vectorized(*args: Any, **kwargs: Any) -> Any:
        leaves, in_tree = tree.flatten((args, kwargs), is_vmappable if vmappable else None)
        axes = _axes_of_leaves(fun, in_axes, args, in_tree)
        batches = _Batches(fun, args, kwargs, leaves, axes, axis_size)
        axis = Axis(batches.size, axis_name, spmd_axis_name)
        flat = (
            FunctionOfExamples(fun, in_tree, axes, out_axes, axis)
            if vmappable
            else FlatFunction(fun, in_tree)
        )
        with Scope(VMAP):
            if batches.has_refs:
                outs, dims = _vmap_of_refs(flat, axis, leaves, batches)
            else:
                outs, dims = vmap_of_flat(flat, axis, batches.values, batches.dims)
        return _Results(fun, flat.out_tree, out_axes, axis, sum_match).stacked(outs, dims)

    return vectorized


def _vmap_of_refs(
    flat: Any, axis: Axis, leaves: Sequence[Any], batches: _Batches
) -> tuple[list[Any], list[int | None]]:
    """Run a function on examples, some of which are references: to a part of what one holds."""
    refs = [
        x if type(x) is Ref and dim is not None else None for x, dim in zip(leaves, batches.dims)
    ]
    check_aliases(debug_info("vmap", *batches.call), leaves)
    outs, dims = vmap_of_flat(WithBoxes(flat, refs), axis, batches.values, batches.dims)
    written = [(ref, to) for ref, to in zip(refs, batches.dims) if ref is not None]
    count = len(outs) - len(written)
    for (ref, to), value, dim in zip(written, outs[count:], dims[count:]):
        write(ref, bring_to(value, axis.size, dim, to))
    return outs[:count], dims[:count]


# ---------------------------------------------------------------- arguments


def _axes_of_leaves(
    fun: Callable[..., Any], in_axes: Any, args: tuple[Any, ...], in_tree: Any
) -> list[int | None]:
    """For each leaf of `(args, kwargs)` the axis of its examples, or None."""
    if type(in_axes) is int and in_axes == 0:
        return [0] * in_tree.num_leaves
    args_tree, kwargs_tree = in_tree.children()
    if type(in_axes) is tuple and len(in_axes) != len(args):
        raise ValueError(errors.axes_count(in_axes, len(args), fun))
    return tree.flatten_axes("vmap in_axes", args_tree, in_axes) + [0] * kwargs_tree.num_leaves


class _Batches:
    """The arguments of a vectorized call: how many examples there are, and along which dimensions.

    Attributes:
      size: the number of examples.
      values: the leaves; batches in host memory are put on the device once, if that is possible.
      dims: for each leaf the dimension of its examples, or None.
      has_refs: whether a leaf that is mapped is a reference; among the values is what it holds.
    """

    __slots__ = (
        "_args", "_axes", "_fun", "_kwargs", "_leaves", "dims", "has_refs", "size", "values",
    )  # fmt: skip

    def __init__(
        self,
        fun: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        leaves: Sequence[Any],
        axes: Sequence[int | None],
        axis_size: int | None,
    ):
        self._fun, self._args, self._kwargs = fun, args, kwargs
        self._leaves, self._axes = leaves, axes
        self.has_refs = False
        self.dims: list[int | None] = []
        self.values: list[Any] = []
        eager = context.trace is eval_trace
        sizes = set() if axis_size is None else {axis_size}
        for i, (x, axis) in enumerate(zip(leaves, axes)):
            if axis is None or is_vmappable(x):
                self.dims.append(None)
                self.values.append(x)
                if type(axis) is int and hasattr(x, "shape"):
                    sizes.add(x.shape[axis])
                continue
            shape = self._shape(i, x, axis)
            if type(x) is Ref:
                self.has_refs, x = True, read(x)
            self.dims.append(axis if axis >= 0 else axis + len(shape))
            self.values.append(to_array(x) if eager else x)
            sizes.add(shape[axis])
        if len(sizes) != 1:
            raise ValueError(self._why_not_one_size(axis_size))
        (self.size,) = sizes

    @property
    def call(self) -> tuple[Any, ...]:
        """The function and its arguments."""
        return self._fun, self._args, self._kwargs

    def _shape(self, i: int, x: Any, axis: int) -> tuple[int, ...]:
        """The shape of a leaf, which must have the axis."""
        if not is_valid_type(x):
            raise TypeError(errors.input_not_an_array("vmap", self._fun, self._name(i), x))
        aval: Any = aval_of(x)
        if not -aval.ndim <= axis < aval.ndim:
            raise ValueError(errors.axis_beyond_rank(self._fun, self._name(i), axis, aval))
        return aval.shape

    def _name(self, i: int) -> str:
        return argument_names(self._fun, self._args, self._kwargs)[i]

    def _why_not_one_size(self, axis_size: int | None) -> str:
        named = argument_names(self._fun, self._args, {})
        names = [f"argument {name}" for name in named]
        names += [f"kwargs{keystr(path)}" for path, _ in tree.leaves_with_path(self._kwargs)]
        mapped = []
        for name, x, axis in zip(names, self._leaves, self._axes):
            if axis is not None:
                aval: Any = aval_of(x)
                mapped.append((name, axis, aval, aval.shape[axis]))
        if not mapped:
            return errors.no_axis_size(self._fun, self._args, self._kwargs, bool(self._leaves))
        return errors.axis_sizes_differ(self._fun, axis_size, mapped)


# ---------------------------------------------------------------- results


class _Results:
    """How the results of a vectorized call are stacked."""

    __slots__ = ("_axis", "_fun", "_out_axes", "_out_tree", "_sum_match")

    def __init__(
        self, fun: Callable[..., Any], out_tree: Any, out_axes: Any, axis: Axis, sum_match: bool
    ):
        self._fun = fun
        self._out_tree = out_tree
        self._out_axes = out_axes
        self._axis = axis
        self._sum_match = sum_match

    def stacked(self, outs: Sequence[Any], dims: Sequence[int | None]) -> Any:
        """The results with their batch dimensions where `out_axes` wants them."""
        for i, x in enumerate(outs):
            if type(x) not in aval_getters and not is_valid_type(x) and not _stays(x):
                path = self._path(i)
                raise TypeError(errors.result_not_an_array("vmap", self._fun, path, x, False))
        axes = tree.flatten_axes("vmap out_axes", self._out_tree, self._out_axes)
        results = [
            x if dim == axis or _stays(x) else self._moved(i, x, dim, axis)
            for i, (x, dim, axis) in enumerate(zip(outs, dims, axes))
        ]
        return self._out_tree.unflatten(results)

    def _moved(self, i: int, x: Any, dim: int | None, axis: int | None) -> Any:
        """One result with its batch dimension `dim` at `axis`."""
        aval: Any = aval_of(x)
        if axis is None:
            if self._sum_match:
                return reduce_sum(x, (dim,))
            raise ValueError(errors.result_is_batched(self._fun, self._path(i), self._axis.name))
        example: Any = example_aval(aval, dim)
        rank = example.ndim + 1
        if not -rank <= axis < rank:
            raise ValueError(errors.out_axis_beyond_rank(self._fun, self._path(i), axis, example))
        axis %= rank
        if aval.dtype == dtypes.float0:
            shape = (*example.shape[:axis], self._axis.size, *example.shape[axis:])
            return np.zeros(shape, dtypes.float0)
        return bring_to(x, self._axis.size, dim, axis)

    def _path(self, i: int) -> str:
        """Where in the results, and so in `out_axes`, the leaf with this index stands."""
        indices = tree.unflatten(self._out_tree, range(self._out_tree.num_leaves))
        return tree.key_path_of_leaves(indices)[i]


def _stays(x: Any) -> bool:
    """Whether a result is handed on as it is: symbolic zeros stand for arrays of any shape."""
    return type(x) is Zero or is_vmappable(x)
