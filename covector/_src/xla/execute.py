"""Evaluation on XLA: single ops, and compiled programs.

An op on concrete arrays runs as a compiled program of that one op, cached on the types of its
operands and its parameters.  A compiled program is an `Executable`; calling it takes four
microseconds in XLA and as little as possible here.

Nearly all arrays lie uncommitted on the first device, which is what `_placement is None` says; the
paths below look at nothing else for them.  Where a computation on other arrays runs is decided in
`_execute_placed` and `run_jaxpr`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ..base import config, events, process_errors, ref_errors
from ..base.errors import description_not_an_array, execution_forbidden
from ..base.sharding_errors import incompatible_devices, sharding_without_devices
from ..core.avals import ShapedArray, aval_of
from ..core.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Var
from ..core.primitive import Primitive
from ..core.trace import check_no_escaped_tracer, eval_trace
from ..ops.sharding_constraint import over_devices
from ..sharding.base import Sharding
from ..sharding.named import named
from ..transforms.cache import jaxpr_cache
from .array import ArrayImpl, in_order, move, put
from .callbacks import call_on_host
from .calls import Call, op_again, type_of
from .compile import Executable, compile_jaxpr
from .devices import device_of, first_device, process_count, process_index
from .gspmd import renumbered
from .guards import explicit_put
from .placement import (
    Placement,
    check_shape,
    common_placement,
    default_placement,
    devices_of_sharding,
    have_shardings,
    lie_together,
    on_same_devices,
    placement_by,
    placement_on,
)
from .spread import Spread, spread_of
from .together import digest_of, stacked
from .token_values import has_tokens, with_tokens, without_token_arguments, without_tokens

# In-memory caches are emptied when they reach this many entries.
OP_CACHE_LIMIT = 4096
SCALAR_CACHE_LIMIT = 4096


class XlaBackend:
    """Evaluates primitives by compiling them with XLA."""

    array_type = ArrayImpl

    def __init__(self) -> None:
        self._ops: dict[Any, Executable] = {}
        self._calls: dict[Any, Call] = {}
        self.execute = partial(op_again, self._calls, self._execute_op, self.to_array)
        # Scalars by value; each entry also holds the object whose id may be its key.
        self._scalars: dict[Any, tuple[ArrayImpl, Any]] = {}
        # Compiled programs live as long as the jaxprs that they were compiled from.
        self._programs: WeakKeyDictionary[ClosedJaxpr, dict[Any, Executable]] = WeakKeyDictionary()

    # ---------------------------------------------------------------- single ops

    def _execute_op(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        """Execute an op of which no program is known for such operands, or that is watched."""
        arrays = [self.to_array(x, primitive.name) for x in args]
        if have_shardings(arrays):
            return self._execute_spread(primitive, arrays, params)
        return self._execute_on_one(primitive, arrays, params)

    def _execute_on_one(
        self, primitive: Primitive, arrays: Sequence[ArrayImpl], params: dict[str, Any]
    ) -> Any:
        """Execute an op on the device where its operands lie."""
        placement = common_placement(arrays, primitive.name)
        device = first_device() if placement is None else placement.device
        start, types = config.trace_key(), [*map(type_of, arrays)]
        avals = [x.aval for x in arrays]
        try:
            executable = self._ops.get(key := (start, primitive, *avals, *params.items(), device))
        except TypeError:  # a parameter is not hashable
            executable = compile_jaxpr(_single_op(primitive, avals, params), device)
        else:
            if executable is None:
                executable = self._compile_op(key, primitive, avals, params, device)
            moves = config.default_device.value is not None or not lie_together(arrays)
            if executable.only_launches and not moves:
                make = list if primitive.multiple_results else None
                call = Call(executable, placement, make)
                self._calls[start, primitive, *types, *params.items()] = call
        outs = executable.run([move(x, placement) for x in arrays], placement)
        return outs if primitive.multiple_results else outs[0]

    def _execute_spread(
        self, primitive: Primitive, arrays: Sequence[ArrayImpl], params: dict[str, Any]
    ) -> Any:
        """Execute an op of which an operand was put somewhere by a sharding."""
        avals, types = [x.aval for x in arrays], [(x.aval, x._placement) for x in arrays]
        key: Any = (config.trace_key(), primitive, *map(type_of, arrays), *params.items())
        try:
            executable = self._ops.get(key)
        except TypeError:  # a parameter is not hashable
            key = executable = None
        if executable is None:
            program = _single_op(primitive, avals, params)
            spread = spread_of(primitive.name, program, types)
            if spread is None:
                return self._execute_on_one(primitive, arrays, params)
            if key is None:
                executable = compile_jaxpr(program, spread, primitive.name)
            else:
                executable = self._compile_op(key, primitive, avals, params, spread)
        if key is not None and executable.only_launches and executable.takes(arrays):
            make = list if primitive.multiple_results else None
            self._calls[key] = Call(executable, None, make)
        outs = executable.run(list(map(move, arrays, executable.in_placements)))
        return outs if primitive.multiple_results else outs[0]

    def _compile_op(
        self, key: Any, primitive: Primitive, avals: Sequence[Any], params: Any, where: Any
    ) -> Executable:
        if len(self._ops) >= OP_CACHE_LIMIT:
            self._ops.clear()
            self._calls.clear()
        if config.no_execution.value:
            raise RuntimeError(execution_forbidden(primitive.name))
        events.record("compile op", primitive)
        program = _single_op(primitive, avals, params)
        executable = self._ops[key] = compile_jaxpr(program, where, primitive.name)
        executable.keepalives = [executable.keepalives, program]
        return executable

    # ---------------------------------------------------------------- programs

    def execute_body(
        self, jaxpr: ClosedJaxpr, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]
    ) -> Any:
        """Apply a primitive of which a jaxpr is a parameter; it is compiled while that lives."""
        avals = tuple([aval_of(x) for x in args])
        return self.run_jaxpr(
            args,
            jaxpr=_program_of_body(jaxpr, primitive, avals, tuple(params.items())),
            name=primitive.name,
            donated_invars=(False,) * len(args),
            keep_unused=False,
            inline=False,
            compiler_options=(),
        )

    def executable_of(
        self,
        where: Any = None,
        *,
        jaxpr: ClosedJaxpr,
        name: str,
        donated_invars: tuple[bool, ...],
        keep_unused: bool,
        inline: bool,
        compiler_options: tuple[tuple[str, Any], ...],
    ) -> Executable:
        """The compiled program of a `jit`, compiled at the first request for it.

        It is for a device, the first one by default, or for several as a `Spread` says.
        """
        where = first_device() if where is None else where
        options = (where, donated_invars, keep_unused, compiler_options, config.trace_key())
        programs = self._programs.setdefault(jaxpr, {})
        executable = programs.get(options)
        if executable is None:
            if config.no_execution.value:  # programs are looked up by it, so that none is found
                raise RuntimeError(execution_forbidden(name))
            executable = programs[options] = compile_jaxpr(
                jaxpr, where, name, donated_invars, keep_unused, dict(compiler_options)
            )
        return executable

    def run_jaxpr(self, args: Sequence[Any], device: Any = None, **params: Any) -> list[ArrayImpl]:
        """Apply the `jit` primitive to concrete values, where they lie or on a given device."""
        if has_tokens(params["jaxpr"]):
            return self._run_with_tokens(args, device, **params)
        arrays = [self.to_array(x, params["name"]) for x in args]
        if device is None:
            types = [(x.aval, x._placement) for x in arrays]
            spread = spread_of(params["name"], params["jaxpr"], types)
            if spread is not None:
                executable = self.executable_of(spread, **params)
                return executable.run(list(map(move, arrays, executable.in_placements)))
        if device is not None:
            placement = placement_on(device, True)
        else:
            placement = common_placement(arrays, params["name"])
        arrays = [move(x, placement) for x in arrays]
        device = first_device() if placement is None else placement.device
        return self.executable_of(device, **params).run(arrays, placement)

    def _run_with_tokens(
        self,
        args: Sequence[Any],
        device: Any,
        jaxpr: ClosedJaxpr,
        donated_invars: tuple[bool, ...],
        **params: Any,
    ) -> list[Any]:
        """`run_jaxpr` for programs with tokens among their arguments, constants or results."""
        arrays, donated = without_token_arguments(args, donated_invars)
        smaller = without_tokens(jaxpr)
        outs = self.run_jaxpr(arrays, device, jaxpr=smaller, donated_invars=donated, **params)
        return with_tokens(jaxpr, outs)

    def call_python(
        self, fun: Any, name: str, args: Sequence[Any], out_avals: Sequence[Any]
    ) -> list[ArrayImpl]:
        """Apply a Python function to concrete values; its results lie where these do."""
        arrays = [self.to_array(x, name) for x in args]
        return call_on_host(fun, name, arrays, out_avals, common_placement(arrays, name))

    # ---------------------------------------------------------------- values

    def to_array(self, x: Any, doing: str = "evaluation") -> ArrayImpl:
        """A concrete value as an array; scalars are put on the device once per value."""
        kind = type(x)
        if kind is ArrayImpl:
            return x
        if kind is float or kind is int:
            # NaN and the two zeros are not told apart by equality.
            key = (kind, x if x and x == x else repr(x), config.trace_key())
        elif kind is np.ndarray:
            if x.ndim or x.flags.writeable:
                return put(x, default_placement())
            # The literals of rules are such arrays, one object for each value.
            key = (id(x), config.trace_key())
        else:
            return self._put_checked(x, doing)
        found = self._scalars.get(key)
        if found is None or found[0]._buffer.is_deleted():
            array = self._put_checked(x, doing)
            if len(self._scalars) >= SCALAR_CACHE_LIMIT:
                self._scalars.clear()
            self._scalars[key] = array, x
            return array
        return found[0]

    def retyped(self, x: ArrayImpl, aval: ShapedArray) -> ArrayImpl:
        """An array under another type, which to XLA is the same."""
        return ArrayImpl(x._buffer, aval, x._placement)

    def _put_checked(self, x: Any, doing: str) -> ArrayImpl:
        check_no_escaped_tracer((x,), doing)
        if hasattr(type(x), "__jax_array__"):
            return self.to_array(x.__jax_array__(), doing)
        aval = aval_of(x)
        if not isinstance(aval, ShapedArray):
            raise TypeError(ref_errors.not_an_array(doing, aval))
        if hasattr(x, "dtype") and not hasattr(x, "__array__"):
            raise TypeError(description_not_an_array(doing, x))
        return put(x, default_placement(), aval)

    def spread(self, x: Any, sharding: Sharding) -> ArrayImpl:
        """A value as a sharding spreads it; an array that is committed must be on its devices."""
        check_no_escaped_tracer((x,), "with_sharding_constraint")
        placement = getattr(x, "_placement", None)
        sharding = over_devices(sharding, getattr(placement and placement.sharding, "mesh", None))
        if sharding is None:
            return x
        devices = devices_of_sharding(sharding)
        if placement is not None and placement.committed and devices is not None:
            if placement.devices != devices:
                claims = [(str(x.aval), placement.devices), ("the sharding", devices)]
                raise ValueError(incompatible_devices("with_sharding_constraint", claims))
        return self.device_put(x, sharding)

    def _respread(self, x: ArrayImpl, placement: Placement) -> ArrayImpl:
        """An array on the same devices as before, where other parts of it may lie on each."""
        if placement.sharding.is_equivalent_to(x._placement.sharding, x.ndim):
            if placement.devices == x._placement.devices:
                return move(x, placement)
            return in_order(x, placement)
        devices, wanted = x._placement.devices, placement.sharding
        if placement.devices != devices:
            wanted = renumbered(wanted, devices, x.ndim)
        key = "respread", x.aval, x._placement, placement
        executable = self._ops.get(key)
        if executable is None:
            var = Var(x.aval)
            spread = Spread(devices, None, (x._placement.sharding,), (wanted,))
            program = ClosedJaxpr(Jaxpr([], [var], [var], []))
            executable = self._ops[key] = compile_jaxpr(program, spread, "device_put")
            executable.keepalives = [executable.keepalives, program]
        (out,) = executable.run([x])
        return out if placement.devices == devices else in_order(out, placement)

    def device_put(self, x: Any, target: Any, may_alias: bool = False) -> ArrayImpl:
        """A value on a device.

        Args:
          x: the value.
          target: a device, a sharding or the name of a platform, to which the result is committed;
            None leaves an array where it is.
          may_alias: whether the result may share memory with a read-only NumPy array.
        """
        placement = (
            default_placement() if target is None else placement_of_target(target, np.shape(x))
        )
        if placement is not None and not placement.is_local:
            return self._put_over_processes(x, placement, target)
        if isinstance(x, ArrayImpl):
            if target is None:
                return x
            if not x._is_whole_here and not on_same_devices(x._placement, placement):
                raise ValueError(process_errors.to_one_device(x.aval, x._placement.devices))
            with explicit_put():
                if on_same_devices(x._placement, placement):
                    return self._respread(x, placement)
                return move(x, placement)
        check_no_escaped_tracer((x,), "device_put")
        with explicit_put():
            return put(x, placement, may_alias=may_alias)

    def _put_over_processes(self, x: Any, placement: Placement, target: Any) -> ArrayImpl:
        """A value on devices of which other processes have some; they do the same, all at once.

        Of what is no such array yet, each process takes the parts that it is to hold, and all must
        have the same; that is looked at if each of the processes is to hold some.
        """
        if isinstance(x, ArrayImpl) and not x.is_fully_addressable:
            if x._placement is placement:
                return x
            if on_same_devices(x._placement, placement):
                return self._respread(x, placement)
            before, after = x._placement.devices, placement.devices
            if not placement.is_spread:
                raise ValueError(process_errors.to_one_device(x.aval, before))
            raise ValueError(process_errors.to_other_devices(x.aval, before, after))
        if isinstance(x, ArrayImpl) and x.committed:
            raise ValueError(process_errors.to_remote_sharding(x.aval, target))
        check_no_escaped_tracer((x,), "device_put")
        with explicit_put():
            made = move(x, placement) if isinstance(x, ArrayImpl) else put(x, placement)
            if len({device.process_index for device in placement.devices}) == process_count():
                self._check_same_everywhere(x, made.aval)
        return made

    def _check_same_everywhere(self, x: Any, aval: ShapedArray) -> None:
        """Raise AssertionError if the processes have different values."""
        host = x.to_numpy() if isinstance(x, ArrayImpl) else np.asarray(x)
        digests = self._gathered(digest_of(host))
        wrong = np.flatnonzero((digests != digests[process_index()]).any(axis=1)).tolist()
        if wrong:
            raise AssertionError(process_errors.differs(type(x).__name__, aval, wrong))

    def _gathered(self, mine: np.ndarray) -> np.ndarray:
        array, whole = stacked(mine)
        return self.device_put(array, whole).to_numpy()

    def clear(self) -> None:
        """Forget compiled ops, compiled programs and scalars."""
        self._ops.clear()
        self._calls.clear()
        self._scalars.clear()
        self._programs.clear()


def placement_of_target(target: Any, shape: Sequence[int]) -> Placement | None:
    """The placement of an array for which a device, a sharding or a platform's name asks."""
    target = named("device_put", target)
    if isinstance(target, Sharding):
        check_shape("device_put", target, shape)
        placement = placement_by(target)
        if placement is None and target.num_devices:
            raise ValueError(sharding_without_devices("device_put", target))
        return placement
    return placement_on(device_of(target), True)


def _single_op(primitive: Primitive, avals: Sequence[Any], params: Any) -> ClosedJaxpr:
    """The program of one op."""
    out, effects = primitive.typecheck(tuple(avals), params)
    invars = [Var(aval) for aval in avals]
    outvars = [Var(aval) for aval in (out if primitive.multiple_results else [out])]
    eqn = JaxprEqn(list(invars), outvars, primitive, params, effects)
    return ClosedJaxpr(Jaxpr([], invars, outvars, [eqn]))


@jaxpr_cache
def _program_of_body(
    jaxpr: ClosedJaxpr, primitive: Primitive, avals: tuple[Any, ...], params: tuple[Any, ...]
) -> ClosedJaxpr:
    """The program of one op, which is kept on a jaxpr among its parameters."""
    return _single_op(primitive, avals, dict(params))


def gathered(mine: np.ndarray) -> np.ndarray:
    """The arrays that the processes have, of one type, side by side; all call this at once."""
    if process_count() == 1:
        return mine[None]
    backend = eval_trace.backend
    assert isinstance(backend, XlaBackend)
    return backend._gathered(mine)


def apply_primitive(prim: Primitive, *args: Any, **params: Any) -> Any:
    """Evaluate a primitive by compiling its lowering rule.

    The program is kept, and run again for operands of the same types and equal parameters. With
    `prim.def_impl(functools.partial(apply_primitive, prim))` a primitive needs no other `impl`.

    Args:
      prim: the primitive.
      *args: the operands, concrete values.
      **params: the parameters.

    Returns:
      The result, or the list of results.
    """
    backend = eval_trace.backend
    assert isinstance(backend, XlaBackend)
    return backend.execute(prim, args, params)
