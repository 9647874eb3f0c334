"""Builds what is written in C and C++: kernels for CPUs, and the path of repeated calls.

Everything else about the package stands in `pyproject.toml`.  Without a compiler the installation
goes on without them, and Covector works without them (`docs/native.md`).
"""

import sys
from importlib.util import find_spec
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

SOURCES = Path("covector/_src/xla")
LIBRARY = "covector._src.xla.libkernels"


class Build(build_ext):
    """Builds the library of kernels, too, which is no module: neither its name nor its symbols."""

    def get_ext_filename(self, fullname: str) -> str:
        if fullname.split(".")[-1] == LIBRARY.split(".")[-1]:
            return fullname.replace(".", "/") + ".so.1"
        return super().get_ext_filename(fullname)

    def get_export_symbols(self, ext: Extension) -> list[str]:
        return ext.export_symbols if ext.name == LIBRARY else super().get_export_symbols(ext)


def kernels() -> list[Extension]:
    """The library of kernels; nothing if there are no headers for it."""
    jaxlib = find_spec("jaxlib")
    if jaxlib is None or jaxlib.origin is None or sys.platform == "win32":
        return []
    library = Extension(
        LIBRARY,
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


def calls() -> Extension:
    """The module with the path of repeated calls."""
    source = str(SOURCES / "_calls.c")
    return Extension(
        "covector._src.xla._calls", [source], extra_compile_args=["-g0"], optional=True
    )


setup(ext_modules=[*kernels(), calls()], cmdclass={"build_ext": Build})
