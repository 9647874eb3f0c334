"""Tokens of ordered effects, as lowering rules of users see them, and which effects can be lowered.

A rule of a primitive with an ordered effect finds the token after which its operations come in
`ctx.tokens_in`, and hands on the one that they make by `ctx.set_tokens_out`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from jaxlib.mlir import ir

from ..core.effects import Effect


class TokenSet:
    """The tokens of some ordered effects. It does not change.

    Args:
      tokens: MLIR values by effect.
    """

    __slots__ = ("_tokens",)

    def __init__(self, tokens: Mapping[Effect, Any] | None = None):
        self._tokens = dict(tokens or {})

    def __len__(self) -> int:
        return len(self._tokens)

    def __repr__(self) -> str:
        return f"TokenSet({self._tokens})"

    def get(self, effect: Effect) -> Any:
        """The token of an effect."""
        return self._tokens[effect]

    @classmethod
    def create(cls, effects: Iterable[Effect]) -> TokenSet:
        """New tokens, which come after nothing."""
        kind = ir.Type.parse("!stablehlo.token")
        return cls(
            {
                effect: ir.Operation.create("stablehlo.create_token", results=[kind]).result
                for effect in effects
            }
        )

    def items(self) -> tuple[tuple[Effect, Any], ...]:
        """Pairs of an effect and its token."""
        return tuple(self._tokens.items())

    def effects(self) -> set[Effect]:
        """The effects."""
        return set(self._tokens)

    def subset(self, effects: Iterable[Effect]) -> TokenSet:
        """The tokens of these effects alone."""
        return TokenSet({effect: self._tokens[effect] for effect in effects})

    def update_tokens(self, tokens: TokenSet) -> TokenSet:
        """A set of the same effects, with the tokens of another one where that has them."""
        return TokenSet({e: tokens._tokens.get(e, token) for e, token in self._tokens.items()})


class EffectTypes:
    """A set of kinds of effects, of which each effect is an instance or is not."""

    def __init__(self, *types: type[Effect]):
        self._types = set(types)

    def __repr__(self) -> str:
        return f"EffectTypes({self._types})"

    def add_type(self, effect_type: type[Effect]) -> None:
        """Add a kind, with all kinds derived from it."""
        self._types.add(effect_type)

    def contains(self, eff: Effect) -> bool:
        """Whether an effect is of one of the kinds."""
        return isinstance(eff, tuple(self._types))

    def filter_in(self, effects: Iterable[Effect]) -> list[Effect]:
        """Those of the effects that are of one of the kinds."""
        return [effect for effect in effects if self.contains(effect)]

    def filter_not_in(self, effects: Iterable[Effect]) -> list[Effect]:
        """Those of the effects that are of none of the kinds."""
        return [effect for effect in effects if not self.contains(effect)]


# Every effect can be lowered, if its primitive can; nobody has to add a kind.
lowerable_effects = EffectTypes(Effect)
