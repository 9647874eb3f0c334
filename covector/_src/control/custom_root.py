"""`custom_root`: a zero of a function by the user's own method, with the derivative that the
implicit function theorem gives it.

Where f(m, x) = 0 makes x a function of m, what f closes over, the equation holds as m varies:

    d_m f + d_x f dx = 0        dx = -(d_x f)^-1 d_m f

The method is not differentiated, only f is, at the solution; the second factor is known, and the
user's `tangent_solve` solves the linear equation with d_x f.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from ..base import solve_errors as errors
from ..base import tree
from ..base.tracebacks import boundary
from ..core.jaxpr import eval_jaxpr, jaxpr_as_fun
from ..core.zeros import Zero
from ..ops.arithmetic import neg_p
from ..ops.linear import bring_to, instantiate
from ..transforms.jvp import jvp
from ..transforms.linearize import LinearMap, linearize
from .systems import Space, System, operands_of, vmap_system


class RootParts(NamedTuple):
    """Something of each of the three functions.

    The last one linearizes `f` at its first argument and solves the linear equation for the second.
    """

    f: Any
    solve: Any
    tangent_solve: Any


class CustomRoot(System):
    """A root; the last operands are the initial guess."""

    def jvp(self, primals, tangents, *, const_lengths, jaxprs):
        outs = self.bind(*primals, const_lengths=const_lengths, jaxprs=jaxprs)
        consts, guess = operands_of(primals, const_lengths)
        dots, _ = operands_of(tangents, const_lengths)
        root, aux = outs[: len(guess)], outs[len(guess) :]
        fixed = [Zero.from_primal_value(x) for x in root]
        _, changes = jvp(jaxpr_as_fun(jaxprs.f), [*consts.f, *root], [*dots.f, *fixed])
        if all(type(t) is Zero for t in changes):
            return outs, [Zero.from_primal_value(out) for out in outs]
        solve = jaxpr_as_fun(jaxprs.tangent_solve)
        root_dots = solve(*consts.tangent_solve, *root, *map(instantiate, changes))
        return outs, [*map(neg_p.bind, root_dots), *map(Zero.from_primal_value, aux)]

    def vmap(self, axis, dims, *args, const_lengths, jaxprs):
        is_batch = [dim is not None for dim in dims]
        consts, guess = operands_of(is_batch, const_lengths)
        batched = vmap_system(axis, jaxprs, consts, tuple(guess), (1, 1, 2))
        wanted = [*is_batch[: sum(const_lengths)], *batched.flags]
        operands = [
            bring_to(x, axis.size, dim, 0) if batch else x
            for x, dim, batch in zip(args, dims, wanted)
        ]
        jaxprs = RootParts(*batched.jaxprs)
        outs = self.bind(*operands, const_lengths=const_lengths, jaxprs=jaxprs)
        return outs, [0 if batch else None for batch in batched.outputs[1]]


custom_root_p = CustomRoot("custom_root")


# ---------------------------------------------------------------- the function


@boundary
def custom_root(
    f: Callable[[Any], Any],
    initial_guess: Any,
    solve: Callable[[Callable[[Any], Any], Any], Any],
    tangent_solve: Callable[[Callable[[Any], Any], Any], Any],
    has_aux: bool = False,
) -> Any:
    """Find a zero of a function by a method of your own, and differentiate the equation instead.

    The derivative is that of the root with respect to what `f` closes over, in forward and reverse
    mode; the initial guess has none. That the result is a root is not checked.

    Args:
      f: from a tree of arrays to a tree of the same structure and shapes.
      initial_guess: a tree of arrays.
      solve: takes `f` and the initial guess, returns a root. It need not be differentiable.
      tangent_solve: takes a linear function g and a tree y, returns the x for which g(x) = y; for
        a scalar it is `lambda g, y: y / g(1.0)`. For reverse mode it must be linear in y, as far as
        tracing can tell.
      has_aux: whether `solve` returns a pair of the root and of other arrays, which have no
        derivative.

    Returns:
      The root; with `has_aux`, a pair of it and the other arrays.

    Raises:
      TypeError: one of the functions returns another tree than the initial guess.
      ValueError: one returns arrays of other shapes, or no pair in spite of `has_aux`.

    >>> import covector as cv
    >>> from covector import lax
    >>> def square_root(a):  # by Newton's method
    ...     newton = lambda f, x: lax.fori_loop(0, 20, lambda _, x: (x + a / x) / 2, x)
    ...     return lax.custom_root(lambda x: x * x - a, a, newton, lambda g, y: y / g(1.0))
    >>> print(cv.grad(square_root)(4.0))
    0.25
    """
    for name, fun in (("f", f), ("solve", solve), ("tangent_solve", tangent_solve)):
        if not callable(fun):
            raise TypeError(errors.not_callable("custom_root", name, fun))
    space, leaves = Space.of("custom_root", "initial_guess", initial_guess)
    flat = space.flat(f)

    def linearize_and_solve(x: Any, y: Any) -> Any:
        _, linear = linearize(flat, tree.leaves(x))
        return tangent_solve(lambda t: tree.unflatten(space.treedef, applied(linear, t)), y)

    bodies = RootParts(
        space.stage(f, "f"),
        space.stage(partial(solve, f), "solve", has_aux),
        space._replace(name="x").stage(linearize_and_solve, "tangent_solve", arguments=2),
    )
    outs = custom_root_p.bind(
        *[const for body in bodies for const in body.consts],
        *leaves,
        const_lengths=RootParts(*[len(body.consts) for body in bodies]),
        jaxprs=RootParts(*[body.jaxpr for body in bodies]),
    )
    return tree.unflatten(bodies.solve.out_tree, outs)


def applied(linear: LinearMap, tangent: Any) -> list[Any]:
    """The leaves of what a linear map makes of a tree."""
    outs = iter(eval_jaxpr(linear.jaxpr, linear.residuals, *tree.leaves(tangent)))
    return [
        next(outs) if nonzero else instantiate(Zero(aval))
        for aval, nonzero in zip(linear.out_avals, linear.nonzeros)
    ]
