"""Options for compiling programs that are divided between devices."""

from .._src.xla.options import create_compile_options as create_compile_options
