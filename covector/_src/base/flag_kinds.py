"""The kinds of values that configuration flags take.

A kind says which values it allows (in words, for messages), brings a value given by a program
into its normal form (`accept`), and makes one from the text of an environment variable (`read`).
Both raise a bare ValueError for a wrong value; the flag knows its name and words the message.
"""

from __future__ import annotations

import numbers
import operator
from typing import Any, Protocol

import numpy as np


class Kind(Protocol):
    """What a flag asks of the kind of its values."""

    @property
    def allowed(self) -> str: ...

    def accept(self, value: Any) -> Any: ...

    def read(self, text: str) -> Any: ...


_WORDS = {
    **dict.fromkeys(("1", "t", "true", "y", "yes", "on"), True),
    **dict.fromkeys(("0", "f", "false", "n", "no", "off"), False),
}


class Boolean:
    """True or False; words such as "on" and "no" are understood as well."""

    allowed = "True and False"

    def accept(self, value: Any) -> bool:
        if isinstance(value, str):
            return self.read(value)
        if isinstance(value, (bool, np.bool_)) or (isinstance(value, int) and value in (0, 1)):
            return bool(value)
        raise ValueError

    def read(self, text: str) -> bool:
        try:
            return _WORDS[text.lower()]
        except KeyError:
            raise ValueError from None


class Choice:
    """One of some words; also None, if `optional`."""

    def __init__(self, *options: str, optional: bool = False) -> None:
        self.options = options
        self.optional = optional

    @property
    def allowed(self) -> str:
        return ", ".join([*map(repr, self.options), *(["None"] if self.optional else [])])

    def accept(self, value: Any) -> str | None:
        if value is None and self.optional:
            return None
        if not isinstance(value, str) or value not in self.options:
            raise ValueError
        # A member of a string enumeration equals its text; the flag holds the plain text.
        return self.options[self.options.index(value)]

    def read(self, text: str) -> str | None:
        return self.accept(text)


class Integer:
    """An int from `least` upwards."""

    def __init__(self, least: int | None = None) -> None:
        self.least = least

    @property
    def allowed(self) -> str:
        return "integers" if self.least is None else f"integers from {self.least} upwards"

    def accept(self, value: Any) -> int:
        try:
            number = operator.index(value)
        except TypeError:
            raise ValueError from None
        if isinstance(value, bool) or (self.least is not None and number < self.least):
            raise ValueError
        return number

    def read(self, text: str) -> int:
        return self.accept(int(text))


class Real:
    """A float between two bounds."""

    def __init__(self, low: float = float("-inf"), high: float = float("inf")) -> None:
        self.low = low
        self.high = high

    @property
    def allowed(self) -> str:
        return f"numbers between {self.low} and {self.high}"

    def accept(self, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, numbers.Real):
            raise ValueError
        if not self.low <= float(value) <= self.high:
            raise ValueError
        return float(value)

    def read(self, text: str) -> float:
        return self.accept(float(text))


class Text:
    """Any string; also None, if `optional`."""

    def __init__(self, optional: bool = False) -> None:
        self.optional = optional

    @property
    def allowed(self) -> str:
        return "strings and None" if self.optional else "strings"

    def accept(self, value: Any) -> str | None:
        if isinstance(value, str) or (value is None and self.optional):
            return value
        raise ValueError

    def read(self, text: str) -> str:
        return text


class TextOrDict(Text):
    """Options as "k1:v1;k2:v2", or as a dict; or None."""

    def __init__(self) -> None:
        super().__init__(optional=True)

    @property
    def allowed(self) -> str:
        return "strings of the form 'k1:v1;k2:v2', dicts and None"

    def accept(self, value: Any) -> Any:
        return dict(value) if isinstance(value, dict) else super().accept(value)


class DeviceOrPlatform:
    """A device, a platform's name, or None for the system's choice."""

    platforms = ("cpu", "gpu", "cuda", "rocm", "tpu")
    allowed = "devices (such as covector.devices('cpu')[0]), None, " + ", ".join(
        map(repr, platforms)
    )

    def accept(self, value: Any) -> Any:
        if value is None or (isinstance(value, str) and value in self.platforms):
            return value
        # Devices belong to a higher layer (and to plugins), so they are known by what they have.
        if hasattr(value, "platform") and hasattr(value, "id"):
            return value
        raise ValueError

    def read(self, text: str) -> str:
        return self.accept(text)


class Anything:
    """Any hashable object: the value of a user's own context."""

    allowed = "hashable objects"

    def accept(self, value: Any) -> Any:
        try:
            hash(value)
        except TypeError:
            raise ValueError from None
        return value

    def read(self, text: str) -> str:
        return text
