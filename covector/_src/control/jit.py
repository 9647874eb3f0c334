"""`jit`: stage a function to a jaxpr, compile it once, and run the compiled program."""

from __future__ import annotations

from ..base.compile_errors import options_of_inner_jit
from .applied import Application


class Jit(Application):
    """The application of a jaxpr, compiled as one program where it meets concrete values."""

    shares_names = True

    def shown_params(self, params):
        shown = {
            "compiler_options_kvs": params["compiler_options"],
            "donated_invars": params["donated_invars"] if any(params["donated_invars"]) else (),
            "jaxpr": params["jaxpr"],
            "keep_unused": params["keep_unused"],
        }
        return {"name": params["name"]} | {name: value for name, value in shown.items() if value}

    def applying(self, params, jaxpr, origins):
        before = params["donated_invars"]
        donated = tuple([i is not None and before[i] for i in origins])
        return params | dict(jaxpr=jaxpr, donated_invars=donated)

    def applying_transposed(self, params, jaxpr, origins):
        return self.applying_part(params, jaxpr, len(origins)) | dict(inline=params["inline"])

    def applying_part(self, params, jaxpr, count):
        return params | dict(jaxpr=jaxpr, donated_invars=(False,) * count, inline=False)

    def evaluate(self, backend, args, params):
        return backend.run_jaxpr(args, **params)

    def emit(self, b, *operands, jaxpr, name, compiler_options, **params):
        if compiler_options:
            raise ValueError(options_of_inner_jit(name, dict(compiler_options)))
        return b.call(name, jaxpr, operands)


jit_p = Jit("jit")
