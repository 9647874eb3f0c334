"""From a jaxpr to a program that runs: lowering, compilation by XLA, execution."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from itertools import repeat
from typing import Any, NoReturn
from weakref import WeakValueDictionary, ref

import numpy as np

from ..base import config, dtypes, events
from ..base.compile_errors import donated_and_read, donations_not_usable, large_constants
from ..base.errors import JaxRuntimeError, argument_deleted
from ..base.logs import logger
from ..base.monitoring import record_event_duration_secs
from ..control.reroll_write import rerolled
from ..core.avals import ShapedArray, aval_of
from ..core.effects import ordered_effects
from ..core.jaxpr import ClosedJaxpr, Jaxpr
from ..ops.physical import physical_aval
from ..sharding.base import Sharding
from ..transforms.memory_plan import materialized
from ..transforms.simplify import drop_dead_code
from . import barriers, cache, loops, nonfinite, short_rows, tiles
from .array import ArrayImpl, move, put, without_parts
from .callbacks import Launch
from .devices import is_local, lowering_platform, sharding_on
from .dump import dump
from .emitter import Emitter
from .failures import failure_behind
from .gspmd import REPLICATED, HloSharding, device_list_of, jaxlib_sharding
from .layout import Layout, default_layout, layout_of
from .module import ModuleContext, nbytes
from .native import RESULT_HANDLER_OPTIONS, xla_client
from .options import compile_options
from .placement import Placement, SingleDeviceSharding, placement_by, placement_on, whole_on
from .processes import check_collectives
from .progress import Progress
from .spread import Spread
from .turns import InTurn

watch = nonfinite.watch


class Executable:
    """A compiled program.

    Attributes:
      name: of the function or op.
      kept: indices of the arguments that it reads; the others are not passed on.
      only_launches: whether nothing but `launch` is needed to run it: all outputs are arrays of
        XLA's, and nobody wants to see the arguments.
      in_avals, out_avals: types of the arguments and outputs.
      in_placements, out_placements: of a program that is spread, where the arguments must lie and
        the outputs will; else None.
      loaded: jaxlib's executable.
      spread: how the program is spread over several devices, if it is.
      reread: of a program that was loaded, and not compiled here, what gives its bytes or None: XLA
        cannot write them again.
    """

    __slots__ = (
        *("__weakref__", "_consts", "_execute", "_handlers", "_jaxpr", "_takes_all", "in_avals"),
        *("in_placements", "keepalives", "kept", "loaded", "name", "only_launches", "out_avals"),
        *("out_placements", "reread", "spread"),
    )

    def __init__(
        self,
        name: str,
        loaded: Any,
        jaxpr: ClosedJaxpr,
        kept: list[int],
        consts: list[Any],
        device: Any,
        keepalives: Any = None,
        spread: Spread | None = None,
    ):
        self.name = name
        self.loaded = loaded
        # Weak: the tables of programs are keyed by the jaxprs, which must be able to go.
        self._jaxpr = ref(jaxpr)
        self.in_avals = jaxpr.in_avals
        self.kept = kept
        self.keepalives = keepalives
        self.out_avals = jaxpr.out_avals
        # Zeros of the tangent space of integers hold nothing, and are NumPy arrays everywhere.
        self.only_launches = not any(_is_float0(aval) for aval in self.out_avals)
        self._consts = consts
        self._takes_all = len(kept) == len(jaxpr.in_avals) and not consts
        self._execute = loaded.execute_sharded
        self.in_placements = self.out_placements = None
        self.spread = spread
        self.reread: Callable[[], bytes | None] | None = None
        shardings = [sharding_on(device)] * len(self.out_avals)
        if spread is not None:
            self.in_placements = spread.in_placements
            outs = outputs_of(loaded, spread, self.in_avals, self.out_avals)
            self.out_placements = list(map(placement_by, outs))
            if spread.is_over_many:
                shardings = [jaxlib_sharding(s, a.ndim) for s, a in zip(outs, self.out_avals)]
        self._handlers = [
            xla_client.array_result_handler(
                physical_aval(aval), sharding, committed=True, **RESULT_HANDLER_OPTIONS
            )
            for aval, sharding in zip(self.out_avals, shardings)
        ]

    def launch(self, buffers: list[Any]) -> list[Any]:
        """Execute on jaxlib's buffers of all arguments; returns those of the outputs."""
        if not self._takes_all:
            buffers = [buffers[i] for i in self.kept] + self._consts
        try:
            return self._execute(buffers).consume_with_handlers(self._handlers)
        except Exception as error:
            self.failed(error, buffers)

    def failed(self, error: Exception, buffers: Sequence[Any]) -> NoReturn:
        """Raise what the user should see when the program raised an error, run on these buffers."""
        if not isinstance(error, (xla_client.XlaRuntimeError, ValueError)):
            raise error
        failure = failure_behind(error)
        if failure is not error:
            raise failure from None
        if any(buffer.is_deleted() for buffer in buffers):
            raise RuntimeError(argument_deleted(self.name)) from error
        if len(set(map(id, buffers))) < len(buffers) and "donate" in str(error):
            raise JaxRuntimeError(donated_and_read(self.name)) from error
        raise JaxRuntimeError(f"[{self.name}] the program failed: {error}") from error

    def run(
        self, arrays: Sequence[ArrayImpl], placement: Placement | None = None
    ) -> list[ArrayImpl]:
        """Execute on arrays of the right types.

        Args:
          arrays: the arguments, on the program's device; on several, `in_placements` says how.
          placement: of the outputs, if there is one device.
        """
        buffers = self.launch([x._buffer for x in arrays])
        placements = self.out_placements or repeat(placement)
        outs = list(map(ArrayImpl, buffers, self.out_avals, placements))
        if not self.only_launches:
            outs = [x.to_numpy() if x.dtype == dtypes.float0 else x for x in outs]
        if watch.ever_on and nonfinite.is_on():
            nonfinite.check(self._jaxpr(), self.name, arrays, outs)
        return outs

    def takes(self, arrays: Sequence[ArrayImpl]) -> bool:
        """Whether a program that is spread finds all of these arrays where it wants them."""
        return all(
            x._placement is p or (not p.is_spread and x._first_device == p.device)
            for x, p in zip(arrays, self.in_placements or ())
        )

    def input_layouts(self) -> list[Layout]:
        """How each argument lies in memory; those that are not read, as usual."""
        layouts = [default_layout(len(aval.shape)) for aval in self.in_avals]
        for i, layout in zip(self.kept, self.loaded.get_parameter_layouts()):
            layouts[i] = layout_of(layout)
        return layouts

    def output_layouts(self) -> list[Layout]:
        """How each output lies in memory."""
        return list(map(layout_of, self.loaded.get_output_layouts()))


class _RunElsewhere(Executable):
    """A program for devices of other processes alone: here it makes arrays without parts."""

    __slots__ = ("_device",)

    def __init__(
        self,
        name: str,
        loaded: Any,
        jaxpr: ClosedJaxpr,
        kept: Any,
        consts: Any,
        device: Any,
        *rest: Any,
    ):
        super().__init__(name, loaded, jaxpr, kept, consts, device, *rest)
        self.only_launches = False
        self._device = device

    def launch(self, buffers: list[Any]) -> list[Any]:
        placements = self.out_placements or repeat(placement_on(self._device, True))
        return [without_parts(aval, p)._buffer for aval, p in zip(self.out_avals, placements)]


# Kinds of compiled programs that are made while a flag is on, by those who look at what they do.
special_kinds: list[tuple[config.Flag, type[Executable]]] = []


def _is_float0(aval: Any) -> bool:
    return isinstance(aval, ShapedArray) and aval.dtype == dtypes.float0


def compile_jaxpr(
    closed: ClosedJaxpr,
    where: Any,
    name: str = "fun",
    donated: Sequence[bool] = (),
    keep_unused: bool = False,
    compiler_options: dict[str, Any] | None = None,
) -> Executable:
    """Lower and compile a closed jaxpr for a device, or for several.

    Args:
      closed: the program.
      where: the device on which it runs, or the `Spread` over several.
      name: of the function or op.
      donated: for each argument, whether its memory may be reused for an output.
      keep_unused: whether arguments that the program does not read stay parameters of it.
      compiler_options: XLA's options by name.
    """
    spread = where if isinstance(where, Spread) else None
    device = where if spread is None else spread.device
    platform = lowering_platform(device)
    lowered = lower_jaxpr(closed, name, donated, keep_unused, platform, spread=spread)
    executable = compile_lowered(lowered, closed, device, compiler_options)
    lowered.module_context.close()
    return executable


class LoweredModule:
    """A module with what is needed to call it: the arguments it keeps, and how it is spread."""

    __slots__ = ("kept", "module_context", "name", "spread")

    def __init__(
        self, name: str, module: ModuleContext, kept: list[int], spread: Spread | None = None
    ):
        self.name = name
        self.module_context = module
        self.kept = kept
        self.spread = spread


def lower_jaxpr(
    closed: ClosedJaxpr,
    name: str = "fun",
    donated: Sequence[bool] = (),
    keep_unused: bool = False,
    platform: str = "cpu",
    is_portable: bool = False,
    spread: Spread | None = None,
) -> LoweredModule:
    """Write a closed jaxpr as a StableHLO module.

    Args:
      closed, name, donated, keep_unused: as for `compile_jaxpr`.
      platform: whose lowering rules apply.
      is_portable: whether other processes are to compile it, see `ModuleContext`; what is asked of
        the compiler besides, as to keep barriers, does not get there.
      spread: how the program is spread over several devices, if it is.
    """
    start = time.perf_counter()
    jaxpr, kept = drop_dead_code(closed.jaxpr, keep_inputs=keep_unused)
    values = dict(zip(closed.jaxpr.constvars, closed.consts))
    program = ClosedJaxpr(jaxpr, [values[v] for v in jaxpr.constvars])
    if loops.are_rolled_up(platform):
        program = rerolled(program)
    if barriers.are_kept(platform) and not is_portable:
        program = materialized(program)
    jaxpr = program.jaxpr
    several = spread if spread is not None and spread.is_over_many else None
    module = ModuleContext(f"jit_{name}", platform, Emitter, is_portable, several)
    attributes: list[dict[str, Any]] = [{} for _ in jaxpr.invars]
    if any(donated):
        given = [(i, v.aval) for i, v in enumerate(jaxpr.invars) if donated[kept[i]]]
        _assign_donations(attributes, given, [v.aval for v in jaxpr.outvars])
    results: list[dict[str, Any]] = []
    if several is not None:
        results = _spread_main(module, several, jaxpr, kept, attributes)
    module.write_main(name, jaxpr, program.consts, attributes, results)
    barriers.keep(module)
    loops.alias_carries(module)
    short_rows.spare_effort(module, jaxpr)
    tiles.leave_out(module, jaxpr)
    events.record("lower", (closed, module.module))
    dump(name, closed, module.module)
    _warn_of_large(list(map(aval_of, module.captured)))
    finished = "Finished jaxpr to MLIR module conversion jit(%s) in %.9f sec"
    _log(finished, name, start, "jaxpr_to_mlir_module_duration")
    return LoweredModule(name, module, kept, spread)


def _spread_main(
    module: ModuleContext,
    spread: Spread,
    jaxpr: Jaxpr,
    kept: Sequence[int],
    attributes: list[dict[str, Any]],
) -> list[dict[str, Any]]:
    """Say how the arguments of a program for several devices lie; returns the results' attributes.

    Which argument's memory serves for which result depends on what the compiler chooses.
    """
    with module.writing():
        for i, var, given in zip(kept, jaxpr.invars, attributes):
            if given.pop("tf.aliasing_output", None) is not None:
                given["jax.buffer_donor"] = True
            given["sdy.sharding"] = module.meshes.sharding(spread.ins[i], var.aval)
        results: list[dict[str, Any]] = []
        for atom, sharding in zip(jaxpr.outvars, spread.outs):
            aval = atom.aval
            if sharding is not None:
                results.append({"sdy.sharding": module.meshes.sharding(sharding, aval)})
            elif spread.mesh is not None and isinstance(aval.dtype, dtypes.ExtendedDType):
                results.append({"sdy.sharding": module.meshes.free(spread.mesh, aval)})
            else:
                results.append({})
    return results


def outputs_of(
    loaded: Any, spread: Spread, in_avals: Sequence[Any], avals: Sequence[Any]
) -> list[Sharding]:
    """How the results of a compiled program lie: as they were to, or as the compiler has chosen."""
    if not avals:
        return []
    chosen, ndims = [REPLICATED] * len(avals), [aval.ndim for aval in in_avals]
    if spread.is_over_many:
        chosen = map(HloSharding.from_proto, loaded.get_output_shardings())
    return [
        spread.chosen(found, aval.ndim, ndims) if given is None else given
        for given, found, aval in zip(spread.outs, chosen, avals)
    ]


def _log(text: str, name: str, start: float, event: str) -> None:
    """Tell how long a step took: to the log, as a warning if `log_compiles` is on, and as an event
    for those who listen."""
    seconds = time.perf_counter() - start
    logger.log(_level(), text, name, seconds)
    record_event_duration_secs(f"/jax/core/compile/{event}", seconds, fun_name=name)


def _level() -> int:
    return logging.WARNING if config.log_compiles.value else logging.DEBUG


def _warn_of_large(constants: Sequence[Any]) -> None:
    """Warn of large arrays that a function captured instead of taking them as arguments."""
    limit = config.captured_constants_warn_bytes.value
    if limit != -1 and constants:
        sizes = list(map(nbytes, constants))
        if sum(sizes) >= limit:
            largest = sorted(zip(sizes, constants), key=lambda pair: -pair[0])[:5]
            warnings.warn(
                large_constants(sum(sizes), len(sizes), [str(aval) for _, aval in largest]),
                stacklevel=2,
            )


def _assign_donations(
    attributes: list[dict[str, Any]], donated: Sequence[tuple[int, Any]], outs: Sequence[Any]
) -> None:
    """Let each donated argument share memory with an output of its type, if there is one."""
    free = list(enumerate(outs))
    unused = []
    for index, aval in donated:
        for position, (out_index, out) in enumerate(free):
            if (out.shape, out.dtype) == (aval.shape, aval.dtype):
                attributes[index]["tf.aliasing_output"] = np.int32(out_index)
                del free[position]
                break
        else:
            attributes[index]["jax.buffer_donor"] = True
            unused.append(str(aval))
    if unused:
        warnings.warn(donations_not_usable(unused), stacklevel=2)


def compile_lowered(
    lowered: LoweredModule,
    closed: ClosedJaxpr,
    device: Any,
    compiler_options: dict[str, Any] | None = None,
) -> Executable:
    """Compile a module for a device, or find it compiled on disk."""
    events.record("compile", lowered.name)
    start = time.perf_counter()
    module, spread = lowered.module_context, lowered.spread
    devices = (device,) if spread is None else spread.devices
    several = len(devices) > 1
    mine = sum(map(is_local, devices))
    if device.platform == "cpu" and 0 < mine < len(devices):
        check_collectives(lowered.name)
    chooses = [s is None for s in spread.outs] if several else []
    options = compile_options(
        *(devices, compiler_options, module.compile_options, module.disabled_passes, chooses),
        generator_options=module.generator_options,
    )
    key = _key(module, options, device)
    loaded, reread, finished = _kept(key, devices, options)
    if loaded is None:
        events.record("compile anew", lowered.name)
        types = ", ".join(map(str, closed.in_avals))
        logger.log(_level(), "Compiling jit(%s) for arguments of types (%s)", lowered.name, types)
        try:
            loaded = _xla_compile(lowered, devices, options)
        except JaxRuntimeError:
            if not (module.disabled_passes or module.compile_options):
                raise
            # Perhaps this version of XLA does not know them. All programs can do without.
            options = compile_options(devices, compiler_options, chooses_results=chooses)
            loaded = _xla_compile(lowered, devices, options)
        if key is not None:
            cache.store(key, loaded, time.perf_counter() - start)
    _log(finished, lowered.name, start, "backend_compile_duration")
    consts = [_captured(c, devices)._buffer for c in module.captured]
    kept, keepalives = lowered.kept, module.keepalives
    kind = next((kind for flag, kind in special_kinds if flag.value), Executable)
    kind = kind if mine else _RunElsewhere
    executable = kind(lowered.name, loaded, closed, kept, consts, device, keepalives, spread)
    executable.reread = reread
    if module.host_callbacks:
        executable._execute = Launch(executable._execute, bool(ordered_effects(closed.effects)))
    elif several and device.platform == "cpu":
        executable._execute = InTurn(executable._execute)
    if key is not None:
        _living[key] = executable
    for tell in module.inspections:
        tell(SingleDeviceSharding(device))
    return executable


def _captured(x: Any, devices: tuple[Any, ...]) -> ArrayImpl:
    """A captured array where the program reads it; how it is spread there, it stays."""
    if type(x) is ArrayImpl and x._placement is not None and x._placement.devices == devices:
        return x
    placement = placement_on(devices[0], False) if len(devices) == 1 else whole_on(devices)
    return move(x, placement) if type(x) is ArrayImpl else put(x, placement)


# The programs that are in use, by the names under which their compiled forms are kept on disk.
_living: WeakValueDictionary[str, Executable] = WeakValueDictionary()


def _key(module: ModuleContext, options: Any, device: Any) -> str | None:
    """The name of a program's compiled form, or None if it is not kept."""
    if device.platform in cache.unkept_platforms:
        return None
    if module.host_callbacks or module.keepalives or cache.cache_folder() is None:
        return None
    places = config.compilation_cache_include_metadata_in_key.value
    text = module.module.operation.get_asm(enable_debug_info=places)
    return cache.key_of(text, options, device)


def _kept(key: str | None, devices: tuple[Any, ...], options: Any) -> tuple[Any, Any, str]:
    """The compiled form of a program if there is one, how to read it, and what to log then."""
    if key is not None:
        twin = _living.get(key)
        if twin is not None:
            finding = "Finished finding the compiled jit(%s) in use in %.9f sec"
            return twin.loaded, twin.reread, finding
        loaded = cache.load(key, devices[0], device_list_of(devices), options)
        if loaded is not None:
            reread = partial(cache.payload_of, key)
            return loaded, reread, "Finished loading the compiled jit(%s) from disk in %.9f sec"
    return None, None, "Finished XLA compilation of jit(%s) in %.9f sec"


def _xla_compile(lowered: LoweredModule, devices: tuple[Any, ...], options: Any) -> Any:
    module = lowered.module_context
    callbacks = {"host_callbacks": module.host_callbacks} if module.host_callbacks else {}
    try:
        with Progress(lowered.name):
            return devices[0].client.compile_and_load(
                module.module, device_list_of(devices), options, **callbacks
            )
    except xla_client.XlaRuntimeError as error:
        text = f"[{lowered.name}] XLA refused to compile the program: {error}"
        raise JaxRuntimeError(text) from error
