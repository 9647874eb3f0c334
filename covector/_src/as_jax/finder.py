"""Let `import jax`, and whatever lies below it, find Covector.

`jax` becomes a module of its own that looks its names up in Covector, so that it can have JAX's
version; all below it are Covector's modules themselves, so that `jax.numpy is covector.numpy`.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from .private import PRIVATE_MODULES, SYNONYMS, name_classes_of_arrays

_PACKAGE = __name__.split(".")[0]
# The version of JAX whose names and behaviour Covector follows.
JAX_VERSION = "0.10.2"
# What `import jax` loads at once; some libraries look these up among the modules that are loaded.
_LOADED_AT_ONCE = (
    *("core", "custom_derivatives", "debug", "dtypes", "errors", "lax", "nn", "numpy", "random"),
    *("sharding", "stages", "tree", "tree_util", "typing"),
)
_MODULE_FIELDS = ("__spec__", "__loader__", "__package__", "__name__")


class _Jax(ModuleType):
    """The module `jax`: JAX's version, and every other name from Covector."""

    __version__ = JAX_VERSION
    __version_info__ = tuple(map(int, JAX_VERSION.split(".")))

    def __getattr__(self, name: str) -> Any:
        try:
            return getattr(sys.modules[_PACKAGE], name)
        except AttributeError:
            raise AttributeError(f"module 'jax' has no attribute {name!r}") from None

    def __dir__(self) -> list[str]:
        return dir(sys.modules[_PACKAGE])


class _Finder(MetaPathFinder, Loader):
    """Finds `jax` and the modules below it."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != "jax" and not fullname.startswith("jax."):
            return None
        if fullname == "jax" or fullname in PRIVATE_MODULES:
            return ModuleSpec(fullname, self, is_package=True)
        if fullname in SYNONYMS:
            return ModuleSpec(fullname, self)
        if fullname.startswith("jax._src.") or not _exists(_own_name(fullname)):
            return None
        return ModuleSpec(fullname, self)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        if spec.name == "jax":
            return _Jax("jax", "Covector, under the name of JAX.")
        if spec.name in PRIVATE_MODULES:
            module = ModuleType(spec.name, f"What libraries use of JAX's private `{spec.name}`.")
            vars(module).update(PRIVATE_MODULES[spec.name])
            return module
        module = importlib.import_module(_own_name(SYNONYMS.get(spec.name, spec.name)))
        # The import system writes its own fields into the module; `exec_module` restores them.
        spec.loader_state = {name: getattr(module, name, None) for name in _MODULE_FIELDS}
        return module

    def exec_module(self, module: ModuleType) -> None:
        if type(module) is _Jax:
            for name in _LOADED_AT_ONCE:
                importlib.import_module("jax." + name)
        kept = module.__spec__.loader_state if module.__spec__ is not None else None
        if kept is not None:
            vars(module).update(kept)


def _own_name(name: str) -> str:
    """The module of Covector behind a module of JAX."""
    return _PACKAGE + name.removeprefix("jax")


def _exists(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # of a package above it
        return False


def install() -> None:
    """From now on `import jax` finds Covector, in the whole process.

    It must be called before anything imports JAX. Libraries written for JAX then run on Covector as
    they are. `jax.__version__` is the version of JAX that Covector follows.

    A few private names that much-used libraries take from `jax._src` are there, too; the document
    on libraries lists them.

    Raises:
      RuntimeError: JAX itself was imported before.

    >>> from covector import as_jax
    >>> as_jax.install()  # doctest: +SKIP
    >>> import jax, optax  # doctest: +SKIP
    >>> jax.numpy.ones(3)  # doctest: +SKIP
    Array([1., 1., 1.], dtype=float32)
    """
    loaded = sys.modules.get("jax")
    if loaded is not None and not isinstance(loaded, _Jax):
        raise RuntimeError(
            "[as_jax.install] `jax` is imported already, from "
            f"{getattr(loaded, '__file__', None)}. Call `install` before anything imports it."
        )
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
        name_classes_of_arrays()
        for name in (
            *PRIVATE_MODULES,
            *SYNONYMS,
        ):  # so that they are attributes of the modules above them
            importlib.import_module(name)
