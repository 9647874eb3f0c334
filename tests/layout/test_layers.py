"""Imports go down: each module imports only from its own layer's folder or from lower layers."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2] / "covector"
SRC = ROOT / "_src"

# The folders and files of `_src` in their order.  `xla/native.py` is a leaf below all of them.
LAYERS = [
    "base",
    "sharding",
    "core",
    "ops",
    "transforms",
    "control",
    "linalg",
    "xla",
    "reference.py",
    "api",
    "distributed",
    "export",
    "testing",
    "interpreters",
    "numpy",
    "random",
    "scipy",
    "image",
    "nn",
    "sparse",
    "example_libraries",
    "experimental",
    "as_jax",
]
LEAF = SRC / "xla" / "native.py"


def modules():
    return sorted(SRC.rglob("*.py"))


def layer(path: Path) -> int:
    if path == LEAF:
        return -1
    return LAYERS.index(path.relative_to(SRC).parts[0])


@cache
def imports(path: Path) -> list[tuple[str, bool, int]]:
    """The modules that a file imports, whether each stands at its top, and the lines."""
    return list(_imports(path))


def _imports(path: Path):
    tree = ast.parse(path.read_text())
    # What only a type checker sees is no import.
    tree.body = [n for n in tree.body if not _is_type_checking(n)]
    top = set(ast.walk(ast.Module([n for n in tree.body if _is_top(n)], [])))
    package = path.parent.relative_to(ROOT.parent).parts
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            if node.level:
                base = package[: len(package) - node.level + 1]
                target = ".".join([*base, *([node.module] if node.module else [])])
                for alias in node.names:
                    yield f"{target}.{alias.name}", node in top, node.lineno
            elif node.module:
                yield node.module, node in top, node.lineno
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node in top, node.lineno


def _is_type_checking(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"


def _is_top(node: ast.stmt) -> bool:
    return not isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef))


def file_of(module: str) -> Path | None:
    """The file of a module of ours, given its name or the name of something in it."""
    parts = module.split(".")
    if parts[0] != "covector":
        return None
    while parts:
        stem = ROOT.parent.joinpath(*parts)
        if stem.with_suffix(".py").exists():
            return stem.with_suffix(".py")
        if (stem / "__init__.py").exists():
            return stem / "__init__.py"
        parts.pop()
    return None


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(SRC)))
def test_imports_point_down(path):
    if path.name == "__init__.py" and path.parent == SRC:
        return
    for module, at_top, line in imports(path):
        target = file_of(module)
        if target is None or target == path:
            continue
        where = f"{path.relative_to(ROOT)}:{line} imports {module}"
        assert at_top, f"{where} inside a function"
        assert SRC in target.parents, f"{where}: a public namespace"
        if target == SRC / "__init__.py":
            continue
        assert layer(target) <= layer(path), f"{where}: a higher layer"


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(SRC)))
def test_only_the_xla_folder_imports_jaxlib(path):
    for module, _, line in imports(path):
        if module.split(".")[0] == "jaxlib":
            assert path.parent.name == "xla", f"{path.name}:{line} imports {module}"


def test_the_overview_lists_the_layers_in_their_order():
    page = (ROOT.parent / "docs" / "ARCHITECTURE.md").read_text(encoding="utf-8")
    table = page[page.index("| layer |") :]
    assert re.findall(r"\[([\w.]+)/?\]\(\.\./covector/_src/\w+(?:/|\.py)?\)", table) == LAYERS


def test_nothing_imports_jax():
    for path in sorted(ROOT.rglob("*.py")):
        for module, _, line in imports(path):
            assert module.split(".")[0] != "jax", f"{path.relative_to(ROOT)}:{line}"


def test_no_cycles():
    graph = {}
    for path in modules():
        targets = {file_of(module) for module, _, _ in imports(path)} - {None, path}
        graph[path] = {t for t in targets if t.name != "__init__.py" and SRC in t.parents}
    finished, open_ = set(), []

    def visit(path):
        if path in open_:
            cycle = [p.relative_to(SRC) for p in open_[open_.index(path) :]]
            raise AssertionError(f"a cycle of imports: {' -> '.join(map(str, cycle))}")
        if path in finished:
            return
        open_.append(path)
        for target in sorted(graph.get(path, ())):
            visit(target)
        open_.pop()
        finished.add(path)

    for path in graph:
        visit(path)
