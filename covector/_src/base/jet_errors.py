"""What errors about Taylor series say."""

from __future__ import annotations

from typing import Any


def not_as_many(primals: int, series: int) -> str:
    return (
        f"[jet] There must be a series for each primal, but there are {primals} primals and "
        f"{series} series."
    )


def not_a_series(position: int, given: Any) -> str:
    return (
        f"[jet] `series[{position}]` must be a list or tuple of the terms of primal {position}, "
        f"the first derivative first, but is {given!r:.60}."
    )


def lengths(counts: list[int]) -> str:
    return (
        "[jet] All series must have the same number of terms, but they have "
        f"{', '.join(map(str, counts))}. Fill the shorter ones up with zeros."
    )


def term(position: int, order: int, primal: Any, given: Any) -> str:
    return (
        f"[jet] Each term must be a tree of arrays like its primal, but term {order} of primal "
        f"{position} is {given}, and the primal {primal}."
    )
