"""The page on primitives is true: its blocks run in order, and print what the page says."""

import contextlib
import io
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "primitives.md"
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:```text\n(.*?)^```\n)?", re.M | re.S)


def blocks():
    text = PAGE.read_text(encoding="utf-8")
    return [
        (m.group(1), m.group(2) or "", text[: m.start()].count("\n") + 2)
        for m in BLOCK.finditer(text)
    ]


def test_every_block_is_found():
    text = PAGE.read_text(encoding="utf-8")
    assert len(blocks()) == text.count("```python\n") > 10
    assert sum(bool(printed) for _, printed, _ in blocks()) == text.count("```text\n")


@pytest.fixture(scope="module")
def outcomes():
    """For each block what it printed, up to the first that fails."""
    namespace = {"__name__": "page"}
    printed = []
    for code, _, line in blocks():
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile("\n" * (line - 1) + code, str(PAGE), "exec"), namespace)
        printed.append(out.getvalue())
    return printed


@pytest.mark.parametrize("i", range(len(blocks())), ids=lambda i: f"line_{blocks()[i][2]}")
def test_a_block_prints_what_the_page_says(i, outcomes):
    assert outcomes[i] == blocks()[i][1]


def test_links_lead_somewhere():
    prose = BLOCK.sub("", PAGE.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)#]+)\)", prose):
        assert (PAGE.parent / target).exists(), target
