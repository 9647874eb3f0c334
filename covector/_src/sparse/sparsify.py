"""`sparsify`: functions of dense arrays as functions of sparse ones.

The function is traced with dense types, and its jaxpr evaluated with sparse values: ops of which an
operand is sparse by the rules here, all others as ever.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import numpy as np

from ..base import sparse_errors as errors
from ..base import tree
from ..base.tree import unflatten
from ..control.branches import switch
from ..control.loops import while_loop
from ..control.scan import scan
from ..core.avals import ShapedArray, aval_of
from ..core.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Literal
from ..numpy.joining import concatenate
from ..numpy.promotion import promote_dtypes
from ..ops.identities import Copy
from ..transforms.stage import stage
from . import bcoo_products, bcoo_shapes
from .bcoo import BCOO, JAXSparse, bcoo_sum_duplicates, bcoo_transpose, spread
from .convolution import bcoo_conv_general_dilated

Rule = Callable[..., Any]
rules: dict[str, Rule] = {}


def is_sparse(x: Any) -> bool:
    """Whether a value is a sparse array."""
    return isinstance(x, JAXSparse)


def sparsify(f: Callable[..., Any], use_tracer: bool = False) -> Callable[..., Any]:
    """Make a function of dense arrays one that also takes sparse ones.

    Args:
      f: a function of trees of arrays, written for dense arrays, say with `covector.numpy`.
      use_tracer: of no effect.

    Returns:
      A function of the same arguments, of which some arrays may be BCOO or BCSR. What depends on
      them is sparse where ops keep zeros zero, otherwise dense.

    Raises:
      NotImplementedError: there is no rule for an op of sparse arrays, or none for their layouts.

    >>> import covector.numpy as jnp
    >>> from covector.experimental import sparse
    >>> f = sparse.sparsify(lambda m, v: jnp.sum(jnp.sin(m) @ v))
    >>> m = sparse.BCOO.fromdense(jnp.array([[0.0, jnp.pi / 2], [0.0, 0.0]]))
    >>> print(f(m, jnp.array([1.0, 3.0])))
    3.0
    """

    @wraps(f)
    def sparse_f(*args: Any, **kwargs: Any) -> Any:
        leaves, in_tree = tree.flatten((args, kwargs), is_leaf=is_sparse)
        trees = []

        def flat(*dense: Any) -> Any:
            args, kwargs = tree.unflatten(in_tree, dense)
            outs, out_tree = tree.flatten(f(*args, **kwargs))
            trees.append(out_tree)
            return outs

        jaxpr, consts = stage(flat, [_aval(x) for x in leaves])
        outs = evaluate(jaxpr, consts, leaves)
        return tree.unflatten(trees[-1], outs)

    return sparse_f


def _aval(x: Any) -> Any:
    return ShapedArray(x.shape, x.dtype) if is_sparse(x) else aval_of(x)


def evaluate(jaxpr: Jaxpr, consts: Sequence[Any], args: Sequence[Any]) -> list[Any]:
    """Evaluate a jaxpr, of which some arguments are sparse."""
    env = dict(zip((*jaxpr.constvars, *jaxpr.invars), (*consts, *args)))

    def read(atom: Any) -> Any:
        return atom.val if isinstance(atom, Literal) else env[atom]

    for eqn in jaxpr.eqns:
        values = list(map(read, eqn.invars))
        if any(map(is_sparse, values)):
            outs = _apply(eqn, values)
        else:
            out = eqn.primitive.bind(*values, **eqn.params)
            outs = out if eqn.primitive.multiple_results else [out]
        env.update(zip(eqn.outvars, outs))
    return list(map(read, jaxpr.outvars))


def _apply(eqn: JaxprEqn, values: Sequence[Any]) -> Sequence[Any]:
    name = eqn.primitive.name
    if name not in rules:
        raise NotImplementedError(errors.no_rule(name))
    values = [x if isinstance(x, BCOO) or not is_sparse(x) else x.to_bcoo() for x in values]
    out = rules[name](eqn.primitive, *values, **eqn.params)
    return out if eqn.primitive.multiple_results else [out]


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Decorator: the rule of primitives; it takes the primitive, operands and parameters."""

    def register(fun: Rule) -> Rule:
        rules.update(dict.fromkeys(names, fun))
        return fun

    return register


# ---------------------------------------------------------------- todense


class ToDense(Copy):
    """The operand itself, which is dense if it is not sparse."""

    def bind(self, *buffers: Any, tree: Any = None) -> Any:
        """Of the buffers of a sparse array, as `tree` describes it, the dense array."""
        x = buffers[0] if tree is None else unflatten(tree, buffers)
        return x.todense() if is_sparse(x) else super().bind(x)


todense_p = ToDense("todense")


def todense(arr: Any) -> Any:
    """The dense array of a sparse one, or of what stands for it within `sparsify`.

    >>> import covector.numpy as jnp
    >>> from covector.experimental import sparse
    >>> sparse.todense(sparse.eye(2))
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    return arr.todense() if is_sparse(arr) else todense_p.bind(arr)


@rule("todense")
def _(primitive: Any, x: Any) -> Any:
    return x.todense()


# ---------------------------------------------------------------- elementwise ops

LINEAR = ("neg", "real", "imag", "conj", "copy", "copy_p", "reduce_precision")
ZERO_AT_ZERO = (
    *("abs", "asin", "asinh", "atan", "atanh", "bessel_i1e", "expm1", "log1p", "sign", "sin"),
    *("sinh", "sqrt", "square", "tan", "tanh", "erf", "cbrt", "floor", "ceil", "round"),
)


def _with_data(mat: BCOO, data: Any) -> BCOO:
    return BCOO(
        (data, mat.indices),
        shape=mat.shape,
        indices_sorted=mat.indices_sorted,
        unique_indices=mat.unique_indices,
    )


@rule(*LINEAR)
def _(primitive: Any, x: BCOO, **params: Any) -> Any:
    return _with_data(x, primitive.bind(x.data, **params))


@rule(*ZERO_AT_ZERO)
def _(primitive: Any, x: BCOO, **params: Any) -> Any:
    # Elements with equal indices are added before the function is applied.
    mat = x if x.unique_indices else bcoo_sum_duplicates(x, nse=x.nse)
    return _with_data(mat, primitive.bind(mat.data, **params))


@rule("convert_element_type")
def _(primitive: Any, x: BCOO, *, new_dtype: Any, **params: Any) -> Any:
    """Integers that stand for floats are those of sums."""
    linear = np.can_cast(x.dtype, new_dtype, "same_kind")
    return rules["neg" if linear else "sin"](primitive, x, new_dtype=new_dtype, **params)


@rule("integer_pow")
def _(primitive: Any, x: BCOO, *, y: int) -> Any:
    if y <= 0:
        raise NotImplementedError(errors.not_implemented("integer_pow", f"the power {y}"))
    return rules["sin"](primitive, x, y=y)


@rule("add", "sub", "add_any")
def _(primitive: Any, x: Any, y: Any) -> Any:
    """The elements of both; of the same indices their sums."""
    if not (is_sparse(x) and is_sparse(y)):
        what = "the sum of a sparse and a dense array"
        raise NotImplementedError(errors.not_implemented(primitive.name, what))
    if x.indices is y.indices and x.data.shape == y.data.shape:
        return _with_data(x, primitive.bind(x.data, y.data))
    if (x.n_batch, x.n_dense) != (y.n_batch, y.n_dense):
        raise NotImplementedError(errors.layout(primitive.name, "the layouts differ"))
    x, y = spread(x), spread(y)
    first, second = promote_dtypes(x.data, -y.data if primitive.name == "sub" else y.data)
    axis = x.n_batch
    data = concatenate([first, second], axis=axis)
    return BCOO((data, concatenate([x.indices, y.indices], axis=axis)), shape=x.shape)


@rule("mul")
def _(primitive: Any, x: Any, y: Any) -> Any:
    if is_sparse(x) and is_sparse(y):
        return bcoo_products.bcoo_multiply_sparse(x, y)
    mat, v = (x, y) if is_sparse(x) else (y, x)
    data = bcoo_products.bcoo_multiply_dense(mat, v)
    return _with_data(mat if data.shape == mat.data.shape else spread(mat), data)


@rule("div")
def _(primitive: Any, x: Any, y: Any) -> Any:
    if is_sparse(y):
        raise NotImplementedError(errors.not_implemented("div", "division by a sparse array"))
    return rules["mul"](primitive, x, 1 / y)


# ---------------------------------------------------------------- products, sums and shapes


@rule("dot_general")
def _(primitive: Any, x: Any, y: Any, *, dimension_numbers: Any, **params: Any) -> Any:
    return bcoo_products.bcoo_dot_general(
        x,
        y,
        dimension_numbers=dimension_numbers,
        preferred_element_type=params["preferred_element_type"],
    )


@rule("reduce_sum")
def _(primitive: Any, x: BCOO, *, axes: Any, **params: Any) -> Any:
    out = bcoo_products.bcoo_reduce_sum(x, axes=axes)
    return out if out.shape else out.todense()


@rule("transpose")
def _(primitive: Any, x: BCOO, *, permutation: Any) -> Any:
    return bcoo_transpose(x, permutation=permutation)


@rule("reshape")
def _(primitive: Any, x: BCOO, *, new_sizes: Any, dimensions: Any, **params: Any) -> Any:
    return bcoo_shapes.bcoo_reshape(x, new_sizes=new_sizes, dimensions=dimensions)


@rule("squeeze")
def _(primitive: Any, x: BCOO, *, dimensions: Any) -> Any:
    return bcoo_shapes.bcoo_squeeze(x, dimensions=dimensions)


@rule("broadcast_in_dim")
def _(primitive: Any, x: BCOO, *, shape: Any, broadcast_dimensions: Any, **params: Any) -> Any:
    return bcoo_shapes.bcoo_broadcast_in_dim(
        x, shape=shape, broadcast_dimensions=broadcast_dimensions
    )


@rule("concatenate")
def _(primitive: Any, *xs: Any, dimension: int) -> Any:
    if not all(map(is_sparse, xs)):
        what = "the concatenation of sparse and dense arrays"
        raise NotImplementedError(errors.not_implemented("concatenate", what))
    return bcoo_shapes.bcoo_concatenate(xs, dimension=dimension)


@rule("stack")
def _(primitive: Any, *xs: Any, axis: int) -> Any:
    """Arrays with a new dimension of size 1, concatenated along it."""
    shape = (*xs[0].shape[:axis], 1, *xs[0].shape[axis:])
    dims = [d + (d >= axis) for d in range(xs[0].ndim)]
    wide = rules["broadcast_in_dim"]
    xs = [wide(None, x, shape=shape, broadcast_dimensions=dims) if is_sparse(x) else x for x in xs]
    return rules["concatenate"](None, *xs, dimension=axis)


@rule("gather")
def _(primitive: Any, x: Any, start_indices: Any, **params: Any) -> Any:
    if not is_sparse(x):
        raise NotImplementedError(errors.not_implemented("gather", "an array of indices"))
    return bcoo_shapes.bcoo_gather(x, start_indices, **params)


@rule("conv_general_dilated")
def _(primitive: Any, x: Any, y: Any, **params: Any) -> Any:
    return bcoo_conv_general_dilated(x, y, **params)


@rule("rev")
def _(primitive: Any, x: BCOO, *, dimensions: Any) -> Any:
    return bcoo_shapes.bcoo_rev(x, dimensions)


@rule("slice")
def _(primitive: Any, x: BCOO, **params: Any) -> Any:
    return bcoo_shapes.bcoo_slice(x, **params)


@rule("dynamic_slice")
def _(primitive: Any, x: BCOO, *starts: Any, slice_sizes: Any) -> Any:
    return bcoo_shapes.bcoo_dynamic_slice(x, starts, slice_sizes)


# ---------------------------------------------------------------- calls


@rule("jit")
def _(primitive: Any, *xs: Any, jaxpr: ClosedJaxpr, **params: Any) -> Any:
    return evaluate(jaxpr.jaxpr, jaxpr.consts, xs)


@rule("custom_jvp_call", "custom_vjp_call")
def _(primitive: Any, *xs: Any, call_jaxpr: ClosedJaxpr, **params: Any) -> Any:
    """The function itself: what derivatives there are of it, are those of its ops."""
    return evaluate(call_jaxpr.jaxpr, call_jaxpr.consts, xs)


# ---------------------------------------------------------------- control flow

# Sparse arrays are trees of dense ones, so that loops carry them as they do any tree.


def _unmarked(values: Sequence[Any]) -> list[Any]:
    """Values without what is known of their indices, which may change from step to step."""
    return [x.with_buffers(x.data, x.indices) if is_sparse(x) else x for x in values]


def _body(jaxpr: ClosedJaxpr, consts: Sequence[Any] = ()) -> Callable[[Sequence[Any]], list[Any]]:
    def run(values: Sequence[Any]) -> list[Any]:
        return _unmarked(evaluate(jaxpr.jaxpr, jaxpr.consts, (*consts, *values)))

    return run


@rule("while")
def _(
    primitive: Any,
    *xs: Any,
    cond_jaxpr: ClosedJaxpr,
    body_jaxpr: ClosedJaxpr,
    cond_nconsts: int,
    body_nconsts: int,
    **params: Any,
) -> Any:
    n = cond_nconsts + body_nconsts
    going = _body(cond_jaxpr, xs[:cond_nconsts])
    body = _body(body_jaxpr, xs[cond_nconsts:n])
    return while_loop(lambda values: going(values)[0], body, _unmarked(xs[n:]))


@rule("cond")
def _(primitive: Any, which: Any, *xs: Any, branches: Sequence[ClosedJaxpr], **params: Any) -> Any:
    return switch(which, [_body(branch) for branch in branches], _unmarked(xs))


@rule("scan")
def _(
    primitive: Any,
    *xs: Any,
    jaxpr: ClosedJaxpr,
    num_consts: int,
    num_carry: int,
    length: int,
    reverse: bool,
    unroll: Any,
    **params: Any,
) -> Any:
    n = num_consts + num_carry
    step = _body(jaxpr, xs[:num_consts])
    shapes: list[Any] = []

    def body(carry: Sequence[Any], slices: Sequence[Any]) -> Any:
        outs = step([*carry, *[_opened(x, buffers) for x, buffers in zip(xs[n:], slices)]])
        ys = outs[num_carry:]
        shapes[:] = [y.shape if is_sparse(y) else None for y in ys]
        return outs[:num_carry], [(y.data, y.indices) if is_sparse(y) else y for y in ys]

    slices = [_sliced(x) for x in xs[n:]]
    carry, ys = scan(body, _unmarked(xs[num_consts:n]), slices, length, reverse, unroll)
    stacked = [
        y if shape is None else BCOO(y, shape=(length, *shape)) for y, shape in zip(ys, shapes)
    ]
    return [*carry, *stacked]


def _sliced(x: Any) -> Any:
    """What a scan takes slices of: the buffers of an array that is sparse."""
    if not is_sparse(x):
        return x
    if not x.n_batch:
        raise NotImplementedError(errors.layout("sparsify", "scan needs n_batch > 0 of its `xs`"))
    mat = spread(x)
    return mat.data, mat.indices


def _opened(x: Any, buffers: Any) -> Any:
    return BCOO(buffers, shape=x.shape[1:]) if is_sparse(x) else buffers
