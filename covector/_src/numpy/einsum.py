"""Einstein's summation convention: sums of products written with names for the dimensions."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import opt_einsum
from opt_einsum.parser import convert_interleaved_input, parse_einsum_input

from ..base import dtypes, numpy_errors
from ..base.dims import max_dim
from ..core.array import Array, ArrayLike
from ..ops.contraction import dot_general
from ..ops.linear import reduce_sum_p, transpose
from ..ops.precision import canonicalize_precision
from ..ops.reductions import reduce_or_p
from ..ops.shaping import squeeze_p
from .arguments import check_no_out
from .composite import composite
from .matrices import _diagonal
from .promotion import as_array, convert, dtype_of, shape_of
from .promotion import operands as checked

# ---------------------------------------------------------------- one contraction


def _squeeze_broadcast(x: Any, names: str, sizes: dict[str, int]) -> tuple[Any, str]:
    """An operand without the dimensions of size 1 whose name has another size elsewhere."""
    ones = [i for i, name in enumerate(names) if shape_of(x)[i] == 1 and sizes[name] != 1]
    if not ones:
        return x, names
    x = squeeze_p.bind(x, dimensions=tuple(ones))
    return x, "".join(name for i, name in enumerate(names) if i not in ones)


def _take_diagonals(x: Any, names: str) -> tuple[Any, str]:
    """An operand in which no name occurs twice."""
    for name in dict.fromkeys(names):
        while names.count(name) > 1:
            i = names.index(name)
            j = names.index(name, i + 1)
            rest = [dim for dim in range(len(names)) if dim not in (i, j)]
            x = _diagonal(transpose(x, (*rest, i, j)), offset=0)
            names = "".join(names[dim] for dim in rest) + name
    return x, names


def _sum_out(x: Any, names: str, kept: str) -> tuple[Any, str]:
    """An operand summed over the dimensions whose names are not kept."""
    axes = tuple([i for i, name in enumerate(names) if name not in kept])
    if not axes:
        return x, names
    if dtype_of(x) == np.bool_:
        x = reduce_or_p.bind(x, axes=axes)
    else:
        x = reduce_sum_p.bind(x, axes=axes, out_sharding=None)
    return x, "".join(name for name in names if name in kept)


class _Product(NamedTuple):
    """How two operands are multiplied: by a function like `lax.dot_general`, and its options."""

    dot_general: Callable[..., Any]
    precision: Any
    dtype: Any


def _multiply(
    x: Any, x_names: str, y: Any, y_names: str, result: str, product: _Product
) -> tuple[Any, str]:
    """The sum of products of two operands, in which each name that is left occurs once."""
    x, x_names = _sum_out(x, x_names, y_names + result)
    y, y_names = _sum_out(y, y_names, x_names + result)
    batch = [name for name in x_names if name in y_names and name in result]
    contracted = [name for name in x_names if name in y_names and name not in result]
    x_free = "".join(name for name in x_names if name not in y_names)
    y_free = "".join(name for name in y_names if name not in x_names)
    names = "".join(batch) + x_free + y_free
    if names != result and "".join(batch) + y_free + x_free == result:
        x, x_names, y, y_names, names = y, y_names, x, x_names, result
    numbers = (
        tuple([tuple([of.index(name) for name in contracted]) for of in (x_names, y_names)]),
        tuple([tuple([of.index(name) for name in batch]) for of in (x_names, y_names)]),
    )
    options = dict(precision=product.precision, preferred_element_type=product.dtype)
    return product.dot_general(x, y, numbers, **options), names


def _contract(
    operands: Sequence[Any], inputs: Sequence[str], result: str, product: _Product
) -> Any:
    """One step of an einsum: what becomes of one or several operands."""
    sizes: dict[str, int] = {}
    for x, names in zip(operands, inputs):
        for name, size in zip(names, shape_of(x)):
            sizes[name] = max_dim(sizes.get(name, 1), size) if size != 0 else 0
    ready = []
    for x, names in zip(operands, inputs):
        x, names = _take_diagonals(x, names)
        ready.append(_squeeze_broadcast(x, names, sizes))
    (x, names), *others = ready
    if not others:
        x, names = _sum_out(x, names, result)
    for i, other in enumerate(others):
        later = "".join(of for _, of in others[i + 1 :])
        kept = "".join(dict.fromkeys(result + later)) if later else result
        x, names = _multiply(x, names, *other, kept, product)
    return transpose(x, [names.index(name) for name in result])


@composite
def _einsum(*operands: Any, steps: Any, product: _Product, weak: bool) -> Any:
    """Contractions one after another; each takes operands out of the list and appends one."""
    rest = list(operands)
    for positions, inputs, result in steps:
        chosen = [rest.pop(i) for i in positions]
        rest.append(_contract(chosen, inputs, result, product))
    return convert(rest[0], product.dtype, weak)


# ---------------------------------------------------------------- public


def einsum(
    subscripts: Any,
    /,
    *operands: Any,
    out: None = None,
    optimize: Any = "auto",
    precision: Any = None,
    preferred_element_type: Any = None,
    _dot_general: Callable[..., Any] = dot_general,
    out_sharding: Any = None,
) -> Array:
    """Sum of products of arrays, with a name for each dimension.

    In "ij,jk->ik" there are two operands and a result. Dimensions of one name are multiplied
    together; what the result does not name is summed over. "..." stands for any number of
    dimensions, which are broadcast. Without "->" the result has the names that occur once, in
    alphabetical order.

    Args:
      subscripts: the names, or the first operand: then each operand is followed by a list of
        integers that name its dimensions, and one more list may name those of the result.
      *operands: the arrays.
      out: not supported.
      optimize: how to find the order in which operands are multiplied: False for from left to
        right, or the name of a strategy of the package opt_einsum, or a path.
      precision, preferred_element_type: as for `matmul`.
      _dot_general: what multiplies two operands, with the arguments of `lax.dot_general`; for
        products in other arithmetics.
      out_sharding: not supported here.

    Returns:
      An array.

    Raises:
      ValueError: the names do not fit the operands.

    >>> import covector.numpy as jnp
    >>> jnp.einsum("ij,j->i", jnp.array([[1, 2], [3, 4]]), jnp.array([5, 6]))
    Array([17, 39], dtype=int32)
    """
    check_no_out("einsum", out)
    if isinstance(subscripts, str):
        arrays = [as_array("einsum", x) for x in checked("einsum", operands)]
    else:
        subscripts, arrays = _from_interleaved((subscripts, *operands))
    dtype, weak = dtypes.lattice_result_type(*[x.aval for x in arrays])
    if preferred_element_type is not None:
        dtype = dtypes.check_user_dtype_supported(preferred_element_type, "einsum")
        weak = False
    path = optimize if isinstance(optimize, (str, bool)) else tuple(map(tuple, optimize))
    steps = _steps(subscripts, tuple([x.aval.shape for x in arrays]), path)
    product = _Product(_dot_general, canonicalize_precision(precision), dtype)
    return _einsum(*arrays, steps=steps, product=product, weak=weak)


def _from_interleaved(given: Sequence[Any]) -> tuple[str, list[Any]]:
    """Subscripts as text, and the operands, from operands with lists of integers in between."""
    given = list(given)
    count = len(given) - len(given) % 2
    given[:count:2] = [as_array("einsum", x) for x in given[:count:2]]
    return convert_interleaved_input(given)


@functools.lru_cache(maxsize=1024)
def _steps(subscripts: str, shapes: tuple[tuple[int, ...], ...], optimize: Any) -> Any:
    """The contractions: positions of operands, their names, the names of the outcome."""
    inputs, result, _ = parse_einsum_input((subscripts, *shapes), shapes=True)
    names = inputs.split(",")
    if len(shapes) <= 2:
        _check_sizes(names, shapes)
        return (((0,) * len(shapes), tuple(names), result),)
    if optimize is True:
        optimize = "optimal"
    elif optimize is False:
        optimize = [(0, 1)] * (len(shapes) - 1)
    elif not isinstance(optimize, str):
        optimize = list(optimize)
    _, found = opt_einsum.contract_path(
        f"{inputs}->{result}", *shapes, shapes=True, einsum_call=True, optimize=optimize
    )
    steps = []
    for positions, _, step, *_ in found:
        given, outcome = step.split("->")
        # Positions are given in falling order, that popping one may not move the others.
        steps.append((tuple(positions), tuple(given.split(",")), outcome))
    return tuple(steps)


def _check_sizes(inputs: Sequence[str], shapes: Sequence[tuple[int, ...]]) -> None:
    sizes: dict[str, int] = {}
    for names, shape in zip(inputs, shapes):
        if len(names) != len(shape):
            raise ValueError(numpy_errors.einsum_rank(names, shape))
        for name, size in zip(names, shape):
            if sizes.setdefault(name, size) != size:
                if 1 not in (sizes[name], size):
                    raise ValueError(numpy_errors.einsum_sizes(name, sizes[name], size))
                sizes[name] = max(sizes[name], size)


def einsum_path(subscripts: Any, /, *operands: ArrayLike, optimize: Any = "auto") -> Any:
    """The order in which `einsum` would multiply its operands, and a text about its cost.

    Args:
      subscripts, operands, optimize: as for `einsum`.

    Returns:
      A list with a tuple for each step, the positions of the operands that are multiplied and taken
      out of the list of operands, to whose end the product goes; and a text.

    >>> import covector.numpy as jnp
    >>> x = jnp.ones((2, 2))
    >>> jnp.einsum_path("ij,jk,kl->il", x, x, x)[0]
    [(0, 1), (0, 1)]
    """
    if not isinstance(subscripts, str):
        subscripts, operands = _from_interleaved((subscripts, *operands))
    shapes = [shape_of(x) for x in checked("einsum_path", operands)]
    path, info = opt_einsum.contract_path(subscripts, *shapes, shapes=True, optimize=optimize)
    return path, str(info)
