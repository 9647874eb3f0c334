"""The linear maps that `linearize`, `vjp` and `linear_transpose` return.

Each is a linear program with the values it needs, its residuals.  It is a node of trees whose
leaves are the residuals, so it may be an argument or a result of transformed functions; the program
itself is part of the tree's structure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ..base import transform_errors as errors
from ..base import tree
from ..base.dtypes import float0
from ..core.avals import ShapedArray, aval_of
from ..core.jaxpr import Jaxpr, eval_jaxpr
from ..core.zeros import Zero
from ..transforms.flatten import FlatInArguments
from ..transforms.linearize import LinearMap
from ..transforms.transpose import nonlinear_eqn, transpose_linear
from .accumulation import check_destinations, delivered
from .values import instantiate, operands, zeros


class LinearProgram:
    """What is known of a linear map before its residuals: the static part of the nodes.

    Programs are equal if identical: each belongs to one run of the function.

    Attributes:
      jaxpr: from tangents of the arguments to those tangents of the results that are not zero,
        with the residuals for constants.
      nonzeros: for each result, whether its tangent is among the outputs of `jaxpr`.
      in_tree, out_tree: the structures of the arguments (a tuple) and of the result.
      in_avals, out_avals: the types of arguments and results.
      fun_name: the function, in words.
    """

    __slots__ = ("fun_name", "in_avals", "in_tree", "jaxpr", "nonzeros", "out_avals", "out_tree")

    jaxpr: Jaxpr

    def __init__(
        self, flat: FlatInArguments, linear: LinearMap, in_avals: Sequence[Any],
        out_avals: Sequence[Any],
    ):  # fmt: skip
        self.jaxpr = linear.jaxpr
        self.nonzeros = linear.nonzeros
        self.in_tree, self.out_tree = flat.in_tree, flat.out_tree
        self.in_avals, self.out_avals = in_avals, out_avals
        self.fun_name = errors.function(flat.fun)

    def type_of_function(self) -> str:
        """The types of arguments and results in the trees that hold them."""
        ins = tree.unflatten(self.in_tree, [_Shown(aval) for aval in self.in_avals])
        outs = tree.unflatten(self.out_tree, [_Shown(aval) for aval in self.out_avals])
        return f"{self.fun_name}: {ins} -> {outs}"


class _Shown:
    """An aval as it stands in the description of a tree."""

    __slots__ = ("aval",)

    def __init__(self, aval: ShapedArray):
        self.aval = aval

    def __repr__(self) -> str:
        return self.aval.str_short()


class NotNeeded:
    """In a pullback's `args_res`: an argument whose value the pullback does not need."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "NotNeeded()"


tree.register_pytree_node(NotNeeded, lambda _: ((), None), lambda *_: NotNeeded())


# ---------------------------------------------------------------- forward


class Pushforward:
    """The derivative of a function at a point, from tangents of its arguments to one of its result.

    Made by `linearize`; called with as many tangents as the function has arguments.
    """

    __slots__ = ("__weakref__", "_program", "_residuals")

    def __init__(self, program: LinearProgram, residuals: list[Any]):
        self._program = program
        self._residuals = residuals

    def __call__(self, *tangents: Any) -> Any:
        return _push(self._program.jaxpr, self._program, self._residuals, *tangents)

    @property
    def func(self) -> partial:
        """The map as a function of the residuals and the tangents; its first argument, given
        already, is the jaxpr."""
        return partial(_push, self._program.jaxpr, self._program)

    @property
    def args(self) -> tuple[Any, ...]:
        """What `func` takes before the tangents: the list of residuals."""
        return (self._residuals,)

    def __repr__(self) -> str:
        return f"<derivative of {self._program.type_of_function()}>"


def _push(jaxpr: Jaxpr, program: LinearProgram, residuals: list[Any], *tangents: Any) -> Any:
    """Apply a derivative to tangents in the containers of the arguments."""
    leaves, in_tree = tree.flatten(tangents)
    if in_tree != program.in_tree:
        raise TypeError(errors.tangent_structure("linearize", program.in_tree, in_tree))
    for i, (aval, t) in enumerate(zip(program.in_avals, leaves)):
        want, got = aval.to_tangent_aval(), aval_of(t)
        if (want.shape, want.dtype) != (got.shape, got.dtype):
            name = f"args{_paths(program.in_tree)[i]}"
            raise ValueError(errors.tangent_type("linearize", name, aval, want, got))
    outs = iter(eval_jaxpr(jaxpr, residuals, *operands(leaves)))
    return program.out_tree.unflatten(
        [
            instantiate(next(outs)) if nonzero else zeros(aval.to_tangent_aval())
            for aval, nonzero in zip(program.out_avals, program.nonzeros)
        ]
    )


tree.register_pytree_node(
    Pushforward,
    lambda pushforward: ((pushforward._residuals,), pushforward._program),
    lambda program, children: Pushforward(program, *children),
)


# ---------------------------------------------------------------- backward


class Pullback:
    """The transposed derivative of a function: from a cotangent of its result to a tuple of those
    of its arguments.

    Made by `vjp`; called with one cotangent, in the containers of the function's result.

    Attributes:
      args_res: for each argument of the function, in its containers, the values that are residuals;
        `NotNeeded()` in place of the others. They may be taken out, to free their memory, and must
        be put back before the call.
      opaque_residuals: the other residuals.
    """

    __slots__ = ("__weakref__", "_program", "_sources", "args_res", "opaque_residuals")

    def __init__(
        self, program: LinearProgram, sources: tuple[int | None, ...], args_res: Any,
        opaque_residuals: list[Any],
    ):  # fmt: skip
        self._program = program
        # For each residual the index of the argument leaf that it is, or None.
        self._sources = sources
        self.args_res = args_res
        self.opaque_residuals = opaque_residuals

    def __call__(self, cotangent: Any, *more: Any) -> Any:
        in_cts = self._pull_back(cotangent, more)
        return self._program.in_tree.unflatten([instantiate(ct) for ct in in_cts])

    def with_refs(self, *destinations: Any) -> Callable[..., Any]:
        """The same map, but that cotangents of arguments are added to mutable references.

        Args:
          *destinations: for each argument, in its containers, a `Ref`, to which its cotangent is
            added; `ad.GradValue()`, where it is to be returned; or `ad.DontWant()`.

        Returns:
          A function of the cotangent of the result. In place of cotangents that were added to a
          reference it returns `ad.GradRef()`.

        >>> import covector as cv
        >>> total = cv.new_ref(10.0)
        >>> _, pull = cv.vjp(lambda x: x**2, 3.0)
        >>> pull.with_refs(total)(1.0), total[...]
        ((GradRef(),), Array(16., dtype=float32, weak_type=True))
        """
        in_tree = self._program.in_tree
        leaves = tree.flatten_up_to(in_tree, destinations)
        check_destinations(leaves)

        def pull(cotangent: Any, *more: Any) -> Any:
            return in_tree.unflatten(delivered(leaves, self._pull_back(cotangent, more)))

        return pull

    def _pull_back(self, cotangent: Any, more: Sequence[Any]) -> list[Any]:
        program = self._program
        if more:
            count = 1 + len(more)
            raise TypeError(errors.cotangents_not_one_tree("vjp", program.fun_name, count))
        cts = flat_cotangents("vjp", ValueError, program, cotangent)
        linear = LinearMap(program.jaxpr, self._residuals(), program.out_avals, program.nonzeros)
        return transpose_linear(linear, operands(cts))

    def _residuals(self) -> list[Any]:
        args = tree.flatten_up_to(self._program.in_tree, tuple(self.args_res))
        opaque = iter(self.opaque_residuals)
        return [next(opaque) if i is None else args[i] for i in self._sources]

    def __repr__(self) -> str:
        return f"<transposed derivative of {self._program.type_of_function()}>"


tree.register_pytree_node(
    Pullback,
    lambda pullback: (
        (pullback.args_res, pullback.opaque_residuals),
        (pullback._program, pullback._sources),
    ),
    lambda static, children: Pullback(*static, *children),
)


def pullback_of(
    flat: FlatInArguments, linear: LinearMap, primals: Sequence[Any], outs: Sequence[Any]
) -> Pullback:
    """The pullback of a function that has been linearized at `primals`."""
    program = LinearProgram(flat, linear, [aval_of(x) for x in primals], [aval_of(x) for x in outs])
    index_of = {id(x): i for i, x in enumerate(primals)}
    sources = tuple([index_of.get(id(x)) for x in linear.residuals])
    args_res = [x if i in sources else NotNeeded() for i, x in enumerate(primals)]
    opaque = [x for x, i in zip(linear.residuals, sources) if i is None]
    return Pullback(program, sources, list(flat.in_tree.unflatten(args_res)), opaque)


class Transposed:
    """The transpose of a linear function: from a cotangent of its result to a tuple of those of its
    arguments.

    Made by `linear_transpose`.
    """

    __slots__ = ("__weakref__", "_program", "_residuals")

    def __init__(self, program: LinearProgram, residuals: list[Any]):
        self._program = program
        self._residuals = residuals

    def __call__(self, cotangent: Any) -> Any:
        program = self._program
        cts = flat_cotangents("linear_transpose", TypeError, program, cotangent)
        linear = LinearMap(program.jaxpr, self._residuals, program.out_avals, program.nonzeros)
        try:
            in_cts = transpose_linear(linear, operands(cts))
        except (AssertionError, NotImplementedError, TypeError) as error:
            eqn = nonlinear_eqn(program.jaxpr)
            if eqn is None:
                raise
            text = errors.not_linear(program.fun_name, eqn.primitive, eqn.source_line)
            if isinstance(error, NotImplementedError):
                text = f"{error}\n{text}"
            raise NotImplementedError(text) from error
        return program.in_tree.unflatten([instantiate(ct) for ct in in_cts])

    def __repr__(self) -> str:
        return f"<transpose of {self._program.type_of_function()}>"


tree.register_pytree_node(
    Transposed,
    lambda transposed: ((transposed._residuals,), transposed._program),
    lambda program, children: Transposed(program, *children),
)


# ---------------------------------------------------------------- cotangents


def flat_cotangents(
    where: str, error: type[Exception], program: LinearProgram, cotangent: Any
) -> Sequence[Any]:
    """The leaves of a cotangent of the result, checked against the types of the program."""
    cts, ct_tree = tree.flatten(cotangent)
    if ct_tree != program.out_tree:
        raise error(errors.cotangent_structure(where, program.fun_name, program.out_tree, ct_tree))
    for i, (aval, ct) in enumerate(zip(program.out_avals, cts)):
        if type(ct) is Zero:
            continue
        want = aval if where == "linear_transpose" else aval.to_cotangent_aval()
        got = aval_of(ct)
        # The cotangent of an integer is nothing, and any array of its shape may stand for it.
        nothing = want.dtype == float0 and want.shape == got.shape
        if (want.shape, want.dtype) != (got.shape, got.dtype) and not nothing:
            path = _paths(program.out_tree)[i]
            raise error(errors.cotangent_type(where, program.fun_name, path, aval, want, got))
    return cts


def _paths(treedef: Any) -> list[str]:
    """The key path of each leaf of a structure, as text."""
    return tree.key_path_of_leaves(tree.unflatten(treedef, range(treedef.num_leaves)))
