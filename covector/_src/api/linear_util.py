"""Functions of flat arguments on the way through transformations, as JAX's extenders write them.

A `WrappedFun` is a function together with transformations that are applied to it from the inside
out. Covector's own transformations need no such thing; these exist for libraries that give
functions to primitives like `call_p`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, update_wrapper
from typing import Any

from ..base import extension_errors, tree
from ..core.jaxpr import DebugInfo


class StoreException(Exception):
    """A store was read before it was filled, or filled twice."""


class Store:
    """A place for one value that a transformation finds out while the function runs."""

    __slots__ = ("_values",)

    def __init__(self) -> None:
        self._values: list[Any] = []

    def store(self, value: Any) -> None:
        """Fill the store; an equal value may be stored again."""
        if self._values and self._values[0] != value:
            raise StoreException(extension_errors.stored_twice(self._values[0], value))
        self._values = [value]

    def read(self) -> Any:
        if not self._values:
            raise StoreException(extension_errors.nothing_stored())
        return self._values[0]


class WrappedFun:
    """A function and the transformations of it.

    Attributes:
      f: the innermost function.
      params: keyword arguments that it is called with.
      debug_info: names for error messages.
    """

    __slots__ = ("_transforms", "debug_info", "f", "params")

    def __init__(
        self,
        f: Callable[..., Any],
        params: dict[str, Any],
        debug_info: DebugInfo,
        transforms: tuple[tuple[Callable[..., Any], tuple[Any, ...]], ...] = (),
    ):
        self.f = f
        self.params = params
        self.debug_info = debug_info
        self._transforms = transforms

    @property
    def __name__(self) -> str:
        return getattr(self.f, "__name__", "<unnamed wrapped function>")

    def wrap(self, transform: Callable[..., Any], args: tuple[Any, ...]) -> WrappedFun:
        """The function `transform(self, *args, ...)`."""
        transforms = (*self._transforms, (transform, args))
        return WrappedFun(self.f, self.params, self.debug_info, transforms)

    def call_wrapped(self, *args: Any, **kwargs: Any) -> Any:
        """Call the transformed function."""
        fun = partial(self.f, **self.params)
        for transform, given in self._transforms:
            fun = partial(transform, fun, *given)
        return fun(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<wrapped {self.__name__} under {len(self._transforms)} transformation(s)>"


def wrap_init(
    f: Callable[..., Any], params: dict[str, Any] | None = None, *, debug_info: DebugInfo
) -> WrappedFun:
    """A function as a `WrappedFun` without transformations.

    >>> from covector.api_util import debug_info
    >>> from covector.extend import linear_util as lu
    >>> f = lu.wrap_init(abs, debug_info=debug_info("example", abs, (-1,), {}))
    >>> f.call_wrapped(-1)
    1
    """
    return WrappedFun(f, params or {}, debug_info)


def transformation2(transform: Callable[..., Any]) -> Callable[..., WrappedFun]:
    """Decorator: make `transform(f, *given, *args)` one of `WrappedFun`s.

    Returns:
      A function `(fun, *given) -> WrappedFun`.

    >>> from covector.api_util import debug_info
    >>> from covector.extend import linear_util as lu
    >>> @lu.transformation2
    ... def scaled(f, factor, *args):
    ...     return factor * f(*args)
    >>> f = lu.wrap_init(abs, debug_info=debug_info("example", abs, (-1,), {}))
    >>> scaled(f, 10).call_wrapped(-2)
    20
    """

    def apply(fun: WrappedFun, *given: Any) -> WrappedFun:
        return fun.wrap(transform, given)

    return update_wrapper(apply, transform)


def transformation_with_aux2(
    transform: Callable[..., Any],
) -> Callable[..., tuple[WrappedFun, Callable[[], Any]]]:
    """Decorator: as `transformation2`, for `transform(f, store, *given, *args)`.

    The transformation stores one value each time it runs.

    Returns:
      A function `(fun, *given)` that gives the transformed function, and a function that reads the
      store.
    """

    def apply(fun: WrappedFun, *given: Any) -> tuple[WrappedFun, Callable[[], Any]]:
        store = Store()
        return fun.wrap(transform, (store, *given)), store.read

    return update_wrapper(apply, transform)


def _around(steps: Any, fun: Callable[..., Any]) -> Any:
    """Call a function with the arguments that a generator yields first, and give it the result.

    Returns:
      What the generator makes of the result: what it yields next.
    """
    args, kwargs = next(steps)
    out = steps.send(fun(*args, **kwargs))
    steps.close()
    return out


def transformation(steps: Callable[..., Any]) -> Callable[..., WrappedFun]:
    """Decorator: `transformation2` for a generator function.

    Called with `(*given, *args)` it yields a pair, the arguments for the function and those by
    keyword; is sent the function's result; and yields the result of the whole.

    Returns:
      A function `(fun, *given) -> WrappedFun`.

    >>> from covector.api_util import debug_info
    >>> from covector.extend import linear_util as lu
    >>> @lu.transformation
    ... def scaled(factor, *args):
    ...     result = yield args, {}
    ...     yield factor * result
    >>> f = lu.wrap_init(abs, debug_info=debug_info("example", abs, (-1,), {}))
    >>> scaled(f, 10).call_wrapped(-2)
    20
    """

    @transformation2
    def apply(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return _around(steps(*args, **kwargs), fun)

    return update_wrapper(apply, steps)


def transformation_with_aux(
    steps: Callable[..., Any],
) -> Callable[..., tuple[WrappedFun, Callable[[], Any]]]:
    """Decorator: as `transformation`, for a generator whose result is a pair.

    The second of the pair is stored each time the transformation runs.

    Returns:
      A function `(fun, *given)` that gives the transformed function, and a function that reads the
      store.
    """

    @transformation_with_aux2
    def apply(fun: Callable[..., Any], store: Store, *args: Any, **kwargs: Any) -> Any:
        out, aux = _around(steps(*args, **kwargs), fun)
        store.store(aux)
        return out

    return update_wrapper(apply, steps)


def merge_linear_aux(aux1: Callable[[], Any], aux2: Callable[[], Any]) -> tuple[bool, Any]:
    """Which of two stores was filled, and its value.

    Args:
      aux1, aux2: functions that read the stores of two transformations, of which one has run.

    Returns:
      Whether it was the first, and the value.

    Raises:
      StoreException: both have been filled, or none.
    """
    found = []
    for first, read in ((True, aux1), (False, aux2)):
        try:
            found.append((first, read()))
        except StoreException:
            continue
    if len(found) != 1:
        raise StoreException(extension_errors.not_one_stored(len(found)))
    return found[0]


@transformation_with_aux2
def _flat(fun: Callable[..., Any], store: Store, in_tree: Any, *leaves: Any) -> list[Any]:
    args, kwargs = tree.unflatten(in_tree, leaves)
    outs, out_tree = tree.flatten(fun(*args, **kwargs))
    store.store(out_tree)
    return outs


@transformation_with_aux2
def _flat_positional(fun: Callable[..., Any], store: Store, in_tree: Any, *leaves: Any) -> list:
    outs, out_tree = tree.flatten(fun(*tree.unflatten(in_tree, leaves)))
    store.store(out_tree)
    return outs


def flatten_fun(fun: WrappedFun, in_tree: Any) -> tuple[WrappedFun, Callable[[], Any]]:
    """A function of trees as one of leaves.

    Args:
      fun: takes arguments by position and keyword.
      in_tree: the structure of `(args, kwargs)`.

    Returns:
      The function from the list of leaves to the list of leaves of the result, and a function that
      tells the structure of the result once the first has been called.
    """
    return _flat(fun, in_tree)


def flatten_fun_nokwargs(fun: WrappedFun, in_tree: Any) -> tuple[WrappedFun, Callable[[], Any]]:
    """`flatten_fun` for arguments by position alone: `in_tree` is the structure of `args`.

    >>> import covector as cv
    >>> from covector.api_util import debug_info, flatten_fun_nokwargs
    >>> from covector.extend import linear_util as lu
    >>> def f(point): return {"norm": abs(point[0]) + abs(point[1])}
    >>> leaves, in_tree = cv.tree.flatten(((3, -4),))
    >>> wrapped = lu.wrap_init(f, debug_info=debug_info("example", f, ((3, -4),), {}))
    >>> flat, out_tree = flatten_fun_nokwargs(wrapped, in_tree)
    >>> flat.call_wrapped(*leaves), out_tree()
    ([7], PyTreeDef({'norm': *}))
    """
    return _flat_positional(fun, in_tree)


def _with_fixed(
    fun: Callable[..., Any], positions: tuple[int, ...], fixed: tuple[Any, ...], *args: Any
) -> Any:
    """Call a function with other arguments at some positions."""
    all_args = list(fixed)
    for i, x in zip(positions, args):
        all_args[i] = x
    return fun(*all_args)


def argnums_partial(
    fun: WrappedFun, dyn_argnums: int | tuple[int, ...], args: tuple[Any, ...],
    require_static_args_hashable: bool = True,
) -> tuple[WrappedFun, tuple[Any, ...]]:  # fmt: skip
    """Hold all arguments fixed but those at some positions.

    Args:
      fun: the function.
      dyn_argnums: the positions of the arguments that still vary.
      args: all arguments.
      require_static_args_hashable: whether the fixed ones must be hashable.

    Returns:
      The function of the arguments that vary, and the values given for these.
    """
    given = (dyn_argnums,) if isinstance(dyn_argnums, int) else tuple(dyn_argnums)
    positions = tuple(i % len(args) for i in given)
    if require_static_args_hashable:
        for i, x in enumerate(args):
            if i not in positions:
                try:
                    hash(x)
                except TypeError as error:
                    raise ValueError(extension_errors.fixed_not_hashable(i, x)) from error
    fixed = tuple(None if i in positions else x for i, x in enumerate(args))
    return fun.wrap(_with_fixed, (positions, fixed)), tuple(args[i] for i in positions)
