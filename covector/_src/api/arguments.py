"""The arguments of transformed functions: static ones, their names, and what may be an array."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..base import dtypes, errors
from ..core.avals import is_valid_type
from ..core.jaxpr import DebugInfo
from ..transforms.signatures import signature_of


def as_tuple(spec: Any) -> tuple[Any, ...]:
    """An int or name, or a sequence of them, or None, as a tuple."""
    if spec is None:
        return ()
    if isinstance(spec, str) or not hasattr(spec, "__iter__"):
        return (spec,)
    return tuple(spec)


class ArgumentSpec:
    """Which arguments of a function are static, or donated, by position and by name.

    Given one of the two for an argument that may be passed either way, the other is inferred from
    the function's signature.

    Args:
      where: the public function, for errors (`"jit"`).
      kind: `"static"` or `"donate"`, as the parameters of `where` begin.
      fun: the user's function.
      argnums, argnames: as the user gave them.
    """

    __slots__ = ("argnames", "argnums", "where")

    argnums: tuple[int, ...]
    argnames: frozenset[str]

    def __init__(self, where: str, kind: str, fun: Callable[..., Any], argnums: Any, argnames: Any):
        self.where = where
        if argnums is None and argnames is None:
            self.argnums, self.argnames = (), frozenset()
            return
        signature = signature_of(fun)
        nums, names = as_tuple(argnums), as_tuple(argnames)
        check_argnums(where, f"{kind}_argnums", nums, signature, fun)
        if signature is not None:
            check_argnames(where, f"{kind}_argnames", names, signature, fun)
            if argnums is None:
                nums = _nums_of_names(signature, names)
            elif argnames is None:
                names = _names_of_nums(signature, nums)
        elif names and argnums is None:
            raise ValueError(errors.no_signature(where, kind, fun))
        self.argnums = tuple(nums)
        self.argnames = frozenset(names)

    def __bool__(self) -> bool:
        return bool(self.argnums or self.argnames)

    def split(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any], tuple[Any, ...]]:
        """Take the static arguments out.

        Returns:
          The other positional and keyword arguments, and the static ones as a hashable key with
          which `join` puts them back; it is empty if there are none.
        """
        count = len(args)
        nums = {n if n >= 0 else n + count for n in self.argnums}
        static_args = tuple((i, Static(self.where, x)) for i, x in enumerate(args) if i in nums)
        dynamic_args = tuple(x for i, x in enumerate(args) if i not in nums)
        names = self.argnames & kwargs.keys()
        static_kwargs = tuple((k, Static(self.where, kwargs[k])) for k in sorted(names))
        dynamic_kwargs = {k: v for k, v in kwargs.items() if k not in names}
        static = (static_args, static_kwargs) if static_args or static_kwargs else ()
        return dynamic_args, dynamic_kwargs, static


class Static:
    """A static value, compared and hashed as itself; an unhashable one is refused by name."""

    __slots__ = ("hash", "value")

    def __init__(self, where: str, value: Any):
        self.value = value
        try:
            self.hash = hash((type(value), value))
        except TypeError as error:
            raise ValueError(errors.unhashable_static(where, value)) from error

    def __hash__(self) -> int:
        return self.hash

    def __eq__(self, other: Any) -> bool:
        if not isinstance(other, Static) or type(self.value) is not type(other.value):
            return False
        try:
            return bool(self.value == other.value)
        except Exception as error:
            raise ValueError(errors.incomparable_static(self.value)) from error

    def __repr__(self) -> str:
        return repr(self.value)


def join(fun: Callable[..., Any], static: tuple[Any, ...]) -> Callable[..., Any]:
    """The function of the dynamic arguments alone, with the static ones put back."""
    if not static:
        return fun
    static_args, static_kwargs = static
    keywords = {k: s.value for k, s in static_kwargs}

    def with_static(*args: Any, **kwargs: Any) -> Any:
        positional = list(args)
        for i, s in static_args:
            positional.insert(i, s.value)
        return fun(*positional, **kwargs, **keywords)

    return with_static


def _nums_of_names(signature: inspect.Signature, names: Sequence[str]) -> tuple[int, ...]:
    return tuple(
        i
        for i, (name, parameter) in enumerate(signature.parameters.items())
        if name in names and parameter.kind is parameter.POSITIONAL_OR_KEYWORD
    )


def _names_of_nums(signature: inspect.Signature, nums: Sequence[int]) -> tuple[str, ...]:
    parameters = list(signature.parameters.items())
    wanted = {n if n >= 0 else n + len(parameters) for n in nums}
    return tuple(
        name
        for i, (name, parameter) in enumerate(parameters)
        if i in wanted and parameter.kind is parameter.POSITIONAL_OR_KEYWORD
    )


_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def check_argnums(
    where: str, what: str, nums: Iterable[Any], signature: inspect.Signature | None, fun: Any
) -> None:
    """Raise unless each position is one that the function can be called with."""
    for n in nums:
        if not hasattr(n, "__index__"):
            raise TypeError(errors.argnum_not_int(where, what, n))
    if signature is None:
        return
    parameters = signature.parameters.values()
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return
    count = sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)
    for n in nums:
        if not -count <= n < count:
            raise ValueError(errors.argnum_out_of_range(where, what, n, fun, signature, count))


def check_argnames(
    where: str, what: str, names: Iterable[Any], signature: inspect.Signature, fun: Any
) -> None:
    """Raise unless each name is one that the function takes as a keyword."""
    parameters = signature.parameters
    takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    for name in names:
        if not isinstance(name, str):
            raise TypeError(errors.argname_not_str(where, what, name))
        parameter = parameters.get(name)
        by_name = parameter is None or parameter.kind in _BY_NAME
        if not by_name or (parameter is None and not takes_any):
            raise ValueError(errors.unknown_argname(where, what, name, fun, signature))


def check_arrays(where: str, info: DebugInfo, leaves: Sequence[Any]) -> None:
    """Raise, naming the argument, unless each leaf can be an array."""
    limits = np.iinfo(dtypes.canonicalize_dtype(np.dtype(np.int64)))
    for i, leaf in enumerate(leaves):
        name = info.arg_names[i] if info.arg_names and i < len(info.arg_names) else f"leaf {i}"
        if not is_valid_type(leaf) and not hasattr(type(leaf), "__jax_array__"):
            raise TypeError(errors.argument_not_an_array(where, info.func_name, name, leaf))
        if type(leaf) is int and not limits.min <= leaf <= limits.max:
            raise OverflowError(errors.argument_too_large(where, info.func_name, name, leaf))
