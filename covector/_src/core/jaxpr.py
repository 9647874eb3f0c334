"""The language: jaxprs, small typed programs in which every intermediate has a name.

    jaxpr ::= { lambda constvars ; invars . let eqns in outs }
    eqn   ::= outvars = primitive[params] atoms
    atom  ::= var | literal

A jaxpr is closed over its `constvars`; a `ClosedJaxpr` is a jaxpr with the values of those.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..base import source
from .avals import AbstractValue, aval_of
from .effects import Effects, no_effects
from .primitive import Primitive
from .trace import context


class Var:
    """A variable: one binding of a value of the type `aval`.  Variables are equal if identical."""

    __slots__ = ("__weakref__", "aval")

    def __init__(self, aval: AbstractValue):
        self.aval = aval

    def __repr__(self) -> str:
        return f"Var(id={id(self)}):{self.aval.str_short()}"


class DropVar(Var):
    """The place of an output that nothing uses; printed `_`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "_"


class Literal:
    """A scalar constant written in place."""

    __slots__ = ("aval", "val")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, val: Any, aval: AbstractValue):
        self.val = val
        self.aval = aval

    def __repr__(self) -> str:
        return f"{self.val}:{self.aval.str_short(short_dtypes=True)}"


Atom = Var | Literal


class EqnContext:
    """What surrounded an eqn when it was traced, beyond its operands: the names of its scopes."""

    __slots__ = ("name_stack",)

    def __init__(self, name_stack: tuple[str, ...]):
        self.name_stack = name_stack


class JaxprEqn:
    """One application of a primitive.

    `source` is the place in the user's program as `base.source` keeps it: cheap to take, and
    turned into text only when somebody asks (`source_line`).
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
        """The same eqn but for the given fields."""
        fields = {name: getattr(self, name) for name in JaxprEqn.__slots__} | changes
        return JaxprEqn(**fields)

    @property
    def source_line(self) -> str:
        """`file:line (function)` of the user's call that made the eqn; empty if unknown."""
        return source.describe(self.source)

    @property
    def ctx(self) -> EqnContext:
        return EqnContext(self.name_stack)


class Jaxpr:
    """A typed program: constants and inputs, eqns in order, outputs.

    Args:
      constvars: variables of the constants that the program is closed over.
      invars: variables of the inputs.
      outvars: the outputs, variables or literals.
      eqns: each uses only variables that stand before it.
      effects: the union of the eqns' effects; computed if not given.
      debug_info: what is known of the traced function (`DebugInfo`), or None.
    """

    __slots__ = ("__weakref__", "constvars", "debug_info", "effects", "eqns", "invars", "outvars")

    def __init__(
        self,
        constvars: Sequence[Var],
        invars: Sequence[Var],
        outvars: Sequence[Atom],
        eqns: Sequence[JaxprEqn],
        effects: Effects | None = None,
        debug_info: Any = None,
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


class ClosedJaxpr:
    """A jaxpr together with the values of its constants."""

    __slots__ = ("__weakref__", "_as_fun", "consts", "jaxpr")

    def __init__(self, jaxpr: Jaxpr, consts: Sequence[Any] = ()):
        self.jaxpr = jaxpr
        self.consts = list(consts)
        self._as_fun: Callable[..., list] | None = None

    @property
    def in_avals(self) -> list[AbstractValue]:
        return [v.aval for v in self.jaxpr.invars]

    @property
    def out_avals(self) -> list[AbstractValue]:
        return [v.aval for v in self.jaxpr.outvars]

    @property
    def literals(self) -> list[Any]:
        return self.consts

    @property
    def eqns(self) -> list[JaxprEqn]:
        return self.jaxpr.eqns

    @property
    def effects(self) -> Effects:
        return self.jaxpr.effects

    def replace(self, **changes: Any) -> ClosedJaxpr:
        """The same closed jaxpr but for the given fields."""
        return ClosedJaxpr(changes.get("jaxpr", self.jaxpr), changes.get("consts", self.consts))


class DebugInfo:
    """What is known of a traced function: for names in error messages.

    Attributes:
      traced_for: the transformation that traced it, e.g. `"jit"`.
      func_name: the function's name.
      func_place: `file:line` of the function.
      arg_names: for each flat argument, how the user would write it (`"x"`, `"params['w']"`).
      result_paths: for each flat result, its path in the returned tree (`"result[0]"`).
    """

    __slots__ = ("arg_names", "func_name", "func_place", "result_paths", "traced_for")

    def __init__(
        self,
        traced_for: str,
        func_name: str,
        func_place: str = "",
        arg_names: tuple[str, ...] | None = None,
        result_paths: tuple[str, ...] | None = None,
    ):
        self.traced_for = traced_for
        self.func_name = func_name
        self.func_place = func_place
        self.arg_names = arg_names
        self.result_paths = result_paths


def union_of_effects(eqns: Sequence[JaxprEqn]) -> Effects:
    """The effects of a sequence of eqns."""
    effects = no_effects
    for eqn in eqns:
        if eqn.effects:
            effects = effects | eqn.effects
    return effects


def literal_or_none(x: Any) -> Literal | None:
    """`x` as a literal, if it is a scalar that may be written in place."""
    aval = aval_of(x)
    return Literal(x, aval) if getattr(aval, "shape", None) == () else None


def subjaxprs(value: Any) -> Iterator[Jaxpr | ClosedJaxpr]:
    """The jaxprs in the value of an eqn's parameter."""
    if isinstance(value, (Jaxpr, ClosedJaxpr)):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from subjaxprs(item)


def jaxprs_in_params(params: dict[str, Any]) -> Iterator[Jaxpr]:
    """The jaxprs in the parameters of an eqn, without their constants."""
    for value in params.values():
        for sub in subjaxprs(value):
            yield sub.jaxpr


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
            uses[i] = dying  # type: ignore[assignment]
            seen.update(dying)
    return uses


def jaxpr_as_fun(closed: ClosedJaxpr) -> Callable[..., list[Any]]:
    """The function of flat arguments that a closed jaxpr computes; the same object every time."""
    if closed._as_fun is None:
        jaxpr, consts = closed.jaxpr, closed.consts
        closed._as_fun = lambda *args: eval_jaxpr(jaxpr, consts, *args)
    return closed._as_fun
