"""What the policies of `checkpoint` say of values: which are saved for the backward pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..core.jaxpr import JaxprEqn

# What a policy says of the output of an eqn: `policy(primitive, *avals of operands, **params)`.
Policy = Callable[..., Any]


class Saved:
    """What a policy answers; True and False mean the first two."""

    __slots__ = ("name", "saves")

    def __init__(self, name: str, saves: bool):
        self.name = name
        self.saves = saves

    def __repr__(self) -> str:
        return self.name

    def __bool__(self) -> bool:
        return self.saves


class Offloadable(NamedTuple):
    """The answer of a policy that a value may be kept in another memory.

    Where the device has one memory only, as a CPU has, the value is kept there.
    """

    src: str
    dst: str


Saveable, Recompute = Saved("Saveable", True), Saved("Recompute", False)


def saves(answer: Any) -> bool:
    """Whether the answer of a policy means that a value is kept."""
    return True if type(answer) is Offloadable else bool(answer)


def looks_at_eqns(policy: Policy | None) -> bool:
    """Whether a policy looks at one eqn at a time, and not at the whole program."""
    return policy is not None and not hasattr(policy, "choose")


def saves_results(policy: Policy | None, eqn: JaxprEqn) -> bool:
    """Whether a policy that looks at one eqn at a time has the results of this one saved."""
    if policy is None or not looks_at_eqns(policy):
        return False
    return saves(policy(eqn.primitive, *[a.aval for a in eqn.invars], **eqn.params))


class EitherPolicy:
    """Saves what one policy or the other saves; equal ones are the same policy."""

    def __init__(self, first: Policy, second: Policy):
        self.policies = first, second

    def __call__(self, *args: Any, **params: Any) -> bool:
        return any(saves(policy(*args, **params)) for policy in self.policies)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EitherPolicy) and self.policies == other.policies

    def __hash__(self) -> int:
        return hash((EitherPolicy, self.policies))

    def __repr__(self) -> str:
        return "EitherPolicy({!r}, {!r})".format(*self.policies)


def joined(first: Policy | None, second: Policy | None) -> Policy | None:
    """The policy that saves what either saves; the first alone if one looks at whole programs."""
    if second is None or second == first or not looks_at_eqns(second):
        return first
    if first is None:
        return second
    return EitherPolicy(first, second) if looks_at_eqns(first) else first
