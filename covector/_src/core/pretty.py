"""A pretty printer: documents that say where they may be broken, laid out within a width.

    doc ::= "text" | Break | Concat | Nest | Group | Noted | Colored

A group stands on one line if it fits into what is left of the line; otherwise each break that is
directly in it starts a new line, and the groups in it are judged anew (Wadler 1998, "A prettier
printer", in the strict form of Lindig 2000).  Every document knows the width of its one-line form,
so judging a group is one comparison, and the layout takes time linear in the document.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

# SGR codes of terminals.
KEYWORD = "34;1"
TYPE = "35"
_RESET = "\x1b[0m"


class Break:
    """A place where the line may end; `text` where it does not."""

    __slots__ = ("text", "width")

    def __init__(self, text: str = " "):
        self.text = text
        self.width = len(text)


class Concat:
    """Documents one after another."""

    __slots__ = ("parts", "width")

    def __init__(self, parts: Sequence[Doc]):
        self.parts = parts
        self.width = sum(map(_width, parts))


class Group:
    """A document that is on one line if it fits."""

    __slots__ = ("child", "width")

    def __init__(self, child: Doc):
        self.child = child
        self.width = _width(child)


class Nest:
    """A document in which new lines are indented by `by` more columns."""

    __slots__ = ("by", "child", "width")

    def __init__(self, by: int, child: Doc):
        self.by = by
        self.child = child
        self.width = _width(child)


class Noted:
    """A text with a note, which is printed in the margin right of all lines."""

    __slots__ = ("note", "text", "width")

    def __init__(self, text: str, note: str):
        self.text = text
        self.note = note
        self.width = len(text)


class Colored:
    """A document in a colour, given as the code of terminals."""

    __slots__ = ("child", "color", "width")

    def __init__(self, color: str, child: Doc):
        self.child = child
        self.color = color
        self.width = _width(child)


Doc = str | Break | Concat | Group | Nest | Noted | Colored


def _width(doc: Doc) -> int:
    return len(doc) if isinstance(doc, str) else doc.width


def concat(*parts: Doc) -> Doc:
    """The documents one after another."""
    return Concat(parts)


def join(separator: Doc, docs: Iterable[Doc]) -> Doc:
    """The documents with the separator between them."""
    parts: list[Doc] = []
    for doc in docs:
        parts += (separator, doc)
    return Concat(parts[1:])


class _Line:
    """A line that is being written: what it says, how wide it is, and the notes in its margin."""

    __slots__ = ("notes", "pieces", "width")

    def __init__(self, indent: int = 0):
        self.pieces = [" " * indent]
        self.width = indent
        self.notes: list[str] = []

    def write(self, text: str, color: str) -> None:
        self.pieces.append(f"\x1b[{color}m{text}{_RESET}" if color else text)
        self.width += len(text)


def layout(doc: Doc, width: int = 80, use_color: bool = False) -> str:
    """Lay a document out.

    Args:
      doc: the document.
      width: how many columns a line should not exceed.
      use_color: whether colours are written, as terminals take them.
    """
    line = _Line()
    lines = [line]
    agenda: list[tuple[int, bool, str, Any]] = [(0, False, "", doc)]
    while agenda:
        indent, flat, color, node = agenda.pop()
        kind = type(node)
        if kind is str:
            line.write(node, color)
        elif kind is Concat:
            agenda.extend([(indent, flat, color, part) for part in reversed(node.parts)])
        elif kind is Break:
            if flat:
                line.write(node.text, color)
            else:
                line = _Line(indent)
                lines.append(line)
        elif kind is Group:
            agenda.append((indent, flat or line.width + node.width <= width, color, node.child))
        elif kind is Nest:
            agenda.append((indent + node.by, flat, color, node.child))
        elif kind is Colored:
            agenda.append((indent, flat, node.color if use_color else "", node.child))
        else:
            line.write(node.text, color)
            line.notes.append(node.note)
    return "\n".join(_with_margin(lines))


def _with_margin(lines: Sequence[_Line]) -> list[str]:
    """The texts of the lines with their notes, which all begin in one column."""
    margin = max([line.width for line in lines])
    texts = []
    for line in lines:
        text = "".join(line.pieces)
        if line.notes:
            first, *others = line.notes
            text += f"{' ' * (margin - line.width)} # {first}"
            text += "".join([f"\n{' ' * margin} # {note}" for note in others])
        texts.append(text)
    return texts
