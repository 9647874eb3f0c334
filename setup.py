"""Builds Covector's kernels for CPUs, where there are a C++ compiler and jaxlib's headers.

Everything else about the package stands in `pyproject.toml`.  Without a compiler the installation
goes on without the kernels, and Covector works without them (`docs/native.md`).
"""

import sys
from importlib.util import find_spec
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

SOURCES = Path("covector/_src/xla")


class BuildLibrary(build_ext):
    """Builds a library for any Python: it is no module, and its name is not one of a module."""

    def get_ext_filename(self, fullname: str) -> str:
        return fullname.replace(".", "/") + ".so.1"

    def get_export_symbols(self, ext: Extension) -> list[str]:
        return ext.export_symbols


def kernels() -> list[Extension]:
    """The library of kernels; nothing if there are no headers for it."""
    jaxlib = find_spec("jaxlib")
    if jaxlib is None or jaxlib.origin is None or sys.platform == "win32":
        return []
    library = Extension(
        "covector._src.xla.libkernels",
        sorted(str(path) for path in SOURCES.glob("kernels_*.cc")),
        depends=[str(SOURCES / "kernels.h")],
        include_dirs=[str(Path(jaxlib.origin).parent / "include")],
        # Results serve as memory for keys of another type, hence the flag for aliases.  That signed
        # numbers wrap around, which Python's own flags say, slows loops with indices down.
        extra_compile_args=["-std=c++17", "-O3", "-g0", "-fno-strict-aliasing", "-fno-wrapv"],
        language="c++",
        optional=True,
    )
    return [library]


setup(ext_modules=kernels(), cmdclass={"build_ext": BuildLibrary})
