"""Tokens: values without content, by which effects are put in an order.

What takes a token runs after what made it.  Outside of programs a token is an array without
elements, which is there when what made it has run.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import elementwise_errors
from ..core.avals import Token, abstract_token, aval_of
from ..core.primitive import BuiltinPrimitive
from .joining import concatenate_p


class CreateToken(BuiltinPrimitive):
    """A token that comes after nothing."""

    def abstract_eval(self):
        return abstract_token

    def evaluate(self, backend, args, params):
        return Token(backend.to_array(np.zeros(0, np.bool_)))

    def emit(self, b):
        return b.op("create_token")


class AfterAll(BuiltinPrimitive):
    """The token that comes after all operands."""

    def abstract_eval(self, *tokens):
        if any(token is not abstract_token for token in tokens):
            raise TypeError(elementwise_errors.not_tokens(tokens))
        return abstract_token

    def evaluate(self, backend, args, params):
        self.abstract_eval(*map(aval_of, args))
        if not args:
            return create_token_p.evaluate(backend, (), {})
        return Token(backend.execute(concatenate_p, [x._buf for x in args], dict(dimension=0)))

    def emit(self, b, *tokens):
        return b.op("after_all", *tokens)


create_token_p = CreateToken("create_token")
after_all_p = AfterAll("after_all")


def create_token(_: Any = None) -> Any:
    """A token that comes after nothing. The argument is ignored.

    >>> import covector
    >>> from covector import lax
    >>> covector.make_jaxpr(lambda: lax.create_token())()
    { lambda ; . let a:Tok = create_token  in (a,) }
    """
    return create_token_p.bind()


def after_all(*operands: Any) -> Any:
    """The token that comes after all given tokens.

    Raises:
      TypeError: an operand is not a token.

    >>> import covector
    >>> from covector import lax
    >>> covector.make_jaxpr(lambda: lax.after_all(lax.create_token()))()
    { lambda ; . let a:Tok = create_token ; b:Tok = after_all a in (b,) }
    """
    return after_all_p.bind(*operands)
