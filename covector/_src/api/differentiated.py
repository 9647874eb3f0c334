"""The arguments that a derivative is taken in: which they are, and whether they can vary."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from ..base import dtypes, tree
from ..base import transform_errors as errors
from ..core.avals import ShapedArray, aval_getters, aval_of, is_valid_type
from ..transforms.flatten import FlatInArguments
from ..transforms.signatures import argument_names

# Which numbers a derivative is taken in: any real or complex ones; besides these integers, whose
# derivatives are float0; real ones only; or complex ones only.
INEXACT, INEXACT_OR_INTEGER, REAL, COMPLEX = "inexact", "inexact or integer", "real", "complex"

Argnums = int | tuple[int, ...]


def as_argnums(where: str, argnums: Any) -> Argnums:
    """`argnums` as an int, or as a tuple of ints where a sequence was given."""
    try:
        return operator.index(argnums)
    except TypeError:
        pass
    try:
        return tuple(map(operator.index, argnums))
    except TypeError:
        raise TypeError(errors.argnums_not_integers(where, argnums)) from None


def differentiated(
    where: str,
    fun: Callable[..., Any],
    argnums: Argnums,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    has_aux: bool = False,
) -> FlatInArguments:
    """The function of the leaves of the arguments at the positions `argnums` of a call."""
    count = len(args)
    if isinstance(argnums, int) and 0 <= argnums < count:
        return FlatInArguments(where, fun, (argnums,), args, kwargs, has_aux)
    nums = (argnums,) if isinstance(argnums, int) else argnums
    for n in nums:
        if not -count <= n < count:
            kind = TypeError if n >= 0 and "grad" in where else ValueError
            raise kind(errors.argnums_beyond_arguments(where, argnums, count, fun))
    positions = [n if n >= 0 else n + count for n in nums]
    if len(set(positions)) != len(positions):
        raise ValueError(errors.argnums_repeat(where, argnums, count))
    return FlatInArguments(where, fun, positions, args, kwargs, has_aux)


def check_inputs(flat: FlatInArguments, accepts: str) -> None:
    """Raise, naming the argument, unless all leaves are numbers of the accepted kind."""
    for i, x in enumerate(flat.leaves):
        if type(x) not in aval_getters and not _may_be_array(x):
            raise TypeError(errors.input_not_an_array(flat.where, flat.fun, leaf_name(flat, i), x))
        dtype = aval_of(x).dtype
        if not is_of_kind(dtype, accepts):
            raise TypeError(_wrong_input(flat, leaf_name(flat, i), dtype, accepts))


def _may_be_array(x: Any) -> bool:
    return is_valid_type(x) or hasattr(type(x), "__jax_array__")


@lru_cache(maxsize=1024)
def is_of_kind(dtype: Any, kind: str) -> bool:
    """Whether numbers of this dtype are of a kind such as `REAL`."""
    if kind == REAL:
        return dtypes.issubdtype(dtype, np.floating)
    if kind == COMPLEX:
        return dtypes.issubdtype(dtype, np.complexfloating)
    if kind == INEXACT:
        return dtypes.issubdtype(dtype, np.inexact)
    return True


def _wrong_input(flat: FlatInArguments, name: str, dtype: Any, accepts: str) -> str:
    if accepts == COMPLEX:
        return errors.input_not_complex(flat.where, flat.fun, name, dtype)
    if accepts == REAL and is_of_kind(dtype, COMPLEX):
        return errors.input_not_real(flat.where, flat.fun, name, dtype)
    advice = errors.ALLOW_INT if accepts == INEXACT else ""
    return errors.input_not_inexact(flat.where, flat.fun, name, dtype, advice)


def check_output(flat: FlatInArguments, aval: ShapedArray, holomorphic: bool) -> None:
    """Raise unless a result is real, or complex where the function is holomorphic."""
    if not is_of_kind(aval.dtype, COMPLEX if holomorphic else REAL):
        wrong = errors.output_not_complex if holomorphic else errors.output_not_real
        raise TypeError(wrong(flat.where, flat.fun, aval.dtype))


def leaf_name(flat: FlatInArguments, index: int) -> str:
    """How the user would write a leaf of the arguments that vary: `x`, `params['w']`."""
    names = iter(argument_names(flat.fun, tuple(flat.args), {}))
    by_position = [[next(names) for _ in tree.leaves(arg)] for arg in flat.args]
    return [name for i in flat.positions for name in by_position[i]][index]
