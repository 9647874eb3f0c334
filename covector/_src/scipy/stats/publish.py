"""Public functions, with signatures and documentation, of distributions as they are stated."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from ...base import dtypes
from ...base import stats_errors as errors
from ...core.array import Array, ArrayLike
from ...numpy.selection import where
from ...ops.conversion import convert_element_type
from ..special.elementwise import elementwise, reals
from .family import KINDS, Distribution


def published(name: str, law: Distribution) -> SimpleNamespace:
    """The public functions of the distribution that `covector.scipy.stats` has as `name`."""
    names = [function for function in KINDS if law.has(function)]
    return SimpleNamespace(**{function: _published(name, law, function) for function in names})


def _published(name: str, law: Distribution, function: str) -> Callable[..., Array]:
    where_ = f"{name}.{function}"
    kind, _ = KINDS[function]
    signature = _signature(law, function)
    count = len(signature.parameters)
    compute = getattr(law, kind)

    def formula(*args: Any) -> Any:
        params = args if kind == "information" else args[1:]
        return where(law.ok(*params), compute(function, *args), np.nan)

    formula.__name__ = f"{name}_{function}"
    program = elementwise()(formula)
    in_default_float = function in law.in_default_float

    def public(*args: Any, **named: Any) -> Array:
        if named or len(args) != count:
            args = _bound(where_, signature, args, named)
        out = program(*reals(where_, *args))
        return convert_element_type(out, dtypes.default_float_dtype()) if in_default_float else out

    public.__name__ = public.__qualname__ = function
    public.__module__ = f"covector.scipy.stats.{name}"
    public.__signature__ = signature
    public.__doc__ = _documentation(law, function, next(iter(signature.parameters)))
    return public


def _signature(law: Distribution, function: str) -> inspect.Signature:
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    variable = law.quantile_variable if KINDS[function][0] == "quantile" else law.variable
    first = [] if function == "entropy" else [variable]
    needed = [inspect.Parameter(x, kind, annotation=ArrayLike) for x in [*first, *law.shapes]]
    given = [inspect.Parameter(x, kind, default=d, annotation=ArrayLike) for x, d in law.given]
    return inspect.Signature([*needed, *given], return_annotation=Array)


def _bound(where_: str, signature: inspect.Signature, args: tuple, named: dict) -> tuple:
    """The arguments of a public function in order, those left out included."""
    try:
        bound = signature.bind(*args, **named)
    except TypeError as error:
        raise TypeError(errors.arguments(where_, str(error), signature)) from None
    bound.apply_defaults()
    return bound.args


def _documentation(law: Distribution, function: str, first: str) -> str:
    kind, what = KINDS[function]
    title, _, about = inspect.cleandoc(law.__doc__ or "").partition(".")
    lines = [f"{what.format(x=first)} under {title[0].lower()}{title[1:]}.", "", "Args:"]
    if first not in (*law.shapes, "loc"):
        range_ = "numbers from 0 to 1" if kind == "quantile" else "real numbers"
        lines += [f"  {first}: an array of {range_}."]
    lines += [f"  {shape}: an array of {text}." for shape, text in law.shapes.items()]
    lines += [
        f"  {parameter}: an array of what numbers of the standard member are {done}."
        for (parameter, _), done in zip(law.given, ("moved by", "multiplied by"))
    ]
    lines += ["", "Returns:", "  An array of the common shape, NaN where parameters are invalid."]
    return "\n".join([*lines, "", about.strip()])
