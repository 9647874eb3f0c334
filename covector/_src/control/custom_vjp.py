"""Functions with a reverse derivative rule of their own.

As in `custom_jvp.py` there is a primitive whose parameters are the user's functions, and one for
jaxprs.  To differentiate, the function's forward rule is run for its outputs and residuals, and the
tangents of the outputs become those of one linear op, `custom_lin`, whose transpose is the
backward rule:

    custom_lin(residuals, tangents) = J tangents,     where bwd(residuals, cts) = J^T cts

In reverse mode `custom_lin` is only ever transposed.  In forward mode it is evaluated, which JAX
refuses: its value is the transpose of the transpose that the backward rule computes, and that rule
is linear in the cotangents.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..base import config, custom_errors, dtypes
from ..core.array import as_array
from ..core.avals import AbstractValue, aval_of
from ..core.jaxpr import ClosedJaxpr, jaxpr_as_fun
from ..core.primitive import BuiltinPrimitive, Primitive
from ..core.trace import context
from ..core.zeros import UndefinedPrimal, Zero
from ..ops.arithmetic import mul_p
from ..ops.linear import bring_to, instantiate, reduce_sum, zeros_of_aval
from ..transforms.jvp import jvp
from ..transforms.linearize import constvars_to_invars, linear_program
from ..transforms.stage import JaxprTrace, stage, stage_closed
from ..transforms.transpose import transpose_linear
from ..transforms.vmap import vmap
from .custom_jvp import CustomCall, Named, with_outputs
from .discharge import discharge, makes_refs, takes_refs, without_rules
from .forward_rule import run_forward

# (residuals, cotangents of outputs, maybe Zero) -> cotangents of operands, maybe Zero.
Backward = Callable[[Sequence[Any], Sequence[Any]], list[Any]]
# (operands, whether each has a tangent) -> (outputs, residuals, backward rule for these), all flat.
# Another run of a forward rule may have other residuals; each knows how to read its own.
Forward = Callable[[Sequence[Any], Sequence[bool]], tuple[list[Any], list[Any], Backward]]


class CustomVJPFunction(Primitive):
    """The application of a Python function that has a forward and a backward rule.

    Parameters:
      fun: takes all operands, returns a list.
      fwd: the forward rule; the first `num_consts` operands have no cotangents.
      bwd: what the backward rule is printed as.
      optimize_remat: whether the function runs in place of `fwd` where residuals are not used.
    """

    multiple_results = True

    def evaluate(self, backend, args, params):
        return params["fun"](*args)

    def stage(self, trace: JaxprTrace, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        """Write a `custom_vjp_call`; what the function closes over becomes operands of it."""
        jaxpr, consts = stage(params["fun"], [aval_of(x) for x in args], params["debug_info"])
        closed = ClosedJaxpr(constvars_to_invars(jaxpr))
        if takes_refs(closed):
            return without_rules("custom_vjp", trace, [*consts, *args], args, params)
        return custom_vjp_call_p.bind(
            *consts,
            *args,
            call_jaxpr=discharge(closed).jaxpr if makes_refs(closed) else closed,
            fwd_jaxpr_thunk=without_consts(params["fwd"], consts),
            num_consts=params["num_consts"] + len(consts),
            bwd=params["bwd"],
            out_trees=params["out_trees"],
            symbolic_zeros=params["symbolic_zeros"],
            optimize_remat=params["optimize_remat"],
        )

    def jvp(self, primals, tangents, *, fun, fwd, bwd, num_consts, name, symbolic_zeros, **params):
        if any(type(t) is not Zero for t in tangents[:num_consts]):
            raise custom_errors.differentiated_in_closure("custom_vjp", name)
        in_zeros = [type(t) is Zero for t in tangents[num_consts:]]
        # The user's line that an op of the rule stems from is one of the rule.
        place, context.place = context.place, None
        try:
            perturbed = [type(t) is not Zero for t in tangents]
            if params["optimize_remat"]:
                outs, residuals, backward = run_forward(fun, fwd, primals, perturbed)
            else:
                outs, residuals, backward = fwd(primals, perturbed)
        finally:
            context.place = place
        outs = [*map(as_array, outs)]
        out_avals = [aval_of(x).to_tangent_aval() for x in outs]
        smooth = [not _is_float0(aval) for aval in out_avals]
        out_tangents = iter(
            custom_lin_p.bind(
                *residuals,
                *map(instantiate, tangents[num_consts:]),
                num_res=len(residuals),
                bwd=Named(pullback(backward, num_consts, out_avals, smooth), bwd),
                out_avals=tuple([aval for aval, kept in zip(out_avals, smooth) if kept]),
                symbolic_zeros=symbolic_zeros,
                in_zeros=tuple(in_zeros),
            )
        )
        return outs, [
            next(out_tangents) if kept else Zero(aval) for aval, kept in zip(out_avals, smooth)
        ]

    def vmap(self, axis, dims, *args, fun, fwd, **params):
        mapped = Mapped(fun, fwd, axis, dims)
        outs = self.bind(*args, fun=mapped.function, fwd=Named(mapped.forward, fwd), **params)
        return outs, mapped.out_dims


custom_vjp_function_p = CustomVJPFunction("custom_vjp_function")


def _is_float0(aval: Any) -> bool:
    return getattr(aval, "dtype", None) == dtypes.float0


# ---------------------------------------------------------------- rules made of rules


def without_consts(fwd: Forward, consts: Sequence[Any]) -> Forward:
    """A rule for operands after more leading ones, which have zero cotangents."""
    count = len(consts)
    zeros = [Zero(aval_of(x).to_cotangent_aval()) for x in consts]

    def forward(operands: Sequence[Any], perturbed: Sequence[bool]) -> Any:
        outs, residuals, backward = fwd(operands[count:], perturbed[count:])
        return outs, residuals, lambda residuals, cts: [*zeros, *backward(residuals, cts)]

    return Named(forward, fwd)


def of_outputs(fwd: Forward, used: Sequence[bool], avals: Sequence[AbstractValue]) -> Forward:
    """A rule for those outputs that are used; others, of types `avals`, have zero cotangents."""

    def forward(operands: Sequence[Any], perturbed: Sequence[bool]) -> Any:
        outs, residuals, backward = fwd(operands, perturbed)
        some = [x for x, wanted in zip(outs, used) if wanted]
        return (
            some,
            residuals,
            lambda residuals, cts: backward(residuals, _spread(cts, used, avals)),
        )

    return Named(forward, fwd)


def pullback(
    backward: Backward, num_consts: int, avals: Sequence[AbstractValue], smooth: Sequence[bool]
) -> Backward:
    """A backward rule between those operands and outputs that have tangents."""
    return lambda residuals, cts: backward(residuals, _spread(cts, smooth, avals))[num_consts:]


def _spread(cts: Sequence[Any], given: Sequence[bool], avals: Sequence[AbstractValue]) -> list[Any]:
    """The cotangents of all outputs, zero where none is given."""
    rest = iter(cts)
    return [next(rest) if is_given else Zero(aval) for is_given, aval in zip(given, avals)]


class Mapped:
    """A function and its rules on batches.

    The function or its forward rule runs first, and says which outputs are batches; where both run,
    because the function is staged and differentiated later, the rule keeps to what the function
    said.
    """

    def __init__(
        self, fun: Callable[..., list], fwd: Forward, axis: Any, dims: Sequence[int | None]
    ):
        self.fun = fun
        self.fwd = fwd
        self.axis = axis
        self.dims = dims
        self.out_dims: list[int | None] | None = None

    def function(self, *args: Any) -> list[Any]:
        outs, self.out_dims = vmap(self.fun, self.axis, args, self.dims)
        return outs

    def forward(self, operands: Sequence[Any], perturbed: Sequence[bool]) -> Any:
        run: list[Any] = []

        def flat(*args: Any) -> list[Any]:
            outs, residuals, backward = self.fwd(args, perturbed)
            run[:] = len(outs), backward
            return [*outs, *residuals]

        values, found = vmap(flat, self.axis, operands, self.dims)
        count, backward = run
        if self.out_dims is None:
            self.out_dims = found[:count]
        if any(dim is None and at is not None for dim, at in zip(self.out_dims, found)):
            raise TypeError(custom_errors.batched_by_rule(self.fwd))
        outs = [
            x if dim is None else bring_to(x, self.axis.size, at, dim)
            for x, at, dim in zip(values, found, self.out_dims)
        ]
        return outs, values[count:], partial(self.backward, backward, found[count:], self.out_dims)

    def backward(
        self,
        backward: Backward,
        residual_dims: Sequence[int | None],
        out_dims: Sequence[int | None],
        residuals: Sequence[Any],
        cts: Sequence[Any],
    ) -> list[Any]:
        nonzero = [type(ct) is not Zero for ct in cts]
        example_zeros = [self._example_zero(ct, dim) for ct, dim in zip(cts, out_dims)]
        zeros: list[Any] = []

        def flat(*args: Any) -> list[Any]:
            given = iter(args[len(residuals) :])
            examples = [next(given) if keep else zero for zero, keep in zip(example_zeros, nonzero)]
            in_cts = backward(args[: len(residuals)], examples)
            zeros[:] = [ct if type(ct) is Zero else None for ct in in_cts]
            return [ct for ct in in_cts if type(ct) is not Zero]

        given = [ct for ct in cts if type(ct) is not Zero]
        dims = [*residual_dims, *[dim for dim, keep in zip(out_dims, nonzero) if keep]]
        pairs = iter(zip(*vmap(flat, self.axis, [*residuals, *given], dims)))
        return [
            self._cotangent(*next(pairs), dim) if zero is None else self._zero(zero.aval, dim)
            for zero, dim in zip(zeros, self.dims)
        ]

    def _example_zero(self, ct: Any, dim: int | None) -> Any:
        if type(ct) is not Zero or dim is None:
            return ct
        shape = ct.aval.shape
        return Zero(ct.aval.update(shape=shape[:dim] + shape[dim + 1 :]))

    def _zero(self, aval: Any, dim: int | None) -> Zero:
        if dim is None:
            return Zero(aval)
        return Zero(aval.update(shape=(*aval.shape[:dim], self.axis.size, *aval.shape[dim:])))

    def _cotangent(self, ct: Any, found: int | None, dim: int | None) -> Any:
        """The cotangent of an operand: of one that all examples share, the sum over them."""
        if dim is not None:
            return bring_to(ct, self.axis.size, found, dim)
        if found is None:
            # Every example contributed the same.
            return mul_p.bind(ct, np.asarray(self.axis.size, aval_of(ct).dtype))
        return reduce_sum(ct, (found,))


class CustomVJPCall(CustomCall):
    """A `CustomCall` whose forward rule, of all operands, is `fwd_jaxpr_thunk`."""

    def shown_params(self, params):
        shown = {"bwd": params["bwd"], "call_jaxpr": params["call_jaxpr"]}
        return self.named(params, shown | {"fwd": params["fwd_jaxpr_thunk"]})

    def jvp(self, primals, tangents, **params):
        primals = [*map(as_array, primals)]  # for the user's rules literals are arrays, too
        return custom_vjp_function_p.jvp(primals, tangents, **_as_functions(params))

    def prune(self, eqn, used):
        params = eqn.params
        avals = [aval.to_cotangent_aval() for aval in params["call_jaxpr"].out_avals]
        return eqn.replace(
            outvars=[var for var, wanted in zip(eqn.outvars, used) if wanted],
            params=params
            | dict(
                call_jaxpr=with_outputs(params["call_jaxpr"], used),
                fwd_jaxpr_thunk=of_outputs(params["fwd_jaxpr_thunk"], used, avals),
            ),
        )

    def transpose(self, cts, *args, **params):
        # The function is linear in the unknown operands, so that its derivative is the same
        # everywhere: the backward rule with the residuals of the point zero is its transpose.
        linear = [type(x) is UndefinedPrimal for x in args]
        point = [zeros_of_aval(x.aval) if lin else x for x, lin in zip(args, linear)]
        _, residuals, backward = params["fwd_jaxpr_thunk"](point, linear)
        cts = backward(residuals, cts)
        return [ct if lin else None for ct, lin in zip(cts, linear)]

    def vmap(self, axis, dims, *args, **params):
        return custom_vjp_function_p.vmap(axis, dims, *args, **_as_functions(params))


def _as_functions(params: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a `custom_vjp_call` as those of a `custom_vjp_function`."""
    jaxpr: ClosedJaxpr = params["call_jaxpr"]
    info = jaxpr.jaxpr.debug_info
    return dict(
        fun=jaxpr_as_fun(jaxpr),
        fwd=params["fwd_jaxpr_thunk"],
        bwd=params["bwd"],
        num_consts=params["num_consts"],
        out_trees=params["out_trees"],
        symbolic_zeros=params["symbolic_zeros"],
        optimize_remat=params["optimize_remat"],
        name=info.func_name if info else "",
        debug_info=info,
    )


custom_vjp_call_p = CustomVJPCall("custom_vjp_call")


# ---------------------------------------------------------------- the linear op


class CustomLin(BuiltinPrimitive):
    """The derivative of a function with a backward rule: linear in the operands after the first
    `num_res`, which are residuals."""

    multiple_results = True
    takes_refs = True  # among the residuals, for a backward rule that writes to them

    def shown_params(self, params):
        shown = {k: params[k] for k in ("bwd", "in_zeros", "num_res", "symbolic_zeros")}
        return shown | {"in_zeros": list(params["in_zeros"])}

    def retype(self, params, vmas):
        # The backward rule gives each device's part of a cotangent: of operands that do not vary,
        # the casts of these add up the parts. Of results that do not vary, each device would count
        # the whole cotangent.
        vma = frozenset().union(*vmas)
        if any(aval.vma != vma for aval in params["out_avals"]):
            raise NotImplementedError(custom_errors.results_vary_differently(params["out_avals"]))
        return params, [vma] * len(vmas)

    def abstract_eval(self, *avals, out_avals, **params):
        return list(out_avals)

    def evaluate(self, backend, args, params):
        return self.pushforward(params)(*args)

    def ref(self, *args, **params):
        return self.pushforward(params)(*args)

    def jvp(self, primals, tangents, **params):
        return jvp(self.pushforward(params), primals, tangents)

    def transpose(self, cts, *args, num_res, bwd, symbolic_zeros, **params):
        if not symbolic_zeros:
            cts = [instantiate(ct) for ct in cts]
        in_cts = bwd(args[:num_res], cts)
        linear = [type(x) is UndefinedPrimal for x in args[num_res:]]
        return [None] * num_res + [ct if lin else None for ct, lin in zip(in_cts, linear)]

    def vmap(self, axis, dims, *args, **params):
        return vmap(self.pushforward(params), axis, args, dims)

    def emit(self, b, *operands, **params):
        staged = stage_closed(self.pushforward(params), b.avals_in)
        return b.inline(staged, operands)

    def pushforward(self, params: dict[str, Any]) -> Callable[..., list[Any]]:
        """The function of residuals and tangents that transposes what the backward rule does."""
        if config.parity.value:
            raise TypeError(custom_errors.no_forward_mode())
        num_res, bwd, out_avals = params["num_res"], params["bwd"], params["out_avals"]

        def push(*args: Any) -> list[Any]:
            tangents = args[num_res:]
            places = [i for i, t in enumerate(tangents) if not _is_float0(aval_of(t))]

            def pull(*cts: Any) -> list[Any]:
                in_cts = bwd(args[:num_res], cts)
                return [instantiate(in_cts[i]) for i in places]

            try:
                linear = linear_program(pull, [aval.to_cotangent_aval() for aval in out_avals])
                outs = transpose_linear(linear, [tangents[i] for i in places])
            except NotImplementedError as error:
                raise TypeError(custom_errors.no_forward_mode()) from error
            return [instantiate(x) for x in outs]

        return push


custom_lin_p = CustomLin("custom_lin")
