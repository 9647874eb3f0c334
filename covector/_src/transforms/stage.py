"""Staging: run a function on tracers and write down what it does, as a jaxpr.

    stage : (a -> b), avals of a  ->  jaxpr of a -> b

A `JaxprTrace` records one eqn for each primitive that reaches it.  A value that is not its own
tracer is a constant to it: a scalar is written in place as a literal, anything else becomes a
`constvar`, once per object.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..base import axis_errors, config, source, tree
from ..base.dims import Dim
from ..base.errors import UnexpectedTracerError, escaped_tracer
from ..base.ref_errors import ref_returned
from ..base.tracing_errors import result_not_an_array
from ..core.array import Array
from ..core.avals import AbstractValue, ShapedArray, aval_of, is_valid_type, with_vma
from ..core.axis import in_order, manual_axes
from ..core.check import check_jaxpr
from ..core.effects import NamedAxisEffect
from ..core.jaxpr import Atom, ClosedJaxpr, DebugInfo, Jaxpr, JaxprEqn, Literal, Var, jaxpr_as_fun
from ..core.leaks import leaves_no_tracers
from ..core.primitive import Primitive
from ..core.refs import AbstractRef, Ref
from ..core.scopes import attribute_scopes
from ..core.show import jaxprs_in_params
from ..core.trace import EagerTrace, Trace, Tracer, context, tracer_type
from ..ops.varying import pvary_p, vary
from .cache import jaxpr_cache

# ---------------------------------------------------------------- state


@tracer_type
class JaxprTracer(Tracer):
    """A value of a program that is being written: it has a variable, and the eqn that made it."""

    __slots__ = ("atom", "aval", "eqn")
    _trace: JaxprTrace
    aval: AbstractValue

    def __init__(self, trace: JaxprTrace, aval: AbstractValue, atom: Atom, eqn: Any = None):
        self._trace = trace
        self.aval = aval
        self.atom = atom
        self.eqn = eqn

    def __repr__(self) -> str:
        if self._trace.linear:
            return f"Traced<{self.aval}:JaxprTrace>"
        return f"JitTracer({self.aval})"

    def origin(self) -> str:
        if self.eqn is not None:
            place = source.describe(self.eqn.source)
            return f"on line {place} by `{self.eqn.primitive}`"
        trace = self._trace
        if isinstance(trace, JaxprTrace) and trace.debug_info and self.atom in trace.invars:
            return f"as {trace.name_of_input(self.atom)} of {trace.describe()}"
        return ""


class JaxprTrace(Trace):
    """A jaxpr that is being written.

    Args:
      parent: the trace under which it is written.
      debug_info: names for error messages.
      linear: whether it is the linear program of a derivative, and its values are tangents.
    """

    __slots__ = ("consts", "constvars", "debug_info", "eqns", "invars", "linear")

    def __init__(self, parent: Trace, debug_info: DebugInfo | None = None, linear: bool = False):
        super().__init__(parent)
        self.linear = linear
        self.eqns: list[JaxprEqn] = []
        self.invars: list[Var] = []
        # The constants by the ids of their objects, which `consts` keeps alive.
        self.constvars: dict[int, Var] = {}
        self.consts: list[Any] = []
        self.debug_info = debug_info

    def new_input(self, aval: AbstractValue) -> Any:
        var = Var(aval)
        self.invars.append(var)
        tracer = JaxprTracer(self, aval, var)
        return tracer if type(aval) is not AbstractRef else Ref(aval, self, tracer)

    def process(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        if primitive.stage is not None:
            return primitive.stage(self, args, params)
        invars: list[Atom] = []
        avals: list[AbstractValue] = []
        for arg in args:
            if type(arg) is JaxprTracer and arg._trace is self:
                invars.append(arg.atom)
                avals.append(arg.aval)
            else:
                atom = self.constant(arg)
                invars.append(atom)
                avals.append(atom.aval)
        out_aval, effects = primitive.typecheck(tuple(avals), params)
        if primitive.fold is not None and type(invars[0]) is Literal:
            value = primitive.fold(invars[0].val, **params)
            if value is not None:
                return JaxprTracer(self, out_aval, Literal(value, out_aval))
        place = context.place or source.current_place(2)
        stack = context.name_stack
        if primitive.multiple_results:
            outvars = [Var(aval) for aval in out_aval]
            eqn = JaxprEqn(invars, outvars, primitive, params, effects, place, stack)
            self.eqns.append(eqn)
            return [JaxprTracer(self, var.aval, var, eqn) for var in outvars]
        var = Var(out_aval)
        eqn = JaxprEqn(invars, [var], primitive, params, effects, place, stack)
        self.eqns.append(eqn)
        return JaxprTracer(self, out_aval, var, eqn)

    def write_out(self, closed: ClosedJaxpr, args: Sequence[Any]) -> list[Any]:
        """Write the eqns of another program, as if the user had written them in this place.

        Args:
          closed: the program.
          args: values or tracers of the types of its inputs.

        Returns:
          Its outputs.
        """
        jaxpr = closed.jaxpr
        atoms: dict[Any, Atom] = {}
        given = [*closed.consts, *args]
        for var, arg in zip([*jaxpr.constvars, *jaxpr.invars], given):
            mine = type(arg) is JaxprTracer and arg._trace is self
            atoms[var] = arg.atom if mine else self.constant(arg)
        place = context.place or source.current_place(2)
        stack = context.name_stack
        made_by: dict[Any, JaxprEqn] = {}
        for old in jaxpr.eqns:
            primitive = old.primitive
            invars: list[Atom] = []
            for atom in old.invars:
                invars.append(atom if type(atom) is Literal else atoms[atom])
            if primitive.fold is not None and type(invars[0]) is Literal:
                value = primitive.fold(invars[0].val, **old.params)
                if value is not None:
                    (var,) = old.outvars
                    atoms[var] = Literal(value, var.aval)
                    continue
            outvars: list[Var] = []
            scopes = stack + old.name_stack
            eqn = JaxprEqn(invars, outvars, primitive, old.params, old.effects, place, scopes)
            self.eqns.append(eqn)
            for var in old.outvars:
                atoms[var] = new = Var(var.aval)
                outvars.append(new)
                made_by[var] = eqn
        return [
            JaxprTracer(self, a.aval, a)
            if type(a) is Literal
            else JaxprTracer(self, a.aval, atoms[a], made_by.get(a))
            for a in jaxpr.outvars
        ]

    def lift(self, x: Any) -> Any:
        atom = self.constant(x)
        return JaxprTracer(self, atom.aval, atom)

    def constant(self, x: Any) -> Atom:
        """A value from outside the program as an atom of it."""
        var = self.constvars.get(id(x))
        if var is not None:
            return var
        if type(x) is Dim:
            return self.atom(x.__jax_array__())
        aval = aval_of(x)
        if isinstance(x, Tracer):
            if not x._trace.alive:
                raise UnexpectedTracerError(escaped_tracer(x, self.describe()))
        elif type(aval) is ShapedArray and aval.shape == () and isinstance(aval.dtype, np.dtype):
            # An array is not fetched from its device for the sake of a literal.
            if not isinstance(x, Array):
                return Literal(x, aval)
        var = self.constvars[id(x)] = Var(aval)
        self.consts.append(x)
        return var

    def atom(self, x: Any) -> Atom:
        """A value that the traced function returned as an atom of the program."""
        if type(x) is JaxprTracer and x._trace is self:
            return x.atom
        if not is_valid_type(x):
            raise TypeError(result_not_an_array(self.describe(), "", x))
        if type(x) is Ref:
            raise self._returned(x)
        return self.constant(x)

    def _returned(self, ref: Ref) -> ValueError:
        """The error that the traced function returned a reference."""
        origin = ""
        if ref._trace is self:
            tracer = ref._value
            if tracer.eqn is not None:
                origin = f"was created on line {source.describe(tracer.eqn.source)}"
            elif self.debug_info:
                origin = f"was passed in as {self.name_of_input(tracer.atom)}"
        info = self.debug_info
        traced = (info.traced_for, info.func_src_info) if info else ("tracing", "")
        return ValueError(ref_returned(*traced, ref.aval, origin))

    def to_jaxpr(self, outs: Sequence[Any]) -> tuple[Jaxpr, list[Any]]:
        """The program whose outputs are `outs`, and the values of its constants."""
        outvars = [self.atom(x) for x in outs]
        constvars = list(self.constvars.values())
        jaxpr = Jaxpr(constvars, self.invars, outvars, self.eqns, debug_info=self.debug_info)
        return jaxpr, self.consts

    def describe(self) -> str:
        """The traced function in words, for error messages."""
        info = self.debug_info
        if info is None:
            return "tracing"
        return f"{info.traced_for} of the function {info.func_src_info}"

    def name_of_input(self, var: Var) -> str:
        index = self.invars.index(var)
        names = self.debug_info.arg_names if self.debug_info else None
        if names is not None and index < len(names):
            return f"the argument {names[index]}"
        return f"argument number {index}"


class VaryingTrace(JaxprTrace):
    """A jaxpr that is being written within `shard_map`, whose types tell which values vary.

    Where an op has operands of which some vary along an axis of the mesh and others do not, those
    are cast: a `pvary` for each stands in the jaxpr.
    """

    __slots__ = ()

    def process(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        if primitive.stage is None:
            vmas = [aval_of(x).vma for x in args]
            if primitive is pvary_p:  # maybe in a program that was written for what varies less
                axes = in_order(frozenset(params["axes"]) - vmas[0])
                return super().process(pvary_p, args, dict(axes=axes)) if axes else args[0]
            retype = primitive.retype or partial(vary_alike, primitive.name)
            params, wanted = retype(params, vmas)
            args = [self._cast(x, to - vma) for x, vma, to in zip(args, vmas, wanted)]
        return super().process(primitive, args, params)

    def _cast(self, x: Any, axes: frozenset[Any]) -> Any:
        """A value that varies along more axes; constants, which nobody differentiates, stay."""
        if not axes or not isinstance(x, Tracer):
            return x
        params = dict(axes=in_order(axes))
        mine = x._trace is self
        if isinstance(x, JaxprTracer) and mine and type(x.atom) is Literal:
            return x
        if self.linear and not mine:  # which has no eqns but those of tangents
            assert self.parent is not None
            return self.parent.process(pvary_p, (x,), params)
        return JaxprTrace.process(self, pvary_p, (x,), params)


def writing_trace(
    parent: Trace, debug_info: DebugInfo | None = None, linear: bool = False
) -> JaxprTrace:
    """A trace that writes a jaxpr, with the types that the place calls for."""
    if context.axis_env and any(axis.checked for axis in manual_axes()):
        return VaryingTrace(parent, debug_info, linear)
    return JaxprTrace(parent, debug_info, linear)


# ---------------------------------------------------------------- entry


@leaves_no_tracers
def stage(
    fun: Callable[..., Sequence[Any]],
    in_avals: Sequence[AbstractValue],
    debug_info: DebugInfo | None = None,
) -> tuple[Jaxpr, list[Any]]:
    """Trace a function of flat arguments to a jaxpr.

    Args:
      fun: takes as many arrays as there are `in_avals` and returns a sequence of arrays.
      in_avals: the types of the arguments.
      debug_info: names for error messages.

    Returns:
      The jaxpr, and the values of its `constvars`, which may be tracers of outer traces.
    """
    return write_down(fun, in_avals, debug_info)


def write_down(
    fun: Callable[..., Sequence[Any]],
    in_avals: Sequence[AbstractValue],
    debug_info: DebugInfo | None = None,
) -> tuple[Jaxpr, list[Any]]:
    """`stage` within a transformation that looks for leaks itself: nests take a frame less."""
    outer, name_stack, place = context.trace, context.name_stack, context.place
    trace = writing_trace(outer, debug_info)
    # Names are put in front of the names within; attributes of scopes are not.
    context.name_stack, context.place = attribute_scopes(name_stack) if name_stack else (), None
    try:
        context.trace = EagerTrace(trace) if context.eager else trace
        outs = fun(*[trace.new_input(aval) for aval in in_avals])
        for i, x in enumerate(outs):
            if type(x) is not JaxprTracer and not is_valid_type(x):
                path = _component(getattr(fun, "out_tree", None), i)
                raise TypeError(result_not_an_array(trace.describe(), path, x))
        jaxpr, consts = trace.to_jaxpr(outs)
    finally:
        context.trace, context.name_stack, context.place = outer, name_stack, place
        trace.alive = False
    if config.enable_checks.value:
        check_jaxpr(jaxpr)
    return jaxpr, consts


def _component(out_tree: Any, index: int) -> str:
    """Where in a result, of which `out_tree` is the structure, the leaf with this index stands."""
    if out_tree is None:
        return ""
    return tree.key_path_of_leaves(tree.unflatten(out_tree, range(out_tree.num_leaves)))[index]


def stage_closed(
    fun: Callable[..., Sequence[Any]],
    in_avals: Sequence[AbstractValue],
    debug_info: DebugInfo | None = None,
) -> ClosedJaxpr:
    """`stage` for functions that close over no tracers: the jaxpr with its constants."""
    jaxpr, consts = stage(fun, in_avals, debug_info)
    return ClosedJaxpr(jaxpr, consts)


@jaxpr_cache
def vary_jaxpr(
    jaxpr: ClosedJaxpr,
    vmas: tuple[frozenset[Any], ...],
    out_vmas: tuple[frozenset[Any], ...] | None = None,
) -> ClosedJaxpr:
    """The same program for inputs that vary, within `shard_map`, along other axes.

    Args:
      jaxpr: the program.
      vmas: along which axes each input varies.
      out_vmas: axes along which each output has to vary at least.
    """
    given = tuple([aval.vma for aval in jaxpr.in_avals])
    enough = out_vmas is None or all(to <= aval.vma for aval, to in zip(jaxpr.out_avals, out_vmas))
    if given == vmas and enough:
        return jaxpr

    def retyped(*args: Any) -> list[Any]:
        outs = jaxpr_as_fun(jaxpr)(*args)
        return outs if out_vmas is None else list(map(vary, outs, out_vmas))

    avals = list(map(with_vma, jaxpr.in_avals, vmas))
    return ClosedJaxpr(*write_down(retyped, avals, jaxpr.jaxpr.debug_info))


Vmas = Sequence[frozenset[Any]]


def vary_alike(name: str, params: dict[str, Any], vmas: Vmas) -> tuple[dict[str, Any], Vmas]:
    """What `Primitive.retype` gives for an op of which no more is known: operands vary alike.

    The jaxprs among the parameters are then programs of values that vary alike, and need no casts.
    """
    vma = frozenset().union(*vmas)
    if vma and any(jaxpr.effects for jaxpr in jaxprs_in_params(params)):
        params = {key: _varied(value, vma) for key, value in params.items()}
        if axes := set(reduced_within(params)):
            raise NotImplementedError(axis_errors.variation_within(name, in_order(axes)))
    return params, [vma] * len(vmas)


def reduced_within(params: dict[str, Any]) -> Iterator[Any]:
    """The named axes over which there are collectives in the jaxprs in parameters.

    Casts are none: where all inputs vary, they are of values that depend on no input.
    """
    for jaxpr in jaxprs_in_params(params):
        for eqn in jaxpr.eqns:
            names = [e.name for e in eqn.effects if type(e) is NamedAxisEffect]
            if names and eqn.primitive is not pvary_p:
                within = [*jaxprs_in_params(eqn.params)]
                yield from reduced_within(eqn.params) if within else names


def _varied(value: Any, vma: frozenset[Any]) -> Any:
    """A parameter with all inputs of its jaxprs varying along the same axes."""
    if type(value) is ClosedJaxpr:
        return vary_jaxpr(value, (vma,) * len(value.in_avals))
    if not isinstance(value, tuple):
        return value
    parts = [_varied(part, vma) for part in value]
    return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
