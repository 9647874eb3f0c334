"""`cond` and `switch`: call one of several functions, as a value of the program says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..base import branch_errors as errors
from ..base import config, dtypes, tree
from ..base.tracebacks import boundary
from ..core.array import Array
from ..core.avals import aval_of
from ..core.check import same_type
from ..core.jaxpr import ClosedJaxpr, Var
from ..core.refs import Ref
from ..core.trace import Tracer
from ..ops.comparison import ne_p
from ..ops.conversion import convert
from ..ops.identities import stage
from ..ops.linear import constant_like, scalar
from ..ops.platforms import BranchesPlatforms
from ..ops.select import clamp_p
from ..transforms.cache import jaxpr_cache
from .bodies import Body, operand_avals, stage_body, with_common_consts
from .cond import cond_p
from .discharge import check_aliases, discharge, read, write, written_inputs

_NOT_GIVEN = object()


@boundary
def cond(
    pred: Any,
    true_fun: Callable[..., Any],
    false_fun: Callable[..., Any],
    *operands: Any,
    operand: Any = _NOT_GIVEN,
) -> Any:
    """Call one of two functions, as a predicate says, when the program runs.

    Both are traced, and both are parts of the compiled program, which runs one of them. Under
    `vmap` with a batch of predicates, both run, and the results are selected elementwise.

    Args:
      pred: a boolean scalar, or a number, which holds if it is not zero.
      true_fun, false_fun: functions of the operands that return trees of one structure, with
        arrays of the same shapes and dtypes. They may close over arrays, traced ones included.
      *operands: trees of arrays.
      operand: a single operand, instead of those by position.

    Returns:
      The result of `true_fun(*operands)` or of `false_fun(*operands)`.

    Raises:
      TypeError: `pred` is no scalar, a branch is no function, or the results of the branches have
        not the same structure and types.

    >>> import covector as cv
    >>> from covector import lax
    >>> @cv.jit
    ... def safe_log(x):
    ...     return lax.cond(x > 0, lax.log, lambda x: x * 0, x)
    >>> print(safe_log(1.0), safe_log(-1.0))
    0.0 -0.0
    """
    if not (callable(true_fun) and callable(false_fun)):
        if not callable(false_fun) or len(operands) != 2 or not callable(operands[1]):
            which = ("true_fun", true_fun) if not callable(true_fun) else ("false_fun", false_fun)
            raise TypeError(errors.branch_not_callable("cond", *which))
        # The form of old: each function stands behind its own operand.
        for_true, true_fun, for_false, false_fun = true_fun, false_fun, *operands
        return cond(
            pred,
            lambda x, _, fun=true_fun: fun(x),
            lambda _, x, fun=false_fun: fun(x),
            for_true,
            for_false,
        )
    operands = _operands("cond", operands, operand)
    _check_predicate(pred)
    if config.disable_jit.value:
        value = pred.concrete_value() if isinstance(pred, Tracer) else pred
        if value is not None:
            return true_fun(*operands) if value else false_fun(*operands)
    leaves, in_tree = tree.flatten(operands)
    bodies = _staged("cond", (true_fun, false_fun), in_tree, leaves)
    _check_results("cond", ("true_fun", "false_fun"), bodies)
    jaxprs, consts = with_common_consts(bodies)
    return _applied(_as_index(pred), jaxprs[::-1], [*consts, *leaves], bodies[0].out_tree)


@boundary
def switch(
    index: Any,
    branches: Sequence[Callable[..., Any]],
    *operands: Any,
    operand: Any = _NOT_GIVEN,
) -> Any:
    """Call one of several functions, as a number says, when the program runs.

    All are traced, and all are parts of the compiled program, which runs one of them. Under `vmap`
    with a batch of indices, all run, and the results are selected elementwise.

    Args:
      index: an integer scalar. Below 0 it means the first branch, beyond the last one the last.
      branches: functions of the operands that return trees of one structure, with arrays of the
        same shapes and dtypes. They may close over arrays, traced ones included.
      *operands: trees of arrays.
      operand: a single operand, instead of those by position.

    Returns:
      The result of `branches[index](*operands)`.

    Raises:
      ValueError: there is no branch.
      TypeError: `index` is no integer scalar, a branch is no function, or the results of the
        branches have not the same structure and types.

    >>> from covector import lax
    >>> print(lax.switch(1, [lax.neg, lax.abs, lax.square], -3.0))
    3.0
    """
    branches = tuple(branches)
    for i, branch in enumerate(branches):
        if not callable(branch):
            raise TypeError(errors.branch_not_callable("switch", f"branch {i}", branch))
    operands = _operands("switch", operands, operand)
    _check_index(index)
    if not branches:
        raise ValueError(errors.no_branches())
    if len(branches) == 1:
        return branches[0](*operands)
    last = scalar(len(branches) - 1, np.int32)
    index = clamp_p.bind(scalar(0, np.int32), convert(index, np.dtype(np.int32)), last)
    return switch_without_clamp(index, branches, operands)


def switch_without_clamp(
    index: Any,
    branches: Sequence[Callable[..., Any]],
    operands: Sequence[Any],
    branches_platforms: BranchesPlatforms | None = None,
) -> Any:
    """`switch` with an int32 index that is known to be in range."""
    if config.disable_jit.value:
        value = index.concrete_value() if isinstance(index, Tracer) else index
        if value is not None:
            return branches[int(value)](*operands)
    leaves, in_tree = tree.flatten(tuple(operands))
    bodies = _staged("switch", branches, in_tree, leaves)
    names = ["branch 0", *[f"branch{i}" for i in range(1, len(branches))]]
    _check_results("switch", names, bodies)
    jaxprs, consts = with_common_consts(bodies)
    return _applied(index, jaxprs, [*consts, *leaves], bodies[0].out_tree, branches_platforms)


# ---------------------------------------------------------------- the arguments


def _operands(where: str, operands: tuple[Any, ...], operand: Any) -> tuple[Any, ...]:
    """The operands, by whichever way they were given."""
    if operand is _NOT_GIVEN:
        return operands
    if operands:
        raise TypeError(errors.operand_given_twice(where, operand, operands))
    return (operand,)


def _check_predicate(pred: Any) -> None:
    """Raise unless a value may decide between two branches."""
    if pred is None:
        raise TypeError(errors.predicate_is_none())
    if isinstance(pred, Sequence):
        raise TypeError(errors.predicate_not_scalar(pred, None))
    try:
        aval: Any = aval_of(pred)
    except TypeError:
        raise TypeError(errors.predicate_type(pred)) from None
    if aval.shape != ():
        raise TypeError(errors.predicate_not_scalar(pred, aval.shape))
    kinds = (np.bool_, np.integer, np.floating)
    if not any(dtypes.issubdtype(aval.dtype, kind) for kind in kinds):
        raise TypeError(errors.predicate_type(aval.dtype))


def _as_index(pred: Any) -> Any:
    """The number of the branch that a predicate chooses: that of `false_fun` is 0."""
    if not isinstance(pred, Array):  # the same number in every run
        return scalar(int(bool(pred)), np.int32)
    if pred.dtype != np.bool_:
        pred = ne_p.bind(pred, constant_like(pred, 0))
    return convert(pred, np.dtype(np.int32))


def _check_index(index: Any) -> None:
    """Raise unless a value may be the number of a branch."""
    shape = index.shape if isinstance(index, Array) else np.shape(index)
    if shape != ():
        raise TypeError(errors.index_not_scalar(index, shape))
    try:
        dtype = aval_of(index).dtype
    except TypeError:
        raise TypeError(errors.index_type(index)) from None
    if not dtypes.issubdtype(dtype, np.integer):
        raise TypeError(errors.index_type(index, dtype))


# ---------------------------------------------------------------- the branches


def _staged(
    where: str, branches: Sequence[Callable[..., Any]], in_tree: Any, leaves: Sequence[Any]
) -> list[Body]:
    avals = operand_avals(where, leaves)
    return [stage_body(where, branch, in_tree, avals) for branch in branches]


def _check_results(where: str, names: Sequence[str], bodies: Sequence[Body]) -> None:
    """Raise unless all branches return what the first one does, but for weak types."""
    first = bodies[0]
    for name, body in zip(names[1:], bodies[1:]):
        both = (names[0], name)
        infos = [b.jaxpr.debug_info.func_src_info for b in (first, body)]
        if first.out_tree != body.out_tree:
            trees = (first.out_tree, body.out_tree)
            raise TypeError(errors.result_trees(where, both, infos, trees))
        if not all(map(same_type, first.out_avals, body.out_avals)):
            paths = tree.leaves_with_path(tree.unflatten(first.out_tree, first.out_avals))
            differing = [
                (path, a, b) for (path, a), b in zip(paths, body.out_avals) if not same_type(a, b)
            ]
            raise TypeError(errors.result_types(where, both, infos, differing))


def _applied(
    index: Any,
    jaxprs: Sequence[ClosedJaxpr],
    inputs: Sequence[Any],
    out_tree: Any,
    branches_platforms: BranchesPlatforms | None = None,
) -> Any:
    """The result of the branch that an index chooses.

    An input that all branches return as it is does not pass through the choice.
    """
    written: tuple[int, ...] = ()
    refs = inputs
    if Ref in {*map(type, inputs)}:
        check_aliases(jaxprs[0].debug_info, inputs)
        written = tuple(sorted(set().union(*map(written_inputs, jaxprs))))
        jaxprs = [discharge(jaxpr, written).jaxpr for jaxpr in jaxprs]
        inputs = list(map(read, inputs))
    origins = [_returned_inputs(jaxpr) for jaxpr in jaxprs]
    forwarded = [same[0] if len(set(same)) == 1 else None for same in zip(*origins)]
    wanted = tuple([i is None for i in forwarded])
    platforms = {} if branches_platforms is None else {"branches_platforms": branches_platforms}
    branches = tuple([_with_outputs(jaxpr, wanted) for jaxpr in jaxprs])
    outs = iter(cond_p.bind(index, *inputs, branches=branches, **platforms))
    results = [next(outs) if i is None else stage(inputs[i]) for i in forwarded]
    for i, value in zip(written, results[len(results) - len(written) :]):
        write(refs[i], value)
    return tree.unflatten(out_tree, results[: len(results) - len(written)])


def _returned_inputs(jaxpr: ClosedJaxpr) -> list[int | None]:
    """For each output the input that it is, or None."""
    position = {var: i for i, var in enumerate(jaxpr.invars)}
    return [position.get(atom) if isinstance(atom, Var) else None for atom in jaxpr.outvars]


@jaxpr_cache
def _with_outputs(jaxpr: ClosedJaxpr, wanted: tuple[bool, ...]) -> ClosedJaxpr:
    """The program with some of its outputs only."""
    if all(wanted):
        return jaxpr
    outvars = [atom for atom, keep in zip(jaxpr.outvars, wanted) if keep]
    return jaxpr.replace(jaxpr=jaxpr.jaxpr.replace(outvars=outvars))
