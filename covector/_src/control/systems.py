"""Systems of equations whose solvers users hand over: what `custom_linear_solve` and `custom_root`
share.

The unknown x, what is to be equal to it or to zero, and all tangents and cotangents are trees of
one structure, with leaves of the same shapes: elements of one space.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..base import solve_errors as errors
from ..base import tree
from ..core.avals import AbstractValue, aval_of
from ..core.axis import Axis
from ..core.fusion import APPLYING
from ..core.jaxpr import ClosedJaxpr, Var, eval_jaxpr
from ..core.primitive import BuiltinPrimitive
from ..ops.linear import instantiate
from ..transforms.cache import jaxpr_cache
from ..transforms.flatten import FlatFunction
from ..transforms.linearize import linear_program
from ..transforms.transpose import transpose_linear
from ..transforms.vmap import vmap_jaxpr
from .bodies import Body, stage_body
from .carries import Flags, carry_fixpoint


class Space(NamedTuple):
    """The space in which a system stands.

    Attributes:
      where: the public function that it was given to, for errors.
      name: what errors call a known element of it.
      treedef, avals: the structure and the types of its elements.
    """

    where: str
    name: str
    treedef: Any
    avals: list[AbstractValue]

    @classmethod
    def of(cls, where: str, name: str, element: Any) -> tuple[Space, list[Any]]:
        """The space of a tree, and the leaves of that."""
        leaves, treedef = tree.flatten(element)
        return cls(where, name, treedef, list(map(aval_of, leaves))), leaves

    def stage(
        self, fun: Callable[..., Any], name: str, has_aux: bool = False, arguments: int = 1
    ) -> Body:
        """Stage a function of elements that returns one; with `has_aux`, and something else.

        Raises:
          TypeError: it returns another tree.
          ValueError: it returns arrays of other shapes, or no pair in spite of `has_aux`.
        """
        in_tree = tree.treedef_tuple([self.treedef] * arguments)
        body = stage_body(self.where, fun, in_tree, self.avals * arguments)
        out_tree = body.out_tree
        if has_aux:
            parts = out_tree.children()
            if len(parts) != 2:
                raise ValueError(errors.no_aux(name, out_tree))
            out_tree = parts[0]
        if out_tree != self.treedef:
            raise TypeError(errors.structure_differs(name, self.name, out_tree, self.treedef))
        wanted, found = ([aval.shape for aval in avals] for avals in (self.avals, body.out_avals))
        if found[: len(wanted)] != wanted:
            raise ValueError(errors.shapes_differ(name, self.name, found[: len(wanted)], wanted))
        return body

    def flat(self, fun: Callable[[Any], Any]) -> FlatFunction:
        """A function of an element as one of its leaves."""
        element = tree.unflatten(self.treedef, self.avals)
        return FlatFunction(fun, tree.structure(((element,), {})))

    def transposed(self, fun: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """The transpose of a linear function from the space to itself."""
        linear = linear_program(self.flat(fun), self.avals)

        def pull_back(ct: Any) -> Any:
            cts = transpose_linear(linear, tree.leaves(ct))
            return tree.unflatten(self.treedef, list(map(instantiate, cts)))

        return pull_back


class System(BuiltinPrimitive):
    """Applies the jaxpr of `solve`, and is differentiated by the jaxprs of the other functions.

    The operands are the constants of each of the jaxprs, as many as `const_lengths` says, and then
    what the equation is solved for, or from.  The results are the solution, and whatever else the
    solver returns.  Both parameters are named tuples, with something of each function.
    """

    multiple_results = True
    fusion = APPLYING

    def expanded(self, avals, params):
        return solver_of(avals, **params)

    def effectful_abstract_eval(self, *avals, const_lengths, jaxprs):
        return list(jaxprs.solve.out_avals), jaxprs.solve.effects

    def evaluate(self, backend, args, params):
        return self.ref(*args, **params)

    def ref(self, *args, const_lengths, jaxprs):
        consts, rest = operands_of(args, const_lengths)
        return eval_jaxpr(jaxprs.solve.jaxpr, jaxprs.solve.consts, *consts.solve, *rest)

    def emit(self, b, *operands, **params):
        return b.inline(solver_of(b.avals_in, **params), operands)


def operands_of(values: Sequence[Any], const_lengths: Any) -> tuple[Any, list[Any]]:
    """What belongs to the constants of each function, and what belongs to the rest."""
    parts, start = [], 0
    for count in const_lengths:
        parts.append(list(values[start : start + count]))
        start += count
    return type(const_lengths)(*parts), list(values[start:])


def solver_of(avals: Sequence[AbstractValue], jaxprs: Any, const_lengths: Any) -> ClosedJaxpr:
    """The jaxpr of `solve` as one of all operands of a `System`, which are of these types."""
    reads = [
        name == "solve"
        for name, count in zip(const_lengths._fields, const_lengths)
        for _ in range(count)
    ]
    reads += [True] * (len(avals) - len(reads))
    return _with_more_inputs(jaxprs.solve, tuple(avals), tuple(reads))


@jaxpr_cache
def _with_more_inputs(
    jaxpr: ClosedJaxpr, avals: tuple[AbstractValue, ...], reads: tuple[bool, ...]
) -> ClosedJaxpr:
    own = iter(jaxpr.invars)
    invars = [next(own) if read else Var(aval) for aval, read in zip(avals, reads)]
    return jaxpr.replace(jaxpr=jaxpr.jaxpr.replace(invars=invars))


class Batched(NamedTuple):
    """Functions of a system under `vmap`.

    Attributes:
      jaxprs: the functions of batches, None where there is no function.
      outputs: for each function, for each of its outputs whether it is a batch.
      flags: for each leaf of the system's elements whether it is a batch in all functions.
    """

    jaxprs: list[ClosedJaxpr | None]
    outputs: list[Flags]
    flags: Flags


def vmap_system(
    axis: Axis,
    jaxprs: Sequence[ClosedJaxpr | None],
    consts: Sequence[Sequence[bool]],
    flags: Flags,
    arguments: Sequence[int],
) -> Batched:
    """Vectorize the functions of a system.

    What one function returns another is applied to, so that a leaf that is a batch in one of their
    arguments or results is one in all.

    Args:
      axis: size and name of the batch axis.
      jaxprs: the functions; each takes its constants, then some elements of the space, and returns
        an element, and maybe other values.
      consts: for each function, for each constant whether it is a batch.
      flags: for each leaf of what is known of the system whether it is a batch.
      arguments: how many elements of the space each function takes.
    """

    def rule(flags: Flags) -> tuple[Any, Flags]:
        mapped, outputs, seen = [], [], list(flags)
        for jaxpr, of_consts, count in zip(jaxprs, consts, arguments):
            if jaxpr is None:
                mapped.append(None)
                outputs.append(())
                continue
            wanted = (*flags, *[False] * (len(jaxpr.out_avals) - len(flags)))
            batched, is_batch = vmap_jaxpr(jaxpr, axis, (*of_consts, *flags * count), wanted)
            mapped.append(batched)
            outputs.append(is_batch)
            seen = [a or b for a, b in zip(seen, is_batch)]
        return (mapped, outputs), tuple(seen)

    (mapped, outputs), flags = carry_fixpoint(rule, flags)
    return Batched(mapped, outputs, flags)
