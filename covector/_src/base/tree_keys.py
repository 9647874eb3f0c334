"""Names of places in a tree: the entries of a key path, and the order of a dict's keys."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from ..xla.native import pytree

DictKey: Any = pytree.DictKey
SequenceKey: Any = pytree.SequenceKey
GetAttrKey: Any = pytree.GetAttrKey
FlattenedIndexKey: Any = pytree.FlattenedIndexKey

KeyEntry = TypeVar("KeyEntry", bound=Any)
KeyPath = tuple[KeyEntry, ...]

_INNER_NAME = {DictKey: "key", SequenceKey: "idx", GetAttrKey: "name", FlattenedIndexKey: "key"}


def keystr(keys: Iterable[Any], *, simple: bool = False, separator: str = "") -> str:
    """Write a key path as text.

    Args:
      keys: the entries of the path, outermost first, as `flatten_with_path` gives them.
      simple: write only the bare key, index or name of each entry, without brackets and dots.
        Short, but two different paths may then read the same.
      separator: what to put between the entries.

    Returns:
      The entries' texts, joined; `""` for the empty path, which is the root.

    >>> from covector import tree, tree_util
    >>> [(path, _)] = tree.leaves_with_path({"layers": [None, {"bias": 0.5}]})
    >>> tree_util.keystr(path)
    "['layers'][1]['bias']"
    >>> tree_util.keystr(path, simple=True, separator=".")
    'layers.1.bias'
    """
    return separator.join(str(bare(key) if simple else key) for key in keys)


def bare(key: Any) -> Any:
    """The dict key, index or name inside of a key-path entry."""
    inner = _INNER_NAME.get(type(key))
    return key if inner is None else getattr(key, inner)


def sorted_keys(keys: Iterable[Any]) -> list[Any]:
    """The keys of a dict in the one order that does not depend on how the dict was filled.

    This is `sorted(keys)` where Python can compare them.  Otherwise keys are grouped by the name
    of their type and sorted within each group: by value, or by their text if the values have no
    order either (complex numbers, members of an enumeration).

    Raises:
      ValueError: some keys have neither an order nor a text of their own.
    """
    keys = list(keys)
    for order in (None, _by_type_and_value, _by_type_and_text):
        try:
            return sorted(keys, key=order)
        except TypeError:
            continue
    stranger = next(key for key in keys if not _has_own_text(key))
    raise ValueError(
        f"Cannot put the keys of a dict in order: keys of type {type(stranger).__qualname__} can "
        f"be neither compared with `<` nor told apart by their repr. Keys: {keys}. Give the type "
        "a `__lt__` or a `__repr__`, or use a collections.OrderedDict, whose keys keep their order."
    )


def are_comparable(keys: Iterable[Any]) -> bool:
    """Whether Python can sort the keys."""
    try:
        sorted(keys)
    except RecursionError:
        raise
    except Exception:
        return False
    return True


def _by_type_and_value(key: Any) -> tuple:
    if type(key) is tuple:
        return ("tuple", tuple(_by_type_and_value(part) for part in key))
    return (type(key).__qualname__, key)


def _by_type_and_text(key: Any) -> tuple[str, str]:
    if not _has_own_text(key):
        raise TypeError("the default repr names an address, which differs between equal programs")
    return (type(key).__qualname__, repr(key))


def _has_own_text(key: Any) -> bool:
    return type(key).__repr__ is not object.__repr__
