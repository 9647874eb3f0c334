"""`vectorize`: a function of scalars, or of arrays of low rank, as one that broadcasts."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..api.vectorize import vmap
from ..api.wrapping import named_after
from ..base import tree, ufunc_errors
from .creation import asarray
from .promotion import check_rank_promotion, shape_of
from .shaping import expand_dims, squeeze

CoreDims = tuple[str, ...]

# ---------------------------------------------------------------- signatures

_ARGUMENT = r"\((?:\w+(?:,\w+)*)?\)"
_SIGNATURE = re.compile(rf"({_ARGUMENT}(?:,{_ARGUMENT})*)->({_ARGUMENT}(?:,{_ARGUMENT})*)")


class Signature(NamedTuple):
    """The names of the core dimensions of each argument and of each result."""

    arguments: list[CoreDims]
    results: list[CoreDims]


def parse(signature: str) -> Signature:
    """Read a signature such as "(n,m),(m)->(n)"."""
    sides = _SIGNATURE.fullmatch("".join(signature.split()))
    if sides is None:
        raise ValueError(ufunc_errors.not_a_signature(signature))
    arguments, results = (
        [tuple(re.findall(r"\w+", one)) for one in re.findall(_ARGUMENT, side)]
        for side in sides.groups()
    )
    return Signature(arguments, results)


class _CoreSizes(dict[str, int]):
    """The sizes of the core dimensions met so far, by name."""

    def __init__(self, context: str):
        self.context = context

    def meet(self, core: CoreDims, sizes: Sequence[int]) -> None:
        """Take note of the sizes of dimensions; raise if one was of another size before."""
        for name, size in zip(core, sizes):
            known = self.setdefault(name, size)
            if known != size:
                raise ValueError(ufunc_errors.core_size(name, known, size, self.context))

    def loop_shape(self, shape: tuple[int, ...], core: CoreDims) -> tuple[int, ...]:
        """The part of an argument's shape that is in front of its core dimensions."""
        if len(shape) < len(core):
            raise ValueError(ufunc_errors.too_few_dims(shape, core, self.context))
        rank = len(shape) - len(core)
        self.meet(core, shape[rank:])
        return shape[:rank]

    def check_results(self, out: Any, results: Sequence[CoreDims]) -> None:
        """Raise unless what the function returned is what the signature says."""
        if len(results) > 1 and not isinstance(out, tuple):
            raise TypeError(ufunc_errors.result_not_tuple(len(results), out, self.context))
        outs = out if isinstance(out, tuple) else (out,)
        if len(outs) != len(results):
            raise TypeError(ufunc_errors.result_count(len(results), len(outs), self.context))
        for x, core in zip(outs, results):
            shape = np.shape(x)
            if len(shape) != len(core):
                raise ValueError(ufunc_errors.result_shape(shape, core, self.context))
            self.meet(core, shape)


# ---------------------------------------------------------------- calls


class _Arguments(NamedTuple):
    """The arguments of a call, some of which are mapped over.

    Attributes:
      args, kwargs: all of them.
      mapped: where in them those are that are mapped over: positions and names.
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    mapped: list[int | str]

    @classmethod
    def of(cls, args: Any, kwargs: Any, excluded: Collection[int | str]) -> _Arguments:
        return cls(
            args, kwargs, [key for key in (*range(len(args)), *kwargs) if key not in excluded]
        )

    def get(self, key: int | str) -> Any:
        return self.args[key] if isinstance(key, int) else self.kwargs[key]

    def replaced(self, values: Sequence[Any]) -> tuple[list[Any], dict[str, Any]]:
        """The arguments with other values in the place of those that are mapped over."""
        args, kwargs = list(self.args), dict(self.kwargs)
        for key, value in zip(self.mapped, values):
            if isinstance(key, int):
                args[key] = value
            else:
                kwargs[key] = value
        return args, kwargs


def _without_none(
    given: _Arguments, core_dims: list[CoreDims], signature: str | None
) -> tuple[_Arguments, list[CoreDims]]:
    """The arguments and their core dimensions, but for None, which is not mapped over."""
    absent = {i for i, key in enumerate(given.mapped) if given.get(key) is None}
    if any(core_dims[i] for i in absent):
        raise ValueError(ufunc_errors.none_with_core_dims(absent, signature))
    kept = [i for i in range(len(core_dims)) if i not in absent]
    return given._replace(mapped=[given.mapped[i] for i in kept]), [core_dims[i] for i in kept]


def _mapped(function: Callable[..., Any], arrays: list[Any], loops: list[Any], shape: Any) -> Any:
    """Map a function over the leading dimensions of arrays, broadcast against each other.

    Each array is mapped over its own dimensions alone: what is broadcast is computed once.

    Args:
      function: takes arrays without those dimensions.
      arrays: the arrays.
      loops: the shapes of their leading dimensions.
      shape: that to which these broadcast.
    """
    rank = len(shape)
    padded = [(1,) * (rank - len(loop)) + loop for loop in loops]
    axes = [[None if loop[dim] == 1 else 0 for loop in padded] for dim in range(rank)]
    alone = [dim for dim in range(rank) if axes[dim].count(None) == len(arrays)]
    for dim in reversed(range(rank)):
        if dim not in alone:
            function = vmap(function, in_axes=tuple(axes[dim]))
    ones = [[i for i, size in enumerate(loop) if size == 1] for loop in loops]
    out = function(*[squeeze(x, dims) if dims else x for x, dims in zip(arrays, ones)])
    return tree.map(lambda x: expand_dims(x, alone), out) if alone else out


def vectorize(
    pyfunc: Callable[..., Any],
    *,
    excluded: Collection[int | str] = frozenset(),
    signature: str | None = None,
) -> Callable[..., Any]:
    """Turn a function of scalars into one of arrays, which are broadcast against each other.

    With a signature it is a function of arrays of low rank: the last dimensions of the arguments,
    the core dimensions, are for the function, and those in front of them are broadcast. Nothing is
    called in a loop: it is `vmap`, applied once for each of these.

    Args:
      pyfunc: the function; it is written in functions of arrays and returns an array, or a tuple.
      excluded: positions and names of arguments that are handed on as they are.
      signature: the core dimensions of each argument and result, as in "(n,m),(m)->(n)", where one
        name stands for one size. By default all arguments are scalars, and results are of any
        shape.

    Returns:
      A function with the arguments of `pyfunc`. Scalars may be None, which is handed on.

    Raises:
      ValueError: the signature cannot be read, arguments do not broadcast, or core dimensions are
        missing or differ in size.
      TypeError: the number of arguments or of results is not that of the signature.

    >>> import covector.numpy as jnp
    >>> from functools import partial
    >>> @partial(jnp.vectorize, signature="(n),(n)->()")
    ... def distance(x, y):
    ...     return jnp.sqrt(jnp.sum((x - y) ** 2))
    >>> points, centers = jnp.ones((5, 1, 3)), jnp.zeros((2, 3))
    >>> distance(points, centers).shape
    (5, 2)
    """
    if not all(isinstance(key, (int, str)) for key in excluded):
        raise TypeError(ufunc_errors.excluded_type(excluded))
    if any(isinstance(key, int) and key < 0 for key in excluded):
        raise ValueError(ufunc_errors.excluded_negative(excluded))
    parsed = None if signature is None else parse(signature)
    context = f"it is vectorized with {excluded=} and {signature=}"

    @named_after(pyfunc, "Vectorized version of {0}: its arguments are broadcast.")
    def vectorized(*args: Any, **kwargs: Any) -> Any:
        given = _Arguments.of(args, kwargs, excluded)
        core_dims = [()] * len(given.mapped) if parsed is None else parsed.arguments
        if len(core_dims) != len(given.mapped):
            expected = len(core_dims), len(given.mapped)
            raise TypeError(ufunc_errors.argument_count(*expected, context))
        given, core_dims = _without_none(given, core_dims, signature)
        arrays = [asarray(given.get(key)) for key in given.mapped]
        sizes = _CoreSizes(context)
        loops = [sizes.loop_shape(x.shape, core) for x, core in zip(arrays, core_dims)]
        shape = _loop_shape(arrays, loops, context)

        def of_one(*values: Any) -> Any:
            args, kwargs = given.replaced(values)
            out = pyfunc(*args, **kwargs)
            if parsed is not None:
                sizes.check_results(out, parsed.results)
            return out

        return _mapped(of_one, arrays, loops, shape)

    return vectorized


def _loop_shape(arrays: list[Any], loops: list[Any], context: str) -> tuple[int, ...]:
    """The shape to which the dimensions in front of the core dimensions broadcast."""
    ranked = [loop for loop, x in zip(loops, arrays) if shape_of(x)]
    if len(set(map(len, ranked))) > 1:
        check_rank_promotion("vectorize", ranked)
    try:
        return np.broadcast_shapes(*loops)
    except ValueError:
        raise ValueError(ufunc_errors.loop_shapes(loops, context)) from None
