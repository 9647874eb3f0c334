"""`inspect_sharding`: tells a Python function how an array is spread over devices.

Of an array that is there it is told at once; of a value of a program, when that is compiled.
"""

from __future__ import annotations

from ..core.primitive import BuiltinPrimitive
from .debug_callbacks import debug_effect


class InspectSharding(BuiltinPrimitive):
    """Parameters: `callback`, a function of a sharding."""

    multiple_results = True

    def effectful_abstract_eval(self, aval, *, callback):
        return [], frozenset({debug_effect})

    def evaluate(self, backend, args, params):
        params["callback"](backend.to_array(args[0]).sharding)
        return []

    def ref(self, x, *, callback):
        return []

    def jvp(self, primals, tangents, **params):
        return self.bind(*primals, **params), []

    def transpose(self, cts, x, **params):
        return [None]

    def vmap(self, axis, dims, x, **params):
        return self.bind(x, **params), []

    def emit(self, b, x, *, callback):
        b.inspect(x, b.avals_in[0], callback)
        return []


inspect_sharding_p = InspectSharding("inspect_sharding")
