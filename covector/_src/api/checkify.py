"""`checkify`: checks become values.

    checkify : (a -> b)  ->  (a -> (Error, b))

An interpreter of jaxprs that computes, beside the values, the error of what has run so far.  The
program of a body of control flow becomes one that returns its own error first; what was before it
need not go into it, except for loops, which carry the error from step to step:

    checked : jaxpr of a -> b  ->  jaxpr of a -> (leaves of an error, b)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple, TypeVar

from ..base import checkify_errors, tree
from ..control.applied import Application
from ..control.composite import composite_p
from ..control.cond import cond_p
from ..control.custom_jvp import Named, custom_jvp_call_p
from ..control.custom_vjp import custom_vjp_call_p
from ..control.custom_vmap import custom_vmap_p
from ..control.scan import scan_p, split
from ..control.while_loop import part_of, parted, while_p, with_trailing_inputs
from ..core.avals import AbstractValue, aval_of
from ..core.jaxpr import ClosedJaxpr, Jaxpr, Literal, Var, jaxpr_as_fun, last_uses
from ..core.primitive import Primitive
from ..core.trace import context
from ..core.zeros import Zero
from ..ops.bitwise import and_p, or_p
from ..ops.comparison import eq_p
from ..ops.linear import constant_like
from ..transforms.cache import jaxpr_cache
from ..transforms.flatten import FlatFunction
from ..transforms.signatures import debug_info
from ..transforms.stage import stage, stage_closed
from .checkify_error import (
    DivisionByZeroError,
    Error,
    ErrorCategory,
    FailedCheckError,
    NaNError,
    OOBError,
    as_type,
    check_p,
    common_type,
    init_error,
    no_failure,
)
from .checkify_rules import Categories, error_of_op
from .wrapping import check_callable, named_after

Out = TypeVar("Out")
Result = tuple[Error, Sequence[Any]]

user_checks: Categories = frozenset({FailedCheckError})
nan_checks: Categories = frozenset({NaNError})
index_checks: Categories = frozenset({OOBError})
div_checks: Categories = frozenset({DivisionByZeroError})
float_checks: Categories = nan_checks | div_checks
automatic_checks: Categories = float_checks | index_checks
all_checks: Categories = automatic_checks | user_checks


# ---------------------------------------------------------------- programs


def run_checked(
    jaxpr: Jaxpr, consts: Sequence[Any], args: Sequence[Any], categories: Categories
) -> Result:
    """Interpret a jaxpr under the current trace; returns its error and its outputs."""
    error, causes = init_error, {}
    env: dict[Var, Any] = dict(zip(jaxpr.constvars, consts))
    env.update(zip(jaxpr.invars, args))
    last_use = last_uses(jaxpr)
    scope, place = context.name_stack, context.place
    try:
        for i, eqn in enumerate(jaxpr.eqns):
            operands = [a.val if type(a) is Literal else env[a] for a in eqn.invars]
            context.name_stack, context.place = scope + eqn.name_stack, eqn.source
            found, outs = _apply(eqn.primitive, operands, eqn.params, categories)
            causes |= found._metadata  # once for all, that long programs take linear time
            error = error.then(found.with_causes({}))
            env.update(zip(eqn.outvars, outs))
            for var in last_use.get(i, ()):
                del env[var]
    finally:
        context.name_stack, context.place = scope, place
    outs = [a.val if type(a) is Literal else env[a] for a in jaxpr.outvars]
    return error.with_causes(causes), outs


def _apply(
    primitive: Primitive, operands: list[Any], params: dict[str, Any], categories: Categories
) -> Result:
    rule = _RULES.get(primitive)
    if rule is not None:
        return rule(operands, params, categories)
    if isinstance(primitive, Application):
        return _application(primitive, operands, params, categories)
    written_out = primitive.expanded(list(map(aval_of, operands)), params)
    if written_out is not None:
        return run_checked(written_out.jaxpr, written_out.consts, operands, categories)
    out = context.trace.process(primitive, operands, params)
    outs = out if primitive.multiple_results else [out]
    return error_of_op(primitive, operands, outs, params, categories), outs


class Checked(NamedTuple):
    """A program that returns the leaves of its error before its outputs.

    Attributes:
      jaxpr: the program.
      type: the type of the error, an `Error` of avals.
    """

    jaxpr: ClosedJaxpr
    type: Error

    @property
    def count(self) -> int:
        """How many leaves the error has."""
        return len(tree.leaves(self.type))

    def result(self, outs: Sequence[Any]) -> Result:
        """The error and the outputs, of the flat outputs of the program."""
        count = self.count
        return tree.unflatten(tree.structure(self.type), outs[:count]), outs[count:]

    def __call__(self, *args: Any) -> Result:
        return self.result(jaxpr_as_fun(self.jaxpr)(*args))


@jaxpr_cache
def checked(jaxpr: ClosedJaxpr, categories: Categories) -> Checked:
    """The checked form of a program."""

    def run(*args: Any) -> Result:
        return run_checked(jaxpr.jaxpr, jaxpr.consts, args, categories)

    return _staged(run, jaxpr.in_avals, jaxpr)


def _staged(
    run: Callable[..., Result], avals: Sequence[AbstractValue], like: ClosedJaxpr
) -> Checked:
    """Stage a function that returns an error and a list of outputs."""
    structures: list[Any] = []

    def flat(*args: Any) -> list[Any]:
        error, outs = run(*args)
        leaves, structure = tree.flatten(error)
        structures.append(structure)
        return [*leaves, *outs]

    jaxpr = stage_closed(flat, avals, like.jaxpr.debug_info)
    structure = structures[-1]
    avals = jaxpr.out_avals[: structure.num_leaves]
    return Checked(jaxpr, tree.unflatten(structure, [aval.strip_weak_type() for aval in avals]))


# ---------------------------------------------------------------- checks and calls


def _check(operands: list[Any], params: dict[str, Any], categories: Categories) -> Result:
    """The error of a check; without failures of categories that are not checked."""
    error = tree.unflatten(params["err_tree"], operands)
    wanted = {c: cause for c, cause in error._metadata.items() if cause.category in categories}
    if not wanted:
        return init_error, []
    failed = error._pred
    if len(wanted) < len(error._metadata):
        among = [eq_p.bind(error._code, constant_like(error._code, code)) for code in wanted]
        either = among[0]
        for flag in among[1:]:
            either = or_p.bind(either, flag)
        failed = and_p.bind(failed, either)
    effects = {cause.effect for cause in wanted.values()}
    payload = {effect: xs for effect, xs in error._payload.items() if effect in effects}
    return Error(failed, error._code, wanted, payload), []


def _application(
    primitive: Application, operands: list[Any], params: dict[str, Any], categories: Categories
) -> Result:
    """Calls, `jit` and `checkpoint`: the call of the checked program."""
    body = checked(primitive.jaxpr_of(params), categories)
    params = primitive.applying(params, body.jaxpr, list(range(len(operands))))
    return body.result(primitive.bind(*operands, **params))


def _custom_jvp(operands: list[Any], params: dict[str, Any], categories: Categories) -> Result:
    """The function is checked, its derivative rule is the user's: where that runs, nothing fails.

    To check derivatives, differentiate first: `checkify(jvp(f))`.
    """
    body, rule = checked(params["call_jaxpr"], categories), params["jvp_jaxpr_fun"]
    differentiated = []

    def with_error(primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
        differentiated.append(True)
        outs, dots = rule(primals, tangents)
        leaves = tree.leaves(no_failure(body.type))
        zeros = [Zero(aval_of(x).to_tangent_aval()) for x in leaves]
        return [*leaves, *outs], [*zeros, *dots]

    changed = dict(call_jaxpr=body.jaxpr, jvp_jaxpr_fun=Named(with_error, rule))
    error, outs = body.result(custom_jvp_call_p.bind(*operands, **params | changed))
    return (init_error if differentiated else error), outs


def _custom_vjp(operands: list[Any], params: dict[str, Any], categories: Categories) -> Result:
    """As for `custom_jvp`."""
    body = checked(params["call_jaxpr"], categories)
    fwd = params["fwd_jaxpr_thunk"]
    differentiated = []

    def forward(args: Sequence[Any], perturbed: Sequence[bool]) -> Any:
        differentiated.append(True)
        outs, residuals, backward = fwd(args, perturbed)
        of_outs = lambda residuals, cts: backward(residuals, cts[body.count :])  # noqa: E731
        return [*tree.leaves(no_failure(body.type)), *outs], residuals, of_outs

    changed = dict(call_jaxpr=body.jaxpr, fwd_jaxpr_thunk=Named(forward, fwd))
    error, outs = body.result(custom_vjp_call_p.bind(*operands, **params | changed))
    return (init_error if differentiated else error), outs


def _composite(operands: list[Any], params: dict[str, Any], categories: Categories) -> Result:
    """An operation under a name stays one unless something in it can fail."""
    body = checked(params["jaxpr"], categories)
    if body.count:
        return body(*operands)
    return init_error, composite_p.bind(*operands, **params | dict(jaxpr=body.jaxpr))


class _VmapRuleWithError:
    """A user's vmap rule for a checked function: where it runs, nothing fails."""

    __slots__ = ("joint", "rule", "shown", "type")

    def __init__(self, rule: Any, type_of_error: Error):
        self.rule = rule
        self.type = type_of_error
        self.shown = rule.shown
        self.joint = rule.joint

    def __call__(self, axis_size: int, in_batched: Any, operands: Any) -> tuple[Any, Any]:
        outs, batched = self.rule(axis_size, in_batched, operands)
        leaves = tree.leaves(no_failure(self.type))
        return (leaves, outs), ([False] * len(leaves), batched)


def _custom_vmap(operands: list[Any], params: dict[str, Any], categories: Categories) -> Result:
    """The function is checked, not its vmap rule; to check that, map first."""
    body = checked(params["call"], categories)
    leaves = tree.structure([0] * body.count)
    changed = dict(
        call=body.jaxpr,
        rule=_VmapRuleWithError(params["rule"], body.type),
        out_tree=tree.treedef_tuple((leaves, params["out_tree"])),
    )
    return body.result(custom_vmap_p.bind(*operands, **params | changed))


# ---------------------------------------------------------------- control flow


def _cond(operands: list[Any], params: dict[str, Any], categories: Categories) -> Result:
    """The error of the branch that is taken, as an error that each of them can have."""
    bodies = [checked(branch, categories) for branch in params["branches"]]
    types, structure = tree.flatten(common_type([body.type for body in bodies]))
    branches = [_with_error_of_type(body.jaxpr, body, structure, tuple(types)) for body in bodies]
    changed = dict(branches=tuple([branch.jaxpr for branch in branches]))
    return branches[0].result(cond_p.bind(*operands, **params | changed))


def _with_error_of_type(
    jaxpr: ClosedJaxpr, body: Checked, structure: Any, avals: tuple[AbstractValue, ...]
) -> Checked:
    """A checked program that returns an error of another type, which can hold more."""
    wanted = tree.unflatten(structure, avals)

    def run(*args: Any) -> Result:
        error, outs = body(*args)
        return as_type(error, wanted), outs

    return _staged(run, jaxpr.in_avals, jaxpr)


def _scan(operands: list[Any], params: dict[str, Any], categories: Categories) -> Result:
    """The error is the first part of the carry."""
    body = checked(params["jaxpr"], categories)
    num_consts, num_carry = params["num_consts"], params["num_carry"]
    consts, rest = split(operands, num_consts)
    step = _scan_step(params["jaxpr"], categories, num_consts)
    changed = dict(jaxpr=step, num_carry=body.count + num_carry)
    initial = tree.leaves(no_failure(body.type))
    return body.result(scan_p.bind(*consts, *initial, *rest, **params | changed))


@jaxpr_cache
def _scan_step(jaxpr: ClosedJaxpr, categories: Categories, num_consts: int) -> ClosedJaxpr:
    """The body of a scan whose carry begins with the error of the steps before."""
    body = checked(jaxpr, categories)
    types, structure = tree.flatten(body.type)

    def run(*args: Any) -> Result:
        consts, before, rest = split(args, num_consts, len(types))
        error, outs = body(*consts, *rest)
        return tree.unflatten(structure, before).then(error), outs

    avals = [*jaxpr.in_avals[:num_consts], *types, *jaxpr.in_avals[num_consts:]]
    return _staged(run, avals, jaxpr).jaxpr


def _while(operands: list[Any], params: dict[str, Any], categories: Categories) -> Result:
    """The error is the last part of the carry.

    A condition returns nothing but whether to go on: its error is found where its operands are
    made, before the loop and in each step.
    """
    if params["cond_jaxpr"].out_avals[0].shape:
        raise ValueError(checkify_errors.batched_loop())
    cond, body = (checked(params[name], categories) for name in ("cond_jaxpr", "body_jaxpr"))
    types, structure = tree.flatten(common_type([body.type, cond.type]))
    cond_consts, body_consts, carry = parted(operands, params)
    going = part_of(cond.jaxpr, tuple(range(len(cond.jaxpr.in_avals))), (cond.count,))
    changed = dict(cond_jaxpr=with_trailing_inputs(going, tuple(types)))
    error = no_failure(common_type([body.type, cond.type]))
    leading = body_consts
    if cond.count:
        error = error.then(cond(*cond_consts, *carry)[0])
        leading = [*cond_consts, *body_consts]
    step = _while_step(params["body_jaxpr"], params["cond_jaxpr"], categories, len(cond_consts))
    changed |= dict(body_jaxpr=step, body_nconsts=len(leading))
    loop = [*cond_consts, *leading, *carry, *tree.leaves(error)]
    outs = while_p.bind(*loop, **params | changed)
    count = len(carry)
    return tree.unflatten(structure, outs[count:]), outs[:count]


@jaxpr_cache
def _while_step(
    jaxpr: ClosedJaxpr, cond_jaxpr: ClosedJaxpr, categories: Categories, num_cond_consts: int
) -> ClosedJaxpr:
    """The body of a loop whose carry ends with the error so far.

    If the condition has checks, its constants come first, and it is applied to the new carry.
    """
    cond, body = checked(cond_jaxpr, categories), checked(jaxpr, categories)
    types, structure = tree.flatten(common_type([body.type, cond.type]))
    leading = cond_jaxpr.in_avals[:num_cond_consts] if cond.count else []

    def run(*args: Any) -> list[Any]:
        cond_consts, operands, before = split(args, len(leading), len(jaxpr.in_avals))
        error, outs = body(*operands)
        error = tree.unflatten(structure, before).then(error)
        if cond.count:
            error = error.then(cond(*cond_consts, *outs)[0])
        return [*outs, *tree.leaves(error)]

    return stage_closed(run, [*leading, *jaxpr.in_avals, *types], jaxpr.jaxpr.debug_info)


_RULES: dict[Primitive, Callable[[list[Any], dict[str, Any], Categories], Result]] = {
    check_p: _check,
    composite_p: _composite,
    cond_p: _cond,
    custom_jvp_call_p: _custom_jvp,
    custom_vjp_call_p: _custom_vjp,
    custom_vmap_p: _custom_vmap,
    scan_p: _scan,
    while_p: _while,
}


# ---------------------------------------------------------------- the function


def checkify(
    f: Callable[..., Out], errors: Collection[ErrorCategory] = user_checks
) -> Callable[..., tuple[Error, Out]]:
    """Make a function that returns, besides its result, the first error that happened in it.

    Errors are values: the function can be compiled, mapped and differentiated, and computes to its
    end whatever fails. `err.get()` tells the message, or None; `err.throw()` raises it.

    Args:
      f: a function that may have checks in it (`check`, `debug_check`, `check_error`).
      errors: what is looked for. Sets are joined by `|`:

        - `user_checks`: checks in the function itself;
        - `nan_checks`: results of operations that are NaN;
        - `div_checks`: divisions by zero;
        - `index_checks`: indices and slices that reach out of their array;
        - `float_checks`: of NaN and divisions; `automatic_checks`: of indices, too; `all_checks`.

    Returns:
      A function of the same arguments that returns a pair `(err, out)`: an `Error`, and what `f`
      returns. Mapped over a batch, `err` holds an error for each example.

    Raises:
      TypeError: `f` is not callable.
      ValueError: `f` maps (`vmap`) a loop whose condition differs between examples; map last,
        `vmap(checkify(f))`. Do so, too, if `f` maps a `cond` whose predicate differs: all branches
        are then applied to all examples, and one that is not taken may fail.

    >>> import covector as cv
    >>> import covector.numpy as jnp
    >>> from covector.experimental import checkify
    >>> def pick(x, i):
    ...     return jnp.log(x[i])
    >>> checked = cv.jit(checkify.checkify(pick, errors=checkify.automatic_checks))
    >>> err, out = checked(jnp.array([1.0, -1.0]), 0)
    >>> print(err.get(), out)
    None 0.0
    >>> err, out = checked(jnp.array([1.0, -1.0]), 1)
    >>> print(err.get(), out)
    nan generated by primitive: log. nan
    """
    check_callable("checkify", f)
    categories = frozenset(errors)

    def checked_fun(*args: Any, **kwargs: Any) -> tuple[Error, Out]:
        flat = FlatFunction(lambda: f(*args, **kwargs), tree.structure(((), {})))
        info = debug_info("checkify", f, args, kwargs)._replace(arg_names=())
        jaxpr, consts = stage(flat, [], info)
        error, outs = run_checked(jaxpr, consts, [], categories)
        return error, tree.unflatten(flat.out_tree, outs)

    doc = "The first error that happens in `{0}`, and its result."
    return named_after(f, doc)(checked_fun)
