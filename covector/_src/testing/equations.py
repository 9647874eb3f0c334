"""The equations that tie transformations together, as assertions about functions.

A function here takes flat arrays and returns a list of arrays.  Each assertion raises
`Disagreement` where its equation does not hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..api.jit import jit
from ..base import dtypes
from ..core.avals import aval_of, raise_to_shaped
from ..core.axis import Axis
from ..core.check import check_jaxpr
from ..core.zeros import Zero
from ..ops.linear import bring_to, instantiate
from ..transforms.jvp import jvp
from ..transforms.stage import stage
from ..transforms.transpose import vjp
from ..transforms.vmap import vmap
from .compare import (
    Disagreement,
    assert_all_close,
    assert_close,
    assert_same_type,
    host,
    tolerance,
)

Function = Callable[..., Sequence[Any]]

# ---------------------------------------------------------------- functions of functions


def restricted(
    fun: Function, args: Sequence[Any], places: Sequence[int]
) -> tuple[Function, list[Any]]:
    """`fun` as a function of the arguments at `places` and of its inexact results alone; and
    those arguments."""

    def part(*moving: Any) -> list[Any]:
        operands = list(args)
        for i, x in zip(places, moving):
            operands[i] = x
        return [out for out in fun(*operands) if is_inexact(out)]

    return part, [args[i] for i in places]


def jvp_along(fun: Function, vs: Sequence[Any]) -> Function:
    """The function  x -> J(x) v  of the derivative of `fun` in a fixed direction."""
    return lambda *xs: [instantiate(t) for t in jvp(fun, xs, vs)[1]]


def vjp_against(fun: Function, cts: Sequence[Any]) -> Function:
    """The function  x -> J(x)^T ct  for fixed cotangents of the results of `fun`."""
    return lambda *xs: [instantiate(ct) for ct in vjp(fun, xs)[1](cts)]


def batched(fun: Function, size: int, dims: Sequence[int | None]) -> Function:
    """The function of batches that are stacked along `dims`; it stacks results along the first."""

    def of_batches(*batches: Any) -> list[Any]:
        outs, out_dims = vmap(fun, Axis(size), batches, dims)
        return [bring_to(out, size, dim, 0) for out, dim in zip(outs, out_dims)]

    return of_batches


def is_inexact(x: Any) -> bool:
    """Whether a value, or an aval, has a dtype with derivatives."""
    return dtypes.issubdtype(raise_to_shaped(x).dtype, np.inexact)


def direction(rng: np.random.Generator, like: Any) -> np.ndarray:
    """A random tangent or cotangent of the shape and dtype of a value or aval."""
    aval: Any = raise_to_shaped(like)
    values = np.asarray(rng.uniform(-1.0, 1.0, aval.shape))
    if dtypes.issubdtype(aval.dtype, np.complexfloating):
        values = values + 1j * rng.uniform(-1.0, 1.0, aval.shape)
    return values.astype(aval.dtype)


def directions_of_results(rng: np.random.Generator, fun: Function, xs: Sequence[Any]) -> list[Any]:
    """Random cotangents of the results of `fun`."""
    return [direction(rng, out) for out in fun(*xs)]


def pairing(cts: Sequence[Any], vs: Sequence[Any]) -> float:
    """<ct, v>, the sum of the products of their elements, without conjugation.

    Of a complex pairing the real part is taken: maps such as `real` and `conj` are linear over the
    reals only, and for those it is what a transpose preserves.
    """
    with np.errstate(all="ignore"):
        return float(sum(np.sum(host(ct) * host(v)).real for ct, v in zip(cts, vs)))


def rounding(values: Sequence[Any]) -> float:
    """The relative difference that rounding explains in sums over these values."""
    return max([tolerance(aval_of(x).dtype) for x in values], default=0.0)


# ---------------------------------------------------------------- compilation


def assert_jit_agrees(fun: Function, args: Sequence[Any]) -> None:
    """`jit(fun)` has the results of `fun`, in type and number."""
    want, got = fun(*args), jit(lambda *xs: list(fun(*xs)))(*args)
    for i, (x, y) in enumerate(zip(got, want)):
        assert_same_type(aval_of(x), aval_of(y), f"under jit, result {i}")
    assert_all_close(got, want, "under jit")


# ---------------------------------------------------------------- derivatives


def assert_jvp_types(fun: Function, args: Sequence[Any], places: Sequence[int]) -> None:
    """The tangents of `fun` have the tangent types of its results; those of `args` not at
    `places` are zero."""

    def both(*operands: Any) -> list[Any]:
        given = iter(operands[len(args) :])
        tangents_in = [
            next(given) if i in places else Zero(aval_of(x).to_tangent_aval())
            for i, x in enumerate(args)
        ]
        outs, tangents = jvp(fun, operands[: len(args)], tangents_in)
        for i, (x, t) in enumerate(zip(outs, tangents)):
            got = t.aval if type(t) is Zero else aval_of(t)
            assert_same_type(got, aval_of(x).to_tangent_aval(), f"the tangent of result {i}")
        return outs + [t for t in tangents if type(t) is not Zero]

    avals = [aval_of(x) for x in args]
    jaxpr, _ = stage(both, avals + [avals[i].to_tangent_aval() for i in places])
    check_jaxpr(jaxpr)


def assert_jvp_numerically(
    fun: Function,
    xs: Sequence[Any],
    rng: np.random.Generator,
    what: str = "the jvp",
    rtol: float | None = None,
    eps: float | None = None,
) -> None:
    """The jvp of `fun` in a random direction is its central difference.

    Args:
      fun: has inexact arguments and results.
      xs: where to differentiate.
      rng: draws the direction.
      what: what is differentiated, for the message.
      rtol: the largest difference allowed, relative to the derivative or to 1.
      eps: the step of the difference.
    """
    vs = [direction(rng, x) for x in xs]
    outs, tangents = jvp(fun, xs, vs)
    coarsest = max([machine_epsilon(x) for x in [*outs, *xs]], default=0.0)
    # The error of a central difference is h^2/6 f''' from the formula, and eps/h |f| from
    # rounding; they balance at h = eps^(1/3), where both are eps^(2/3).
    # The tolerance leaves room for a large third derivative: a wrong rule is off by far more.
    h = coarsest ** (1 / 3) if eps is None else eps
    rtol = 30 * coarsest ** (1 / 2) if rtol is None else rtol

    def moved(by: float) -> list[np.ndarray]:
        points = [(host(x) + by * host(v)).astype(aval_of(x).dtype) for x, v in zip(xs, vs)]
        return [host(out) for out in fun(*points)]

    def difference(h: float) -> list[np.ndarray]:
        return [(ahead - behind) / (2 * h) for ahead, behind in zip(moved(h), moved(-h))]

    with np.errstate(all="ignore"):
        numeric = difference(h)
        # Near a pole or a jump differences go astray; another step tells by how much.
        doubts = [np.abs(x - y) for x, y in zip(numeric, difference(h / 4))]
    for i, (tangent, number, doubt) in enumerate(zip(tangents, numeric, doubts)):
        name = f"{what}, compared with differences" + (f", result {i}" if len(numeric) > 1 else "")
        assert_close(tangent, number, name, rtol, rtol + 2 * doubt)


def machine_epsilon(x: Any) -> float:
    """The relative rounding error of the dtype of a value."""
    return float(dtypes.finfo(aval_of(x).dtype).eps)


def assert_vjp_types(fun: Function, xs: Sequence[Any]) -> None:
    """The cotangents of the arguments of `fun` have the arguments' cotangent types."""

    def backward(*operands: Any) -> list[Any]:
        outs, pull = vjp(fun, operands)
        cts = pull([instantiate(Zero(aval_of(out).to_cotangent_aval())) for out in outs])
        for i, (x, ct) in enumerate(zip(xs, cts)):
            got = ct.aval if type(ct) is Zero else aval_of(ct)
            assert_same_type(got, aval_of(x).to_cotangent_aval(), f"the cotangent of operand {i}")
        return [ct for ct in cts if type(ct) is not Zero]

    jaxpr, _ = stage(backward, [aval_of(x) for x in xs])
    check_jaxpr(jaxpr)


def assert_vjp_pairs(
    fun: Function, xs: Sequence[Any], rng: np.random.Generator, what: str = "the vjp"
) -> None:
    """<ct, J v> = <J^T ct, v>  for random v and ct."""
    vs = [direction(rng, x) for x in xs]
    outs, tangents = jvp(fun, xs, vs)
    if not any(v.size for v in vs):  # there is nothing to pair
        return
    cts = [direction(rng, out) for out in outs]
    assert_close(
        pairing(vjp(fun, xs)[1](cts), vs),
        pairing(cts, tangents),
        f"{what}, <J^T ct, v> compared with <ct, J v>",
        rounding([*outs, *xs]),
    )


def is_linear(fun: Function, xs: Sequence[Any], rng: np.random.Generator) -> bool:
    """Whether  f(2u - 3v) = 2 f(u) - 3 f(v)  for random u and v, up to rounding.

    Of results that are empty, or zero, nothing can be said, and the answer is no.
    """
    us, vs = [[direction(rng, x) for x in xs] for _ in range(2)]
    at_us, at_vs = [[host(out) for out in fun(*points)] for points in (us, vs)]
    if not at_us or not all(out.any() and np.isfinite(out).all() for out in at_us + at_vs):
        return False
    sums = fun(*[2 * u - 3 * v for u, v in zip(us, vs)])
    wanted = [2 * a - 3 * b for a, b in zip(at_us, at_vs)]
    try:
        assert_all_close(sums, wanted, "", rounding([*sums, *xs]))
    except Disagreement:
        return False
    return True


# ---------------------------------------------------------------- batches


def batchings(ranks: Sequence[int]) -> Iterator[tuple[int | None, ...]]:
    """Ways to batch operands of the given ranks: each alone along each of its axes, all of them
    along the first, and all along axes that differ from one to the next."""
    for i, rank in enumerate(ranks):
        for dim in range(rank + 1):
            yield tuple(dim if j == i else None for j in range(len(ranks)))
    if len(ranks) > 1:
        yield (0,) * len(ranks)
        if any(ranks):
            yield tuple(rank if i % 2 else 0 for i, rank in enumerate(ranks))


def assert_vmap_loops(
    fun: Function, examples: Sequence[Sequence[Any]], dims: Sequence[int | None]
) -> None:
    """`vmap(fun)` on stacked examples is `fun` on each of them.

    Args:
      fun: the function.
      examples: the arguments of each example; those that are not batched are the first's.
      dims: for each argument the dimension along which its examples are stacked, or None.
    """
    batches = [
        examples[0][i] if dim is None else np.stack([args[i] for args in examples], dim)
        for i, dim in enumerate(dims)
    ]
    stacked = batched(fun, len(examples), dims)(*batches)
    singles = [
        [first if dim is None else x for first, x, dim in zip(examples[0], args, dims)]
        for args in examples
    ]
    assert_rows(stacked, [fun(*args) for args in singles], f"vmap with in_axes={tuple(dims)}")


def assert_rows(stacked: Sequence[Any], wanted: Sequence[Sequence[Any]], what: str) -> None:
    """Each row of the results of a batch is the result for that example."""
    for n, want in enumerate(wanted):
        where = f"{what}, example {n}, compared with a loop"
        for x, y in zip(stacked, want):
            given: Any = aval_of(x)
            assert_same_type(given.update(shape=given.shape[1:]), aval_of(y), where)
        assert_all_close([np.asarray(x)[n, ...] for x in stacked], want, where)
