"""`custom_linear_solve`: the solution of A x = b by the user's own method, with the derivative that
linear algebra gives it.

The equation is differentiated, not the method by which it is solved:

    A x = b        dA x + A dx = db        dx = A^-1 (db - dA x)

The last is another linear solve, with the same A.  It is linear in db, and its transpose is a solve
with the transposed A:

    b_bar = A^-T x_bar

which is why the primitive holds A and its solver together with their transposes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from ..base import solve_errors as errors
from ..base import tree
from ..base.tracebacks import boundary
from ..core.avals import aval_of
from ..core.jaxpr import jaxpr_as_fun
from ..core.zeros import UndefinedPrimal, Zero
from ..ops.arithmetic import neg_p
from ..ops.linear import bring_to, instantiate
from ..ops.varying import vary
from ..transforms.jvp import add_tangents, jvp
from .systems import Space, System, operands_of, vmap_system


class _LinearSolveTuple(NamedTuple):
    """Something of each of the four functions; programs print it under this name."""

    matvec: Any
    vecmat: Any
    solve: Any
    transpose_solve: Any

    def transpose(self) -> _LinearSolveTuple:
        """The same for the transposed equation."""
        return _LinearSolveTuple(self.vecmat, self.matvec, self.transpose_solve, self.solve)


class CustomLinearSolve(System):
    """The solution x of A x = b; the last operands are b."""

    def jvp(self, primals, tangents, *, const_lengths, jaxprs):
        params = dict(const_lengths=const_lengths, jaxprs=jaxprs)
        outs = self.bind(*primals, **params)
        consts, b = operands_of(primals, const_lengths)
        dots, rhs = operands_of(tangents, const_lengths)
        x = outs[: len(b)]
        if any(type(t) is not Zero for t in dots.matvec):
            no_dots = [Zero(aval_of(v).to_tangent_aval()) for v in x]
            matvec = jaxpr_as_fun(jaxprs.matvec)
            _, changes = jvp(matvec, [*consts.matvec, *x], [*dots.matvec, *no_dots])
            rhs = [add_tangents(t, negative(change)) for t, change in zip(rhs, changes)]
        if all(type(t) is Zero for t in rhs):
            return outs, [Zero.from_primal_value(out) for out in outs]
        x_dot = self.bind(*flat(consts), *map(instantiate, rhs), **params)
        aux = outs[len(b) :]
        return outs, [*x_dot[: len(b)], *[Zero.from_primal_value(out) for out in aux]]

    def transpose(self, cts, *args, const_lengths, jaxprs):
        if jaxprs.transpose_solve is None:
            raise TypeError(errors.no_transpose_solve())
        consts, b = operands_of(args, const_lengths)
        if any(type(x) is UndefinedPrimal for x in flat(consts)):
            raise NotImplementedError(errors.linear_in_matrix())
        x_bar, aux = cts[: len(b)], cts[len(b) :]
        if any(type(ct) is not Zero for ct in aux):
            raise NotImplementedError(errors.cotangent_of_aux())
        b_bar = self.bind(
            *flat(consts.transpose()),
            *map(instantiate, x_bar),
            const_lengths=const_lengths.transpose(),
            jaxprs=jaxprs.transpose(),
        )
        linear = [type(x) is UndefinedPrimal for x in b]
        found = [ct if lin else None for ct, lin in zip(b_bar, linear)]
        return [*[None] * sum(const_lengths), *found]

    def vmap(self, axis, dims, *args, const_lengths, jaxprs):
        consts, b = operands_of(args, const_lengths)
        const_dims, b_dims = operands_of(dims, const_lengths)
        is_batch = [[dim is not None for dim in part] for part in (*const_dims, b_dims)]
        batched = vmap_system(axis, jaxprs, is_batch[:4], tuple(is_batch[4]), (1, 1, 1, 1))
        operands = [
            bring_to(x, axis.size, dim, 0) if batch else x
            for x, dim, batch in zip(
                [*flat(consts), *b], dims, [*flat(is_batch[:4]), *batched.flags]
            )
        ]
        jaxprs = _LinearSolveTuple(*batched.jaxprs)
        outs = self.bind(*operands, const_lengths=const_lengths, jaxprs=jaxprs)
        return outs, [0 if batch else None for batch in batched.outputs[2]]


linear_solve_p = CustomLinearSolve("custom_linear_solve")


def flat(parts: Sequence[Sequence[Any]]) -> list[Any]:
    """The values that belong to the constants, one function after the other."""
    return [x for part in parts for x in part]


def negative(tangent: Any) -> Any:
    """-t, of a tangent that may be a symbolic zero."""
    return tangent if type(tangent) is Zero else neg_p.bind(tangent)


# ---------------------------------------------------------------- the function


@boundary
def custom_linear_solve(
    matvec: Callable[[Any], Any],
    b: Any,
    solve: Callable[[Callable[[Any], Any], Any], Any],
    transpose_solve: Callable[[Callable[[Any], Any], Any], Any] | None = None,
    symmetric: bool = False,
    has_aux: bool = False,
) -> Any:
    """Solve A x = b by a method of your own, and differentiate the equation instead of the method.

    Derivatives are those of the solution, found by further solves; the method need not have any,
    and may, say, iterate until it has converged. That `matvec` of the result is `b` is not checked.

    Args:
      matvec: x to A x, for trees of arrays like `b`. It may close over values that are
        differentiated.
      b: the right-hand side, a tree of arrays.
      solve: takes a function like `matvec`, and a tree like `b`; returns the solution.
      transpose_solve: the same for the transposed equation. It is called with the transpose of
        `matvec`, which is worked out. Needed for reverse mode.
      symmetric: whether A is known to be symmetric. Then `solve` solves the transposed equation,
        too, unless `transpose_solve` is given.
      has_aux: whether the solvers return pairs of a solution and of other arrays, such as how many
        iterations there were. These have no derivative.

    Returns:
      The solution, a tree like `b`; with `has_aux`, a pair of it and the other arrays.

    Raises:
      TypeError: one of the functions returns another tree than `b`.
      ValueError: one of them returns arrays of other shapes, or no pair in spite of `has_aux`.

    >>> import covector as cv, covector.numpy as jnp
    >>> from covector import lax
    >>> def solution(a, b):  # Jacobi's method for a diagonal that dominates
    ...     def solve(matvec, b):
    ...         step = lambda _, x: x + (b - matvec(x)) / jnp.diagonal(a)
    ...         return lax.fori_loop(0, 50, step, b)
    ...     return lax.custom_linear_solve(lambda x: a @ x, b, solve, symmetric=True)
    >>> a = jnp.array([[4.0, 2.0], [2.0, 2.0]])
    >>> print(cv.jacrev(solution, 1)(a, jnp.array([9.0, 4.0])).round(2))
    [[ 0.5 -0.5]
     [-0.5  1. ]]
    """
    for name, fun in (("matvec", matvec), ("solve", solve)):
        if not callable(fun):
            raise TypeError(errors.not_callable("custom_linear_solve", name, fun))
    space, leaves = Space.of("custom_linear_solve", "b", b)
    of_matvec = space.stage(matvec, "matvec")
    vma = frozenset().union(*[aval.vma for aval in of_matvec.out_avals])
    if any(vma - aval_of(x).vma for x in leaves):  # A is another one on each device
        b = tree.map(lambda x: vary(x, vma), b)
        return custom_linear_solve(matvec, b, solve, transpose_solve, symmetric, has_aux)
    of_solve = space.stage(partial(solve, matvec), "solve", has_aux)
    of_vecmat = of_transpose = None
    if transpose_solve is not None or symmetric:
        vecmat = matvec if symmetric else space.transposed(matvec)
        of_vecmat = of_matvec if symmetric else space.stage(vecmat, "vecmat")
        transpose_solve = solve if transpose_solve is None else transpose_solve
        of_transpose = space.stage(partial(transpose_solve, vecmat), "transpose_solve", has_aux)
    bodies = _LinearSolveTuple(of_matvec, of_vecmat, of_solve, of_transpose)
    consts = _LinearSolveTuple(*[body.consts if body else [] for body in bodies])
    outs = linear_solve_p.bind(
        *flat(consts),
        *leaves,
        const_lengths=_LinearSolveTuple(*map(len, consts)),
        jaxprs=_LinearSolveTuple(*[body and body.jaxpr for body in bodies]),
    )
    return tree.unflatten(of_solve.out_tree, outs)
