"""The reciprocals of gaps between eigenvalues, which rotate eigenvectors against each other."""

from __future__ import annotations

from typing import Any

from ..core.avals import aval_of
from ..ops.arithmetic import add_p, div_p, sub_p
from ..ops.comparison import eq_p
from ..ops.linear import constant_like, full
from ..ops.select import select_n_p
from .matrices import columns_of, rows_of


def reciprocal_or_zero(x: Any) -> Any:
    """1/x, and 0 for 0."""
    zero = eq_p.bind(x, constant_like(x, 0))
    ones = constant_like(x, 1)
    quotient = div_p.bind(ones, select_n_p.bind(zero, x, filled(x, 1)))
    return select_n_p.bind(zero, quotient, filled(x, 0))


def filled(x: Any, value: Any) -> Any:
    return full(aval_of(x).shape, value, aval_of(x).dtype)


def table(w: Any) -> tuple[Any, Any]:
    """Two matrices for a vector w: that of w_j, and that of w_i, in row i and column j."""
    shape = (*aval_of(w).shape, aval_of(w).shape[-1])
    return rows_of(w, shape), columns_of(w, shape)


def reciprocal_gaps(w: Any) -> Any:
    """The matrix of 1 / (w_j - w_i), and of 0 where w_i and w_j are equal.

    The factor 0 says that the vectors of one value do not turn against each other. Which vectors
    of its eigenspace a decomposition returns is arbitrary, and no derivative of theirs exists; but
    functions that do not depend on the choice, such as sums over all values, or projections onto
    whole eigenspaces, get from it the derivative that they have.
    """
    right, left = table(w)
    return reciprocal_or_zero(sub_p.bind(right, left))


def reciprocal_sums(w: Any) -> Any:
    """The matrix of 1 / (w_j + w_i), and of 0 where the sum is 0."""
    right, left = table(w)
    return reciprocal_or_zero(add_p.bind(right, left))
