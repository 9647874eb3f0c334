"""`check_primitive`: what is missing from a primitive, and what is wrong with it, in one table."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..base.extension_errors import no_samples
from ..core.primitive import Primitive
from ..ops.base import Sample
from .checks import CHECKS, Case, DoesNotApply, case_of, cases
from .compare import Disagreement


class Row(NamedTuple):
    """What one check found.

    Attributes:
      check: its name, such as `"jvp"` or `"vmap of vjp"`.
      status: `"ok"`; `"wrong"` if there is a sample in which the rules disagree, or fail;
        `"missing"` if a rule that the check needs was not given; `"-"` if there is nothing to
        check.
      samples: how many samples the check was applied to.
      detail: of what is not ok, the first instance.
    """

    check: str
    status: str
    samples: int
    detail: str


class Report:
    """The result of `check_primitive`; printed, it is a table.

    Attributes:
      primitive: the primitive.
      rows: for each check what it found.
    """

    def __init__(self, primitive: Primitive, rows: Sequence[Row]):
        self.primitive = primitive
        self.rows = tuple(rows)

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong; rules may be missing."""
        return not self.wrong

    @property
    def wrong(self) -> tuple[str, ...]:
        """The names of the checks that found a disagreement."""
        return tuple(row.check for row in self.rows if row.status == "wrong")

    @property
    def missing(self) -> tuple[str, ...]:
        """The names of the checks for which a rule is missing."""
        return tuple(row.check for row in self.rows if row.status == "missing")

    def __getitem__(self, check: str) -> Row:
        return next(row for row in self.rows if row.check == check)

    def __repr__(self) -> str:
        return f"<Report on {self.primitive}: {len(self.wrong)} wrong, {len(self.missing)} missing>"

    def __str__(self) -> str:
        width = max(len(row.check) for row in self.rows)
        lines = [f"{'check':{width}}  status   samples", "-" * (width + 18)]
        told: set[str] = {""}
        for row in self.rows:
            count = str(row.samples) if row.samples else ""
            lines.append(f"{row.check:{width}}  {row.status:7}  {count:>7}".rstrip())
            if row.detail not in told:
                told.add(row.detail)
                lines.append(textwrap.indent(textwrap.fill(row.detail, 96), "    "))
        verdict = "nothing is wrong" if self.ok else f"wrong: {', '.join(self.wrong)}"
        return "\n".join([f"{self.primitive}: {verdict}", *lines])


def check_primitive(
    p: Primitive,
    samples: Iterable[Sample | tuple[Any, ...]] | None = None,
    seed: int = 0,
    checks: Iterable[str] | None = None,
) -> Report:
    """Check the rules of a primitive against each other, and against numbers.

    The type rule is compared with evaluation, compilation with evaluation, the jvp rule with finite
    differences, the transposed derivative with the derivative (`<ct, J v> = <J^T ct, v>`), batching
    with a loop, for each operand along each axis; then compiled derivatives and batches, batches
    of derivatives, and second derivatives.

    Args:
      p: a primitive, made with `covector.extend.core.Primitive` or `covector.extend.primitive`.
      samples: applications to try: tuples of operands, or `Sample`s, which also have parameters.
        If left out, `p.samples(rng)` is asked for them.
      seed: of the random directions, and of the primitive's own samples.
      checks: the names of the checks to make, as in the table; by default all.

    Returns:
      The findings: printed, a table. `ok` tells whether nothing is wrong, `missing` and `wrong`
      name the checks concerned, and `rows` has the details.

    Raises:
      ValueError: there are no samples.
      KeyError: there is no check of that name.

    >>> import covector as cv
    >>> from covector.interpreters import ad
    >>> double_p = cv.extend.core.Primitive("double")
    >>> _ = double_p.def_impl(lambda x: 2 * x)
    >>> ad.defjvp(double_p, lambda t, x: 3 * t)                 # wrong, of course
    >>> report = cv.testing.check_primitive(double_p, [(1.0,)])
    >>> report.ok, report["vmap"].detail
    (False, "Batching rule for 'double' not implemented")
    """
    found = list(_cases(p, samples, seed))
    if not found:
        raise ValueError(no_samples(p.name))
    return Report(p, [_row(name, found, seed) for name in (checks or CHECKS)])


def _cases(p: Any, samples: Iterable[Any] | None, seed: int) -> Iterator[Case]:
    if samples is None:
        if hasattr(p, "samples"):
            yield from cases(p, seed)
        return
    for sample in samples:
        yield case_of(p, sample if isinstance(sample, Sample) else Sample(tuple(sample), {}))


def _row(name: str, found: Sequence[Case], seed: int) -> Row:
    """The finding of one check over all cases: the worst of what it says of each."""
    missing, wrong, applied = "", "", 0
    for case in found:
        try:
            CHECKS[name](case, np.random.default_rng(seed))
        except DoesNotApply:
            continue
        except NotImplementedError as error:
            missing = missing or str(error)
        except Disagreement as error:
            wrong = wrong or f"{case}: {error}"
        except Exception as error:
            wrong = wrong or f"{case}: {type(error).__name__}: {error}"
        applied += 1
    status = "wrong" if wrong else "missing" if missing else "ok" if applied else "-"
    return Row(name, status, applied, wrong or missing)
