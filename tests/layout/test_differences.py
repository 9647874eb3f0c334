"""`docs/differences.md` lists every place where the flag `parity` is read, and no other."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "covector" / "_src"
PAGE = ROOT / "docs" / "differences.md"


def reads(node: ast.AST, function: str = "") -> Iterator[str]:
    """The functions in which `config.parity.value` is read, once for each time."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Attribute) and ast.unparse(child) == "config.parity.value":
            yield function
        within = child.name if isinstance(child, ast.FunctionDef) else function
        yield from reads(child, within)


def places_in_code() -> list[str]:
    return sorted(
        f"{path.relative_to(SOURCES).as_posix()}: {function}"
        for path in SOURCES.rglob("*.py")
        if "parity" in (text := path.read_text(encoding="utf-8"))
        for function in reads(ast.parse(text))
    )


def places_on_page() -> list[str]:
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line[:2] == "| "]
    found = []
    for row in rows[1:]:
        where = row.split("|")[-2]
        for file, functions in re.findall(r"`(\S+\.py)`: ((?:`\w+`(?:, )?)+)", where):
            found += [f"{file}: {function}" for function in re.findall(r"\w+", functions)]
    return sorted(found)


def test_the_page_lists_where_parity_is_read():
    code, page = places_in_code(), places_on_page()
    assert code, "the flag is read nowhere: has it another name?"
    assert code == page


def test_the_flag_is_read_in_one_way_only():
    """Otherwise the test above would miss a place."""
    for path in SOURCES.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        named = re.findall(r"\bconfig\.parity\b(?!\.value)", text)
        imported = re.findall(r"from \S*config import .*\bparity\b", text)
        assert not named and not imported, path
