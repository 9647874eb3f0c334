"""The public namespaces are thin, complete and documented."""

import ast
import importlib
import pkgutil
import types
from pathlib import Path

import pytest

import covector as cv

ROOT = Path(cv.__file__).parent
PUBLIC = sorted(p for p in ROOT.rglob("*.py") if "_src" not in p.parts)


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@pytest.mark.parametrize("path", PUBLIC, ids=name_of)
def test_public_modules_only_re_export(path):
    tree = ast.parse(path.read_text())
    assert ast.get_docstring(tree), "a public namespace says what it holds"
    defined = [n.name for n in tree.body if isinstance(n, (ast.FunctionDef, ast.ClassDef))]
    allowed = {"__getattr__", "__dir__", "SupportsDType"}
    assert set(defined) <= allowed, "what is defined belongs in _src"


@pytest.mark.parametrize("path", PUBLIC, ids=name_of)
def test_public_functions_are_documented(path):
    module = importlib.import_module(name_of(path))
    for name in dir(module):
        value = getattr(module, name)
        if name.startswith("_") or not isinstance(value, (types.FunctionType, type)):
            continue
        if getattr(value, "__module__", "").startswith("covector"):
            assert value.__doc__, f"{module.__name__}.{name}"


@pytest.mark.parametrize("package", [cv, cv.experimental, cv.scipy], ids=lambda p: p.__name__)
def test_namespaces_that_load_late_exist(package):
    for name in package._LAZY:
        assert isinstance(getattr(package, name), types.ModuleType)


def test_all_that_is_experimental_is_found_by_name():
    there = {module.name for module in pkgutil.iter_modules(cv.experimental.__path__)}
    assert there == cv.experimental._LAZY


def test_a_name_that_does_not_exist_is_an_attribute_error():
    with pytest.raises(AttributeError, match="scann"):
        cv.lax.scann  # noqa: B018
    with pytest.raises(AttributeError, match="jitt"):
        cv.jitt  # noqa: B018
