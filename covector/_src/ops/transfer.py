"""Moving arrays between devices, as a primitive."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.primitive import BuiltinPrimitive
from ..core.zeros import Zero
from ..sharding.base import Sharding
from ..xla.native import xla_client

REUSE_INPUT = xla_client.ArrayCopySemantics.REUSE_INPUT


class DevicePut(BuiltinPrimitive):
    """Each operand on the device that `devices` names for it; None leaves it where it is.

    Inside a compiled program a sharding of several devices says how the operand is spread over
    them; all else is the identity there.
    """

    multiple_results = True

    def places(self, params):
        return [target for target in params["devices"] if _is_spread(target)]

    def evaluate(self, backend: Any, args: Any, params: dict[str, Any]) -> list[Any]:
        return [backend.device_put(x, device) for x, device in zip(args, params["devices"])]

    def abstract_eval(self, *avals, devices, srcs, copy_semantics):
        return list(avals)

    def ref(self, *args, devices, srcs, copy_semantics):
        return [np.asarray(x) for x in args]

    def jvp(self, primals, tangents, *, devices, srcs, **params):
        outs = self.bind(*primals, devices=devices, srcs=srcs, **params)
        # The way back, for cotangents, is to where the operand came from.
        srcs = [
            _place_of(x) if src is None and device is not None else src
            for x, src, device in zip(primals, srcs, devices)
        ]
        out_tangents = [
            t if type(t) is Zero else device_put(t, device, src)
            for t, device, src in zip(tangents, devices, srcs)
        ]
        return outs, out_tangents

    def transpose(self, cts, *args, devices, srcs, copy_semantics):
        return [ct if type(ct) is Zero else device_put(ct, src) for ct, src in zip(cts, srcs)]

    def vmap(self, axis, dims, *args, **params):
        return self.bind(*args, **params), list(dims)

    def emit(self, b, *operands, devices, srcs, copy_semantics):
        return [
            b.spread(x, aval, target) if _is_spread(target) else x
            for x, aval, target in zip(operands, b.avals_in, devices)
        ]


def _place_of(x: Any) -> Any:
    """The sharding of an array, or its device; None of a value that is traced."""
    if not hasattr(x, "_placement"):
        return None
    spread = None if x._placement is None else x._placement.sharding
    return x.device if spread is None else spread


def _is_spread(target: Any) -> bool:
    return isinstance(target, Sharding) and target.num_devices > 1


device_put_p = DevicePut("device_put")


def device_put(x: Any, device: Any, src: Any = None) -> Any:
    """One array on a device, under the current trace."""
    (out,) = device_put_p.bind(x, devices=(device,), srcs=(src,), copy_semantics=(REUSE_INPUT,))
    return out
