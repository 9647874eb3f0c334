"""From a jaxpr to a program that runs: lowering, compilation by XLA, execution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base.errors import JaxRuntimeError
from ..core.avals import ShapedArray
from ..core.jaxpr import ClosedJaxpr, Jaxpr
from ..transforms.simplify import drop_dead_code
from .array import ArrayImpl, move, put
from .devices import device_list, sharding_on
from .emitter import Emitter
from .module import ModuleContext
from .native import RESULT_HANDLER_OPTIONS, xla_client
from .placement import placement_on

# Captured arrays above this size are parameters of the compiled program rather than constants in
# it: XLA would copy them around and fold what is computed from them.
CONSTANT_BYTES = 1024


class Executable:
    """A compiled program.

    Attributes:
      jaxpr: the program before compilation.
      kept: indices of the arguments that it reads; the others are not passed on.
      out_avals: types of the outputs.
    """

    __slots__ = (
        "_all_kept",
        "_consts",
        "_execute",
        "_handlers",
        "jaxpr",
        "keepalives",
        "kept",
        "loaded",
        "out_avals",
    )  # fmt: skip

    def __init__(
        self,
        loaded: Any,
        jaxpr: ClosedJaxpr,
        kept: list[int],
        consts: list[Any],
        device: Any,
        keepalives: Any = None,
    ):
        self.loaded = loaded
        self.jaxpr = jaxpr
        self.kept = kept
        self.keepalives = keepalives
        self.out_avals = jaxpr.out_avals
        self._all_kept = len(kept) == len(jaxpr.in_avals)
        self._consts = consts
        self._execute = loaded.execute_sharded
        sharding = sharding_on(device)
        self._handlers = [
            xla_client.array_result_handler(
                aval, sharding, committed=True, **RESULT_HANDLER_OPTIONS
            )
            for aval in self.out_avals
        ]

    def run(self, arrays: Sequence[ArrayImpl]) -> list[ArrayImpl]:
        """Execute on arrays of the right types."""
        buffers = [x._buffer for x in arrays]
        if not self._all_kept:
            buffers = [buffers[i] for i in self.kept]
        if self._consts:
            buffers = self._consts + buffers
        outs = self._execute(buffers).consume_with_handlers(self._handlers)
        return list(map(ArrayImpl, outs, self.out_avals))


def compile_jaxpr(
    closed: ClosedJaxpr,
    device: Any,
    name: str = "fun",
    donated: Sequence[bool] = (),
    keep_unused: bool = False,
    compiler_options: dict[str, Any] | None = None,
) -> Executable:
    """Lower and compile a closed jaxpr for a device.

    Args:
      closed: the program.
      device: where it runs.
      name: of the module.
      donated: for each argument, whether its memory may be reused for an output.
      keep_unused: whether arguments that the program does not read stay parameters of it.
      compiler_options: XLA's options by name.
    """
    lowered = lower_jaxpr(closed, name, donated, keep_unused, device.platform)
    loaded = xla_compile(lowered.module_context, device, compiler_options)
    placement = placement_on(device, False)
    consts = [
        (move(c, placement) if type(c) is ArrayImpl else put(c, placement))._buffer
        for c in lowered.consts
    ]
    keepalives = lowered.module_context.keepalives
    return Executable(loaded, closed, lowered.kept, consts, device, keepalives)


class LoweredModule:
    """A module with what is needed to call it: the arguments it keeps, the constants it takes."""

    __slots__ = ("consts", "kept", "module_context")

    def __init__(self, module_context: ModuleContext, kept: list[int], consts: list[Any]):
        self.module_context = module_context
        self.kept = kept
        self.consts = consts


def lower_jaxpr(
    closed: ClosedJaxpr,
    name: str = "fun",
    donated: Sequence[bool] = (),
    keep_unused: bool = False,
    platform: str = "cpu",
) -> LoweredModule:
    """Write a closed jaxpr as a StableHLO module."""
    jaxpr, kept = drop_dead_code(closed.jaxpr, keep_inputs=keep_unused)
    values = dict(zip(closed.jaxpr.constvars, closed.consts))
    big = [v for v in jaxpr.constvars if _nbytes(v.aval) > CONSTANT_BYTES]
    small = [v for v in jaxpr.constvars if _nbytes(v.aval) <= CONSTANT_BYTES]
    module = ModuleContext(f"jit_{name}", platform, Emitter)
    attributes = [{} for _ in big] + [
        {"tf.aliasing_output": None} if donated and donated[i] else {} for i in kept
    ]
    _assign_donations(attributes, [v.aval for v in jaxpr.invars], jaxpr, len(big))
    inputs = [*big, *jaxpr.invars]
    main = Jaxpr(small, inputs, jaxpr.outvars, jaxpr.eqns, jaxpr.effects)
    module.write_main(main, [values[v] for v in small], attributes)
    return LoweredModule(module, kept, [values[v] for v in big])


def _nbytes(aval: Any) -> int:
    return aval.size * np.dtype(aval.dtype).itemsize if isinstance(aval, ShapedArray) else 0


def _assign_donations(
    attributes: list[dict[str, Any]], in_avals: list[Any], jaxpr: Jaxpr, offset: int
) -> None:
    """Let each donated argument share memory with an output of its type, if there is one."""
    free = list(enumerate(v.aval for v in jaxpr.outvars))
    for i, aval in enumerate(in_avals):
        attribute = attributes[offset + i]
        if "tf.aliasing_output" not in attribute:
            continue
        attribute.clear()
        for position, (index, out) in enumerate(free):
            if (out.shape, out.dtype) == (aval.shape, aval.dtype):
                attribute["tf.aliasing_output"] = np.int32(index)
                del free[position]
                break
        else:
            attribute["jax.buffer_donor"] = True


def xla_compile(module: ModuleContext, device: Any, compiler_options: Any = None) -> Any:
    """Compile a module for a device."""
    options = xla_client.CompileOptions()
    build = options.executable_build_options
    options.num_replicas = build.num_replicas = 1
    options.num_partitions = build.num_partitions = 1
    build.device_assignment = xla_client.DeviceAssignment.create(np.array([[device.id]]))
    for key, value in (compiler_options or {}).items():
        options.env_option_overrides = [*options.env_option_overrides, (key, value)]
    try:
        if module.host_callbacks:
            return device.client.compile_and_load(
                module.module, device_list(device), options, host_callbacks=module.host_callbacks
            )
        return device.client.compile_and_load(module.module, device_list(device), options)
    except xla_client.XlaRuntimeError as error:
        raise JaxRuntimeError(f"[compilation] XLA refused the program: {error}") from error
