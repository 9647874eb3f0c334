"""The operations on mutable references: `new_ref`, `get`, `swap`, `addupdate`, `freeze`.

They are eqns only in a program as its function wrote it.  Before such a program is compiled or
transformed it is *discharged* (`discharge.py`): made a function of what its references hold, and
to what they hold afterwards.  So there are no rules of derivatives or batches here: under those
transformations a reference is a box that holds a tracer, and reading and writing it is done as
the function runs.

Which part is read or written the parameter `index` says; what is known only at run time of it
(indices that are traced) are the last operands.  An index has the methods

    read(x, *operands)          the part of the array x
    write(x, value, *operands)  x with the part replaced
    add(x, value, *operands)    x with the value added to the part
    text(names)                 what it is printed as, given what its operands are printed as
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import ref_errors
from ..base.errors import UnexpectedTracerError
from ..core.avals import aval_of
from ..core.effects import AccumEffect, ReadEffect, WriteEffect, rules_lost
from ..core.pretty import concat
from ..core.primitive import BuiltinPrimitive
from ..core.refs import AbstractRef, Ref
from ..core.trace import EagerTrace, EvalTrace, Trace, Tracer, context, eval_trace
from ..core.zeros import Zero
from ..ops.arithmetic import add
from ..ops.conversion import convert_element_type_p
from ..ops.creation import empty_of_aval
from ..ops.identities import copy_p
from ..transforms.jvp import JVPTracer
from ..transforms.stage import JaxprTrace, write_down
from ..transforms.vmap import BatchTrace, BatchTracer, vmap

# ---------------------------------------------------------------- where a reference lives


def apply(primitive: RefPrimitive, ref: Ref, *args: Any, **params: Any) -> Any:
    """Apply an operation to a reference: to its box at once, or as an eqn of a program."""
    if ref._value is None:
        raise ValueError(ref_errors.freed(ref.aval))
    trace: Trace | None = context.trace
    if not ref.is_handle:
        while trace is not ref._trace and not isinstance(trace, JaxprTrace):
            if trace is None:
                raise UnexpectedTracerError(ref_errors.escaped(ref.aval))
            trace = trace.parent
        if trace is ref._trace:
            return primitive.on_box(ref, *args, **params)
        return primitive.bind(ref, *args, **params)
    while not isinstance(trace, JaxprTrace):
        if trace is None:
            raise UnexpectedTracerError(ref_errors.escaped(ref.aval))
        trace = trace.parent
    return primitive.bind(ref._value if trace is ref._trace else ref, *args, **params)


def held_by(ref: Ref) -> Any:
    """What a box holds, which is its own."""
    if ref._value is None:
        raise ValueError(ref_errors.freed(ref.aval))
    if not ref._trace.alive or isinstance(ref._value, Tracer):
        raise UnexpectedTracerError(ref_errors.escaped(ref.aval))
    return ref._value


def create(primitive: RefPrimitive, *args: Any, **params: Any) -> Ref:
    """Make a reference: a handle within a program that is being written, and else a box."""
    trace = context.trace
    if not isinstance(trace, (JaxprTrace, EvalTrace, EagerTrace)):
        return primitive.on_box(*args, **params)
    ref = primitive.bind(*args, **params)
    return ref if isinstance(ref, Ref) else Ref(ref.aval, ref._trace, ref)


def put(ref: Ref, value: Any) -> None:
    """Let a box hold another value, unless that belongs to a transformation further inside.

    References of a `kind` are not differentiated: they get values without tangents.
    """
    while ref.aval.kind and type(value) is JVPTracer and not _is_known_to(ref._trace, value):
        value = value.primal
    if isinstance(value, Tracer) and not _is_known_to(ref._trace, value):
        refuse(ref.aval, value)
    weak = ref.aval.weak_type
    if aval_of(value).weak_type != weak:
        value = convert_element_type_p.bind(
            value, new_dtype=ref.aval.dtype, weak_type=weak, sharding=None
        )
    ref._value = value


def refuse(aval: AbstractRef, value: Any) -> None:
    """Raise since a value belongs to a transformation that a reference does not take part in."""
    if isinstance(value, BatchTracer):
        raise ValueError(ref_errors.deeper_value("vmapped", "vmapped", aval))
    if isinstance(value, JVPTracer):
        raise ValueError(ref_errors.deeper_value("differentiated", "differentiated", aval))
    raise UnexpectedTracerError(ref_errors.escaped(aval))


def _is_known_to(trace: Trace | None, x: Tracer) -> bool:
    """Whether a tracer belongs to a trace, or to one further out."""
    owner = x._trace
    mapped = owner.axis if isinstance(owner, BatchTrace) else None
    while trace is not None:
        if trace is owner or (type(trace) is BatchTrace and trace.axis is mapped):
            return True
        trace = trace.parent
    return False


# ---------------------------------------------------------------- the index of the whole


class Whole:
    """The index `...`."""

    __slots__ = ()

    def read(self, x: Any) -> Any:
        return x

    def write(self, x: Any, value: Any) -> Any:
        return value

    def add(self, x: Any, value: Any) -> Any:
        return add(x, value)

    def text(self, names: Sequence[str]) -> str:
        return "[...]"


WHOLE = Whole()

# ---------------------------------------------------------------- primitives


class RefPrimitive(BuiltinPrimitive):
    """An operation on a reference, its first operand."""

    takes_refs = True

    def on_box(self, ref: Any, *args: Any, **params: Any) -> Any:
        """Do it to a box."""
        raise NotImplementedError(self.name)

    def evaluate(self, backend, args, params):
        return self.on_box(*args, **params)

    def jvp(self, primals, tangents, **params):
        ref, value = primals[:2]
        aval: Any = aval_of(ref)
        if not aval.kind:
            raise ValueError(ref_errors.deeper_value("differentiated", "differentiated", aval))
        out = apply(self, *primals, **params) if type(ref) is Ref else self.bind(*primals, **params)
        return out, [] if self.multiple_results else Zero(aval_of(value).to_tangent_aval())

    def emit(self, b, *operands, **params):
        raise NotImplementedError(ref_errors.not_in_programs(self.name, b.platform))


class NewRef(RefPrimitive):
    """A new reference to a value."""

    def effectful_abstract_eval(self, aval, *, kind, memory_space):
        return AbstractRef(aval, memory_space, kind), frozenset({WriteEffect()})

    def on_box(self, value, *, kind, memory_space):
        trace = context.trace
        if type(trace) is EagerTrace:
            trace = eval_trace
        ref = Ref(AbstractRef(aval_of(value), memory_space, kind), trace, None)
        put(ref, owned(value))
        return ref


class Get(RefPrimitive):
    """A part of what a reference holds."""

    def effectful_abstract_eval(self, ref, *operands, index):
        return part_type(index, ref, operands), frozenset({ReadEffect()})

    def on_box(self, ref, *operands, index):
        part = index.read(ref._value, *operands)
        return owned(part) if part is ref._value else part

    def vmap(self, axis, dims, ref, *operands, index):
        whole = self.bind(ref, index=WHOLE)
        outs, out_dims = vmap(lambda *i: [index.read(whole, *i)], axis, operands, dims[1:])
        return outs[0], out_dims[0]

    def show(self, printer, eqn):
        return concat(printer.binders(eqn.outvars), " <- ", _place(printer, eqn, 1))


class Swap(RefPrimitive):
    """Replace a part of what a reference holds; the result is what was there before."""

    def effectful_abstract_eval(self, ref, value, *operands, index):
        return part_type(index, ref, operands), frozenset({WriteEffect()})

    def on_box(self, ref, value, *operands, index):
        before = ref._value
        part = index.read(before, *operands)
        after = index.write(before, value, *operands)
        put(ref, owned(after) if after is value else after)
        return part

    def vmap(self, axis, dims, ref, value, *operands, **params):
        raise ValueError(ref_errors.deeper_value("vmapped", "vmapped", aval_of(ref)))

    def show(self, printer, eqn):
        place, value = _place(printer, eqn, 2), printer.atom(eqn.invars[1])
        if printer.atom(eqn.outvars[0]) == "_":
            return concat(place, " <- ", value)
        return concat(printer.binders(eqn.outvars), f", {place} <- {place}, {value}")


class AddUpdate(RefPrimitive):
    """Add to a part of what a reference holds."""

    multiple_results = True

    def effectful_abstract_eval(self, ref, value, *operands, index):
        return [], frozenset({AccumEffect()})

    def on_box(self, ref, value, *operands, index):
        put(ref, index.add(ref._value, value, *operands))
        return []

    def vmap(self, axis, dims, ref, value, *operands, **params):
        raise ValueError(ref_errors.deeper_value("vmapped", "vmapped", aval_of(ref)))

    def show(self, printer, eqn):
        return concat(_place(printer, eqn, 2), " += ", printer.atom(eqn.invars[1]))


class Freeze(RefPrimitive):
    """The last value of a reference, which is not used any more."""

    def effectful_abstract_eval(self, ref):
        return ref.inner_aval, frozenset({ReadEffect()})

    def on_box(self, ref):
        return owned(ref._value)


class Free(RefPrimitive):
    """End the use of a reference."""

    multiple_results = True

    def effectful_abstract_eval(self, ref):
        return [], frozenset({WriteEffect()})

    def on_box(self, ref):
        ref._value = None
        return []


class EmptyRef(RefPrimitive):
    """A new reference to an array of which only the type is known; it holds zeros."""

    def effectful_abstract_eval(self, *, ty):
        return ty, frozenset({WriteEffect()})

    def on_box(self, *, ty):
        value = empty_of_aval(ty.inner_aval)
        return new_ref_p.on_box(value, kind=ty.kind, memory_space=ty.memory_space)


class RulesLost(BuiltinPrimitive):
    """Stands in programs in which a function with rules of its own was written out, since it uses
    references; its operands are those of the function, in which nothing may be differentiated."""

    multiple_results = True
    takes_refs = True

    def effectful_abstract_eval(self, *avals, **params):
        return [], frozenset({rules_lost})

    def evaluate(self, backend, args, params):
        return []

    def jvp(self, primals, tangents, *, where, name):
        raise NotImplementedError(ref_errors.passed_to_rules(where, name))

    def vmap(self, axis, dims, *args, **params):
        return self.bind(*args, **params), []

    def emit(self, b, *operands, **params):
        return []


rules_lost_p = RulesLost("rules_lost")
new_ref_p = NewRef("new_ref")
empty_ref_p = EmptyRef("empty_ref")
get_p = Get("get")
swap_p = Swap("swap")
addupdate_p = AddUpdate("addupdate")
freeze_p = Freeze("freeze")
free_ref_p = Free("free_ref")


# ---------------------------------------------------------------- parts of the rules


def owned(value: Any) -> Any:
    """A value that nobody else holds: programs that are given a reference overwrite its array."""
    if isinstance(value, Tracer):
        return value
    return copy_p.bind(value) if context.trace is eval_trace else value


def part_type(index: Any, ref: AbstractRef, operands: Sequence[Any]) -> Any:
    """The type of a part of what a reference of some type holds."""
    jaxpr, _ = write_down(lambda *args: [index.read(*args)], [ref.inner_aval, *operands])
    return jaxpr.outvars[0].aval


def _place(printer: Any, eqn: Any, first: int) -> str:
    """The reference and the index of an eqn, whose operands begin at the number `first`."""
    names = [printer.atom(atom) for atom in eqn.invars[first:]]
    return f"{printer.atom(eqn.invars[0])}{eqn.params['index'].text(names)}"


def shape_fits(value: Sequence[int], part: Sequence[int]) -> bool:
    """Whether an array of one shape broadcasts to another."""
    try:
        return np.broadcast_shapes(tuple(value), tuple(part)) == tuple(part)
    except ValueError:
        return False
