"""The language: jaxprs, small typed programs in which every intermediate has a name.

    jaxpr ::= { lambda constvars ; invars . let eqns in outs }
    eqn   ::= outvars = primitive[params] atoms
    atom  ::= var | literal

A jaxpr is closed over its `constvars`; a `ClosedJaxpr` is a jaxpr with the values of those.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from types import CodeType
from typing import Any, NamedTuple

from ..base import source
from .atoms import Atom as Atom
from .atoms import DropVar as DropVar
from .atoms import Literal, Var
from .avals import AbstractValue
from .effects import Effects, no_effects
from .primitive import Primitive
from .scopes import NameStack, attributes_within
from .show import Program, jaxprs_in_params, show_eqn
from .trace import context


class JaxprEqnContext(tuple):
    """What surrounded an eqn when it was traced: the names of its scopes, outermost first."""

    __slots__ = ()

    @property
    def manager(self) -> AbstractContextManager[None]:
        """Restores the settings under which the eqn was traced; there are none to restore."""
        return nullcontext()

    @property
    def xla_metadata(self) -> dict[str, str] | None:
        """The attributes for the compiler that the eqn carries; None if there are none."""
        return attributes_within(self) or None


class SourceInfo(NamedTuple):
    """Where an eqn came from: a place in the user's program, and the scopes it was in there.

    Its first two fields are a place as `base.source` keeps it.
    """

    code: CodeType | None
    offset: int
    name_stack: NameStack

    @property
    def traceback(self) -> source.Place | None:
        """The place alone, or None if it is unknown."""
        return None if self.code is None else (self.code, self.offset)


class JaxprEqn:
    """One application of a primitive.

    Args:
      invars: the operands.
      outvars: the variables that are bound to the results.
      primitive: what is applied.
      params: its parameters.
      effects: what it does besides computing results.
      source: the place in the user's program as `base.source` keeps it: cheap to take, and turned
        into text only when somebody asks (`source_line`). A `SourceInfo` is one, too.
      name_stack: the names of the scopes it was traced in. A `JaxprEqnContext` is one, too.
    """

    __slots__ = ("effects", "invars", "name_stack", "outvars", "params", "primitive", "source")

    def __init__(
        self,
        invars: list[Atom],
        outvars: list[Var],
        primitive: Primitive,
        params: dict[str, Any],
        effects: Effects = no_effects,
        source: Any = None,
        name_stack: tuple[str, ...] = (),
    ):
        self.invars = invars
        self.outvars = outvars
        self.primitive = primitive
        self.params = params
        self.effects = effects
        self.source = source
        self.name_stack = name_stack

    def replace(self, **changes: Any) -> JaxprEqn:
        """The same eqn but for the given fields, where `None` leaves a field as it is.

        The place and the scopes may also be given as `source_info` and `ctx`.
        """
        fields = {name: getattr(self, name) for name in JaxprEqn.__slots__}
        for name, value in changes.items():
            if value is not None:
                fields[{"source_info": "source", "ctx": "name_stack"}.get(name, name)] = value
        return JaxprEqn(**fields)

    @property
    def source_line(self) -> str:
        """`file:line:column (function)` of the user's call that made it; empty if unknown."""
        return source.describe(self.source)

    @property
    def source_info(self) -> SourceInfo:
        code, offset = (None, 0) if self.source is None else self.source[:2]
        return SourceInfo(code, offset, NameStack(self.name_stack))

    @property
    def ctx(self) -> JaxprEqnContext:
        return JaxprEqnContext(self.name_stack)

    def __repr__(self) -> str:
        return show_eqn(self)


def new_jaxpr_eqn(
    invars: Sequence[Atom],
    outvars: Sequence[Var],
    primitive: Primitive,
    params: dict[str, Any],
    effects: Effects,
    source_info: SourceInfo | None = None,
    ctx: JaxprEqnContext | None = None,
) -> JaxprEqn:
    """An eqn that comes from the caller's line and scopes, unless others are given."""
    place = source.current_place(2) if source_info is None else source_info
    stack = context.name_stack if ctx is None else ctx
    return JaxprEqn(
        list(invars), list(outvars), primitive, params, frozenset(effects), place, stack
    )


class Jaxpr(Program):
    """A typed program: constants and inputs, eqns in order, outputs.

    Args:
      constvars: variables of the constants that the program is closed over.
      invars: variables of the inputs.
      outvars: the outputs, variables or literals.
      eqns: each uses only variables that stand before it.
      effects: the union of the eqns' effects; computed if not given.
      debug_info: what is known of the traced function.
    """

    __slots__ = ("__weakref__", "constvars", "debug_info", "effects", "eqns", "invars", "outvars")

    def __init__(
        self,
        constvars: Sequence[Var],
        invars: Sequence[Var],
        outvars: Sequence[Atom],
        eqns: Sequence[JaxprEqn],
        effects: Effects | None = None,
        debug_info: DebugInfo | None = None,
    ):
        self.constvars = list(constvars)
        self.invars = list(invars)
        self.outvars = list(outvars)
        self.eqns = list(eqns)
        self.effects = union_of_effects(eqns) if effects is None else effects
        self.debug_info = debug_info

    @property
    def jaxpr(self) -> Jaxpr:
        return self

    @property
    def in_avals(self) -> list[AbstractValue]:
        return [v.aval for v in self.invars]

    @property
    def out_avals(self) -> list[AbstractValue]:
        return [v.aval for v in self.outvars]

    def replace(self, **changes: Any) -> Jaxpr:
        """The same jaxpr but for the given fields."""
        fields = {
            name: getattr(self, name)
            for name in ("constvars", "invars", "outvars", "eqns", "effects", "debug_info")
        }
        return Jaxpr(**(fields | changes))


class ClosedJaxpr(Program):
    """A jaxpr together with the values of its constants."""

    __slots__ = ("__weakref__", "_as_fun", "consts", "derived", "jaxpr")

    def __init__(self, jaxpr: Jaxpr, consts: Sequence[Any] = ()):
        self.jaxpr = jaxpr
        self.consts = list(consts)
        self._as_fun: Callable[..., list] | None = None
        # What transformations made of it: see `transforms.cache`.
        self.derived: tuple[Any, dict[Any, Any]] | None = None

    constvars = property(lambda self: self.jaxpr.constvars)
    invars = property(lambda self: self.jaxpr.invars)
    outvars = property(lambda self: self.jaxpr.outvars)
    eqns = property(lambda self: self.jaxpr.eqns)
    effects = property(lambda self: self.jaxpr.effects)
    debug_info = property(lambda self: self.jaxpr.debug_info)
    literals = property(lambda self: self.consts, doc="The constants under their older name.")

    @property
    def in_avals(self) -> list[AbstractValue]:
        return [v.aval for v in self.jaxpr.invars]

    @property
    def out_avals(self) -> list[AbstractValue]:
        return [v.aval for v in self.jaxpr.outvars]

    def map_jaxpr(self, fun: Callable[[Jaxpr], Jaxpr]) -> ClosedJaxpr:
        """The closed jaxpr of `fun(jaxpr)`, with the same constants."""
        return ClosedJaxpr(fun(self.jaxpr), self.consts)

    def replace(
        self, *, jaxpr: Jaxpr | None = None, consts: Sequence[Any] | None = None
    ) -> ClosedJaxpr:
        """The same closed jaxpr but for the fields that are given."""
        return ClosedJaxpr(
            self.jaxpr if jaxpr is None else jaxpr, self.consts if consts is None else consts
        )


class DebugInfo:
    """What is known of a traced function: for names in error messages and in printed jaxprs.

    Args:
      traced_for: the transformation that traced it, e.g. `"jit"`.
      func_src_info: the function's name and place, `"f at file:line"`, or its name alone.
      arg_names: for each flat argument, how the user would write it (`"x"`, `"params['w']"`).
      result_paths: for each flat result, its path in the returned tree (`"result[0]"`), or a
        function that tells them, which is called when somebody asks.
    """

    __slots__ = ("_result_paths", "arg_names", "func_src_info", "traced_for")

    def __init__(
        self,
        traced_for: str,
        func_src_info: str,
        arg_names: tuple[str, ...] | None = None,
        result_paths: tuple[str, ...] | Callable[[], tuple[str, ...]] | None = None,
    ):
        self.traced_for = traced_for
        self.func_src_info = func_src_info
        self.arg_names = arg_names
        self._result_paths = result_paths

    @property
    def result_paths(self) -> tuple[str, ...] | None:
        if callable(self._result_paths):
            self._result_paths = self._result_paths()
        return self._result_paths

    @property
    def func_name(self) -> str:
        return self.func_src_info.split(" at ")[0]

    @property
    def func_filename(self) -> str | None:
        return self._place[0]

    @property
    def func_lineno(self) -> int | None:
        return self._place[1]

    @property
    def _place(self) -> tuple[str | None, int | None]:
        _, at, place = self.func_src_info.partition(" at ")
        filename, _, line = place.rpartition(":")
        return (filename, int(line)) if at and line.isdigit() else (None, None)

    def _replace(self, **changes: Any) -> DebugInfo:
        """The same but for the given fields."""
        fields = {
            "traced_for": self.traced_for,
            "func_src_info": self.func_src_info,
            "arg_names": self.arg_names,
            "result_paths": self._result_paths,
        }
        return DebugInfo(**(fields | changes))

    def __repr__(self) -> str:
        return (
            f"DebugInfo(traced_for={self.traced_for!r}, func_src_info={self.func_src_info!r}, "
            f"arg_names={self.arg_names!r}, result_paths={self.result_paths!r})"
        )


def union_of_effects(eqns: Sequence[JaxprEqn]) -> Effects:
    """The effects of a sequence of eqns."""
    effects = no_effects
    for eqn in eqns:
        if eqn.effects:
            effects = effects | eqn.effects
    return effects


def subjaxprs(jaxpr: Jaxpr) -> Iterator[Jaxpr]:
    """The jaxprs in the parameters of the eqns of a jaxpr; not those nested in them in turn."""
    for eqn in jaxpr.eqns:
        yield from jaxprs_in_params(eqn.params)


# ---------------------------------------------------------------- evaluation


def eval_jaxpr(jaxpr: Jaxpr, consts: Sequence[Any], *args: Any) -> list[Any]:
    """Interpret a jaxpr under the current trace.

    Args:
      jaxpr: the program.
      consts: values of its `constvars`.
      *args: values (or tracers) of its `invars`.

    Returns:
      The list of its outputs.
    """
    if len(args) != len(jaxpr.invars) or len(consts) != len(jaxpr.constvars):
        raise TypeError(
            f"[eval_jaxpr] the jaxpr takes {len(jaxpr.constvars)} constants and "
            f"{len(jaxpr.invars)} arguments, but {len(consts)} and {len(args)} were given"
        )
    env: dict[Var, Any] = dict(zip(jaxpr.constvars, consts))
    env.update(zip(jaxpr.invars, args))
    last_use = last_uses(jaxpr)
    outer_scope, outer_place = context.name_stack, context.place
    try:
        for i, eqn in enumerate(jaxpr.eqns):
            operands = [a.val if type(a) is Literal else env[a] for a in eqn.invars]
            context.name_stack, context.place = outer_scope + eqn.name_stack, eqn.source
            out = context.trace.process(eqn.primitive, operands, eqn.params)
            if eqn.primitive.multiple_results:
                env.update(zip(eqn.outvars, out))
            else:
                env[eqn.outvars[0]] = out
            for var in last_use.get(i, ()):
                del env[var]
    finally:
        context.name_stack, context.place = outer_scope, outer_place
    return [a.val if type(a) is Literal else env[a] for a in jaxpr.outvars]


def last_uses(jaxpr: Jaxpr) -> dict[int, list[Var]]:
    """For each eqn by its index, the variables that nothing reads after it."""
    seen = {a for a in jaxpr.outvars if type(a) is not Literal}
    uses: dict[int, list[Var]] = {}
    for i in range(len(jaxpr.eqns) - 1, -1, -1):
        eqn = jaxpr.eqns[i]
        dying = [a for a in (*eqn.invars, *eqn.outvars) if type(a) is not Literal and a not in seen]
        if dying:
            dying = list(dict.fromkeys(dying))
            uses[i] = dying
            seen.update(dying)
    return uses


def jaxpr_as_fun(closed: ClosedJaxpr) -> Callable[..., list[Any]]:
    """The function of flat arguments that a closed jaxpr computes; the same object every time."""
    if closed._as_fun is None:
        closed._as_fun = partial(eval_jaxpr, closed.jaxpr, closed.consts)
    return closed._as_fun
