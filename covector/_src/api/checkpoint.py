"""`checkpoint`: save fewer values for the backward pass, and compute the others again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

from ..base import source, tree
from ..base.tracebacks import boundary
from ..control.bodies import stage_body
from ..control.checkpoint import checkpoint_p
from ..control.checkpoint_budget import Budget, bytes_of
from ..control.discharge import discharge, needs_lost_rules, with_refs
from ..core.avals import AbstractValue
from ..core.jaxpr import Jaxpr, JaxprEqn, Literal
from ..ops.conversion import reduce_precision_p
from ..ops.names import name_p
from ..transforms.flatten import FlatFunction
from ..transforms.linearize import linearize
from ..transforms.signatures import argument_names, debug_info
from ..transforms.stage import stage
from .arguments import ArgumentSpec, check_arrays, join
from .shape_dtype import abstractify
from .wrapping import check_callable, named_after


def checkpoint(
    fun: Callable[..., Any] | None = None,
    *,
    prevent_cse: bool | Sequence[bool] = True,
    policy: Callable[..., Any] | None = None,
    budget: int | None = None,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Iterable[str] = (),
    concrete: bool = False,
) -> Callable[..., Any]:
    """Make a function whose intermediate values are computed again in the backward pass.

    Reverse-mode differentiation keeps the intermediate values of a function until the backward pass
    has used them. Those of a checkpointed function it does not keep, but for its inputs and what
    the policy saves: memory is traded for a second computation.

    Args:
      fun: a function of trees of arrays; without it, a decorator is returned.
      prevent_cse: whether the compiler is kept from merging the second computation with the first,
        which would undo it; False is good within a `scan`. A tuple says it for each positional
        argument, by one bool or by a tree of them with the argument's containers.
      policy: says what is saved; see `checkpoint_policies`. By default nothing is.
      budget: instead of a policy, how many bytes may be saved. Of all ways to stay within it, one
        is taken that computes cheap operations again before dear ones.
      static_argnums, static_argnames: arguments that are ordinary Python values, not traced.
      concrete: accepted for compatibility; use static arguments instead.

    Returns:
      A function that computes what `fun` does.

    Raises:
      TypeError: `fun` is not callable, or an argument cannot be an array.
      ValueError: both a policy and a budget are given.

    >>> import covector as cv, covector.numpy as jnp
    >>> layer = cv.checkpoint(lambda w, x: jnp.tanh(x @ w))
    >>> w = jnp.ones((2, 2))
    >>> print(cv.grad(lambda w: layer(w, layer(w, w)).sum())(w).shape)
    (2, 2)
    """
    if fun is None:
        options = dict(prevent_cse=prevent_cse, policy=policy, budget=budget)
        static_options = dict(static_argnums=static_argnums, static_argnames=static_argnames)
        return lambda fun: checkpoint(fun, **options, **static_options)
    check_callable("checkpoint", fun)
    if budget is not None:
        if policy is not None:
            raise ValueError(
                "[checkpoint] policy and budget are two ways to say what is saved; give one."
            )
        policy = Budget(int(budget))
    names = static_argnames if isinstance(static_argnames, str) else tuple(static_argnames)
    static = ArgumentSpec("checkpoint", "static", fun, static_argnums or None, names or None)
    if not isinstance(prevent_cse, bool):
        prevent_cse = tuple(prevent_cse)
    functions: dict[Any, Callable[..., Any]] = {}

    @named_after(fun, "{0}, whose intermediate values are computed again in the backward pass.")
    @boundary
    def checkpointed(*args: Any, **kwargs: Any) -> Any:
        statics: tuple[Any, ...] = ()
        if static:
            args, kwargs, statics = static.split(args, kwargs)
        leaves, in_tree = tree.flatten((args, kwargs))
        if statics not in functions:
            bound = join(fun, statics)
            functions[statics] = _of_args_and_kwargs(bound)
        try:
            avals = [abstractify(x) for x in leaves]
        except TypeError:
            check_arrays("checkpoint", debug_info("checkpoint", fun, args, kwargs, statics), leaves)
            raise
        body = stage_body("checkpoint", functions[statics], in_tree, avals)
        if needs_lost_rules(body.jaxpr):
            return functions[statics](args, kwargs)
        flags = prevent_cse
        if isinstance(flags, tuple):
            of_args = tree.flatten_axes("checkpoint prevent_cse", in_tree.children()[0], flags)
            of_kwargs = [True] * in_tree.children()[1].num_leaves
            flags = (*[True] * len(body.consts), *of_args, *of_kwargs)
        params = dict(prevent_cse=flags, differentiated=False, policy=policy)
        operands = [*body.consts, *leaves]
        if body.takes_refs:
            jaxpr, written = discharge(body.jaxpr)
            outs = with_refs(partial(checkpoint_p.bind, jaxpr=jaxpr, **params), written, operands)
        else:
            outs = checkpoint_p.bind(*operands, jaxpr=body.jaxpr, **params)
        return tree.unflatten(body.out_tree, outs)

    return checkpointed


def _of_args_and_kwargs(fun: Callable[..., Any]) -> Callable[..., Any]:
    """A function of the tuple of positional and the dict of keyword arguments."""

    def call(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return fun(*args, **kwargs)

    call.__name__ = getattr(fun, "__name__", "fun")
    return call


# ---------------------------------------------------------------- what is saved


class Residual(NamedTuple):
    """A value that is kept between the forward and the backward pass.

    Attributes:
      aval: its type.
      origin: where it comes from, in words, with the user's line.
    """

    aval: AbstractValue
    origin: str

    @property
    def nbytes(self) -> int:
        """The size of the value."""
        return bytes_of(self)

    def __str__(self) -> str:
        return f"{self.aval.str_short(True)} {self.origin}"


def saved_residuals(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> list[Residual]:
    """What the derivative of a function keeps of its forward pass.

    Args:
      fun: a function of trees of arrays.
      *args, **kwargs: its arguments; only their types matter.

    Returns:
      For each value that is kept its type, bytes and origin; constants first, then arguments.

    >>> import covector as cv, covector.numpy as jnp
    >>> from covector.ad_checkpoint import saved_residuals
    >>> [str(r.aval) for r in saved_residuals(lambda x: jnp.sin(jnp.sin(x)), jnp.ones(2))]
    ['float32[2]', 'float32[2]']
    """
    leaves, in_tree = tree.flatten((args, kwargs))
    names = argument_names(fun, args, kwargs)
    flat = FlatFunction(fun, in_tree)

    def residuals(*leaves: Any) -> list[Any]:
        return linearize(flat, leaves)[1].pruned().residuals

    jaxpr, _ = stage(residuals, [abstractify(x) for x in leaves])
    return _described(jaxpr, names)


def _described(jaxpr: Jaxpr, names: Sequence[str]) -> list[Residual]:
    """The outputs of a program, each once, with what made them."""
    argument = dict(zip(jaxpr.invars, names))
    made_by = {var: eqn for eqn in jaxpr.eqns for var in eqn.outvars}
    found: dict[Any, Residual] = {}
    for atom in jaxpr.outvars:
        if type(atom) is Literal:
            continue
        origin = argument.get(atom)
        if origin is not None:
            text = f"from the argument {origin}"
        elif atom in made_by:
            text = _origin_of(made_by[atom], made_by)
        else:
            text = "from a constant"
        found[atom] = Residual(atom.aval, text)
    kinds: list[list[Residual]] = [[], [], []]
    for atom, residual in found.items():
        kinds[1 if atom in argument else 2 if atom in made_by else 0].append(residual)
    return [*kinds[0], *kinds[1], *kinds[2]]


def _origin_of(eqn: JaxprEqn, made_by: dict[Any, JaxprEqn]) -> str:
    while eqn.primitive is reduce_precision_p and eqn.invars[0] in made_by:
        eqn = made_by[eqn.invars[0]]
    place = source.describe(eqn.source)
    if eqn.primitive is name_p:
        return f"named {eqn.params['name']!r} from {place}"
    return f"output of {eqn.primitive} from {place}"


def print_saved_residuals(f: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """Print what the derivative of a function keeps of its forward pass, a line for each value.

    Args:
      f: a function of trees of arrays.
      *args, **kwargs: its arguments; only their types matter.

    >>> import covector as cv, covector.numpy as jnp
    >>> from covector.ad_checkpoint import print_saved_residuals
    >>> print_saved_residuals(cv.checkpoint(lambda x, w: jnp.sin(x @ w)), jnp.ones(2), jnp.ones(2))
    f32[2] from the argument x, 8 bytes
    f32[2] from the argument w, 8 bytes
    16 bytes in all
    """
    residuals = saved_residuals(f, *args, **kwargs)
    for residual in residuals:
        print(f"{residual}, {residual.nbytes:,} bytes")
    print(f"{sum(residual.nbytes for residual in residuals):,} bytes in all")
