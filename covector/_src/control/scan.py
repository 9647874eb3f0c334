"""`scan`: a loop of a known number of steps over slices of arrays, with a carry.

    scan : (constants, init, xs) -> (last carry, ys)

The body is a jaxpr from constants, carry and one slice of each input to the new carry and one slice
of each output.  Every transformation of a scan is a scan of the transformed body.  What is true of
a carry in one step (that it has a tangent, is batched, is unknown) may follow from its being true
of another in the step before, so the rules look for a fixpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..base import config, tracing_errors, tree
from ..base import scan_errors as errors
from ..base.dims import Dim, size_of
from ..base.errors import ConcretizationTypeError, JaxprTypeError
from ..base.tracebacks import boundary
from ..core.avals import AbstractValue, aval_of
from ..core.effects import must_stay
from ..core.fusion import BOUNDARY
from ..core.jaxpr import ClosedJaxpr, eval_jaxpr
from ..core.primitive import BuiltinPrimitive
from ..core.refs import AbstractRef
from ..core.trace import Tracer
from ..core.zeros import UndefinedPrimal, Zero
from ..ops.arithmetic import add, mul
from ..ops.base import Sample, draw
from ..ops.identities import stage
from ..ops.joining import concatenate
from ..ops.linear import bring_to, expand_dims, instantiate
from ..ops.slicing import index_in_dim
from ..transforms.cache import jaxpr_cache
from ..transforms.jvp import jvp_jaxpr
from ..transforms.linearize import PartialTrace
from ..transforms.simplify import drop_unused
from ..transforms.stage import stage_closed, vary_jaxpr
from ..transforms.vmap import batch_aval, example_aval, vmap_jaxpr
from .bodies import Body, operand_avals, stage_body
from .carries import Flags, carry_fixpoint, rearranged, same_type, settle_carry
from .discharge import check_aliases, discharge, needs_lost_rules, read, write, written_inputs
from .scan_emission import emit_scan
from .scan_split import residual_values, split_body
from .scan_transpose import transpose_body


class Scan(BuiltinPrimitive):
    """Apply a jaxpr `length` times, each time to a slice of the inputs.

    The operands are `num_consts` constants, `num_carry` initial carries, and arrays whose leading
    dimension is `length`.  With `reverse`, the last slices are taken first, and outputs stand where
    the inputs do that they belong to.  A turn of the compiled loop takes `unroll` steps.
    """

    multiple_results = True
    fusion = BOUNDARY._replace(bodies=("jaxpr",), loops=True)

    def typecheck(self, avals, params):
        # Looking the result up would take as long, and keep every body alive.
        return self.effectful_abstract_eval(*avals, **params)

    def check_operands(self, avals, params):
        check_params(**params)
        jaxpr, num_consts, num_carry = params["jaxpr"], params["num_consts"], params["num_carry"]
        given = jaxpr.in_avals[num_consts : num_consts + num_carry]
        returned = jaxpr.out_avals[:num_carry]
        if len(given) != len(returned) or not all(map(same_type, given, returned)):
            raise JaxprTypeError(errors.wrong_carry(given, returned))

    def effectful_abstract_eval(self, *avals, jaxpr, length, num_consts, num_carry, **params):
        wanted = whole_avals(jaxpr.in_avals, length, num_consts + num_carry)
        if len(avals) != len(wanted) or not all(map(same_type, avals, wanted)):
            raise JaxprTypeError(errors.wrong_operands(wanted, avals))
        return whole_avals(jaxpr.out_avals, length, num_carry), jaxpr.effects

    def retype(self, params, vmas):
        num_consts, num_carry = params["num_consts"], params["num_carry"]
        consts, init, xs = split(vmas, num_consts, num_carry)
        ys = [frozenset()] * (len(params["jaxpr"].out_avals) - num_carry)

        def rule(carry: Any) -> tuple[ClosedJaxpr, Any]:
            body = vary_jaxpr(params["jaxpr"], (*consts, *carry, *xs), (*carry, *ys))
            return body, [aval.vma for aval in body.out_avals[:num_carry]]

        body, carry = carry_fixpoint(rule, tuple(init))
        return params | dict(jaxpr=body), [*consts, *carry, *xs]

    def evaluate(self, backend, args, params):
        return backend.execute_body(params["jaxpr"], self, args, params)

    def ref(self, *args, jaxpr, length, reverse, num_consts, num_carry, unroll):
        consts, carry, xs = split(args, num_consts, num_carry)
        ys = [np.zeros((length, *aval.shape), aval.dtype) for aval in jaxpr.out_avals[num_carry:]]
        for i in reversed(range(length)) if reverse else range(length):
            outs = eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, *consts, *carry, *[x[i] for x in xs])
            carry = outs[:num_carry]
            for y, out in zip(ys, outs[num_carry:]):
                y[i] = out
        return [*carry, *ys]

    def jvp(self, primals, tangents, *, jaxpr, num_consts, num_carry, **params):
        consts, init, xs = split([type(t) is not Zero for t in tangents], num_consts, num_carry)
        ys = (False,) * (len(jaxpr.out_avals) - num_carry)

        def rule(carry: Flags) -> tuple[Any, Flags]:
            both, nonzeros = jvp_jaxpr(jaxpr, (*consts, *carry, *xs), (*carry, *ys))
            return (both, nonzeros), nonzeros[:num_carry]

        (both, out_nonzeros), carry = carry_fixpoint(rule, tuple(init))
        nonzeros = (*consts, *carry, *xs)
        given = [*primals, *[instantiate(t) for t, n in zip(tangents, nonzeros) if n]]
        order = paired(nonzeros, num_consts, num_carry)
        outs = self.bind(
            *[given[i] for i in order],
            jaxpr=rearranged(both, order, paired(out_nonzeros, num_carry)),
            num_consts=num_consts + sum(consts),
            num_carry=num_carry + sum(carry),
            **params,
        )
        counts = num_carry, sum(carry), len(ys)
        out_carry, out_carry_dots, out_ys, out_ys_dots = split(outs, *counts)
        out_dots = iter([*out_carry_dots, *out_ys_dots])
        outs = [*out_carry, *out_ys]
        return outs, [
            next(out_dots) if nonzero else Zero.from_primal_value(out)
            for out, nonzero in zip(outs, out_nonzeros)
        ]

    def partial_eval(self, trace: PartialTrace, args, params):
        num_consts, num_carry = params["num_consts"], params["num_carry"]
        parts = split_body(
            params["jaxpr"], tuple(map(trace.is_unknown, args)), num_consts, num_carry
        )
        consts, init, _ = split(parts.unknowns, num_consts, num_carry)
        known_args = split(
            [x for x, u in zip(args, parts.unknowns) if not u],
            consts.count(False),
            init.count(False),
        )
        common = eval_jaxpr(parts.invariant.jaxpr, parts.invariant.consts, *known_args[0])
        residuals, known_consts = common[: parts.hoisted], common[parts.hoisted :]
        first = params | dict(
            jaxpr=parts.known, num_consts=len(known_consts), num_carry=len(known_args[1])
        )
        known_outs = []
        if parts.known.jaxpr.outvars or must_stay(parts.known.effects):
            operands = [*known_consts, *known_args[1], *known_args[2]]
            known_outs = trace.parent.process(self, operands, first)
        stacked = residual_values(parts.sources, known_args[2], known_outs[len(known_args[1]) :])
        second = params | dict(
            jaxpr=parts.unknown, num_consts=len(residuals) + sum(consts), num_carry=sum(init)
        )
        unknown_args = [x for x, u in zip(args, parts.unknowns) if u]
        operands = [*residuals, *unknown_args, *stacked]
        unknown_outs = iter(trace.unknown.process(self, operands, second))
        known = iter(known_outs)
        return [next(unknown_outs) if u else next(known) for u in parts.out_unknowns]

    def prune(self, eqn, used):
        params = eqn.params
        num_consts, num_carry = params["num_consts"], params["num_carry"]
        smaller = without_unused(params["jaxpr"], tuple(used), num_consts, num_carry)
        if smaller is None:
            return eqn
        jaxpr, kept, used = smaller
        return eqn.replace(
            invars=[eqn.invars[i] for i in kept],
            outvars=[var for var, wanted in zip(eqn.outvars, used) if wanted],
            params=params
            | dict(
                jaxpr=jaxpr,
                num_consts=sum(i < num_consts for i in kept),
                num_carry=sum(used[:num_carry]),
            ),
        )

    def transpose(self, cts, *args, jaxpr, num_consts, num_carry, reverse, **params):
        undefined = [type(x) is UndefinedPrimal for x in args]
        const_linear, _, xs_linear = split(undefined, num_consts, num_carry)
        # A carry whose initial value is known is the tangent zero of what has none.
        linear = (*const_linear, *[True] * num_carry, *xs_linear)
        nonzero_cts = tuple([type(ct) is not Zero for ct in cts])
        parts = transpose_body(jaxpr, linear, nonzero_cts, num_consts, num_carry)
        consts, _, xs = split(args, num_consts, num_carry)
        zeros = [Zero(x.aval.to_cotangent_aval()) for x in consts if type(x) is UndefinedPrimal]
        carry = [*zeros, *cts[:num_carry]]
        carry = [instantiate(ct) for ct, carried in zip(carry, parts.carried) if carried]
        operands = [
            *[x for x in consts if type(x) is not UndefinedPrimal],
            *carry,
            *[ct for ct in cts[num_carry:] if type(ct) is not Zero],
            *[x for x in xs if type(x) is not UndefinedPrimal],
        ]
        outs = iter(
            self.bind(
                *[operands[i] for i in parts.kept],
                jaxpr=parts.jaxpr,
                num_consts=parts.num_consts,
                num_carry=len(carry),
                reverse=not reverse,
                **params,
            )
        )
        found = iter([next(outs) if nonzero else None for nonzero in parts.nonzeros])
        results = [next(found) if lin else None for lin in linear]
        return [
            None if not undef else Zero(x.aval.to_cotangent_aval()) if ct is None else ct
            for x, ct, undef in zip(args, results, undefined)
        ]

    def vmap(self, axis, dims, *args, jaxpr, num_consts, num_carry, **params):
        consts, init, xs = split([dim is not None for dim in dims], num_consts, num_carry)
        ys = (False,) * (len(jaxpr.out_avals) - num_carry)

        def rule(carry: Flags) -> tuple[Any, Flags]:
            mapped, batched = vmap_jaxpr(jaxpr, axis, (*consts, *carry, *xs), (*carry, *ys))
            return (mapped, batched), batched[:num_carry]

        (mapped, out_batched), carry = carry_fixpoint(rule, tuple(init))
        to = [0] * (num_consts + num_carry) + [1] * len(xs)  # behind the steps
        outs = self.bind(
            *[
                bring_to(x, axis.size, dim, place) if batched else x
                for x, dim, place, batched in zip(args, dims, to, (*consts, *carry, *xs))
            ],
            jaxpr=mapped,
            num_consts=num_consts,
            num_carry=num_carry,
            **params,
        )
        places = [0] * num_carry + [1] * len(ys)
        return outs, [place if b else None for place, b in zip(places, out_batched)]

    def emit(self, b, *operands, **params):
        return emit_scan(b, operands, **params)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for dtype in (np.float32, np.complex64):
            a, c = draw(rng, (2,), dtype), draw(rng, (2,), dtype)
            slices = [aval_of(x) for x in (a, c, c)]
            body = stage_closed(lambda a, c, x: [add(mul(c, a), x), mul(c, x)], slices)
            for length, reverse, unroll in [
                (3, False, 1),
                (5, True, 2),
                (2, False, 2),
                (0, True, 1),
            ]:
                numbers = dict(length=length, unroll=unroll, num_consts=1, num_carry=1)
                params = dict(jaxpr=body, reverse=reverse, **numbers)
                yield Sample((a, c, draw(rng, (length, 2), dtype)), params)


scan_p = Scan("scan")


# ---------------------------------------------------------------- groups of operands


def split(values: Sequence[Any], *counts: int) -> list[list[Any]]:
    """A sequence in parts of the given lengths, and the rest."""
    parts, start = [], 0
    for count in counts:
        parts.append(list(values[start : start + count]))
        start += count
    return [*parts, list(values[start:])]


def whole_avals(avals: Sequence[AbstractValue], length: int, count: int) -> list[AbstractValue]:
    """The types of operands or results, from those in the body; `count` of them are no slices."""
    return [*avals[:count], *[batch_aval(aval, length, 0) for aval in avals[count:]]]


def paired(has_tangent: Sequence[bool], *counts: int) -> tuple[int, ...]:
    """The order of values and tangents in which the tangents of each group stand behind it.

    Args:
      has_tangent: for each value, whether it has a tangent. The tangents are numbered behind all
        values.
      *counts: the lengths of the groups of values; the last is the rest.
    """
    tangents = iter(range(len(has_tangent), 2 * len(has_tangent)))
    numbers = [next(tangents) if has else None for has in has_tangent]
    order: list[int] = []
    for values, dots in zip(split(range(len(has_tangent)), *counts), split(numbers, *counts)):
        order += [*values, *[dot for dot in dots if dot is not None]]
    return tuple(order)


# ---------------------------------------------------------------- bodies


@jaxpr_cache
def without_unused(
    jaxpr: ClosedJaxpr, used: Flags, num_consts: int, num_carry: int
) -> tuple[ClosedJaxpr, tuple[int, ...], Flags] | None:
    """The body without what only unused outputs of the scan need.

    A carry that is unused in the end is needed if a step reads it.

    Returns:
      The smaller body, the numbers of the inputs that it keeps, and for each output whether it
      keeps that; None if it keeps all.
    """
    ys = used[num_carry:]

    def rule(carry: Flags) -> tuple[Any, Flags]:
        smaller, inputs = drop_unused(jaxpr, (*carry, *ys))
        kept = set(inputs)
        return (smaller, kept), tuple([num_consts + i in kept for i in range(num_carry)])

    (smaller, kept), carry = carry_fixpoint(rule, used[:num_carry])
    # A carry that is returned but never read is an input, too.
    carried = [num_consts + i for i, needed in enumerate(carry) if needed]
    inputs = tuple(sorted({*kept, *carried}))
    if smaller is jaxpr and len(inputs) == len(kept):
        return None
    invars = [jaxpr.jaxpr.invars[i] for i in inputs]
    body = ClosedJaxpr(smaller.jaxpr.replace(invars=invars), smaller.consts)
    return body, inputs, (*carry, *ys)


@jaxpr_cache
def without_copies(
    jaxpr: ClosedJaxpr, num_consts: int, num_carry: int
) -> tuple[ClosedJaxpr, Flags, tuple[int | None, ...]]:
    """The body without carries that never change, and without outputs that are inputs.

    Returns:
      The body, which takes such carries as its first constants; for each carry whether it is one;
      and for each output the number of the input that it is, or None.
    """
    body = jaxpr.jaxpr
    start = num_consts + num_carry
    fixed = tuple([out is var for out, var in zip(body.outvars, body.invars[num_consts:start])])
    place = {id(var): i for i, var in enumerate(body.invars[start:])}
    copied = tuple([place.get(id(out)) for out in body.outvars[num_carry:]])
    first = [num_consts + i for i, f in enumerate(fixed) if f]
    others = sorted({*range(len(body.invars))} - {*first})
    outputs = [i for i, f in enumerate(fixed) if not f]
    outputs += [num_carry + i for i, source in enumerate(copied) if source is None]
    return rearranged(jaxpr, (*first, *others), tuple(outputs)), fixed, copied


def check_params(
    *,
    jaxpr: Any,
    length: Any,
    reverse: Any,
    num_consts: Any,
    num_carry: Any,
    unroll: Any,
) -> None:
    """Raise unless the parameters of a scan are of the right types."""
    if not isinstance(jaxpr, ClosedJaxpr):
        raise JaxprTypeError(errors.wrong_param("jaxpr", jaxpr, "ClosedJaxpr"))
    if type(reverse) is not bool:
        raise JaxprTypeError(errors.wrong_param("reverse", reverse, "bool"))
    counts = dict(length=length, num_consts=num_consts, num_carry=num_carry, unroll=unroll)
    for name, count in counts.items():
        if type(count) not in (int, Dim) or count < 0:
            raise JaxprTypeError(errors.wrong_param(name, count, "non-negative int"))


# ---------------------------------------------------------------- the function


@boundary
def scan(
    f: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
    _split_transpose: bool = False,
) -> tuple[Any, Any]:
    """Loop over slices of arrays, handing a carry from step to step and stacking results.

    It computes what this loop does, as one compiled program whose size does not grow with the
    number of steps, and which all transformations apply to:

        carry, ys = init, []
        for x in xs:
            carry, y = f(carry, x)
            ys.append(y)
        return carry, np.stack(ys)

    Args:
      f: from the carry and one slice of `xs` to the new carry and one slice of the result, both
        trees of arrays. It is traced once, or a few times; only its arrays differ between steps.
      init: the carry of the first step, a tree of arrays. Weakly typed leaves, such as Python
        numbers, take the dtype that `f` makes of them.
      xs: a tree of arrays, all sliced along their first axis; None for steps without inputs.
      length: the number of steps; needed only if `xs` holds no array.
      reverse: whether to begin with the last slice. Each result stands where its slice does.
      unroll: how many steps a turn of the compiled loop takes: more make a bigger program that may
        run faster. True (or 0) means all, False means 1.
      _split_transpose: has no effect.

    Returns:
      The last carry, and the stacked results: a tree of arrays whose first axis is the steps.

    Raises:
      TypeError: `f` does not return a pair, or not a carry of the structure, shapes and dtypes of
        the one that it was given.
      ValueError: the arrays in `xs` have first axes of several sizes, or not that of `length`.

    >>> import covector.numpy as jnp
    >>> from covector import lax
    >>> lax.scan(lambda total, x: (total + x, total * x), 0, jnp.arange(1, 5))
    (Array(10, dtype=int32), Array([ 0,  2,  9, 24], dtype=int32))

    Without inputs, with two results of each step:

    >>> _, (halves, thirds) = lax.scan(lambda c, _: (c + 6.0, (c / 2, c / 3)), 0.0, length=4)
    >>> print(halves, thirds)
    [0. 3. 6. 9.] [0. 2. 4. 6.]
    """
    if not callable(f):
        raise TypeError(errors.not_callable("scan", "f argument", f))
    inputs, xs_tree = tree.flatten(xs)
    avals: list[Any] = operand_avals("scan", inputs)
    length = number_of_steps("scan", avals, length)
    if config.disable_jit.value:
        return scan_unstaged(f, init, inputs, xs_tree, length, reverse)
    in_tree = tree.treedef_tuple([tree.structure(init), xs_tree])
    slices = [_slice_of(aval) for aval in avals]

    def staged(carry: tuple[AbstractValue, ...]) -> Body:
        return stage_body("scan", f, in_tree, (*carry, *slices))

    body, values = settle_carry("scan body", f, init, staged, returned_carry)
    if needs_lost_rules(body.jaxpr) and length:
        return scan_unstaged(f, init, inputs, xs_tree, length, reverse)
    unroll = steps_in_turn(unroll, length)
    apply = scan_with_refs if body.takes_refs else scan_slices
    outs = apply(body.jaxpr, body.consts, values, inputs, length, bool(reverse), unroll)
    return tree.unflatten(body.out_tree, outs)


def _slice_of(aval: Any) -> Any:
    """The type of one slice of an array, or of a reference to one."""
    if type(aval) is AbstractRef:
        return AbstractRef(example_aval(aval.inner_aval, 0), aval.memory_space, aval.kind)
    return example_aval(aval, 0)


def scan_slices(
    jaxpr: ClosedJaxpr,
    consts: Sequence[Any],
    init: Sequence[Any],
    inputs: Sequence[Any],
    length: int,
    reverse: bool = False,
    unroll: int = 1,
) -> list[Any]:
    """Apply a staged body to flat operands; what a step only hands on does not go through the loop.

    Returns:
      The last carry, and the stacked outputs.
    """
    jaxpr, fixed, copied = without_copies(jaxpr, len(consts), len(init))
    constant = [x for x, is_fixed in zip(init, fixed) if is_fixed]
    varying = [x for x, is_fixed in zip(init, fixed) if not is_fixed]
    outs = iter(
        scan_p.bind(
            *constant,
            *consts,
            *varying,
            *inputs,
            jaxpr=jaxpr,
            length=length,
            num_carry=len(varying),
            num_consts=len(constant) + len(consts),
            reverse=reverse,
            unroll=unroll,
        )
    )
    results = [stage(x) if is_fixed else next(outs) for x, is_fixed in zip(init, fixed)]
    return results + [next(outs) if i is None else stage(inputs[i]) for i in copied]


def scan_with_refs(
    jaxpr: ClosedJaxpr, consts: list[Any], init: list[Any], inputs: list[Any], *options: Any
) -> list[Any]:
    """`scan_slices` of a body with references among its constants or slices.

    What it writes to becomes a part of the carry, or a result.
    """
    check_aliases(jaxpr.debug_info, [*consts, *init, *inputs])
    written = written_inputs(jaxpr)
    first, count = len(consts) + len(init), len(jaxpr.out_avals)
    carried = [i for i in written if i < len(consts)]
    sliced = [i for i in written if i >= first]
    kept = [i for i in range(len(consts)) if i not in carried]
    behind = range(count, count + len(carried))
    body = rearranged(
        discharge(jaxpr, (*carried, *sliced)).jaxpr,
        (*kept, *carried, *range(len(consts), len(jaxpr.in_avals))),
        (*behind, *range(count), *range(behind.stop, count + len(written))),
    )
    values = [read(consts[i]) for i in carried]
    outs = scan_slices(
        body,
        [read(consts[i]) for i in kept],
        [*values, *init],
        list(map(read, inputs)),
        *options,
    )
    for i, value in zip(carried, outs):
        write(consts[i], value)
    outs = outs[len(carried) :]
    for i, value in zip(sliced, outs[count:]):
        write(inputs[i - first], value)
    return outs[:count]


def scan_unstaged(
    f: Callable[..., Any], init: Any, inputs: list[Any], xs_tree: Any, length: int, reverse: bool
) -> tuple[Any, Any]:
    """A scan as a loop of Python, whose every step can be looked at."""
    if length == 0:
        raise ValueError(errors.no_steps_without_jit())
    carry, ys = init, []
    for i in reversed(range(length)) if reverse else range(length):
        x = [index_in_dim(x, i, keepdims=False) for x in inputs]
        carry, y = f(carry, tree.unflatten(xs_tree, x))
        ys.append(y)
    return carry, tree.map(stacked, *(reversed(ys) if reverse else ys))


def stacked(*ys: Any) -> Any:
    """Arrays of one shape as one, along a new first axis."""
    return concatenate([expand_dims(y, (0,)) for y in ys], 0)


def returned_carry(body: Body) -> tuple[Any, Sequence[AbstractValue]]:
    """The structure of the carry that a body returns, and the types of its leaves."""
    parts = body.out_tree.children()
    if len(parts) != 2:
        raise TypeError(errors.result_not_a_pair(body.out_tree, body.out_avals))
    return parts[0], body.out_avals[: parts[0].num_leaves]


# ---------------------------------------------------------------- numbers that users give


def number_of_steps(where: str, avals: Sequence[AbstractValue], length: Any = None) -> int:
    """The number of steps of a scan over arrays of the given types."""
    if any(not getattr(aval, "shape", ()) for aval in avals):
        without = [aval for aval in avals if not getattr(aval, "shape", ())]
        raise ValueError(errors.no_leading_axis(where, without))
    sizes = [aval.shape[0] for aval in avals]
    if length is not None:
        length = integer(length, errors.length_not_known(), errors.length_not_an_integer)
        if length < 0:
            raise ValueError(errors.length_negative(length))
        if any(size != length for size in sizes):
            raise ValueError(errors.length_disagrees(length, sizes))
        return length
    if not sizes:
        raise ValueError(errors.no_length(where))
    if len(set(sizes)) > 1:
        raise ValueError(errors.lengths_differ(where, avals))
    return sizes[0]


def steps_in_turn(unroll: Any, length: int) -> int:
    """How many steps are written out in one turn of the loop, as the primitive has it."""
    if isinstance(unroll, (bool, np.bool_)):
        return max(length, 1) if unroll else 1
    unroll = integer(unroll, errors.unroll_not_known(), errors.unroll_not_an_integer)
    if unroll < 0:
        raise ValueError(errors.unroll_negative(unroll))
    return unroll


def integer(value: Any, needed_for: str, refusal: Callable[[Any], str]) -> int:
    """An integer that must be known while tracing."""
    if isinstance(value, Tracer):
        known = value.concrete_value()
        if known is None:
            text = tracing_errors.value_not_known(value.aval, value.origin(), needed_for)
            raise ConcretizationTypeError(text)
        value = known
    if isinstance(value, float) and value.is_integer():  # as in length=n / 2
        return int(value)
    try:
        return size_of(value)
    except TypeError:
        raise TypeError(refusal(value)) from None
