"""Symbolic shapes as text: `"batch, 2*n + 1, floordiv(m, 3), _, ..."`.

shape    =  [ "(" ] dimension { "," dimension } [ "," ] [ ")" ]
dimension = "..." | "_" | sum
sum      =  [ "+" | "-" ] product { ("+" | "-") product }
product  =  power { "*" power }
power    =  atom [ "^" integer ]
atom     =  integer | name | name "(" sum "," sum ")" | "-" atom
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from . import dim_errors as errors
from .dims import Dim, Size, max_dim, min_dim, variable

_TOKEN = re.compile(r"\s*(\d+(?![\w.])|[A-Za-z_]\w*|\.\.\.|[-+*^(),]|$)")

_OPERATIONS: dict[str, Callable[[Any, Any], Size]] = {
    "floordiv": lambda x, y: x // y,
    "mod": lambda x, y: x % y,
    "max": max_dim,
    "min": min_dim,
}


def parse(text: str | None, like: Sequence[Any] | None, scope: Any) -> tuple[Size, ...]:
    """The shape that a text says; variables belong to the scope.

    Raises:
      ValueError: the text is no shape, or does not fit `like`.
    """
    return _Parser(text, like, scope).shape()


class _Parser:
    def __init__(self, text: str | None, like: Sequence[Any] | None, scope: Any):
        self.spec = text
        self.text = "..." if text is None else text
        self.like = like
        self.scope = scope
        self.sizes: list[Size] = []
        self.position = 0
        self.token = self._read()

    # ---------------------------------------------------------------- tokens

    def _read(self) -> str:
        """The token at the current place; "" at the end."""
        found = _TOKEN.match(self.text, self.position)
        if found is None:
            raise self._error("what follows is no number, name or sign")
        self._next_position = found.end()
        return found[1]

    def _take(self) -> str:
        """The current token, behind which one goes on."""
        token, self.position = self.token, self._next_position
        self.token = self._read()
        return token

    def _expect(self, token: str) -> None:
        if self.token != token:
            found = self.token or "the end"
            raise self._error(f"expecting {token or 'the end'!r} but found {found!r}")
        if token:
            self._take()

    def _error(self, detail: str) -> ValueError:
        done, rest = self.text[: self.position], self.text[self.position :]
        return ValueError(errors.syntax(self.spec, len(self.sizes), detail, done, rest))

    # ---------------------------------------------------------------- the grammar

    def shape(self) -> tuple[Size, ...]:
        closed = self.token == "("
        if closed:
            self._take()
        while self.token not in ("", ")"):
            if self.token == "...":
                self._fill_up()
                break
            self._add(self._filled() if self.token == "_" else self._sum())
            if self.token not in ("", ")"):
                self._expect(",")
        if closed:
            self._expect(")")
        self._expect("")
        return tuple(self.sizes)

    def _sum(self) -> Size:
        sign = -1 if self.token == "-" else 1
        if self.token in ("+", "-"):
            self._take()
        total = self._product() * sign
        while self.token in ("+", "-"):
            sign = -1 if self._take() == "-" else 1
            total = total + self._product() * sign
        return total

    def _product(self) -> Size:
        product = self._power()
        while self.token == "*":
            self._take()
            product = product * self._power()
        return product

    def _power(self) -> Size:
        base = self._atom()
        if self.token != "^":
            return base
        self._take()
        if not self.token.isdecimal():
            raise self._error("expecting an integer for an exponent")
        return base ** int(self._take())

    def _atom(self) -> Size:
        token = self.token
        if token == "-":
            self._take()
            return self._atom() * -1
        if token.isdecimal():
            return int(self._take())
        if not token.isidentifier() or token == "_":
            raise self._error(f"expecting a number or name but found {token or 'the end'!r}")
        self._take()
        if self.token != "(":
            return variable(token, self.scope)
        if token not in _OPERATIONS:
            raise self._error(f"there is no operation {token!r}")
        self._take()
        x = self._sum()
        self._expect(",")
        y = self._sum()
        self._expect(")")
        return _OPERATIONS[token](x, y)

    # ---------------------------------------------------------------- what is left open

    def _add(self, size: Size) -> None:
        if self.like is not None and not isinstance(size, Dim) and len(self.sizes) < len(self.like):
            known = self.like[len(self.sizes)]
            if size != known:
                kind = "unknown" if known is None else "known"
                raise self._error(f"different size {size} for {kind} dimension; like={self.like}")
        self.sizes.append(size)

    def _known(self, needed: int) -> Sequence[Any]:
        """The shape from which places that are left open are filled."""
        if self.like is None:
            raise self._error("spec contains ... but no 'like' shape was given")
        if len(self.like) < needed:
            raise self._error(
                f"cannot resolve placeholder '{self.token}' because we parsed {len(self.sizes)} "
                f"already and 'like' shape has only {len(self.like)} dimensions"
            )
        return self.like

    def _filled(self) -> Size:
        size = self._known(len(self.sizes) + 1)[len(self.sizes)]
        if size is None:
            raise self._error(f"the size of this dimension is not known; like={self.like}")
        self._take()
        return size

    def _fill_up(self) -> None:
        for size in self._known(len(self.sizes))[len(self.sizes) :]:
            if size is None:
                raise self._error(f"the size of a dimension is not known; like={self.like}")
            self.sizes.append(size)
        self._take()
