"""What must hold of a primitive's rules: each check is a function, and knows one equation.

    types        the type that abstract evaluation gives is the type of the result
    reference    p(x) on XLA = ref(x) on NumPy
    jit          p(x) = jit(p)(x)
    jvp          J(x) v = (p(x + hv) - p(x - hv)) / 2h
    vjp          <ct, J v> = <J^T ct, v>
    transpose    <ct, p v> = <p^T ct, v>, where p is linear
    vmap         vmap(p)(xs)[i] = p(xs[i]), for each operand alone along each of its axes

A check takes a `Case` and a random generator, and returns nothing.  It raises `Disagreement` where
the equation does not hold, NotImplementedError where a rule is missing, and `DoesNotApply` where
there is nothing to check.  The compositions (`jit` of a derivative, a derivative of a derivative)
are the same equations for another function; the equations themselves stand in `equations.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..base import config, dtypes
from ..core.avals import aval_of
from ..core.primitive import Primitive
from ..core.zeros import UndefinedPrimal, Zero
from ..ops.base import Sample
from ..ops.linear import instantiate
from ..transforms.jvp import jvp
from .compare import Disagreement, assert_all_close, assert_close, assert_same_type
from .equations import (
    assert_jit_agrees,
    assert_jvp_numerically,
    assert_jvp_types,
    assert_rows,
    assert_vjp_pairs,
    assert_vjp_types,
    assert_vmap_loops,
    batched,
    batchings,
    direction,
    directions_of_results,
    is_inexact,
    is_linear,
    jvp_along,
    pairing,
    restricted,
    rounding,
    vjp_against,
)

# How many examples a batch holds.
BATCH = 3


class DoesNotApply(Exception):
    """A check has nothing to check in this case; the message says why."""


# ---------------------------------------------------------------- cases


class Case:
    """One application of a primitive, with further examples of it.

    Args:
      primitive: the primitive.
      examples: applications that agree in everything but the numbers; `BATCH` of them.

    Attributes:
      args: the operands of the first example.
      smooth: whether the primitive is differentiable at each of the examples.
    """

    def __init__(self, primitive: Primitive, examples: Sequence[Sample]):
        self.primitive = primitive
        self.examples = [x._replace(args=tuple(map(np.asarray, x.args))) for x in examples]
        self.args = self.examples[0].args
        self.params = examples[0].params
        self.smooth = all(example.smooth for example in examples)

    def fun(self, *args: Any) -> list[Any]:
        """The application as a function from operands to a list of results."""
        out = self.primitive.bind(*args, **self.params)
        return list(out) if self.primitive.multiple_results else [out]

    def widened(self) -> Case:
        """The same in 64 bits: there, finite differences tell right derivatives from wrong.

        If the primitive does not take operands of 64 bits, it stays as it is.
        """
        params = {key: _widened_param(value) for key, value in self.params.items()}
        examples = [
            x._replace(args=tuple(map(widened, x.args)), params=params) for x in self.examples
        ]
        try:
            self.primitive.typecheck(tuple([aval_of(x) for x in examples[0].args]), params)
        except NotImplementedError:  # no type rule: evaluation will tell
            pass
        except Exception:
            return self
        return Case(self.primitive, examples)

    def __repr__(self) -> str:
        operands = ", ".join(str(aval_of(x)) for x in self.args)
        params = "".join(f", {key}={value}" for key, value in self.params.items())
        return f"{self.primitive.name}({operands}{params})"


def cases(primitive: Any, seed: int = 0) -> Iterator[Case]:
    """The cases of a primitive: its own samples, drawn with several seeds to have examples."""
    draws = [primitive.samples(np.random.default_rng([seed, i])) for i in range(BATCH)]
    for examples in zip(*draws):
        if all(_same_but_for_numbers(examples[0], other) for other in examples[1:]):
            yield Case(primitive, examples)
        else:
            yield case_of(primitive, examples[0])


def case_of(primitive: Primitive, sample: Sample) -> Case:
    """The case of one sample; the further examples are the sample with smaller numbers."""

    def scaled(x: Any, i: int) -> Any:
        x = np.asarray(x, aval_of(x).dtype)
        return (x * (1 - i / 16)).astype(x.dtype) if is_inexact(x) else x

    return Case(
        primitive,
        [sample._replace(args=tuple(scaled(x, i) for x in sample.args)) for i in range(BATCH)],
    )


def widened(x: Any) -> Any:
    """An operand in 64 bits if it is inexact."""
    x = np.asarray(x)
    return x.astype(_widened_param(x.dtype))


def _widened_param(value: Any) -> Any:
    """A parameter with an inexact dtype replaced by its 64-bit counterpart."""
    if not isinstance(value, np.dtype) or not dtypes.issubdtype(value, np.inexact):
        return value
    wide = np.complex128 if dtypes.issubdtype(value, np.complexfloating) else np.float64
    return np.dtype(wide)


def _same_but_for_numbers(a: Sample, b: Sample) -> bool:
    same_types = [aval_of(x) for x in a.args] == [aval_of(x) for x in b.args]
    return same_types and repr(a.params) == repr(b.params)


def differentiable(case: Case) -> list[int]:
    """The positions of the operands that have derivatives; `DoesNotApply` if there are none."""
    constant = case.examples[0].constant
    places = [i for i, x in enumerate(case.args) if is_inexact(x) and i not in constant]
    if not places:
        raise DoesNotApply("the primitive has no derivative in these operands")
    return places


# ---------------------------------------------------------------- evaluation


def check_types(case: Case, rng: np.random.Generator) -> None:
    """Abstract evaluation gives the shapes and dtypes that evaluation has."""
    want, _ = case.primitive.typecheck(tuple([aval_of(x) for x in case.args]), case.params)
    want = list(want) if case.primitive.multiple_results else [want]
    got = case.fun(*case.args)
    if len(got) != len(want):
        raise Disagreement(
            f"abstract evaluation gives {len(want)} results, evaluation gives {len(got)}"
        )
    for i, (x, aval) in enumerate(zip(got, want)):
        what = f"result {i} of evaluation, compared with abstract evaluation"
        assert_same_type(aval_of(x), aval, what)


def check_weak_types(case: Case, rng: np.random.Generator) -> None:
    """Given Python scalars, results are as weakly typed as abstract evaluation says, and have the
    same numbers."""
    scalars = [weakened(x) for x in case.args]
    if all(x is y for x, y in zip(scalars, case.args)):
        raise DoesNotApply("no operand can be a Python scalar")
    want, _ = case.primitive.typecheck(tuple([aval_of(x) for x in scalars]), case.params)
    want = list(want) if case.primitive.multiple_results else [want]
    got = case.fun(*scalars)
    for i, (x, aval) in enumerate(zip(got, want)):
        if aval_of(x) is not aval:
            raise Disagreement(
                f"of Python scalars, result {i} is {aval_of(x)}, but abstract evaluation says "
                f"{aval}"
            )
    assert_all_close(got, case.fun(*case.args), "of Python scalars")


def weakened(x: np.ndarray) -> Any:
    """The Python scalar whose type is that of `x` but for being weak, if there is one; or `x`."""
    if x.ndim or x.dtype == np.bool_:
        return x
    return x.item() if aval_of(x.item()).dtype == x.dtype else x


def check_reference(case: Case, rng: np.random.Generator) -> None:
    """Evaluation agrees with the NumPy rule `ref`."""
    if not case.primitive.has_rule("ref"):
        raise DoesNotApply("the primitive has no `ref`")
    with np.errstate(all="ignore"):
        want = case.primitive.ref(*case.args, **case.params)
    want = list(want) if case.primitive.multiple_results else [want]
    assert_all_close(case.fun(*case.args), want, "evaluation, compared with ref")


def check_jit(case: Case, rng: np.random.Generator) -> None:
    """The compiled program agrees with evaluation."""
    assert_jit_agrees(case.fun, case.args)


# ---------------------------------------------------------------- derivatives


def check_jvp(case: Case, rng: np.random.Generator) -> None:
    """The jvp rule gives tangents of the right types, and the derivative that differences give."""
    places = differentiable(case)
    missing: NotImplementedError | None = None
    try:
        assert_jvp_types(case.fun, case.args, places)
    except NotImplementedError as error:  # there may be a jvp rule, but no type rule to stage it
        missing = error
    if case.smooth:
        with config.enable_x64(True):
            _check_jvp_numerically(case.widened(), places, rng)
    if missing is not None:
        raise missing


def _check_jvp_numerically(case: Case, places: list[int], rng: np.random.Generator) -> None:
    # All tangents at once, then each operand's alone: a rule may treat zeros separately.
    for chosen in [places] + ([[i] for i in places] if len(places) > 1 else []):
        fun, xs = restricted(case.fun, case.args, chosen)
        which = f"the jvp with respect to operand {', '.join(map(str, chosen))}"
        assert_jvp_numerically(fun, xs, rng, which)


def check_vjp(case: Case, rng: np.random.Generator) -> None:
    """The derivative transposes: to cotangents of the right types, with the same pairing."""
    places = differentiable(case)
    assert_vjp_types(*restricted(case.fun, case.args, places))
    with config.enable_x64(True):
        wide = case.widened()
        assert_vjp_pairs(*restricted(wide.fun, wide.args, places), rng)


def check_transpose(case: Case, rng: np.random.Generator) -> None:
    """The transpose rule of the primitive itself, in every operand in which it is linear, and in
    all of them together if it is linear in them together."""
    if not case.primitive.has_rule("transpose"):
        raise DoesNotApply("the primitive has no transpose rule")
    places = differentiable(case)
    applied = False
    with config.enable_x64(True):
        wide = case.widened()
        if not all(map(is_inexact, wide.fun(*wide.args))):
            raise DoesNotApply("there are results without cotangents")
        for chosen in [[i] for i in places] + ([places] if len(places) > 1 else []):
            if is_linear(*restricted(wide.fun, wide.args, chosen), rng):
                applied = True
                assert_transposes(wide, chosen, rng)
    if not applied:
        raise DoesNotApply("the primitive is not linear in these operands")


def assert_transposes(case: Case, places: Sequence[int], rng: np.random.Generator) -> None:
    """Raise `Disagreement` unless  <ct, p v> = <p^T ct, v>  in the operands at `places`."""
    vs = {i: direction(rng, case.args[i]) for i in places}
    outs = case.fun(*[vs.get(i, x) for i, x in enumerate(case.args)])
    cts = [direction(rng, out) for out in outs]
    operands = [UndefinedPrimal(aval_of(x)) if i in vs else x for i, x in enumerate(case.args)]
    given = cts if case.primitive.multiple_results else cts[0]
    pulled = case.primitive.transpose(given, *operands, **case.params)
    which = f"the transpose with respect to operand {', '.join(map(str, places))}"
    for i in places:
        if pulled[i] is None:
            raise Disagreement(f"{which}: there is no cotangent of operand {i}")
        if type(pulled[i]) is not Zero:
            what = f"{which}: the cotangent of operand {i}"
            assert_same_type(aval_of(pulled[i]), aval_of(case.args[i]).to_cotangent_aval(), what)
    assert_close(
        pairing([pulled[i] for i in places], list(vs.values())),
        pairing(cts, outs),
        f"{which}, <p^T ct, v> compared with <ct, p v>",
        rounding([*outs, *case.args]),
    )


# ---------------------------------------------------------------- batches


def check_vmap(case: Case, rng: np.random.Generator) -> None:
    """Batching agrees with a loop over the examples."""
    examples = batchable(case)
    for dims in batchings([np.ndim(x) for x in case.args]):
        assert_vmap_loops(case.fun, examples, dims)


def check_empty_batch(case: Case, rng: np.random.Generator) -> None:
    """A batch of no examples gives batches of none, of the right types."""
    args = batchable(case)[0]
    outs = batched(case.fun, 0, (0,) * len(args))(*[np.zeros((0, *x.shape), x.dtype) for x in args])
    for i, (x, y) in enumerate(zip(outs, case.fun(*args))):
        aval: Any = aval_of(y)
        what = f"result {i} for a batch of no examples"
        assert_same_type(aval_of(x), aval.update(shape=(0, *aval.shape)), what)


def batchable(case: Case) -> list[tuple[Any, ...]]:
    """The operands of each example; `DoesNotApply` if there are none."""
    if not case.args:
        raise DoesNotApply("the primitive has no operands")
    return [example.args for example in case.examples]


# ---------------------------------------------------------------- compositions


def check_jit_of_jvp(case: Case, rng: np.random.Generator) -> None:
    """The compiled jvp agrees with the jvp."""
    fun, xs = restricted(case.fun, case.args, differentiable(case))
    assert_jit_agrees(jvp_along(fun, [direction(rng, x) for x in xs]), xs)


def check_jit_of_vjp(case: Case, rng: np.random.Generator) -> None:
    """The compiled vjp agrees with the vjp."""
    fun, xs = restricted(case.fun, case.args, differentiable(case))
    assert_jit_agrees(vjp_against(fun, directions_of_results(rng, fun, xs)), xs)


def check_jit_of_vmap(case: Case, rng: np.random.Generator) -> None:
    """The compiled batch agrees with the batch."""
    batches = stack(batchable(case))
    assert_jit_agrees(batched(case.fun, len(case.examples), (0,) * len(batches)), batches)


def check_vmap_of_jvp(case: Case, rng: np.random.Generator) -> None:
    """A batch of jvps agrees with a loop of them."""
    places = differentiable(case)
    fun, xs = restricted(case.fun, case.args, places)
    along = jvp_along(fun, [direction(rng, x) for x in xs])
    assert_vmap_loops(along, _examples_at(case, places), (0,) * len(xs))


def check_vmap_of_vjp(case: Case, rng: np.random.Generator) -> None:
    """A batch of vjps agrees with a loop of them."""
    places = differentiable(case)
    fun, xs = restricted(case.fun, case.args, places)
    against = vjp_against(fun, directions_of_results(rng, fun, xs))
    assert_vmap_loops(against, _examples_at(case, places), (0,) * len(xs))


def check_jvp_of_vmap(case: Case, rng: np.random.Generator) -> None:
    """The jvp of a batch agrees with a loop of jvps."""
    places = differentiable(case)
    fun, _ = restricted(case.fun, case.args, places)
    examples = _examples_at(case, places)
    vs = [[direction(rng, x) for x in xs] for xs in examples]
    outs, tangents = jvp(batched(fun, len(vs), (0,) * len(places)), stack(examples), stack(vs))
    pairs = [jvp(fun, xs, v) for xs, v in zip(examples, vs)]
    assert_rows(outs, [xs for xs, _ in pairs], "vmap under jvp")
    tangents = list(map(instantiate, tangents))
    assert_rows(tangents, [list(map(instantiate, ts)) for _, ts in pairs], "the jvp of vmap")


def check_vjp_of_vmap(case: Case, rng: np.random.Generator) -> None:
    """The vjp of a batch agrees with a loop of vjps."""
    places = differentiable(case)
    fun, _ = restricted(case.fun, case.args, places)
    examples = _examples_at(case, places)
    cts = [directions_of_results(rng, fun, xs) for xs in examples]
    of_batches = batched(fun, len(cts), (0,) * len(places))
    got = vjp_against(of_batches, stack(cts))(*stack(examples))
    want = [vjp_against(fun, ct)(*xs) for xs, ct in zip(examples, cts)]
    assert_rows(got, want, "the vjp of vmap")


def stack(examples: Sequence[Sequence[Any]]) -> list[np.ndarray]:
    """For each argument the batch of its examples, along the first axis."""
    return [np.stack(column) for column in zip(*examples)]


def _examples_at(case: Case, places: Sequence[int]) -> list[list[Any]]:
    return [[example.args[i] for i in places] for example in case.examples]


def check_jvp_of_vjp(case: Case, rng: np.random.Generator) -> None:
    """The derivative of the vjp is the one that differences give."""
    if not case.smooth:
        raise DoesNotApply("the sample is not smooth")
    with config.enable_x64(True):
        wide = case.widened()
        fun, xs = restricted(wide.fun, wide.args, differentiable(wide))
        against = vjp_against(fun, directions_of_results(rng, fun, xs))
        assert_jvp_numerically(against, xs, rng, "the jvp of the vjp")


def check_vjp_of_jvp(case: Case, rng: np.random.Generator) -> None:
    """The derivative of the jvp transposes."""
    with config.enable_x64(True):
        wide = case.widened()
        fun, xs = restricted(wide.fun, wide.args, differentiable(wide))
        along = jvp_along(fun, [direction(rng, x) for x in xs])
        assert_vjp_pairs(along, xs, rng, "the vjp of the jvp")


Check = Callable[[Case, np.random.Generator], None]

# In the order in which an extender gives the rules.
CHECKS: dict[str, Check] = {
    "abstract eval": check_types,
    "weak types": check_weak_types,
    "ref": check_reference,
    "jit": check_jit,
    "jvp": check_jvp,
    "vjp": check_vjp,
    "transpose": check_transpose,
    "vmap": check_vmap,
    "empty batch": check_empty_batch,
    "jit of jvp": check_jit_of_jvp,
    "jit of vjp": check_jit_of_vjp,
    "jit of vmap": check_jit_of_vmap,
    "vmap of jvp": check_vmap_of_jvp,
    "vmap of vjp": check_vmap_of_vjp,
    "jvp of vmap": check_jvp_of_vmap,
    "vjp of vmap": check_vjp_of_vmap,
    "jvp of vjp": check_jvp_of_vjp,
    "vjp of jvp": check_vjp_of_jvp,
}
