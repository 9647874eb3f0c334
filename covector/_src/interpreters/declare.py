"""A primitive from one class that holds its rules; what the class does not say is derived.

`primitive` makes the class's rules the methods of a primitive, and fills the slots that are left
from `DERIVATIONS`: a table of what follows from what.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..base import dtypes
from ..core.avals import ShapedArray, aval_of
from ..core.jaxpr import ClosedJaxpr
from ..core.primitive import BuiltinPrimitive
from ..core.trace import Backend, check_no_escaped_tracer
from ..ops.families import align_batches
from ..transforms.jvp import jvp
from ..transforms.stage import stage_closed
from ..transforms.transpose import backward_pass
from ..transforms.vmap import vmap


class DeclaredPrimitive(BuiltinPrimitive):
    """What a class becomes when it is decorated with `primitive`: a primitive that is called."""

    elementwise = False

    def __call__(self, *args: Any, **params: Any) -> Any:
        return self.bind(*args, **params)


def primitive(cls: type | None = None, /, *, name: str | None = None) -> Any:
    """Make a primitive of a class that holds its rules.

    Write the rules that you want to write, as methods; the others are derived where they can be.

    ==================  ==========================================================================
    `decompose`         `(self, *operands, **params)`, traceable: the result by other operations.
                        All of the rules follow from it.
    `ref`               `(self, *numpy_arrays, **params)`: the result by NumPy. From it follow
                        evaluation, if nothing says how to compile the primitive, and the types of
                        the results.
    `elementwise`       set it to True if each element of the result depends on the elements of
                        the operands at its place alone: batching follows.
    `abstract_eval`     `(self, *types, **params)`: the type of the result, a `ShapedArray`.
    `jvp`               `(self, primals, tangents, **params)`: the result and its tangent. A
                        tangent may be an `ad.Zero`. Reverse mode needs no other rule, if the
                        tangent is computed by operations that can be transposed.
    `transpose`         `(self, ct, *operands, **params)`: for each operand its cotangent, or None;
                        those in which the primitive is linear are `ad.UndefinedPrimal`s.
    `vmap`              `(self, axis, dims, *operands, **params)`: the batch and its dimension.
    `emit`              `(self, b, *operands, **params)`: the result as MLIR values; `b` is what
                        the rules of `mlir.register_lowering` call `ctx`.
    `samples`           `(self, rng)`: yields `covector.testing.Sample`s for `check_primitive`.
    `multiple_results`  set it to True if the result is a list, in each of the rules.
    ==================  ==========================================================================

    Args:
      cls: the class.
      name: of the primitive, in jaxprs and error messages; by default that of the class.

    Returns:
      The primitive, which is called like a function: `p(*operands, **params)`.

    >>> import covector as cv
    >>> import numpy as np
    >>> @cv.extend.primitive
    ... class cube:
    ...     elementwise = True
    ...
    ...     def ref(self, x):
    ...         return x * x * x
    ...
    ...     def decompose(self, x):
    ...         return cv.lax.mul(x, cv.lax.mul(x, x))
    >>> print(cube(2.0), cv.grad(cube)(2.0))
    8.0 12.0
    >>> cv.make_jaxpr(cv.vmap(cube))(np.ones(3))
    { lambda ; a:f32[3]. let b:f32[3] = cube a in (b,) }
    """
    if cls is None:
        return lambda cls: primitive(cls, name=name)
    derived: dict[str, Any] = {"__doc__": cls.__doc__, "__module__": cls.__module__}
    for derivation in DERIVATIONS:
        given = getattr(cls, derivation.source, False)
        if given and not hasattr(cls, derivation.slot) and derivation.slot not in derived:
            derived[derivation.slot] = derivation.rule
    return type(cls.__name__, (cls, DeclaredPrimitive), derived)(name or cls.__name__)


# ---------------------------------------------------------------- what follows from `decompose`


def _flat(self: Any, params: dict[str, Any]) -> Callable[..., Sequence[Any]]:
    """The decomposition as a function with a sequence of results."""
    if self.multiple_results:
        return lambda *args: self.decompose(*args, **params)
    return lambda *args: [self.decompose(*args, **params)]


def _staged(self: Any, avals: Sequence[Any], params: dict[str, Any]) -> ClosedJaxpr:
    return stage_closed(_flat(self, params), avals)


def _like_results(self: Any, results: Sequence[Any]) -> Any:
    return list(results) if self.multiple_results else results[0]


def _types_of_decomposition(self: Any, *avals: Any, **params: Any) -> Any:
    return _like_results(self, _staged(self, avals, params).out_avals)


def _evaluate_decomposition(self: Any, *args: Any, **params: Any) -> Any:
    return _like_results(self, [np.asarray(x) for x in _flat(self, params)(*args)])


def _differentiate_decomposition(self: Any, primals: Any, tangents: Any, **params: Any) -> Any:
    outs, out_tangents = jvp(_flat(self, params), primals, tangents)
    return _like_results(self, outs), _like_results(self, out_tangents)


def _transpose_decomposition(self: Any, ct: Any, *args: Any, **params: Any) -> Any:
    avals = [getattr(x, "aval", None) or aval_of(x) for x in args]
    closed = _staged(self, avals, params)
    cts = ct if self.multiple_results else [ct]
    return backward_pass(closed.jaxpr, closed.consts, args, cts)


def _vmap_decomposition(self: Any, axis: Any, dims: Any, *args: Any, **params: Any) -> Any:
    outs, out_dims = vmap(_flat(self, params), axis, args, dims)
    return _like_results(self, outs), _like_results(self, out_dims)


def _emit_decomposition(self: Any, b: Any, *operands: Any, **params: Any) -> Any:
    return b.inline(_staged(self, b.avals_in, params), operands)


# ---------------------------------------------------------------- what follows from `ref`


def _types_of_ref(self: Any, *avals: Any, **params: Any) -> Any:
    """The types that the NumPy rule gives on arrays of zeros."""
    zeros = [np.zeros(aval.shape, aval.dtype) for aval in avals]
    with np.errstate(all="ignore"):
        out = self.ref(*zeros, **params)
    weak = all(aval.weak_type for aval in avals)
    types = [
        ShapedArray(np.shape(x), dtypes.canonicalize_dtype(np.asarray(x).dtype), weak)
        for x in (out if self.multiple_results else [out])
    ]
    return _like_results(self, types)


def _evaluate_ref(self: Any, backend: Backend, args: Sequence[Any], params: dict[str, Any]) -> Any:
    check_no_escaped_tracer(args, self.name)
    if self.has_rule("emit"):
        return BuiltinPrimitive.evaluate(self, backend, args, params)
    operands = [np.asarray(x, aval_of(x).dtype) for x in args]
    out = self.ref(*operands, **params)
    return _like_results(self, [np.asarray(x) for x in (out if self.multiple_results else [out])])


# ---------------------------------------------------------------- what follows from `elementwise`


def _vmap_elementwise(self: Any, axis: Any, dims: Any, *args: Any, **params: Any) -> Any:
    operands, to = align_batches(dims, args)
    out = self.bind(*operands, **params)
    return out, [to] * len(out) if self.multiple_results else to


class Derivation(NamedTuple):
    """The rule of a slot, if the class has the attribute `source`."""

    slot: str
    source: str
    rule: Callable[..., Any]


# Of two rules for one slot the first is taken.
DERIVATIONS = (
    Derivation("abstract_eval", "decompose", _types_of_decomposition),
    Derivation("abstract_eval", "ref", _types_of_ref),
    Derivation("evaluate", "ref", _evaluate_ref),
    Derivation("ref", "decompose", _evaluate_decomposition),
    Derivation("jvp", "decompose", _differentiate_decomposition),
    Derivation("transpose", "decompose", _transpose_decomposition),
    Derivation("vmap", "elementwise", _vmap_elementwise),
    Derivation("vmap", "decompose", _vmap_decomposition),
    Derivation("emit", "decompose", _emit_decomposition),
)
