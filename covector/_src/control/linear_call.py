"""`linear_call`: a linear function together with its transpose, both written by the user."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..core.avals import aval_of
from ..core.check import check_applied
from ..core.fusion import APPLYING
from ..core.jaxpr import ClosedJaxpr, eval_jaxpr, jaxpr_as_fun
from ..core.primitive import BuiltinPrimitive
from ..core.zeros import UndefinedPrimal, Zero
from ..ops.arithmetic import mul_p
from ..ops.base import Sample, draw
from ..ops.linear import add_any, bring_to, instantiate
from ..transforms.jvp import jvp
from ..transforms.stage import stage_closed
from ..transforms.vmap import vmap_jaxpr

# The jaxpr of the transpose, and what it closes over.
Transpose = tuple[ClosedJaxpr, list[Any]]


class LinearCall(BuiltinPrimitive):
    """The application of a jaxpr that is linear in its last inputs.

    Before them come `num_callee_consts` values that the function closes over, and `num_res`
    residuals, in which it need not be linear. `transpose_thunk` returns a jaxpr from its own
    constants, the residuals and the cotangents of the outputs, to the cotangents of the linear
    inputs; and the values of these constants.
    """

    multiple_results = True
    fusion = APPLYING

    def expanded(self, avals, params):
        return params["callee"]

    def effectful_abstract_eval(self, *avals, callee, **params):
        check_applied(callee, avals)
        return list(callee.out_avals), callee.effects

    def evaluate(self, backend, args, params):
        return jaxpr_as_fun(params["callee"])(*args)

    def ref(self, *args, callee, **params):
        return eval_jaxpr(callee.jaxpr, callee.consts, *args)

    def jvp(self, primals, tangents, **params):
        count = params["num_callee_consts"] + params["num_res"]
        outs = self.bind(*primals, **params)
        fixed, linear = tangents[:count], tangents[count:]
        if all(type(t) is Zero for t in linear):
            out_tangents: list[Any] = [Zero.from_primal_value(x) for x in outs]
        else:
            out_tangents = self.bind(*primals[:count], *map(instantiate, linear), **params)
        if all(type(t) is Zero for t in fixed):
            return outs, out_tangents
        # In the residuals the function is like any other.
        zeros = [Zero.from_primal_value(x) for x in primals[count:]]
        _, others = jvp(jaxpr_as_fun(params["callee"]), primals, [*fixed, *zeros])
        return outs, [_sum(t, other) for t, other in zip(out_tangents, others)]

    def transpose(self, cts, *args, callee, transpose_thunk, num_callee_consts, num_res):
        first = num_callee_consts + num_res
        consts, residuals = args[:num_callee_consts], args[num_callee_consts:first]
        transposed, new_consts = transpose_thunk()
        outs = self.bind(
            *new_consts,
            *residuals,
            *map(instantiate, cts),
            callee=transposed,
            transpose_thunk=Known(callee, list(consts)),
            num_callee_consts=len(new_consts),
            num_res=num_res,
        )
        return [None] * first + [
            ct if type(x) is UndefinedPrimal else None for ct, x in zip(outs, args[first:])
        ]

    def vmap(self, axis, dims, *args, callee, transpose_thunk, **params):
        first = params["num_callee_consts"] + params["num_res"]
        batched = (*[dim is not None for dim in dims[:first]], *[True] * (len(args) - first))
        mapped, _ = vmap_jaxpr(callee, axis, batched, True)
        outs = self.bind(
            *[bring_to(x, axis.size, d, 0) if b else x for x, d, b in zip(args, dims, batched)],
            callee=mapped,
            transpose_thunk=Mapped(
                transpose_thunk, axis, batched[params["num_callee_consts"] : first]
            ),
            **params,
        )
        return outs, [0] * len(outs)

    def emit(self, b, *operands, callee, **params):
        return b.inline(callee, operands)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for shape in ((3,), (0, 2)):
            args = draw(rng, shape, "float32"), draw(rng, shape, "float32")
            product = stage_closed(lambda r, x: [mul_p.bind(r, x)], [aval_of(x) for x in args])
            params = dict(transpose_thunk=Known(product, []), num_callee_consts=0, num_res=1)
            yield Sample(args, dict(callee=product, **params), constant=(0,))


linear_call_p = LinearCall("linear_call")


def _sum(x: Any, y: Any) -> Any:
    """The sum of two tangents, of which each may be a `Zero`."""
    if type(x) is Zero:
        return y
    return x if type(y) is Zero else add_any(x, y)


class Known:
    """A transpose that is at hand."""

    __slots__ = ("consts", "jaxpr")

    def __init__(self, jaxpr: ClosedJaxpr, consts: list[Any]):
        self.jaxpr = jaxpr
        self.consts = consts

    def __call__(self) -> Transpose:
        return self.jaxpr, self.consts

    def __repr__(self) -> str:
        return "transpose"


class Staged:
    """A transpose that is staged when somebody asks for it."""

    __slots__ = ("made", "make")

    def __init__(self, make: Callable[[], Transpose]):
        self.make = make
        self.made: Transpose | None = None

    def __call__(self) -> Transpose:
        if self.made is None:
            self.made = self.make()
        return self.made


class Mapped:
    """The transpose of a mapped function."""

    __slots__ = ("axis", "res_batched", "thunk")

    def __init__(self, thunk: Callable[[], Transpose], axis: Any, res_batched: Sequence[bool]):
        self.thunk = thunk
        self.axis = axis
        self.res_batched = tuple(res_batched)

    def __call__(self) -> Transpose:
        jaxpr, consts = self.thunk()
        count = len(jaxpr.in_avals) - len(consts) - len(self.res_batched)
        batched = (*[False] * len(consts), *self.res_batched, *[True] * count)
        return vmap_jaxpr(jaxpr, self.axis, batched, True)[0], consts
