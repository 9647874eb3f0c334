"""XLA's options of one program: who sets them, and who comes first."""

import os
import subprocess
import sys

import covector as cv
from covector._src.base import config
from covector._src.xla import compile as compiling
from covector._src.xla.compile import compile_lowered, lower_jaxpr
from covector._src.xla.devices import first_device
from covector._src.xla.options import compile_options


def passes(*args, **kwargs):
    options = compile_options((first_device(),), *args, **kwargs)
    return options.executable_build_options.debug_options.xla_disable_hlo_passes


def test_a_program_without_needs_has_the_usual_options():
    usual = compile_options((first_device(),), None).SerializeAsString()
    assert compile_options((first_device(),), {}, {}, ()).SerializeAsString() == usual
    assert passes(None) == ""


def test_passes_of_all_sources_are_switched_off():
    given = {"xla_disable_hlo_passes": "c,a"}
    assert passes(given, disabled_passes={"b"}) == "a,b,c"
    assert passes(None, {"xla_disable_hlo_passes": "d"}, {"b"}) == "b,d"
    with config.compiler_enable_remat_pass(False):
        assert passes(None, disabled_passes={"b"}) == "b,rematerialization"


def test_the_environment_is_heard_too():
    code = (
        "from covector._src.xla.devices import first_device as d\n"
        "from covector._src.xla.options import compile_options\n"
        "build = compile_options((d(),), None, None, {'b'}).executable_build_options\n"
        "print(build.debug_options.xla_disable_hlo_passes)"
    )
    environment = {**os.environ, "XLA_FLAGS": "--xla_disable_hlo_passes=z,y"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True
    )
    assert done.stdout.strip() == "b,y,z", done.stderr


def test_the_users_options_come_before_the_programs():
    needed = {"xla_cpu_enable_fast_math": True, "xla_dump_to": "x"}
    options = compile_options((first_device(),), {"xla_cpu_enable_fast_math": False}, needed)
    overrides = dict(options.env_option_overrides)
    assert overrides == {"xla_cpu_enable_fast_math": False, "xla_dump_to": "x"}


def test_what_writing_a_program_asks_for_reaches_the_compiler(monkeypatch):
    real, tried = compiling._xla_compile, []

    def record(lowered, device, options):
        tried.append(dict(options.env_option_overrides))
        return real(lowered, device, options)

    monkeypatch.setattr(compiling, "_xla_compile", record)
    jaxpr = cv.make_jaxpr(lambda x: x + 1)(1.0)
    lowered = lower_jaxpr(jaxpr)
    lowered.module_context.compile_options["no_such_option"] = True
    with config.enable_compilation_cache(False):
        compile_lowered(lowered, jaxpr, first_device())
    assert tried == [{"no_such_option": True}, {}]  # XLA does not know it, so it is left out
