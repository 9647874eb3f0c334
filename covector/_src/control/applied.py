"""The application of a jaxpr: what `jit` and the calls have in common.

As a primitive, an application has a jaxpr for a parameter, and each of its rules is the rule for
jaxprs of the transformation: the jvp of `p[jaxpr]` is `p[jvp of jaxpr]`.
"""

from __future__ import annotations

from typing import Any

from ..core.check import check_applied
from ..core.fusion import APPLYING
from ..core.jaxpr import ClosedJaxpr, eval_jaxpr
from ..core.primitive import BuiltinPrimitive
from ..core.trace import context
from ..core.zeros import UndefinedPrimal, Zero
from ..ops.linear import bring_to
from ..transforms.jvp import jvp_jaxpr
from ..transforms.linearize import PartialTrace, partial_eval_jaxpr
from ..transforms.simplify import drop_copied_outputs, drop_unused, values_from
from ..transforms.stage import vary_jaxpr
from ..transforms.transpose import transpose_jaxpr
from ..transforms.vmap import vmap_jaxpr


class Application(BuiltinPrimitive):
    """Applies the closed jaxpr that one of its parameters is to all of its operands."""

    multiple_results = True
    jaxpr_name = "jaxpr"  # of the parameter
    fusion = APPLYING

    def jaxpr_of(self, params: dict[str, Any]) -> ClosedJaxpr:
        return params[self.jaxpr_name]

    def applying(
        self, params: dict[str, Any], jaxpr: ClosedJaxpr, origins: list[int | None]
    ) -> dict[str, Any]:
        """The parameters with another jaxpr.

        Args:
          params: of the application of the jaxpr that the other was made from.
          jaxpr: the other one.
          origins: for each operand of it, which of the earlier operands it is or is a tangent of,
            or None.
        """
        return params | {self.jaxpr_name: jaxpr}

    def applying_transposed(
        self, params: dict[str, Any], jaxpr: ClosedJaxpr, origins: list[int | None]
    ) -> dict[str, Any]:
        """As `applying`, with a transposed jaxpr; the operands without origin are cotangents."""
        return self.applying(params, jaxpr, origins)

    def applying_part(
        self, params: dict[str, Any], jaxpr: ClosedJaxpr, count: int
    ) -> dict[str, Any]:
        """The parameters with one of the two halves that partial evaluation gives."""
        return self.applying(params, jaxpr, [None] * count)

    def check_operands(self, avals, params):
        check_applied(self.jaxpr_of(params), avals)

    def expanded(self, avals, params):
        return self.jaxpr_of(params)

    def retype(self, params, vmas):
        jaxpr = vary_jaxpr(self.jaxpr_of(params), tuple(vmas))
        if jaxpr is not self.jaxpr_of(params):
            params = self.applying(params, jaxpr, list(range(len(vmas))))
        return params, vmas

    def typecheck(self, avals, params):  # no table is needed: the types are those of the jaxpr
        return self.effectful_abstract_eval(*avals, **params)

    def effectful_abstract_eval(self, *avals, **params):
        jaxpr = self.jaxpr_of(params)
        return list(jaxpr.out_avals), jaxpr.effects

    def ref(self, *args, **params):
        jaxpr = self.jaxpr_of(params)
        return eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, *args)

    def jvp(self, primals, tangents, **params):
        jaxpr = self.jaxpr_of(params)
        nonzeros = tuple(type(t) is not Zero for t in tangents)
        both, out_nonzeros = jvp_jaxpr(jaxpr, nonzeros, False)
        given = [t for t in tangents if type(t) is not Zero]
        origins = [*range(len(primals)), *[i for i, n in enumerate(nonzeros) if n]]
        outs = self.bind(*primals, *given, **self.applying(params, both, origins))
        count = len(jaxpr.out_avals)
        out_tangents = iter(outs[count:])
        return outs[:count], [
            next(out_tangents) if nonzero else Zero(aval.to_tangent_aval())
            for aval, nonzero in zip(jaxpr.out_avals, out_nonzeros)
        ]

    def partial_eval(self, trace: PartialTrace, args, params):
        unknowns = tuple(trace.is_unknown(x) for x in args)
        known, unknown, out_unknowns, _ = partial_eval_jaxpr(self.jaxpr_of(params), unknowns, False)
        known_args = [x for x, u in zip(args, unknowns) if not u]
        count = out_unknowns.count(False)
        known, origins = drop_copied_outputs(known, count)
        known_outs = trace.parent.process(
            self, known_args, self.applying_part(params, known, len(known_args))
        )
        known_outs = values_from(origins, known_args, known_outs)
        known_outs, residuals = iter(known_outs[:count]), known_outs[count:]
        rest = [*residuals, *[x for x, u in zip(args, unknowns) if u]]
        unknown_outs = iter(
            trace.unknown.process(self, rest, self.applying_part(params, unknown, len(rest)))
        )
        return [next(unknown_outs) if u else next(known_outs) for u in out_unknowns]

    def prune(self, eqn, used):
        jaxpr, kept = drop_unused(self.jaxpr_of(eqn.params), used)
        if jaxpr is self.jaxpr_of(eqn.params):
            return eqn
        return eqn.replace(
            invars=[eqn.invars[i] for i in kept],
            outvars=[var for var, wanted in zip(eqn.outvars, used) if wanted],
            params=self.applying(eqn.params, jaxpr, kept),
        )

    def transpose(self, cts, *args, **params):
        linear = tuple(type(x) is UndefinedPrimal for x in args)
        nonzero_cts = tuple(type(ct) is not Zero for ct in cts)
        jaxpr = self.jaxpr_of(params)
        transposed, nonzeros, hazards = transpose_jaxpr(jaxpr, linear, nonzero_cts)
        operands = [(i, x) for i, (x, lin) in enumerate(zip(args, linear)) if not lin]
        operands += [(None, ct) for ct in cts if type(ct) is not Zero]
        transposed, kept = drop_unused(transposed, (True,) * len(transposed.out_avals))
        origins, given = [operands[i][0] for i in kept], [operands[i][1] for i in kept]
        params = self.applying_transposed(params, transposed, origins)
        outs = iter(self.bind(*given, **params))
        nonzero, hazard = iter(nonzeros), iter(hazards)
        context.hazards_of_each = [next(hazard) if lin else 0 for lin in linear]
        return [
            None if not lin else next(outs) if next(nonzero) else Zero(x.aval)
            for x, lin in zip(args, linear)
        ]

    def vmap(self, axis, dims, *args, **params):
        batched = tuple(dim is not None for dim in dims)
        args = [x if dim is None else bring_to(x, axis.size, dim, 0) for x, dim in zip(args, dims)]
        mapped, out_batched = vmap_jaxpr(self.jaxpr_of(params), axis, batched, False)
        outs = self.bind(*args, **self.applying(params, mapped, list(range(len(args)))))
        return outs, [0 if b else None for b in out_batched]
