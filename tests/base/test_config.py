"""Flags: who sees which value, what is accepted, and when cached traces are out of date."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from covector._src.base import config
from covector._src.base.flag_kinds import Anything, Boolean, Choice, Integer
from covector._src.base.flags import Config, Flag, GroupFlag, trace_key


def in_new_thread(function):
    """What a function returns in a thread of its own."""
    results = []
    thread = threading.Thread(target=lambda: results.append(function()))
    thread.start()
    thread.join()
    return results[0]


class Worker:
    """A thread that lives on, and does one thing after the other."""

    def __init__(self):
        self.go, self.done = threading.Semaphore(0), threading.Semaphore(0)
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while self.go.acquire() and self.function is not None:
            self.result = self.function()
            self.done.release()

    def __call__(self, function):
        self.function = function
        self.go.release()
        assert self.done.acquire(timeout=10)
        return self.result

    def stop(self):
        self.function = None
        self.go.release()
        self.thread.join()


@pytest.fixture
def worker():
    worker = Worker()
    yield worker
    worker.stop()


@pytest.fixture
def flag():
    """A flag that no trace depends on."""
    return Flag("jax_fruit", "apple", Choice("apple", "pear", "plum"), "The fruit.")


@pytest.fixture
def restored():
    """Puts the shared values back that a test updates."""
    before = {flag: flag.shared for flag in config.config._flags.values()}
    yield
    for flag, value in before.items():
        if flag.shared is not value:
            flag.update(value)


# ---------------------------------------------------------------- who sees what


def test_a_cover_holds_in_its_thread_alone(flag):
    with flag("pear"):
        with flag("plum"):
            assert flag.value == "plum"
            assert in_new_thread(lambda: flag.value) == "apple"
        assert flag.value == "pear"
    assert flag.value == "apple"


def test_an_update_reaches_all_threads(flag, worker):
    assert worker(lambda: flag.value) == "apple"
    flag.update("pear")
    assert worker(lambda: flag.value) == flag.value == "pear"
    worker(lambda: flag.update("plum"))
    assert flag.value == "plum" == in_new_thread(lambda: flag.value)


def test_an_update_waits_under_a_cover(flag, worker):
    cover = flag("pear")
    worker(cover.__enter__)
    flag.update("plum")
    assert (flag.value, worker(lambda: flag.value)) == ("plum", "pear")
    worker(cover.__exit__)
    assert worker(lambda: flag.value) == "plum"
    with flag("apple"):
        flag.update("pear")
        assert flag.value == "apple"
    assert flag.value == "pear"


def test_a_cover_ends_with_an_exception(flag):
    with pytest.raises(KeyError), flag("pear"):
        raise KeyError
    assert flag.value == "apple"


def test_a_cover_as_a_decorator(flag):
    @flag("pear")
    def seen(depth, *, last):
        """Its doc."""
        inner = [seen(depth - 1, last=last)] if depth else [last]
        return [flag.value, *inner]

    assert seen(2, last=0) == ["pear", ["pear", ["pear", 0]]]
    assert flag.value == "apple"
    assert (seen.__name__, seen.__doc__) == ("seen", "Its doc.")


def test_a_cover_may_be_entered_inside_itself(flag):
    cover = flag("pear")
    with cover, flag("plum"), cover:
        assert flag.value == "pear"
    assert flag.value == "apple"


def test_many_threads_at_once(flag):
    failures = []

    def cover_again_and_again(value):
        for _ in range(300):
            with flag(value):
                if flag.value != value:
                    failures.append(value)

    threads = [
        threading.Thread(target=cover_again_and_again, args=(v,)) for v in ("pear", "plum") * 2
    ]
    for thread in threads:
        thread.start()
    for value in ("apple", "pear", "plum") * 50:
        flag.update(value)
        if flag.value != value:
            failures.append(value)
    for thread in threads:
        thread.join()
    assert not failures


def test_a_group_sets_its_members():
    guard, members = config.transfer_guard, config.transfer_guard.members
    assert isinstance(guard, GroupFlag) and len(members) == 3
    with config.transfer_guard_device_to_host("log"):
        with guard("disallow"):
            assert [m.value for m in (guard, *members)] == ["disallow"] * 4
        assert config.transfer_guard_device_to_host.value == "log"
    assert [m.value for m in (guard, *members)] == [None] * 4


def test_a_group_updates_its_members(restored):
    config.update("jax_transfer_guard", "log_explicit")
    assert config.transfer_guard_host_to_device.value == "log_explicit"
    config.transfer_guard.update(None)
    assert config.transfer_guard_host_to_device.value is None


def test_listeners_hear_of_each_change(flag):
    heard = []
    assert flag.on_change(heard.append) == heard.append
    flag.update("pear")
    with flag("plum"):
        heard.append("inside")
    assert heard == ["pear", "plum", "inside", "pear"]


# ---------------------------------------------------------------- the trace key


def test_equal_settings_have_the_identical_key():
    outside = trace_key()
    keys = []
    for _ in range(2):
        with config.enable_x64(True), config.numpy_rank_promotion("raise"):
            keys.append(trace_key())
        assert trace_key() is outside
    with config.numpy_rank_promotion("raise"), config.enable_x64(True):
        keys.append(trace_key())
        with config.enable_x64(False):
            assert trace_key() is not outside
    assert keys[0] is keys[1] is keys[2] is not outside
    assert in_new_thread(trace_key) is outside
    with config.enable_x64(config.enable_x64.value):
        assert trace_key() is outside


def test_a_key_says_what_differs():
    outside = trace_key()
    with config.enable_x64(True):
        assert repr(trace_key()) == "TraceKey(jax_enable_x64=True)"
        assert trace_key().differences(outside) == {"jax_enable_x64": (True, False)}


def test_flags_that_no_trace_depends_on_leave_the_key():
    outside = trace_key()
    with config.debug_nans(True), config.log_compiles(True), config.enable_checks(True):
        assert trace_key() is outside


def test_an_update_changes_the_keys_of_all_threads(worker, restored):
    before = worker(trace_key)
    config.update("jax_random_seed_offset", 7)
    assert worker(trace_key) is trace_key() is not before
    cover = config.random_seed_offset(0)
    worker(cover.__enter__)
    assert worker(trace_key) is before
    config.update("jax_random_seed_offset", 8)
    assert worker(trace_key) is before
    worker(lambda: cover.__exit__())
    assert worker(trace_key) is trace_key() is not before


def test_jax_traces_anew_where_the_key_differs():
    jax = pytest.importorskip("jax")
    traces = []
    function = jax.jit(lambda x: traces.append(x) or x)
    for name, value in (
        ("enable_x64", True),
        ("numpy_rank_promotion", "raise"),
        ("numpy_dtype_promotion", "strict"),
        ("default_matmul_precision", "float32"),
        ("threefry_partitionable", False),
        ("softmax_custom_jvp", True),
        ("debug_key_reuse", True),
        ("log_compiles", False),
        ("explain_cache_misses", False),
        ("legacy_prng_key", "warn"),
        ("enable_checks", True),
    ):
        traces.clear()
        function(np.float32(1))
        traces.clear()
        with getattr(jax, name)(value):
            function(np.float32(1))
        assert getattr(config, name).affects_tracing == bool(traces), name


def test_user_contexts():
    context = config.make_user_context("none")
    outside = trace_key()
    assert context.value == "none"
    with context("some"):
        assert context.value == "some"
        assert trace_key() is not outside
        assert in_new_thread(lambda: context.value) == "none"
    assert trace_key() is outside
    with pytest.raises(ValueError, match="hashable"):
        context([1])


# ---------------------------------------------------------------- names and values


def test_names():
    flags = config.config
    assert flags.jax_enable_x64 is flags.enable_x64 is flags.x64_enabled is False
    assert flags.read("jax_enable_x64") is flags.read("enable_x64") is False
    with config.enable_x64(True):
        assert flags.jax_enable_x64 is flags.x64_enabled is flags.values["jax_enable_x64"] is True
    assert "jax_debug_nans" in dir(flags)
    assert not hasattr(flags, "__array__")


def message(kind, function, *args, **kwargs):
    with pytest.raises(kind) as caught:
        function(*args, **kwargs)
    return str(caught.value)


def test_unknown_names():
    closest = "[config] There is no flag 'enable_x46'. Did you mean 'jax_enable_x64'?"
    assert message(AttributeError, config.update, "enable_x46", True) == closest
    assert message(AttributeError, getattr, config.config, "enable_x46") == closest
    text = "[config] There is no flag 'qqqq'. `covector.config.values` lists all."
    assert message(AttributeError, config.read, "qqqq") == text


def test_flags_are_not_assigned_to():
    assert message(AttributeError, setattr, config.config, "jax_debug_nans", True) == (
        "[config] The flag jax_debug_nans cannot be assigned to. Call "
        "`covector.config.update('jax_debug_nans', True)` instead."
    )
    message(AttributeError, setattr, config.config, "anything", 1)


def test_wrong_values(flag):
    text = "The flag jax_fruit cannot be 'cherry' (str). Allowed are: 'apple', 'pear', 'plum'."
    assert message(ValueError, flag.update, "cherry") == "[config.update] " + text
    assert message(ValueError, flag, "cherry") == "[fruit] " + text
    assert flag.value == "apple"


def test_a_value_is_needed(flag):
    assert message(TypeError, flag) == (
        "[fruit] This context manager was called without a value. Give one, as in `with "
        "covector.fruit(value):`; allowed are: 'apple', 'pear', 'plum'."
    )
    assert message(TypeError, bool, flag) == (
        "[fruit] The flag itself is neither true nor false. Read `covector.config.jax_fruit`, or "
        "the attribute `value` of the flag."
    )


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("enable_x64", [True, False, np.True_, 1, 0], ["maybe", None, 2, 1.0, []]),
        ("numpy_rank_promotion", ["allow", "warn", "raise"], ["forbid", None, 1]),
        ("numpy_dtype_promotion", ["standard", "strict"], ["lax", None]),
        ("default_matmul_precision", [None, "float32", "BF16_BF16_F32_X3"], ["f32", 32]),
        ("transfer_guard", [None, "allow", "log_explicit", "disallow"], ["deny", True]),
        ("transfer_guard_host_to_device", [None, "disallow_explicit"], ["raise"]),
        ("legacy_prng_key", ["allow", "warn", "error"], ["raise", None]),
        ("default_prng_impl", ["threefry2x32", "rbg"], ["fry", None]),
        ("traceback_filtering", ["off", "auto", "tracebackhide"], ["on", None]),
        ("default_device", [None, "cpu", "gpu"], ["toaster", 0]),
        ("num_cpu_devices", [-1, 4, np.int64(2)], [-2, "four", 1.5, True, None]),
        ("compilation_cache_dir", [None, "/tmp/x"], [3]),
        ("optimization_level", ["UNKNOWN", "O3"], ["O4", 3]),
        ("exec_time_optimization_effort", [0, -1.0, 0.5], [1.5, "high", None, True]),
        ("platforms", [None, "cpu,cuda"], [["cpu"]]),
        ("pjrt_client_create_options", [None, "a:1", {"a": 1}], [("a", 1)]),
    ],
)
def test_values(name, right, wrong):
    flag = config.config.flag(name)
    for value in right:
        assert flag.accept(value, "here") == value
    for value in wrong:
        assert f"[here] The flag jax_{name} cannot be {value!r}" in message(
            ValueError, flag.accept, value, "here"
        )


def test_words_for_true_and_false():
    words = {"on": True, "YES": True, "1": True, "False": False, "n": False, "off": False}
    assert {word: config.debug_nans.accept(word, "here") for word in words} == words


def test_a_device_is_known_by_what_it_has():
    class Device:
        platform = "cpu"
        id = 0

    device = Device()
    with config.default_device(device):
        assert config.default_device.value is device


def test_switches_turn_on_by_default():
    with config.debug_nans(), config.check_tracer_leaks(), config.disable_jit():
        assert config.debug_nans.value and config.disable_jit.value
    with config.disable_jit(disable=False):
        assert not config.disable_jit.value
    with config.checking_leaks():
        assert config.check_tracer_leaks.value


def test_an_enumerations_member_is_taken_as_its_text():
    jax_config = pytest.importorskip("jax._src.config")
    strict = jax_config.NumpyDtypePromotion.STRICT
    assert type(config.numpy_dtype_promotion.accept(strict, "here")) is str


def test_every_flag_describes_itself():
    for name, value in config.config.values.items():
        flag = config.config.flag(name)
        assert flag.__doc__ == flag.description and flag.__doc__.endswith(".")
        assert flag.accept(value, "here") == value
        assert repr(flag) == f"<flag {name}={value!r}>"


def test_names_and_defaults_are_those_of_jax():
    jax = pytest.importorskip("jax")
    ours, theirs = config.config.values, jax.config.values
    own = set(ours) - set(theirs)
    assert own == {
        "jax_check_purity",
        "jax_compile_progress",
        "jax_cpu_alias_loop_carries",
        "jax_cpu_keep_freed_memory",
        "jax_materialization",
        "jax_native_kernels",
        "jax_parity",
        "jax_roll_loops",
    }
    different = {
        # The disk cache is on by default, so it keeps everything, but not without bound.
        *("jax_persistent_cache_min_compile_time_secs", "jax_compilation_cache_max_size"),
        "jax_explicit_x64_dtypes",  # an integer enumeration there, its words here
    }
    assert {n for n in set(ours) - own if ours[n] != theirs[n]} == different


# ---------------------------------------------------------------- environment and command line


def read_in_new_process(name, **environment):
    program = (
        f"from covector._src.base.config import config; print(repr(config.read({name!r})), end='')"
    )
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("JAX_", "COVECTOR_"))}
    return subprocess.run(
        [sys.executable, "-c", program],
        env={**clean, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
        capture_output=True,
        text=True,
    )


def test_the_environment_sets_first_values():
    assert read_in_new_process("debug_nans", JAX_DEBUG_NANS="true").stdout == "True"
    both = {"JAX_PLATFORMS": "tpu", "COVECTOR_PLATFORMS": "cpu"}
    assert read_in_new_process("platforms", **both).stdout == "'cpu'"


def test_a_wrong_environment_variable_is_named():
    error = read_in_new_process("enable_x64", COVECTOR_ENABLE_X64="ja").stderr
    assert error.splitlines()[-1] == (
        "ValueError: [environment variable COVECTOR_ENABLE_X64] The flag jax_enable_x64 cannot be "
        "'ja' (str). Allowed are: True and False."
    )


def test_the_command_line(monkeypatch):
    flags = Config()
    for name, kind, default in (
        ("jax_count", Integer(), 1),
        ("jax_loud", Boolean(), False),
        ("jax_fast", Boolean(), True),
        ("jax_late", Anything(), "no"),
    ):
        flags.add(Flag(name, default, kind, "A flag."))
    arguments = ["--jax_count=3", "-v", "--jax_loud", "--nojax_fast", "x", "--", "--jax_late=yes"]
    monkeypatch.setattr(sys, "argv", ["program", *arguments])
    flags.parse_flags_with_absl()
    expected = {"jax_count": 3, "jax_loud": True, "jax_fast": False, "jax_late": "no"}
    assert flags.values == expected


def test_flags_that_only_jax_has_may_be_set():
    with pytest.warns(UserWarning, match="'jax_enable_pgle' is a flag of JAX's that means nothing"):
        config.config.update("jax_enable_pgle", True)
    with pytest.raises(AttributeError, match="There is no flag"):
        config.config.read("jax_enable_pgle")


def test_every_flag_of_jax_is_known(jax):
    known = set(config.config.values) | config.config._without_effect
    assert sorted(set(jax.config.values) - known) == []
    assert not config.config._without_effect & set(config.config.values)
