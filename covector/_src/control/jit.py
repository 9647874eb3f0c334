"""`jit`: stage a function to a jaxpr, compile it once, and run the compiled program.

As a primitive, `jit` is the application of a jaxpr: it has a jaxpr for a parameter, and each of its
rules is the rule for jaxprs of the transformation: the jvp of `jit[jaxpr]` is `jit[jvp of jaxpr]`.
"""

from __future__ import annotations

from ..core.check import check_applied
from ..core.jaxpr import eval_jaxpr
from ..core.primitive import BuiltinPrimitive
from ..core.zeros import UndefinedPrimal, Zero
from ..ops.linear import bring_to
from ..transforms.jvp import jvp_jaxpr
from ..transforms.linearize import PartialTrace, partial_eval_jaxpr
from ..transforms.simplify import drop_copied_outputs, drop_unused, values_from
from ..transforms.transpose import transpose_jaxpr
from ..transforms.vmap import vmap_jaxpr


class Jit(BuiltinPrimitive):
    """The application of a jaxpr, compiled as one program where it meets concrete values."""

    multiple_results = True
    shares_names = True

    def shown_params(self, params):
        shown = {
            "compiler_options_kvs": params["compiler_options"],
            "donated_invars": params["donated_invars"] if any(params["donated_invars"]) else (),
            "jaxpr": params["jaxpr"],
            "keep_unused": params["keep_unused"],
        }
        return {"name": params["name"]} | {name: value for name, value in shown.items() if value}

    def check_operands(self, avals, params):
        check_applied(params["jaxpr"], avals)

    def expanded(self, avals, params):
        return params["jaxpr"]

    def effectful_abstract_eval(self, *avals, jaxpr, **params):
        return list(jaxpr.out_avals), jaxpr.effects

    def evaluate(self, backend, args, params):
        return backend.run_jaxpr(args, **params)

    def ref(self, *args, jaxpr, **params):
        return eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, *args)

    def jvp(self, primals, tangents, *, jaxpr, **params):
        nonzeros = tuple(type(t) is not Zero for t in tangents)
        both, out_nonzeros = jvp_jaxpr(jaxpr, nonzeros, False)
        given = [t for t in tangents if type(t) is not Zero]
        donated = params.pop("donated_invars")
        outs = self.bind(
            *primals,
            *given,
            jaxpr=both,
            donated_invars=(*donated, *[d for d, n in zip(donated, nonzeros) if n]),
            **params,
        )
        count = len(jaxpr.out_avals)
        out_tangents = iter(outs[count:])
        return outs[:count], [
            next(out_tangents) if nonzero else Zero(aval.to_tangent_aval())
            for aval, nonzero in zip(jaxpr.out_avals, out_nonzeros)
        ]

    def partial_eval(self, trace: PartialTrace, args, params):
        jaxpr = params["jaxpr"]
        unknowns = tuple(trace.is_unknown(x) for x in args)
        known, unknown, out_unknowns, _ = partial_eval_jaxpr(jaxpr, unknowns, False)
        known_args = [x for x, u in zip(args, unknowns) if not u]
        count = out_unknowns.count(False)
        known, origins = drop_copied_outputs(known, count)
        known_outs = trace.parent.process(
            self,
            known_args,
            params
            | dict(
                jaxpr=known,
                donated_invars=(False,) * len(known_args),
                inline=False,
            ),
        )
        known_outs = values_from(origins, known_args, known_outs)
        known_outs, residuals = iter(known_outs[:count]), known_outs[count:]
        unknown_args = [x for x, u in zip(args, unknowns) if u]
        unknown_outs = iter(
            trace.unknown.process(
                self,
                [*residuals, *unknown_args],
                params
                | dict(
                    jaxpr=unknown,
                    donated_invars=(False,) * (len(residuals) + len(unknown_args)),
                    inline=False,
                ),
            )
        )
        return [next(unknown_outs) if u else next(known_outs) for u in out_unknowns]

    def prune(self, eqn, used):
        jaxpr, kept = drop_unused(eqn.params["jaxpr"], used)
        if jaxpr is eqn.params["jaxpr"]:
            return eqn
        donated = tuple([eqn.params["donated_invars"][i] for i in kept])
        return eqn.replace(
            invars=[eqn.invars[i] for i in kept],
            outvars=[var for var, wanted in zip(eqn.outvars, used) if wanted],
            params=eqn.params | dict(jaxpr=jaxpr, donated_invars=donated),
        )

    def transpose(self, cts, *args, jaxpr, **params):
        linear = tuple(type(x) is UndefinedPrimal for x in args)
        nonzero_cts = tuple(type(ct) is not Zero for ct in cts)
        transposed, nonzeros = transpose_jaxpr(jaxpr, linear, nonzero_cts)
        operands = [x for x, lin in zip(args, linear) if not lin]
        operands += [ct for ct in cts if type(ct) is not Zero]
        transposed, kept = drop_unused(transposed, (True,) * len(transposed.out_avals))
        operands = [operands[i] for i in kept]
        params["donated_invars"] = (False,) * len(operands)
        outs = iter(self.bind(*operands, jaxpr=transposed, **params))
        nonzero = iter(nonzeros)
        return [
            None if not lin else next(outs) if next(nonzero) else Zero(x.aval)
            for x, lin in zip(args, linear)
        ]

    def vmap(self, axis, dims, *args, jaxpr, **params):
        batched = tuple(dim is not None for dim in dims)
        args = [x if dim is None else bring_to(x, axis.size, dim, 0) for x, dim in zip(args, dims)]
        mapped, out_batched = vmap_jaxpr(jaxpr, axis, batched, False)
        outs = self.bind(*args, jaxpr=mapped, **params)
        return outs, [0 if b else None for b in out_batched]

    def emit(self, b, *operands, jaxpr, name, **params):
        return b.call(name, jaxpr, operands)


jit_p = Jit("jit")
