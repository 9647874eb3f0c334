"""Files and functions stay small enough to be read."""

import ast
import re
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "covector").rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))


def lines(path: Path) -> int:
    return len(path.read_text().splitlines())


def test_files_have_at_most_800_lines():
    long = {str(p.relative_to(ROOT)): lines(p) for p in FILES if lines(p) > 800}
    assert not long


def test_test_files_have_at_most_1000_lines():
    long = {str(p.relative_to(ROOT)): lines(p) for p in TESTS if lines(p) > 1000}
    assert not long


def test_the_median_file_has_at_most_250_lines():
    assert median(lines(p) for p in FILES if p.name != "__init__.py") <= 250


def test_functions_have_at_most_60_lines():
    long = []
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                first = node.body[0]
                # A docstring is read on its own, and may be as long as its subject needs.
                documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
                start = first.end_lineno if documented else node.lineno
                if node.end_lineno - start > 60:
                    long.append(f"{path.relative_to(ROOT)}:{node.lineno} {node.name}")
    assert not long


def test_no_star_imports():
    for path in FILES:
        text = path.read_text()
        if not re.search(r"import\s*\*", text):  # most files need not be parsed
            continue
        for node in ast.walk(ast.parse(text)):
            assert not (isinstance(node, ast.ImportFrom) and node.names[0].name == "*"), path
