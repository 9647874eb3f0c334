"""The text of jaxprs.

    { lambda a:f32[3]; b:f32[3]. let
        c:f32[3] = mul a b
        d:f32[] = reduce_sum[axes=(0,) out_sharding=None] c
      in (d,) }

Variables are named in the order in which they are met, over all nested jaxprs together.  A jaxpr
that is used more than once, or is nested and long, stands in front under a name of its own:
`let f = { lambda ... } in { lambda ... jit[name=f jaxpr=f] ... }`.
"""

from __future__ import annotations

import itertools
import re
import sys
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..base import config
from .atoms import Atom, DropVar, Literal, Var
from .pretty import (
    KEYWORD,
    TYPE,
    Break,
    Colored,
    Concat,
    Doc,
    Group,
    Nest,
    Noted,
    concat,
    join,
    layout,
)
from .scopes import scope_path

if TYPE_CHECKING:
    from .jaxpr import Jaxpr, JaxprEqn

# A nested jaxpr with more eqns than this stands in front of the program even if it is used once.
LONGEST_INLINE = 10


class Settings(NamedTuple):
    """What is shown: see `Program.pretty_print`."""

    source_info: bool = False
    print_shapes: bool = True
    custom_pp_eqn_rules: bool = True
    name_stack: bool = False
    print_effects: bool = False


class Program:
    """What has the text of a jaxpr: the base of `Jaxpr` and `ClosedJaxpr`."""

    __slots__ = ()
    jaxpr: Jaxpr

    def pretty_print(
        self,
        *,
        source_info: bool = False,
        print_shapes: bool = True,
        custom_pp_eqn_rules: bool = True,
        name_stack: bool = False,
        print_effects: bool = False,
        width: int = 80,
        use_color: bool | None = None,
    ) -> str:
        """The text of the program.

        Args:
          source_info: whether each eqn is followed by the place in the user's code it came from.
          print_shapes: whether variables are followed by their types where they are bound.
          custom_pp_eqn_rules: whether primitives may leave out parameters that go without saying.
          name_stack: whether each eqn is followed by the scopes it was traced in.
          print_effects: whether each jaxpr is followed by its effects.
          width: how many columns a line should not exceed.
          use_color: whether to write colours for a terminal; None means where there is one, and
            the flag `jax_pprint_use_color` is on.

        >>> import covector as cv
        >>> jaxpr = cv.make_jaxpr(lambda x: x * 2)(1.0)
        >>> print(jaxpr.pretty_print(print_shapes=False))
        { lambda ; a. let b = mul a 2.0:f32[] in (b,) }
        """
        settings = Settings(
            source_info, print_shapes, custom_pp_eqn_rules, name_stack, print_effects
        )
        on_terminal = config.pprint_use_color.value and sys.stdout.isatty()
        colored = on_terminal if use_color is None else use_color
        return layout(_whole(self.jaxpr, printer_of(self.jaxpr, settings)), width, colored)

    def __repr__(self) -> str:
        return self.pretty_print()

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Print in IPython."""
        printer.text(self.pretty_print(use_color=True))


def printer_of(jaxpr: Jaxpr, settings: Settings) -> Printer:
    """A printer that knows what is shared and what is unused in a program."""
    printer = Printer(settings)
    printer.names.update(dict.fromkeys(_unused(jaxpr), "_"))
    printer.shared.update({sub: name for name, sub in _shared_jaxprs(jaxpr)})
    return printer


def names_of_variables(jaxpr: Jaxpr) -> Mapping[Var, str]:
    """The names that variables have in the printed program, those of nested jaxprs as well."""
    printer = printer_of(jaxpr, Settings())
    _whole(jaxpr, printer)
    return printer.names


def _whole(jaxpr: Jaxpr, printer: Printer) -> Doc:
    """The document of a program: the jaxprs that are shared in it, then itself."""
    docs = [
        concat(f"let {name} = ", printer.lambda_(sub), " in", Break())
        for sub, name in printer.shared.items()
    ]
    return Concat([*docs, printer.lambda_(jaxpr)])


def _unused(jaxpr: Jaxpr) -> Iterator[Var]:
    """The variables that no later eqn and no output reads."""
    used = {id(atom) for atom in jaxpr.outvars}
    for eqn in reversed(jaxpr.eqns):
        yield from [var for var in eqn.outvars if id(var) not in used]
        used.update(map(id, eqn.invars))


def _shared_jaxprs(whole: Jaxpr) -> list[tuple[str, Jaxpr]]:
    """The nested jaxprs that stand in front of the program, under distinct names."""
    uses: Counter[Jaxpr] = Counter()
    names: dict[Jaxpr, str] = {}
    queue = deque([whole])
    while queue:
        jaxpr = queue.popleft()
        uses[jaxpr] += 1
        if jaxpr is not whole and len(jaxpr.eqns) > LONGEST_INLINE:
            uses[jaxpr] += 1
        for eqn in jaxpr.eqns:
            subs = jaxprs_in_params(eqn.params)
            queue.extend(subs)
            if eqn.params.get("name") is not None:
                for sub in subs:
                    names.setdefault(sub, eqn.params["name"].strip("<>"))
    taken: Counter[str] = Counter()
    shared = []
    for jaxpr, count in uses.items():
        if count == 1:
            continue
        name = base = names.get(jaxpr, "jaxpr")
        if taken[base]:
            name = f"{base}{taken[base]}"
            taken[name] += 1
        taken[base] += 1
        shared.append((name, jaxpr))
    return shared


def jaxprs_in_params(params: dict[str, Any]) -> list[Jaxpr]:
    """The jaxprs among the parameters of an eqn and in tuples among them, without constants."""
    found = []
    for value in params.values():
        values = value if isinstance(value, tuple) else (value,)
        found += [v.jaxpr for v in values if isinstance(v, Program)]
    return found


class Printer:
    """Documents of the parts of a program, and the names that its variables have in all of them."""

    def __init__(self, settings: Settings):
        self.settings = settings
        self.shared: dict[Jaxpr, str] = {}
        self.names: defaultdict[Var, str] = defaultdict(self._fresh_names().__next__)

    def _fresh_names(self) -> Iterator[str]:
        """a, b, ..., z, ba, bb, ... but for the names of shared jaxprs."""
        for number in itertools.count():
            name = _letters(number)
            if name not in self.shared.values():
                yield name

    # ------------------------------------------------------------ atoms

    def atom(self, atom: Atom) -> str:
        """A variable's name, or a literal with its type."""
        if isinstance(atom, DropVar):
            return "_"
        if isinstance(atom, Var):
            return self.names[atom]
        if isinstance(atom, Literal):
            return f"{atom.text}:{atom.aval.str_short(short_dtypes=True)}"
        return repr(atom)  # in a jaxpr that is malformed

    def atoms(self, atoms: Sequence[Atom], separator: str = "") -> Doc:
        """Atoms that are read."""
        return self._listed([self.atom(atom) for atom in atoms], separator)

    def binders(self, variables: Sequence[Var]) -> Doc:
        """Variables where they are bound, with their types."""
        if not self.settings.print_shapes:
            return self.atoms(variables)
        return self._listed(
            [
                concat(self.atom(var), Colored(TYPE, f":{var.aval.str_short(short_dtypes=True)}"))
                for var in variables
            ]
        )

    def _listed(self, docs: Sequence[Doc], separator: str = "") -> Doc:
        return Nest(2, Group(join(concat(separator, Group(Break())), docs)))

    def share_names(self, inner: Sequence[Atom], outer: Sequence[Atom]) -> None:
        """Let variables of a nested jaxpr that have no names take those of the outer ones.

        A name is given away once: the second of two inner variables that stand for the same outer
        one gets a name of its own.
        """
        if len(inner) != len(outer):
            return
        given: set[Var] = set()
        for var, like in zip(inner, outer):
            if not isinstance(var, Var) or not isinstance(like, Var):
                continue
            if var not in self.names and like not in given:
                given.add(like)
                self.names[var] = self.atom(like)

    # ------------------------------------------------------------ jaxprs

    def jaxpr(self, jaxpr: Jaxpr) -> Doc:
        """A nested jaxpr: its name if it stands in front of the program."""
        return self.shared.get(jaxpr) or self.lambda_(jaxpr)

    def lambda_(self, jaxpr: Jaxpr) -> Doc:
        """A jaxpr written out.  The order of the lines is the order in which names are given."""
        constvars = self.binders(jaxpr.constvars)
        invars = self.binders(jaxpr.invars)
        eqns = join(Break("; "), [self.eqn(eqn) for eqn in jaxpr.eqns])
        closing = ",)" if len(jaxpr.outvars) == 1 else ")"
        outvars = concat("(", self.atoms(jaxpr.outvars, ","), closing)
        body = concat(
            concat("{ ", Colored(KEYWORD, "lambda "), constvars, "; ", invars, ". "),
            concat(Colored(KEYWORD, "let"), Nest(2, concat(Break(), eqns)), Break()),
            concat(Colored(KEYWORD, "in "), outvars, self._effects(jaxpr)),
        )
        return Group(concat(Nest(2, body), " }"))

    def _effects(self, jaxpr: Jaxpr) -> str:
        if not self.settings.print_effects:
            return ""
        return f" : {{ {', '.join(map(str, jaxpr.effects))} }}"

    # ------------------------------------------------------------ eqns

    def eqn(self, eqn: JaxprEqn) -> Doc:
        """`outs = primitive[params] operands`."""
        settings, primitive = self.settings, eqn.primitive
        if primitive.show is not None and settings.custom_pp_eqn_rules:
            return primitive.show(self, eqn)
        if not settings.custom_pp_eqn_rules:
            params = dict(sorted(eqn.params.items()))
        else:
            params = primitive.shown_params(eqn.params)
            if primitive.shares_names:
                self._share_names_of_call(eqn)
        outs = self.binders(eqn.outvars)
        equals: Doc = Noted(" = ", eqn.source_line) if settings.source_info else " = "
        name: Doc = primitive.name
        if settings.name_stack:
            name = Noted(primitive.name, f"[{scope_path(eqn.name_stack)}]")
        applied = (name, self._params(params), " ", self.atoms(eqn.invars))
        return concat(outs, equals, *applied) if eqn.outvars else Concat(applied)

    def _share_names_of_call(self, eqn: JaxprEqn) -> None:
        for jaxpr in jaxprs_in_params(eqn.params):
            if jaxpr not in self.shared:
                self.share_names(jaxpr.invars, eqn.invars)
                self.share_names(jaxpr.outvars, eqn.outvars)

    def _params(self, params: dict[str, Any]) -> Doc:
        if not params:
            return ""
        pairs = [concat(f"{name}=", self._value(value)) for name, value in params.items()]
        return _bracketed("[", pairs, "]")

    def _value(self, value: Any) -> Doc:
        """The value of a parameter."""
        if isinstance(value, Program):
            return self.jaxpr(value.jaxpr)
        if type(value) is tuple and all(isinstance(v, Program) for v in value):
            return _bracketed("(", [self.jaxpr(v.jaxpr) for v in value], ")")
        if isinstance(value, frozenset):
            return f"frozenset({{{', '.join(map(repr, sorted(value)))}}})"
        return re.sub(r"(?<= at 0x)[0-9a-fA-F]+", lambda m: "X" * len(m[0]), str(value))


def _bracketed(opening: str, docs: Sequence[Doc], closing: str) -> Doc:
    inside = concat(opening, Break(""), join(Break(), docs))
    return Group(concat(Nest(2, inside), Break(""), closing))


def _letters(number: int) -> str:
    """A number written in base 26 with the digits a to z."""
    name = ""
    while not name or number:
        number, digit = divmod(number, 26)
        name = chr(ord("a") + digit) + name
    return name


def show_eqn(eqn: JaxprEqn) -> str:
    """The text of one eqn, its variables named from a on."""
    return layout(Printer(Settings()).eqn(eqn)).rstrip()
